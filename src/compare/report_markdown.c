// Report as a comment on a pull request: changed cases in a table, the others folded away.
#include "compare/report.h"

#include <math.h>
#include <string.h>

// Escapes characters that have a meaning in Markdown or HTML.
static void put(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("|\\`*_<>[]#&", *text)) fputc('\\', out);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

static bool is_quiet(const struct compared *x)
{
    return x->verdict == VERDICT_SAME || x->verdict == VERDICT_NO_TIME;
}

static void put_rows(FILE *out, const struct comparison *c, const struct compared_names *names,
                     bool quiet)
{
    fprintf(out, "| matrix | case | old ms | new ms | new / old (95 %%) | verdict |\n"
                 "| --- | --- | ---: | ---: | --- | --- |\n");
    for (int64_t i = 0; i < c->count; i++) {
        const struct compared *x = &c->cases[i];
        char before[32], now[32], ratio[64];
        if (is_quiet(x) != quiet) continue;
        fprintf(out, "| ");
        put(out, compared_any(x)->matrix);
        fprintf(out, " | ");
        put(out, names->text[i]);
        fprintf(out, " | %s | %s | %s | %s%s",
                report_number(x->timed ? x->ms[SIDE_OLD] : NAN, before),
                report_number(x->timed ? x->ms[SIDE_NEW] : NAN, now), report_ratio(x, ratio),
                verdict_name(x->verdict), x->why[0] ? ": " : "");
        put(out, x->why);
        fprintf(out, " |\n");
    }
}

int report_markdown(FILE *out, const struct comparison *c)
{
    struct compared_names names;
    char source[SOURCE_MAX];
    int64_t quiet = 0;
    int err = compared_names_make(&names, c);
    if (err) goto done;
    for (int64_t i = 0; i < c->count; i++) quiet += is_quiet(&c->cases[i]);
    fprintf(out, "### spbench compare: %s\n\n", conclusion_name(comparison_conclude(c)));
    fprintf(out, "OLD ");
    put(out, report_source(c, SIDE_OLD, source));
    fprintf(out, ", NEW ");
    put(out, report_source(c, SIDE_NEW, source));
    fprintf(out, "\n\n");
    report_summary(out, c, &names, "- ");
    if (quiet < c->count) {
        fprintf(out, "\n");
        put_rows(out, c, &names, false);
    }
    if (quiet) {
        fprintf(out, "\n<details><summary>%lld that did not change</summary>\n\n",
                (long long)quiet);
        put_rows(out, c, &names, true);
        fprintf(out, "\n</details>\n");
    }
done:
    compared_names_free(&names);
    return err;
}
