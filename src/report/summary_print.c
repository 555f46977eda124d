#include "report/summary_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/cell.h"
#include "report/columns.h"

const char *summary_title(const struct summary_table *t, char text[SUMMARY_TITLE_MAX])
{
    const struct summary_row *row = t->row;
    const char *standard = " cache=warm", *cache = strstr(row->inputs, standard);
    int first = cache ? (int)(cache - row->inputs) : (int)strlen(row->inputs);
    snprintf(text, SUMMARY_TITLE_MAX, "%s %.*s%s, %s%s%s", row->op, first, row->inputs,
             cache ? cache + strlen(standard) : "", row->device,
             row->revision[0] ? ", revision " : "", row->revision);
    return text;
}

static void put_count(struct grid *g, int64_t x)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)x);
    grid_cell(g, text);
}

// Returns the number of matrices on which the baseline is the algorithm `alg`.
static int64_t count_base(const struct summary_table *t, const char *alg)
{
    int64_t count = 0;
    for (int64_t j = 0; j < t->matrix_count; j++)
        count += t->base_rows[j] && !strcmp(t->base_rows[j]->rank.alg, alg);
    return count;
}

// Prints the vendor's algorithm that is the baseline on most matrices, with its call.
static void print_base(FILE *out, const struct summary_table *t, enum grid_style style)
{
    const struct rank_case *most = NULL;
    char text[SUMMARY_TITLE_MAX];
    int64_t best = 0;
    for (int64_t j = 0; j < t->matrix_count; j++) {
        const struct summary_row *row = t->base_rows[j];
        int64_t count = row && row->rank.vendor ? count_base(t, row->rank.alg) : 0;
        if (count > best) best = count, most = &row->rank;
    }
    if (!most || !strcmp(t->base, most->alg)) return;
    snprintf(text, sizeof text, "%s: most often %s%s%s%s, on %lld of %lld", t->base, most->alg,
             most->call ? " (" : "", most->call ? most->call : "", most->call ? ")" : "",
             (long long)best, (long long)t->matrix_count);
    fprintf(out, "%s", style == GRID_TEXT ? "  " : "\n");
    grid_text(out, text, style);
    fputc('\n', out);
}

int summary_print(FILE *out, const struct summary_table *t, enum grid_style style)
{
    struct grid g = {0};
    char text[32];
    int64_t based = 0; // matrices with a time of the baseline
    for (int64_t j = 0; j < t->matrix_count; j++) based += t->base_rows[j] != NULL;
    grid_column(&g, columns[COLUMN_ALGORITHM].head, true);
    for (int c = 0; c < SUMMARY_COLUMNS; c++)
        grid_column(&g, summary_columns[c].head, summary_columns[c].width < 0);
    for (int64_t i = 0; i < t->line_count; i++) {
        const struct summary_line *line = &t->lines[i];
        if (line->row->partial) continue;
        grid_cell(&g, line->name);
        put_count(&g, line->timed);
        put_count(&g, line->wins);
        grid_cell(&g, cell_ratio(line->mean, text));
        grid_cell(&g, cell_ratio(line->over_best, text));
        grid_cell(&g, cell_prep(line->prep_ms, text));
        grid_cell(&g, cell_runs(line->pays_after, text));
        grid_cell(&g, cell_ratio(line->worst, text));
        grid_cell(&g, line->worst_at < 0 ? "-" : t->matrices[line->worst_at]->matrix);
        put_count(&g, line->failed);
    }
    int err = grid_print(&g, out, style);
    if (style == GRID_MARKDOWN) fputc('\n', out);
    fprintf(out, "%sspeedup over ", style == GRID_TEXT ? "  " : "");
    grid_text(out, t->base, style);
    fprintf(out, "; mean on the %lld of %lld matrices where all have a time%s\n",
            (long long)t->shared, (long long)t->matrix_count,
            t->shared < based ? "; report -alg can exclude algorithms" : "");
    print_base(out, t, style);
    return err;
}

int summary_print_all(FILE *out, const struct summaries *s)
{
    char title[SUMMARY_TITLE_MAX];
    int err = OK;
    for (int i = 0; i < s->table_count && !err; i++) {
        const struct summary_table *t = &s->tables[i];
        if (t->matrix_count < 2 || t->line_count < 2) continue;
        fprintf(out, "\nsummary: ");
        grid_text(out, summary_title(t, title), GRID_TEXT);
        fputc('\n', out);
        err = summary_print(out, t, GRID_TEXT);
    }
    return err;
}
