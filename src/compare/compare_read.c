#include "compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define NORMAL_95 1.959964 // half of a 95 % interval, in standard errors

// Start times of a file's environments, by run id.
struct run_starts {
    struct run_start {
        char *run; // owned
        int64_t when;
    } * list;
    int64_t count, room;
};

static void starts_free(struct run_starts *m)
{
    for (int64_t i = 0; i < m->count; i++) mem_free(m->list[i].run);
    mem_free(m->list);
}

static void note_origin(struct origin *s, const char *text)
{
    char shown[sizeof s->text];
    if (!text) return;
    utf8_visible(text, shown, sizeof shown);
    if (!s->text[0]) memcpy(s->text, shown, sizeof shown);
    s->mixed |= strcmp(s->text, shown) != 0;
}

static int starts_add(struct run_starts *m, struct record *r)
{
    int err = mem_grow((void **)&m->list, &m->room, m->count, sizeof *m->list);
    if (err) return err;
    m->list[m->count++] = (struct run_start){r->run, r->when};
    r->run = NULL;
    return OK;
}

// Returns the start time of `run`; 0: unknown. Results mostly follow their environment.
static int64_t starts_find(const struct run_starts *m, const char *run)
{
    for (int64_t i = m->count - 1; i >= 0; i--)
        if (!strcmp(m->list[i].run, run)) return m->list[i].when;
    return 0;
}

static void free_observation(struct observation *x)
{
    mem_free(x->key);
    mem_free(x->run);
    mem_free(x->matrix);
    mem_free(x->alg);
    mem_free(x->device);
    mem_free(x->library);
    mem_free(x->reason);
}

void observations_free(struct observations *s)
{
    for (int64_t i = 0; i < s->count; i++) free_observation(&s->list[i]);
    mem_free(s->list);
    *s = (struct observations){0};
}

static struct timed_median time_of(const struct record *r, enum timing_kind kind)
{
    const struct timing t = {.median = r->median,
                             .ci_lo = r->ci_lo,
                             .ci_hi = r->ci_hi,
                             .back_to_back = r->back_to_back,
                             .back_ci_lo = r->back_ci_lo,
                             .back_ci_hi = r->back_ci_hi};
    return timing_of_kind(&t, kind);
}

// Returns the first decile of the samples over their median.
static double low_of(struct record *r)
{
    if (!r->sample_count) return NAN;
    stats_median(r->samples, r->sample_count); // sorts
    return r->samples[r->sample_count / 10] / r->median;
}

// Turns a result that was not checked into one of that status.
static int reject_unchecked(struct record *r)
{
    static const char reason[] = "-check off";
    if (r->status != STATUS_OK || r->method) return OK;
    r->status = STATUS_UNCHECKED;
    mem_free(r->reason);
    r->reason = mem_alloc(sizeof reason, 1);
    if (!r->reason) return ERR_MEMORY;
    memcpy(r->reason, reason, sizeof reason);
    return OK;
}

// Adds a record as an observation. Moves the texts of the record.
static int add(struct observations *s, struct record *r, const struct run_starts *m)
{
    int err = mem_grow((void **)&s->list, &s->room, s->count, sizeof *s->list);
    if (err) return err;
    int64_t when = starts_find(m, r->run);
    err = reject_unchecked(r);
    if (err) return err;
    struct timed_median time = time_of(r, s->kind);
    if (r->entry) case_key_shorten(r->key, r->matrix, r->entry->algo);
    bool timed = r->status == STATUS_OK && time.ms > 0 && isfinite(time.ms);
    double error = timed ? log(time.ci_hi / time.ci_lo) / (2 * NORMAL_95) : NAN;
    s->list[s->count] = (struct observation){.order = s->count,
                                             .when = when,
                                             .status = r->status,
                                             .ms = timed ? time.ms : NAN,
                                             .gflops = r->gflops * (r->median / time.ms),
                                             .low = timed ? low_of(r) : NAN,
                                             .error = isfinite(error) ? error : NAN,
                                             .throttled = r->throttled,
                                             .busy = r->busy,
                                             .overtakes = r->overtakes,
                                             .key = r->key,
                                             .run = r->run,
                                             .matrix = r->matrix,
                                             .alg = r->alg,
                                             .device = r->device,
                                             .library = r->library,
                                             .reason = r->reason};
    s->count++;
    r->key = r->run = r->matrix = r->alg = r->device = r->library = r->reason = NULL;
    return OK;
}

static int add_line(struct observations *s, struct run_starts *m, const char *path,
                    const char *line, long long number)
{
    struct record r;
    int err = record_read(line, &r);
    if (err == ERR_INPUT) {
        const char *why = fail_text();
        if (!s->bad_lines++)
            snprintf(s->bad_text, sizeof s->bad_text, "%s:%lld: %s", path, number, why);
        return OK;
    }
    if (err) return err;
    if (r.kind == RECORD_ENVIRONMENT) {
        note_origin(&s->device, r.device);
        note_origin(&s->revision, r.revision);
        err = starts_add(m, &r);
    } else if (r.kind == RECORD_RESULT) {
        err = add(s, &r, m);
    }
    record_free(&r);
    return err;
}

struct reader {
    struct observations *s;
    struct run_starts m;
};

static int take_line(void *arg, const char *path, const char *line, long long number)
{
    struct reader *r = arg;
    return add_line(r->s, &r->m, path, line, number);
}

int observations_read(struct observations *s, const char *path)
{
    struct reader r = {.s = s};
    int64_t before = s->count;
    int err = record_each_line(path, take_line, &r);
    starts_free(&r.m);
    if (err || s->count > before) return err;
    return fail(ERR_INPUT, "%s: has no results%s%s", path, s->bad_lines ? "; " : "",
                s->bad_lines ? s->bad_text : "");
}

int observations_join(struct observations *s, struct observations *from, int64_t count,
                      const char *run)
{
    const char *last = NULL; // key of the last case counted
    for (int64_t i = 0; i < count; i++) {
        struct observation *x = &from->list[i];
        if (last && !strcmp(last, x->key)) continue;
        size_t size = strlen(run) + 1;
        char *name = mem_resize(x->run, (int64_t)strlen(x->run) + 1, (int64_t)size, 1);
        if (!name) return ERR_MEMORY;
        x->run = memcpy(name, run, size);
        int err = mem_grow((void **)&s->list, &s->room, s->count, sizeof *s->list);
        if (err) return err;
        s->list[s->count] = *x;
        s->list[s->count].order = s->count;
        last = s->list[s->count++].key;
        *x = (struct observation){0};
    }
    note_origin(&s->device, from->device.text[0] ? from->device.text : NULL);
    note_origin(&s->revision, from->revision.text[0] ? from->revision.text : NULL);
    s->device.mixed |= from->device.mixed;
    s->revision.mixed |= from->revision.mixed;
    if (!s->bad_lines) memcpy(s->bad_text, from->bad_text, sizeof s->bad_text);
    s->bad_lines += from->bad_lines;
    return OK;
}

static int take_date(void *arg, const char *path, const char *line, long long number)
{
    struct record r;
    int64_t *when = arg;
    (void)path, (void)number;
    int err = record_read(line, &r);
    if (err) return err == ERR_INPUT ? fail_drop() : err;
    *when = r.when;
    record_free(&r);
    return *when ? -1 : OK;
}

int observations_date(const char *path, int64_t *when)
{
    *when = 0;
    return record_each_line(path, take_date, when);
}
