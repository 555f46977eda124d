#include "program/options_compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "run/report.h"

#define RUNS_MOST        10000
#define CONSECUTIVE_MOST 100

int compare_parse_format(struct options *o, const struct option *self, const char *text)
{
    char all[128] = "", guess[64];
    struct suggestion s;
    (void)self;
    suggest_start(&s, text);
    for (const struct report_format *f = report_formats; f->name; f++) {
        if (!strcmp(text, f->name)) return o->format = text, OK;
        suggest_offer(&s, f->name);
        words_add(all, sizeof all, ", ", f->name);
    }
    return fail(ERR_USAGE, "-format %s: no such format; %sit is one of %s", text,
                suggest_text(&s, guess), all);
}

// A number of percent, over 0 and up to `most`.
static int parse_percent(const char *name, const char *text, double most, double *percent)
{
    char *end;
    *percent = strtod(text, &end);
    if (end == text || *end || !(*percent > 0 && *percent <= most))
        return fail(ERR_USAGE, "-%s %s: must be a number of percent, over 0 and at most %g", name,
                    text, most);
    return OK;
}

int compare_parse_threshold(struct options *o, const struct option *self, const char *text)
{
    (void)self;
    return parse_percent("threshold", text, 100, &o->threshold);
}

int compare_parse_plant(struct options *o, const struct option *self, const char *text)
{
    (void)self;
    return parse_percent("plant", text, 1000, &o->plant);
}

// One whole number from 1 on.
static int parse_count(const char *name, const char *text, int most, int *count)
{
    const struct axis axis = {.name = name, .min = 1, .max = most};
    struct axis_values v;
    int err = axis_parse(&axis, text, &v);
    if (!err && v.count > 1) err = fail(ERR_USAGE, "-%s %s: one value, not a list", name, text);
    if (!err) *count = (int)v.value[0];
    return err;
}

int compare_parse_runs(struct options *o, const struct option *self, const char *text)
{
    (void)self;
    return parse_count("runs", text, RUNS_MOST, &o->runs);
}

int compare_parse_consecutive(struct options *o, const struct option *self, const char *text)
{
    (void)self;
    return parse_count("consecutive", text, CONSECUTIVE_MOST, &o->consecutive);
}

int compare_parse_ab(struct options *o, const struct option *self, const char *text)
{
    (void)self;
    if (!*text) return fail(ERR_USAGE, "-ab: the name of the program is empty");
    o->ab = text;
    return OK;
}

int compare_parse_keep(struct options *o, const struct option *self, const char *text)
{
    (void)self;
    if (!*text) return fail(ERR_USAGE, "-keep: the name is empty");
    o->keep = text;
    return OK;
}
