#include "report/summary_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "report/columns.h"

// Writes "spmm f32 k=64 layout=row, NVIDIA H200, revision 542d49d".
static const char *summary_title(const struct summary_table *t, char text[SUMMARY_TITLE_MAX])
{
    const struct summary_row *row = t->row;
    const char *standard = " cache=warm", *cache = strstr(row->inputs, standard);
    int first = cache ? (int)(cache - row->inputs) : (int)strlen(row->inputs);
    snprintf(text, SUMMARY_TITLE_MAX, "%s %.*s%s, %s%s%s", row->op, first, row->inputs,
             cache ? cache + strlen(standard) : "", row->device,
             row->revision[0] ? ", revision " : "", row->revision);
    return text;
}

// Returns the number of matrices on which the baseline is the algorithm `alg`.
static int64_t count_base(const struct summary_table *t, const char *alg)
{
    int64_t count = 0;
    for (int64_t j = 0; j < t->matrix_count; j++)
        count += t->base_rows[j] && !strcmp(t->base_rows[j]->rank.alg, alg);
    return count;
}

// Prints the vendor's algorithm that is the baseline on most matrices, with its call; then the
// matrices on which the baseline has no time, or a time with a mark.
static void print_base(FILE *out, const struct summary_table *t, enum grid_style style)
{
    const struct rank_case *most = NULL;
    char text[SUMMARY_TITLE_MAX], marks[DOUBT_TEXT_MAX];
    int64_t best = 0;
    if (!t->compared) return;
    for (int64_t j = 0; j < t->matrix_count; j++) {
        const struct summary_row *row = t->base_rows[j];
        int64_t count = row && row->rank.vendor ? count_base(t, row->rank.alg) : 0;
        if (count > best) best = count, most = &row->rank;
    }
    snprintf(text, sizeof text, "%s: ", t->base);
    const size_t bare = strlen(text);
    if (most && strcmp(t->base, most->alg))
        words_print(text, sizeof text, "most often %s%s%s%s, on %lld of %lld; ", most->alg,
                    most->call ? " (" : "", most->call ? most->call : "", most->call ? ")" : "",
                    (long long)best, (long long)t->matrix_count);
    if (t->unopposed)
        words_print(text, sizeof text, "no time on %lld of %lld, which are left out; ",
                    (long long)t->unopposed, (long long)t->matrix_count);
    if (t->base_fewer)
        words_print(text, sizeof text, "some of its algorithms failed on %lld; ",
                    (long long)t->base_fewer);
    if (*doubt_counts_text(&t->base_times, marks)) words_print(text, sizeof text, "%s; ", marks);
    if (strlen(text) == bare) return;
    text[strlen(text) - 2] = 0; // the last semicolon
    fprintf(out, "%s", style == GRID_TEXT ? "  " : "\n");
    grid_text(out, text, style);
    fputc('\n', out);
}

int summary_print(FILE *out, const struct summary_table *t, enum grid_style style)
{
    struct grid g = {0};
    struct column_set set;
    char title[SUMMARY_TITLE_MAX], marks[DOUBT_TEXT_MAX];
    int64_t based = 0; // matrices with a time of the baseline
    for (int64_t j = 0; j < t->matrix_count; j++) based += t->base_rows[j] != NULL;
    fprintf(out, "\n%s", style == GRID_MARKDOWN ? "### Summary: " : "summary: ");
    grid_text(out, summary_title(t, title), style);
    fprintf(out, style == GRID_MARKDOWN ? "\n\n" : "\n");
    column_set_summary(&set);
    while (!set.list[set.count - 1].head) set.count--; // fields of JSON
    for (int c = 0; c < set.count; c++) grid_column(&g, set.list[c].head, set.list[c].words);
    for (int64_t i = 0; i < t->line_count; i++) {
        struct table_row row = {.table = t, .line = i};
        if (t->lines[i].row->partial) continue;
        for (int c = 0; c < set.count; c++) grid_cell(&g, column_cell(&set.list[c], &row));
    }
    int err = grid_print(&g, out, style);
    if (style == GRID_MARKDOWN) fputc('\n', out);
    fprintf(out, "%sspeedup over ", style == GRID_TEXT ? "  " : "");
    grid_text(out, t->base, style);
    fprintf(out, "; mean on the %lld of %lld matrices where all have a time%s",
            (long long)t->shared, (long long)t->matrix_count,
            t->shared < based ? "; report -alg can exclude algorithms" : "");
    if (*doubt_counts_text(&t->times, marks)) fprintf(out, "; %c: %s", DOUBT_SIGN, marks);
    fputc('\n', out);
    print_base(out, t, style);
    return err;
}

int summary_print_all(FILE *out, const struct summaries *s)
{
    int err = OK;
    for (int i = 0; i < s->table_count && !err; i++)
        if (s->tables[i].matrix_count > 1 && s->tables[i].line_count > 1)
            err = summary_print(out, &s->tables[i], GRID_TEXT);
    return err;
}
