#include "program/options_run.h"

#include <stdlib.h>

#include "base/suggest.h"
#include "program/options_lists.h"
#include "program/places.h"
#include "program/threads.h"

// The one value of an option whose values are those of an axis.
static int parse_one(const struct axis *axis, const char *text, int64_t *value)
{
    struct axis_values v;
    int err = axis_parse(axis, text, &v);
    if (!err && v.count > 1)
        err = fail(ERR_USAGE, "-%s %s: one value, not a list", axis->name, text);
    *value = err ? 0 : v.value[0];
    return err;
}

int parse_whole(const struct option *self, const char *text, int64_t least, int64_t most,
                int64_t *value)
{
    return parse_one(&(struct axis){.name = self->name, .min = least, .max = most}, text, value);
}

int parse_word(const struct option *self, const char *text, const char *const *words,
               int64_t *place)
{
    return parse_one(&(struct axis){.name = self->name, .words = words}, text, place);
}

int parse_seconds(const struct option *self, const char *text, double *ms)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end)
        return fail(ERR_USAGE, "-%s %s: not a number of seconds", self->name, text);
    if (!(seconds > 0 && seconds <= 86400))
        return fail(ERR_USAGE, "-%s %s: must be more than 0 and at most 86400 seconds", self->name,
                    text);
    *ms = seconds * 1e3;
    return OK;
}

int parse_op(struct options *o, const struct option *self, const char *text)
{
    if (op_find(text)) return o->op = text, OK;
    struct suggestion s;
    char guess[64], all[128] = "";
    suggest_start(&s, text);
    for (int i = 0; i < op_count; i++) {
        suggest_offer(&s, ops[i]->name);
        words_add(all, sizeof all, ", ", ops[i]->name);
    }
    return fail(ERR_USAGE, "-%s %s: no such operation; %sit is one of %s", self->name, text,
                suggest_text(&s, guess), all);
}

int parse_alg(struct options *o, const struct option *self, const char *text)
{
    return options_add_algs(o, self->name, text);
}

int parse_prec(struct options *o, const struct option *self, const char *text)
{
    return options_add_precs(o, self->name, text);
}

int parse_device(struct options *o, const struct option *self, const char *text)
{
    enum device_kind kind;
    int index;
    (void)self;
    o->device = text;
    // A sweep does not look at devices: its workers do.
    struct places places;
    if (BIT(o->command) & SWEEP) return places_parse(text, &places);
    return device_parse(text, &kind, &index);
}

int parse_reps(struct options *o, const struct option *self, const char *text)
{
    int64_t reps;
    int err = parse_whole(self, text, 1, 1000000, &reps);
    o->rule.reps = (int)reps;
    return err;
}

int parse_warmup(struct options *o, const struct option *self, const char *text)
{
    int64_t runs;
    int err = parse_whole(self, text, 1, 1000000, &runs);
    o->rule.warmup = (int)runs;
    return err;
}

int parse_time_limit(struct options *o, const struct option *self, const char *text)
{
    int err = parse_seconds(self, text, &o->rule.limit_ms);
    o->rule.most_ms = o->rule.limit_ms;
    return err;
}

const char *const cache_words[] = {"warm", "cold", NULL};

int parse_cache(struct options *o, const struct option *self, const char *text)
{
    int64_t cold;
    int err = parse_word(self, text, cache_words, &cold);
    o->rule.cold = cold;
    return err;
}

const char *const launch_words[] = {"graph", "stream", NULL};

int parse_launch(struct options *o, const struct option *self, const char *text)
{
    int64_t stream;
    int err = parse_word(self, text, launch_words, &stream);
    o->rule.stream = stream;
    return err;
}

int parse_time(struct options *o, const struct option *self, const char *text)
{
    int64_t kind;
    int err = parse_word(self, text, timing_kind_words, &kind);
    o->kind = (enum timing_kind)kind;
    return err;
}

const char *const check_words[] = {[CHECK_AUTO] = "auto",
                                   [CHECK_FULL] = "full",
                                   [CHECK_SAMPLE] = "sample",
                                   [CHECK_OFF] = "off",
                                   NULL};

int parse_check(struct options *o, const struct option *self, const char *text)
{
    int64_t mode;
    int err = parse_word(self, text, check_words, &mode);
    o->check = (enum check_mode)mode;
    return err;
}

int parse_setting(struct options *o, const struct option *self, const char *text)
{
    return options_add_settings(o, self->name, text);
}

int parse_threads(struct options *o, const struct option *self, const char *text)
{
    int64_t threads;
    int err = parse_whole(self, text, 1, THREADS_MAX, &threads);
    o->threads = (int)threads;
    return err;
}

int parse_seed(struct options *o, const struct option *self, const char *text)
{
    int64_t seed;
    int err = parse_whole(self, text, 0, INT64_MAX, &seed);
    o->seed = (uint64_t)seed;
    return err;
}

int parse_output(struct options *o, const struct option *self, const char *text)
{
    if (!*text) return fail(ERR_USAGE, "-%s: the name of the file is empty", self->name);
    o->output = text;
    return OK;
}
