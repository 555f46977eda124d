// The list of formats, and the text table.
#include "compare/verdict_text.h"

#include <stddef.h>

static bool is_any(const struct compared *x) { return x != NULL; }

int verdict_table(FILE *out, const struct comparison *c)
{
    struct compared_names names;
    char before[SOURCE_MAX], now[SOURCE_MAX];
    int err = compared_names_make(&names, c);
    if (err) goto done;
    fprintf(out, "OLD %s, NEW %s\n", verdict_source(c, SIDE_OLD, before),
            verdict_source(c, SIDE_NEW, now));
    err = verdict_cases(out, c, &names, is_any, GRID_TEXT);
    fprintf(out, "\n");
    verdict_counts_print(out, c, &names);
done:
    compared_names_free(&names);
    return err;
}

const struct verdict_format verdict_formats[] = {
    {"table", verdict_table}, {"json", verdict_json}, {"markdown", verdict_markdown},
    {"junit", verdict_junit}, {NULL, NULL},
};
