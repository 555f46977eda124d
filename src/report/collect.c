#include "report/collect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Returns the index of the environment of a run. Results mostly follow their environment.
static int64_t find_environment(const struct collected *c, const char *run)
{
    int64_t at = c->environment_count - 1;
    while (at >= c->file_environment && strcmp(c->environments[at].run, run)) at--;
    return at >= c->file_environment ? at : -1;
}

static int add_environment(struct collected *c, struct record *r)
{
    int err = mem_grow((void **)&c->environments, &c->environment_room, c->environment_count,
                       sizeof *c->environments);
    if (err) return err;
    c->environments[c->environment_count++] = *r;
    *r = (struct record){0};
    return OK;
}

// Cuts the elements of an array out of a record. `start` is a text such as "\"samples\":[".
static void cut_array(char *text, const char *start)
{
    char *from = strstr(text, start), *end = from;
    int depth = 0;
    if (!from) return;
    from += strlen(start);
    for (end = from; *end && (depth || *end != ']'); end++) depth += (*end == '[') - (*end == ']');
    memmove(from, end, strlen(end) + 1);
}

// Returns a copy of a record without its samples, which are most of its memory. The caller frees
// the copy.
static char *copy_short(const char *line)
{
    char *text = mem_copy_text(line, strlen(line));
    if (!text) return NULL;
    cut_array(text, "\"samples\":[");
    cut_array(text, "\"back_to_back_samples\":[");
    cut_array(text, "\"timeline\":[");
    char *copy = mem_copy_text(text, strlen(text));
    mem_free(text);
    return copy;
}

static int add_case(struct collected *c, struct record *r, const char *line)
{
    int err = mem_grow((void **)&c->cases, &c->room, c->count, sizeof *c->cases);
    if (err) return err;
    char *text = copy_short(line);
    if (!text) return ERR_MEMORY;
    mem_free(r->samples);
    r->samples = NULL;
    c->cases[c->count++] = (struct collected_case){.r = *r,
                                                   .text = text,
                                                   .run = r->run,
                                                   .environment = find_environment(c, r->run),
                                                   .runs = 1,
                                                   .samples = r->sample_count};
    *r = (struct record){0};
    return OK;
}

static void note_bad(struct collected *c, const char *path, long long number)
{
    const char *why = fail_text();
    if (!c->bad_lines++)
        snprintf(c->bad_text, sizeof c->bad_text, "%s:%lld: %s", path, number, why);
}

int collect_line(struct collected *c, const char *path, const char *line, long long number)
{
    struct record r;
    int err = record_read(line, &r);
    if (err == ERR_INPUT) note_bad(c, path, number);
    if (err) return err == ERR_INPUT ? OK : err;
    if (r.kind == RECORD_ENVIRONMENT) err = add_environment(c, &r);
    if (r.kind == RECORD_RESULT && case_key_prefix(r.key, r.matrix)) {
        err = add_case(c, &r, line);
    } else if (r.kind == RECORD_RESULT) {
        fail(ERR_INPUT, "the key does not end with the matrix");
        note_bad(c, path, number);
    }
    record_free(&r);
    return err;
}

static int take_line(void *arg, const char *path, const char *line, long long number)
{
    return collect_line(arg, path, line, number);
}

int collect_file(struct collected *c, const char *path)
{
    int64_t before = c->count;
    c->file_environment = c->environment_count;
    int err = record_each_line(path, take_line, c);
    if (err || c->count > before) return err;
    return fail(ERR_INPUT, "%s: has no results%s%s", path, c->bad_lines ? "; " : "",
                c->bad_lines ? c->bad_text : "");
}

void collect_free(struct collected *c)
{
    for (int64_t i = 0; i < c->count; i++) {
        record_free(&c->cases[i].r);
        mem_free(c->cases[i].text);
    }
    for (int64_t i = 0; i < c->environment_count; i++) record_free(&c->environments[i]);
    mem_free(c->cases);
    mem_free(c->environments);
    *c = (struct collected){0};
}

static const char *text_or(const char *text, const char *other) { return text ? text : other; }

static const struct record *environment_of(const struct collected *c,
                                           const struct collected_case *x)
{
    static const struct record none;
    return x->environment < 0 ? &none : &c->environments[x->environment];
}

const struct record_algo *collect_algo(const struct collected *c, const struct collected_case *x)
{
    return record_facts_algo(&environment_of(c, x)->facts, x->r.alg, x->r.device);
}

// Returns the name of the device. If the environment has no name, returns the id.
static const char *own_device_of(const struct collected *c, const struct collected_case *x)
{
    const char *name = record_facts_device(&environment_of(c, x)->facts, x->r.device);
    return text_or(name, x->r.device);
}

