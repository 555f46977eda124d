#include "program/options_compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "program/report_view.h"
#include "run/report.h"

#define RUNS_MOST        10000
#define CONSECUTIVE_MOST 100

// The i-th format of the command; NULL after the last.
static const char *format_name(enum command command, int i)
{
    return command == COMMAND_REPORT ? view_formats[i].name : report_formats[i].name;
}

int compare_parse_format(struct options *o, const struct option *self, const char *text)
{
    char all[128] = "", guess[64];
    struct suggestion s;
    (void)self;
    suggest_start(&s, text);
    const char *name;
    for (int i = 0; (name = format_name(o->command, i)); i++) {
        if (!strcmp(text, name)) return o->format = text, OK;
        suggest_offer(&s, name);
        words_add(all, sizeof all, ", ", name);
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
    return parse_percent(self->name, text, 100, &o->threshold);
}

int compare_parse_plant(struct options *o, const struct option *self, const char *text)
{
    return parse_percent(self->name, text, 1000, &o->plant);
}

int compare_parse_runs(struct options *o, const struct option *self, const char *text)
{
    int64_t runs;
    int err = parse_whole(self, text, 1, RUNS_MOST, &runs);
    o->runs = (int)runs;
    return err;
}

const char *const until_words[] = {"decided", NULL};

int compare_parse_until(struct options *o, const struct option *self, const char *text)
{
    int64_t word;
    o->until_decided = true;
    return parse_word(self, text, until_words, &word);
}

int compare_parse_budget(struct options *o, const struct option *self, const char *text)
{
    return parse_seconds(self, text, &o->budget_ms);
}

int compare_parse_consecutive(struct options *o, const struct option *self, const char *text)
{
    int64_t files;
    int err = parse_whole(self, text, 1, CONSECUTIVE_MOST, &files);
    o->consecutive = (int)files;
    return err;
}

int compare_parse_ab(struct options *o, const struct option *self, const char *text)
{
    if (!*text) return fail(ERR_USAGE, "-%s: the name of the program is empty", self->name);
    o->ab = text;
    return OK;
}

int compare_parse_keep(struct options *o, const struct option *self, const char *text)
{
    if (!*text) return fail(ERR_USAGE, "-%s: the name is empty", self->name);
    o->keep = text;
    return OK;
}
