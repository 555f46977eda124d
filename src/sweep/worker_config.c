#include "sweep/worker_config.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SURVEY_MS 600000.0 // to open the device, and to measure its ceilings
#define LOOK_MS   1000     // Ctrl-C is seen after so long at the latest

int texts_add(struct texts *t, const char *text)
{
    size_t size = strlen(text) + 1;
    bool full = !(t->count & (t->count - 1)); // at each power of two, and at 0
    const char **list = t->list;
    if (full) list = mem_resize(t->list, t->count, t->count ? 2 * t->count : 1, sizeof *list);
    char *copy = list ? mem_alloc((int64_t)size, 1) : NULL;
    if (list) t->list = list;
    if (!copy) return ERR_MEMORY;
    memcpy(copy, text, size);
    t->list[t->count++] = copy;
    return OK;
}

void texts_free(struct texts *t)
{
    for (int64_t i = 0; i < t->count; i++) mem_free((void *)t->list[i]);
    mem_free(t->list);
    *t = (struct texts){0};
}

static char *order_of(const struct crew *crew, const struct duty *duty)
{
    struct order o = {.parent = getpid(),
                      .survey = !duty->matrix && !duty->standby,
                      .standby = duty->standby,
                      .matrix = duty->matrix,
                      .device = crew->device,
                      .expected = crew->expected[0] ? crew->expected : NULL,
                      .library = duty->library,
                      .cpus = duty->cpus,
                      .run = duty->run,
                      .command = crew->command,
                      .done = duty->done,
                      .maybe = duty->maybe,
                      .without = duty->without,
                      .memory_bytes = crew->memory_bytes,
                      .lost = duty->lost,
                      .lost_as = duty->lost_as};
    return order_text(&o);
}

// NAME=VALUE; the caller frees it. What the variable says already comes behind, after `between`.
static char *setting_over(const char *name, const char *value, const char *between)
{
    const char *old = between ? getenv(name) : NULL;
    if (old && !*old) old = NULL;
    size_t size = strlen(name) + strlen(value) + (old ? strlen(old) : 0) + 8;
    char *text = mem_alloc((int64_t)size, 1);
    if (text) snprintf(text, size, "%s=%s%s%s", name, value, old ? between : "", old ? old : "");
    return text;
}

int crew_start(const struct crew *crew, const struct duty *duty, struct worker *w)
{
    char number[16], *threads = NULL, *preload = NULL;
    worker_none(w);
    char **argv = mem_alloc(crew->word_count + 3, sizeof *argv);
    char *order = argv ? order_of(crew, duty) : NULL;
    int err = order ? OK : ERR_MEMORY, used = 0;
    snprintf(number, sizeof number, "%d", crew->threads);
    if (!err && crew->threads && !(threads = setting_over("OMP_NUM_THREADS", number, NULL)))
        err = ERR_MEMORY;
    if (!err && duty->library && !(preload = setting_over("LD_PRELOAD", duty->library, ":")))
        err = ERR_MEMORY;
    if (!err) {
        argv[used++] = (char *)"spbench";
        argv[used++] = (char *)"worker";
        for (int i = 0; i < crew->word_count; i++) argv[used++] = crew->words[i];
        argv[used] = NULL;
        err = worker_start(
            w, &(struct worker_start){
                   .argv = argv, .order = order, .settings = {duty->setting, threads, preload}});
    }
    mem_free(threads);
    mem_free(preload);
    mem_free(order);
    mem_free(argv);
    return err;
}

int crew_begin(const struct crew *crew, const struct duty *duty, struct worker *w)
{
    char *order = order_of(crew, duty);
    int err = order ? worker_order(w, order) : ERR_MEMORY;
    if (!err) worker_tell(w, WORD_BEGIN);
    mem_free(order);
    return err;
}

// What it says, word by word. *ended: it is through.
static int survey_line(struct survey *s, const char *line, bool *ended)
{
    int code, used = 0;
    if (!strncmp(line, "plan ", 5)) return texts_add(&s->prefixes, line + 5);
    if (!strncmp(line, "near ", 5)) snprintf(s->near, sizeof s->near, "%s", line + 5);
    if (!strcmp(line, "done")) *ended = true;
    if (sscanf(line, "device %15s %d %n", s->id, &s->count, &used) == 2 && used)
        snprintf(s->name, sizeof s->name, "%s", line + used);
    if (sscanf(line, "error %d %n", &code, &used) == 1 && used)
        return fail((enum err)code, "%s", line + used);
    return OK;
}

static int survey_follow(struct worker *w, struct survey *s)
{
    double begin = clock_ms();
    bool ended = false;
    int err = OK, state;
    while (!err && !ended) {
        struct pollfd look[2] = {{w->channel, POLLIN, 0}, {w->talk, POLLIN, 0}};
        poll(look, 2, w->channel < 0 ? 10 : LOOK_MS);
        err = interrupted ? fail(ERR_INTERRUPTED, "interrupted") : worker_read(w);
        for (char *line; !err && !ended && (line = worker_line(w));)
            err = survey_line(s, line, &ended);
        if (!err && !ended && clock_ms() - begin > SURVEY_MS)
            err = fail(ERR_DEVICE, "a worker had not said after %g s what there is to do",
                       SURVEY_MS * 1e-3);
        if (!err && !ended && w->channel < 0 && worker_over(w, &state)) {
            char text[FAIL_TEXT_MAX];
            worker_end_text(w, state, text);
            err = fail(ERR_DEVICE, "a worker has said nothing of what there is to do: %s", text);
        }
    }
    return err;
}

int survey_make(const struct crew *crew, const struct duty *duty, struct survey *out)
{
    struct worker w;
    *out = (struct survey){0};
    int err = crew_start(crew, duty, &w);
    if (!err) err = survey_follow(&w, out);
    worker_free(&w);
    if (err) survey_free(out);
    return err;
}

void survey_free(struct survey *s)
{
    texts_free(&s->prefixes);
    *s = (struct survey){0};
}