// Returns the name of the device of -device, which names the tables. Some algorithms of a run can
// be of another device.
static const char *device_of(const struct collected *c, const struct collected_case *x)
{
    return text_or(environment_of(c, x)->device, own_device_of(c, x));
}

static const char *revision_of(const struct collected *c, const struct collected_case *x)
{
    return text_or(environment_of(c, x)->revision, "");
}

// Orders two cases by revision and device. Returns 0 if both are equal.
static int compare_sources(const struct collected *c, const struct collected_case *x,
                           const struct collected_case *y)
{
    int order = strcmp(revision_of(c, x), revision_of(c, y));
    return order ? order : strcmp(device_of(c, x), device_of(c, y));
}

// Sort key: the index of a case in `c`.
struct sort_key {
    const struct collected *c;
    int64_t at;
};

// Orders records by case, revision and device, then by their order in the files.
static int by_case(const void *a, const void *b)
{
    const struct sort_key *p = a, *q = b;
    const struct collected_case *x = &p->c->cases[p->at], *y = &q->c->cases[q->at];
    int order = strcmp(x->r.key, y->r.key);
    if (!order) order = compare_sources(p->c, x, y);
    return order ? order : (p->at > q->at) - (p->at < q->at);
}

static bool same_case(const struct collected *c, const struct collected_case *x,
                      const struct collected_case *y)
{
    return !strcmp(x->r.key, y->r.key) && !compare_sources(c, x, y);
}

// Returns true if the record is of another run of the last record's program on the same matrix.
static bool is_run_of(const struct collected *c, const struct collected_case *x,
                      const struct collected_case *last)
{
    const char *program = environment_of(c, last)->facts.program;
    const char *other = environment_of(c, x)->facts.program;
    return program && other && *last->run && *x->run && !strcmp(program, other) &&
           !strcmp(text_or(x->r.content, ""), text_or(last->r.content, ""));
}

// Returns the mean of two values; `x` alone if the number of runs is odd.
static double middle(int64_t n, double x, double y) { return n % 2 ? x : (x + y) / 2; }

// Widens [*lo, *hi] to include an interval. Without an interval, includes `x`.
static void widen(double *lo, double *hi, double x, double from, double to)
{
    *lo = fmin(*lo, isnan(from) ? x : from);
    *hi = fmax(*hi, isnan(to) ? x : to);
}

static int by_time(const void *a, const void *b)
{
    double x = (*(struct collected_case *const *)a)->r.median;
    double y = (*(struct collected_case *const *)b)->r.median;
    return (x > y) - (x < y);
}

// Returns the run with the median time. Its times become the medians, and its intervals the hulls
// of the intervals of all runs.
static struct collected_case *median_of(struct collected_case **runs, int64_t n)
{
    qsort(runs, (size_t)n, sizeof *runs, by_time);
    struct collected_case *chosen = runs[n / 2];
    struct record *r = &chosen->r;
    const struct record *other = &runs[(n - 1) / 2]->r;
    double lo = INFINITY, hi = 0, back_lo = INFINITY, back_hi = 0;
    chosen->samples = 0;
    for (int64_t i = 0; i < n; i++) {
        const struct record *x = &runs[i]->r;
        chosen->samples += x->sample_count;
        widen(&lo, &hi, x->median, x->ci_lo, x->ci_hi);
        widen(&back_lo, &back_hi, x->back_to_back, x->back_ci_lo, x->back_ci_hi);
    }
    double ms = middle(n, r->median, other->median), scale = r->median / ms;
    r->median = ms;
    r->back_to_back = middle(n, r->back_to_back, other->back_to_back);
    r->gflops *= scale;
    r->efficiency *= scale;
    r->gather_efficiency *= scale;
    r->ci_lo = lo;
    r->ci_hi = hi;
    r->back_ci_lo = isinf(back_lo) ? NAN : back_lo;
    r->back_ci_hi = isinf(back_lo) ? NAN : back_hi;
    r->min_ms = NAN; // replaced by the interval
    chosen->runs = (int)n;
    return chosen;
}

// Returns the record that counts among runs of one program. A wrong result in any run counts first.
static struct collected_case *pick_run(struct collected_case **runs, int64_t n)
{
    for (int64_t i = n - 1; i >= 0; i--)
        if (runs[i]->r.status == STATUS_WRONG) return runs[i];
    if (!record_is_timed(&runs[n - 1]->r)) return runs[n - 1];
    int64_t timed = 0;
    for (int64_t i = 0; i < n; i++)
        if (record_is_timed(&runs[i]->r)) runs[timed++] = runs[i];
    return timed > 1 ? median_of(runs, timed) : runs[0];
}

