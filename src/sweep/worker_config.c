#include "sweep/worker_config.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SURVEY_MS   600000.0 // limit for opening the device and measuring its ceilings
#define DESCRIBE_MS 30000.0  // limit for loading a plug-in
#define LOOK_MS     1000     // longest time until Ctrl-C is seen

static char *request_of(const struct worker_config *config, const struct worker_args *args)
{
    struct worker_request r = {.parent = getpid(),
                               .survey = args->survey || (!args->matrix && !args->standby),
                               .describe = args->describe,
                               .conform = args->conform,
                               .skip = args->skip,
                               .standby = args->standby,
                               .matrix = args->matrix,
                               .device = config->device,
                               .expected = config->expected[0] ? config->expected : NULL,
                               .library = args->library,
                               .cpus = args->cpus,
                               .run = args->run,
                               .plugins = config->plugins,
                               .command = config->command,
                               .done = args->done,
                               .unverified = args->unverified,
                               .without = args->without,
                               .memory_bytes = config->memory_bytes,
                               .lost = args->lost,
                               .lost_as = args->lost_as};
    return worker_request_text(&r);
}

// Returns NAME=VALUE, which the caller frees. The old value follows behind `between`, unless NULL.
static char *setting_over(const char *name, const char *value, const char *between)
{
    const char *old = between ? getenv(name) : NULL;
    if (old && !*old) old = NULL;
    size_t size = strlen(name) + strlen(value) + (old ? strlen(old) : 0) + 8;
    char *text = mem_alloc((int64_t)size, 1);
    if (text) snprintf(text, size, "%s=%s%s%s", name, value, old ? between : "", old ? old : "");
    return text;
}

int worker_config_start(const struct worker_config *config, const struct worker_args *args,
                        struct worker *w)
{
    char number[16], *threads = NULL, *preload = NULL;
    worker_none(w);
    char **argv = mem_alloc(config->word_count + 3, sizeof *argv);
    char *request = argv ? request_of(config, args) : NULL;
    int err = request ? OK : ERR_MEMORY, used = 0;
    snprintf(number, sizeof number, "%d", config->threads);
    if (!err && config->threads && !(threads = setting_over("OMP_NUM_THREADS", number, NULL)))
        err = ERR_MEMORY;
    if (!err && args->library && !(preload = setting_over("LD_PRELOAD", args->library, ":")))
        err = ERR_MEMORY;
    if (!err) {
        argv[used++] = (char *)"spbench";
        argv[used++] = (char *)"worker";
        for (int i = 0; i < config->word_count; i++) argv[used++] = config->words[i];
        argv[used] = NULL;
        err =
            worker_start(w, &(struct worker_start){.argv = argv,
                                                   .request = request,
                                                   .input = config->input,
                                                   .settings = {args->setting, threads, preload}});
    }
    mem_free(threads);
    mem_free(preload);
    mem_free(request);
    mem_free(argv);
    return err;
}

int worker_config_begin(const struct worker_config *config, const struct worker_args *args,
                        struct worker *w)
{
    char *request = request_of(config, args);
    int err = request ? worker_add_request(w, request) : ERR_MEMORY;
    if (!err) worker_tell(w, WORD_BEGIN);
    mem_free(request);
    return err;
}

// Takes a line of a survey. Sets *ended after the last one.
static int survey_line(struct survey *s, const char *line, bool *ended)
{
    const char *rest, *text;
    int used = 0;
    if (s->plugin_follows) {
        s->plugin_follows = false;
        mem_free(s->plugin);
        s->plugin = mem_copy_text(line, strlen(line));
        return s->plugin ? OK : ERR_MEMORY;
    }
    switch (protocol_parse(line, &rest)) {
    case LINE_PLAN: return texts_add(&s->prefixes, rest);
    case LINE_PLUGIN: s->plugin_follows = true; return OK;
    case LINE_NEAR: snprintf(s->near, sizeof s->near, "%s", rest); return OK;
    case LINE_READY: *ended = s->stays; return OK;
    case LINE_DONE: *ended = true; return OK;
    case LINE_DEVICE:
        if (sscanf(rest, "%15s %d %n", s->id, &s->count, &used) == 2 && used)
            snprintf(s->name, sizeof s->name, "%s", rest + used);
        return OK;
    case LINE_ERROR: {
        enum err code = protocol_error(rest, &text);
        return fail(code, "%s", text);
    }
    default: return OK;
    }
}

static int survey_follow(struct worker *w, double limit_ms, struct survey *s)
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
        if (!err && !ended && clock_ms() - begin > limit_ms)
            err = fail(ERR_DEVICE, "a worker sent no plan within %g s", limit_ms * 1e-3);
        if (!err && !ended && w->channel < 0 && worker_over(w, &state)) {
            char text[FAIL_TEXT_MAX];
            worker_end_text(w, state, text);
            err = fail(ERR_DEVICE, "a worker sent no plan: %s", text);
        }
    }
    return err;
}

int survey_make(const struct worker_config *config, const struct worker_args *args,
                struct survey *out)
{
    struct worker w;
    *out = (struct survey){0};
    int err = worker_config_start(config, args, &w);
    if (!err) err = survey_follow(&w, args->describe ? DESCRIBE_MS : SURVEY_MS, out);
    worker_free(&w);
    if (err) survey_free(out);
    return err;
}

int survey_start(const struct worker_config *config, const struct worker_args *args,
                 struct survey *out, struct worker *w)
{
    struct worker_args own = *args;
    own.survey = own.standby = true;
    *out = (struct survey){.stays = true};
    int err = worker_config_start(config, &own, w);
    if (!err) err = survey_follow(w, DESCRIBE_MS, out);
    if (err) worker_free(w);
    if (err) survey_free(out);
    return err;
}

void survey_free(struct survey *s)
{
    texts_free(&s->prefixes);
    mem_free(s->plugin);
    *s = (struct survey){0};
}
