// Report as a text table: one line per case, then the summary.
#include "compare/verdict_text.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"

#define MATRIX_MOST 28 // characters; a longer name loses its middle

static int width_of(const char *text, int width)
{
    int length = (int)strlen(text);
    return length > width ? length : width;
}

static const char *matrix_of(const struct compared *x, char text[MATRIX_MOST + 1])
{
    return utf8_visible(compared_any(x)->matrix, text, MATRIX_MOST + 1);
}

static void print_case(FILE *out, const struct compared *x, const char *name, int matrix_width,
                       int name_width)
{
    char matrix[MATRIX_MOST + 1], before[32], now[32], ratio[64], why[WHY_MAX];
    bool timed = x->timed;
    fprintf(out, "%-*s  %-*s  %8s  %8s  %-22s  %s", matrix_width, matrix_of(x, matrix), name_width,
            name, verdict_number(timed ? x->ms[SIDE_OLD] : NAN, before),
            verdict_number(timed ? x->ms[SIDE_NEW] : NAN, now), verdict_ratio(x, ratio),
            verdict_name(x->verdict));
    if (x->why[0]) fprintf(out, ": %s", utf8_visible(x->why, why, sizeof why));
    if (x->throttled && timed) fprintf(out, "; %d throttled", x->throttled);
    if (x->timed && x->e.guessed) fprintf(out, "; guessed");
    fprintf(out, "\n");
}

int verdict_table(FILE *out, const struct comparison *c)
{
    struct compared_names names;
    char matrix[MATRIX_MOST + 1];
    int matrix_width = (int)strlen("matrix"), name_width = (int)strlen("case");
    int err = compared_names_make(&names, c);
    if (err) goto done;
    for (int64_t i = 0; i < c->count; i++) {
        matrix_width = width_of(matrix_of(&c->cases[i], matrix), matrix_width);
        name_width = width_of(names.text[i], name_width);
    }
    char before[SOURCE_MAX], now[SOURCE_MAX];
    fprintf(out, "OLD %s, NEW %s\n", verdict_source(c, SIDE_OLD, before),
            verdict_source(c, SIDE_NEW, now));
    fprintf(out, "%-*s  %-*s  %8s  %8s  %-22s  verdict\n", matrix_width, "matrix", name_width,
            "case", "old ms", "new ms", "new / old (95 %)");
    for (int64_t i = 0; i < c->count; i++)
        print_case(out, &c->cases[i], names.text[i], matrix_width, name_width);
    fprintf(out, "\n");
    verdict_counts_print(out, c, &names, "");
done:
    compared_names_free(&names);
    return err;
}