// Chooses the record of a case from the last record of each run of the last program. order[0 .. n)
// are the records of the case. `runs` has space for n.
static void choose_record(struct collected *c, const struct sort_key *order, int64_t n,
                          struct collected_case **runs)
{
    struct collected_case *last = &c->cases[order[n - 1].at];
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        struct collected_case *x = &c->cases[order[i].at];
        bool again = false; // a later record of the run replaces this one
        for (int64_t k = i + 1; k < n && !again; k++)
            again = !strcmp(c->cases[order[k].at].run, x->run);
        if (x == last || (!again && is_run_of(c, x, last))) runs[count++] = x;
    }
    struct collected_case *chosen = pick_run(runs, count);
    chosen->chosen = true;
    c->replaced += count < n;
    c->medians += chosen->runs > 1;
}

// Compares x, whose matrix could not be read, with the same case of a matrix that was read. The
// older record no longer counts. Keys of unread matrices have no size.
static void drop_unread(struct collected *c, struct collected_case *x)
{
    int64_t prefix = case_key_prefix(x->r.key, x->r.matrix);
    for (int64_t i = 0; i < c->count; i++) {
        struct collected_case *y = &c->cases[i];
        if (y == x || !y->chosen || case_key_prefix(y->r.key, y->r.matrix) != prefix ||
            strncmp(x->r.key, y->r.key, (size_t)prefix) || strcmp(x->r.matrix, y->r.matrix) ||
            compare_sources(c, x, y))
            continue;
        (y > x ? x : y)->chosen = false;
        c->replaced++;
    }
}

int collect_choose(struct collected *c)
{
    struct sort_key *order = mem_alloc(c->count, sizeof *order);
    struct collected_case **runs = mem_alloc(c->count, sizeof *runs);
    int err = order && runs ? OK : ERR_MEMORY;
    c->replaced = c->medians = 0;
    for (int64_t i = 0; i < c->count; i++) c->cases[i].chosen = false;
    for (int64_t i = 0; i < c->count && !err; i++) order[i] = (struct sort_key){c, i};
    if (!err) qsort(order, (size_t)c->count, sizeof *order, by_case);
    for (int64_t i = 0, end; i < c->count && !err; i = end) {
        for (end = i + 1; end < c->count; end++)
            if (!same_case(c, &c->cases[order[i].at], &c->cases[order[end].at])) break;
        choose_record(c, order + i, end - i, runs);
    }
    for (int64_t i = 0; i < c->count && !err; i++)
        if (c->cases[i].chosen && case_key_unread(c->cases[i].r.key, c->cases[i].r.matrix))
            drop_unread(c, &c->cases[i]);
    mem_free(order);
    mem_free(runs);
    return err;
}

static struct summary_row row_of(const struct collected *c, const struct collected_case *x)
{
    const struct record *r = &x->r;
    const struct record_algo *facts = collect_algo(c, x);
    bool counts = record_is_timed(r) && r->method;
    struct rank_case rank = {.alg = r->alg,
                             .device = r->device,
                             .picked = r->picked,
                             .vendor = facts ? facts->vendor : NULL,
                             .call = facts ? facts->call : NULL,
                             .reference = facts && facts->reference,
                             .dense = facts && facts->dense,
                             .own_values = r->own_values,
                             .samples = x->samples,
                             .ms = counts ? r->median : NAN,
                             .ci_lo = r->ci_lo,
                             .ci_hi = r->ci_hi,
                             .min_ms = r->min_ms,
                             .prep_ms = r->prep_ms};
    return (struct summary_row){.op = r->op,
                                .device = device_of(c, x),
                                .own_device = own_device_of(c, x),
                                .revision = revision_of(c, x),
                                .partial = facts ? facts->partial : NULL,
                                .status = r->status,
                                .rank = rank,
                                .doubt = doubt_of(r, x->samples),
                                .x = x};
}

int collect_rows(struct collected *c, const char *matrices, struct summaries *s)
{
    int err = OK;
    for (int64_t i = 0; i < c->count && !err; i++) {
        struct collected_case *x = &c->cases[i];
        if (!x->chosen || (matrices && !summary_fits(matrices, x->r.matrix))) continue;
        struct summary_row row = row_of(c, x);
        err = summary_add(s, &row, x->r.key, x->r.matrix);
        if (err == ERR_INPUT) {
            const char *why = fail_text();
            if (!c->bad_lines++) snprintf(c->bad_text, sizeof c->bad_text, "%s", why);
            err = OK;
        }
    }
    return err;
}
