#include "program/options_report.h"

const char *const sort_words[] = {"name", "time", "speedup", NULL}; // by enum summary_sort, from 1

int report_parse_matrix(struct options *o, const struct option *self, const char *text)
{
    if (!*text) return fail(ERR_USAGE, "-%s: the name is empty", self->name);
    o->matrix = text;
    return OK;
}

int report_parse_baseline(struct options *o, const struct option *self, const char *text)
{
    if (!*text) return fail(ERR_USAGE, "-%s: the name is empty", self->name);
    o->baseline = text;
    return OK;
}

int report_parse_sort(struct options *o, const struct option *self, const char *text)
{
    int64_t place;
    int err = parse_word(self, text, sort_words, &place);
    o->sort = (enum summary_sort)(place + SUMMARY_NAME);
    return err;
}
