// The comparison as a comment on a pull request: changed cases in a table, the others folded away.
#include "compare/verdict_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/markup.h"

static bool is_quiet(const struct compared *x)
{
    return x->verdict == VERDICT_SAME || x->verdict == VERDICT_NO_TIME;
}

static bool is_telling(const struct compared *x) { return !is_quiet(x); }

// Writes the counts as a list. All of its text is escaped: a line can have names of matrices,
// devices and files.
static int put_summary(FILE *out, const struct comparison *c, const struct compared_names *names)
{
    char *text = NULL, *rest = NULL;
    size_t size;
    FILE *lines = open_memstream(&text, &size);
    if (!lines) return fail(ERR_MEMORY, "out of memory for a summary");
    verdict_counts_print(lines, c, names);
    int err = fclose(lines) ? fail(ERR_MEMORY, "out of memory for a summary") : OK;
    for (char *line = err ? NULL : strtok_r(text, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        fprintf(out, "- ");
        markup_markdown(out, line);
        fprintf(out, "\n");
    }
    free(text);
    return err;
}

int verdict_markdown(FILE *out, const struct comparison *c)
{
    struct compared_names names;
    char source[SOURCE_MAX];
    int64_t quiet = 0;
    int err = compared_names_make(&names, c);
    if (err) goto done;
    for (int64_t i = 0; i < c->count; i++) quiet += is_quiet(&c->cases[i]);
    fprintf(out, "### spbench compare: %s%s\n\n", conclusion_name(comparison_conclude(c)),
            comparison_remark(c));
    fprintf(out, "OLD ");
    markup_markdown(out, verdict_source(c, SIDE_OLD, source));
    fprintf(out, ", NEW ");
    markup_markdown(out, verdict_source(c, SIDE_NEW, source));
    fprintf(out, "\n\n");
    err = put_summary(out, c, &names);
    if (err) goto done;
    if (quiet < c->count) {
        fprintf(out, "\n");
        err = verdict_cases(out, c, &names, is_telling, GRID_MARKDOWN);
    }
    if (quiet && !err) {
        fprintf(out, "\n<details><summary>%lld that did not change</summary>\n\n",
                (long long)quiet);
        err = verdict_cases(out, c, &names, is_quiet, GRID_MARKDOWN);
        fprintf(out, "\n</details>\n");
    }
done:
    compared_names_free(&names);
    return err;
}
