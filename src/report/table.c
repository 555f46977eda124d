#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/words.h"
#include "report/cell.h"
#include "report/table_row.h"
#include "report/fastest.h"
#include "base/terminal.h"
#include "device/roof.h"
#include "records/record.h"

#define NUMBER_WIDTH 4
// Returns the width of an axis' column: its name or its longest value.
static int axis_width(const struct plan *plan, int a)
{
    const struct axis *axis = plan->op->axes[a];
    int64_t width = axis->words ? 0 : NUMBER_WIDTH;
    bool all_standard = true;
    char text[32];
    for (int64_t i = 0; i < plan->count; i++) {
        width = max64(width, (int64_t)strlen(axis_text(axis, plan->cases[i].axis[a], text)));
        all_standard &= plan->cases[i].axis[a] == axis->standard;
    }
    if (axis->quiet && all_standard) return 0;
    return (int)max64(width, (int64_t)strlen(axis->name));
}

int table_start(struct table *t, const struct plan *plan, int matrix_count, bool quiet,
                bool verbose)
{
    *t = (struct table){.plan = plan,
                        .matrix_count = matrix_count,
                        .matrix = -1,
                        .start_ms = clock_ms(),
                        .detail = quiet     ? TABLE_OFF
                                  : verbose ? TABLE_VERBOSE
                                            : TABLE_ON,
                        .terminal = !quiet && terminal_can_erase()};
    char name[TABLE_NAME_MAX];
    t->alg_width = (int)strlen(columns[COLUMN_ALGORITHM].head);
    for (int64_t i = 0; i < plan->count; i++)
        t->alg_width =
            (int)max64(t->alg_width, (int64_t)strlen(table_name(t, &plan->cases[i], name)));
    for (int a = 0; plan->op->axes[a]; a++) t->axis_width[a] = axis_width(plan, a);
    for (int64_t i = 1; i < plan->count; i++) {
        t->devices_vary |= strcmp(plan->cases[i].device, plan->cases[0].device) != 0;
        t->precs_vary |= plan->cases[i].prec != plan->cases[0].prec;
    }
    t->rows = mem_zero_alloc(plan->count, sizeof *t->rows);
    t->list = mem_alloc(plan->count, sizeof *t->list);
    return t->rows && t->list ? OK : ERR_MEMORY;
}

static void free_texts(struct table *t)
{
    for (int64_t i = 0; t->rows && i < t->plan->count; i++) {
        struct table_row *row = &t->rows[i];
        mem_free(row->name);
        mem_free(row->ranked);
        mem_free(row->head);
        mem_free(row->tail);
        row->name = row->ranked = row->head = row->tail = NULL;
    }
}

void table_free(struct table *t)
{
    free_texts(t);
    for (int64_t i = 0; t->rows && i < t->plan->count; i++) mem_free(t->rows[i].refusal);
    mem_free(t->rows);
    mem_free(t->list);
    t->rows = NULL;
    t->list = NULL;
}

static int copy_text(const char *text, char **copy)
{
    *copy = mem_copy_text(text, strlen(text));
    return *copy ? OK : ERR_MEMORY;
}

void table_clear(const struct table *t)
{
    if (t->terminal) fprintf(stderr, TERMINAL_ERASE);
}

void table_progress_text(const struct table *t, const char *text)
{
    if (t->terminal) fprintf(stderr, TERMINAL_ERASE "%.78s", text);
}

// Writes " f32 k 64": the precision, and the axes that have a column. An axis has all values with
// the same product.
static const char *inputs_text(const struct table *t, const struct bench_case *c, char text[128])
{
    char values[AXIS_PRODUCT_TEXT];
    snprintf(text, 128, " %s", prec_name(c->prec));
    for (int a = 0; t->plan->op->axes[a]; a++) {
        const struct axis *axis = t->plan->op->axes[a];
        if (!t->axis_width[a]) continue;
        words_print(text, 128, " %s%s%s", axis->words ? "" : axis->name, axis->words ? "" : " ",
                    axis_product_text(axis, c->axis[a], values));
    }
    return text;
}

static void show_progress(const struct table *t)
{
    const struct plan *plan = t->plan;
    if (!t->terminal || t->done >= plan->count) return;
    const struct bench_case *c = &plan->cases[t->done];
    double all = (double)plan->count * t->matrix_count;
    double done = (double)plan->count * t->matrix + (double)t->done;
    double spent_s = (clock_ms() - t->start_ms) * 1e-3;
    char left[48] = "", line[512], inputs[128], name[25], row[TABLE_NAME_MAX];
    if (t->done) {
        long long s = (long long)(spent_s / done * (all - done));
        snprintf(left, sizeof left, ", %lld:%02lld:%02lld left", s / 3600, s / 60 % 60, s % 60);
    }
    snprintf(line, sizeof line, "matrix %d/%d %s: %s%s [%.0f%%%s]", t->matrix + 1, t->matrix_count,
             utf8_visible(t->matrix_name, name, sizeof name), table_name(t, c, row),
             inputs_text(t, c, inputs), 100 * done / all, left);
    table_progress_text(t, line);
}

void table_loading(struct table *t, const char *name)
{
    t->matrix++;
    free_texts(t);
    t->done = t->printed = 0;
    t->matrix_name = name;
    char line[256], shown[41];
    snprintf(line, sizeof line, "matrix %d/%d %s: reading", t->matrix + 1, t->matrix_count,
             utf8_visible(name, shown, sizeof shown));
    table_progress_text(t, line);
}

static void print_head(const struct table *t, enum column_id c)
{
    const struct op *op = t->plan->op;
    if (c == COLUMN_AXES) table_put_axes(stderr, t, NULL);
    for (int i = 0; c == COLUMN_FIGURES && i < op_figure_count(op); i++)
        if (op->figures[i].column) fprintf(stderr, "  %6s", op->figures[i].column);
    if (columns[c].head && table_has_column(t, c)) table_put_cell(stderr, c, columns[c].head);
}

void table_matrix(struct table *t, const struct matrix *M)
{
    t->matrix_name = M->name;
    if (t->detail == TABLE_OFF) return;
    table_clear(t);
    char mean[32], read[64], name[FAIL_TEXT_MAX];
    fprintf(stderr,
            "%s%s: %d x %d, %lld nonzeros; rows: mean %s, longest %lld, cv %.2f, %lld empty\n",
            t->headers ? "\n" : "", utf8_visible(M->name, name, sizeof name), M->A.m, M->A.n,
            (long long)M->A.nnz, cell_number(M->stats.row_mean, mean), (long long)M->stats.row_max,
            M->stats.row_cv, (long long)M->stats.empty_rows);
    t->headers++;
    if (t->detail == TABLE_VERBOSE && M->load_ms > 0)
        fprintf(stderr, "  read in %s; %s, %s%s%s\n", matrix_load_text(M, read), M->field,
                M->symmetry, M->values_drawn ? ", values drawn from the seed" : "",
                M->real_part ? ", real parts" : "");
    fprintf(stderr, "  %-*s", t->alg_width, columns[COLUMN_ALGORITHM].head);
    for (int c = COLUMN_DEVICE; c < COLUMN_COUNT; c++) print_head(t, (enum column_id)c);
    fprintf(stderr, "\n");
    show_progress(t);
}

// Collects the cases of the group that begins at row `from`, which have the same product, and
// compares them. Returns the row behind the group.
static int64_t rank_group(const struct table *t, int64_t from, enum timing_kind kind,
                          struct rank *rank)
{
    int64_t end = from;
    int count = 0;
    for (; end < t->done && case_same_product(t->rows[end].c, t->rows[from].c); end++)
        t->list[count++] = &t->rows[end].rank[kind];
    *rank = rank_make(t->list, count);
    return end;
}

// Prints the pending rows, group by group. A row is compared with the others of its group.
static void print_rows(struct table *t)
{
    struct rank rank;
    while (t->printed < t->done) {
        int64_t end = rank_group(t, t->printed, TIMING_SEPARATE, &rank);
        for (; t->printed < end; t->printed++) {
            const struct table_row *row = &t->rows[t->printed];
            if (!row->head) continue; // hidden
            fprintf(stderr, "  %-*s%s", t->alg_width, row->name, row->head);
            if (row->timed) table_row_compared(stderr, t, &row->rank[TIMING_SEPARATE]);
            fputs(row->tail, stderr);
        }
    }
}

// Returns true if the case was unsupported on the last matrix for the same reason. Such a row is
// printed once.
static bool is_known_refusal(const struct table *t, const struct result *r)
{
    const char *last = t->rows[t->done].refusal;
    return r->status == STATUS_UNSUPPORTED && last && !strcmp(last, r->reason);
}

static int note_refusal(struct table_row *row, const struct result *r)
{
    mem_free(row->refusal);
    row->refusal = NULL;
    return r->status == STATUS_UNSUPPORTED ? copy_text(r->reason, &row->refusal) : OK;
}

// Sets *text to what print() writes.
static int make_text(void (*print)(FILE *out, const struct table *t, const struct result *r),
                     const struct table *t, const struct result *r, char **text)
{
    char *made = NULL;
    size_t size;
    FILE *out = open_memstream(&made, &size);
    if (out) print(out, t, r);
    if (!out || fclose(out)) {
        free(made);
        return fail(ERR_MEMORY, "out of host memory");
    }
    int err = copy_text(made, text);
    free(made);
    return err;
}

static int keep_row(struct table *t, const struct result *r)
{
    struct table_row *row = &t->rows[t->done];
    char name[TABLE_NAME_MAX];
    bool known = is_known_refusal(t, r);
    row->c = &t->plan->cases[t->done];
    row->timed = table_row_is_timed(r);
    int err = copy_text(table_name(t, row->c, name), &row->name);
    op_add_ways(row->c->entry->op, row->c->axis, name, sizeof name);
    if (!err) err = copy_text(name, &row->ranked);
    if (!err) err = note_refusal(row, r);
    for (int i = 0; i < TIMING_KINDS; i++) {
        row->rank[i] = result_rank(r, (enum timing_kind)i);
        row->rank[i].name = row->ranked;
        if (t->devices_vary) row->rank[i].device = row->c->device;
    }
    if (err || known) return err;
    err = make_text(table_row_head, t, r, &row->head);
    return err ? err : make_text(table_row_tail, t, r, &row->tail);
}

int table_result(struct table *t, const struct result *r)
{
    const struct plan *plan = t->plan;
    int err = t->detail == TABLE_OFF ? OK : keep_row(t, r);
    if (err) return err;
    t->done++;
    if (t->detail == TABLE_OFF) return OK;
    const struct bench_case *next = t->done < plan->count ? &plan->cases[t->done] : NULL;
    table_clear(t);
    if (!next || !case_same_product(next, &plan->cases[t->done - 1])) print_rows(t);
    show_progress(t);
    return OK;
}

// Returns true if a case of the group has a back-to-back time that differs from the other time.
static bool any_back(const struct table *t, int64_t from, int64_t end)
{
    for (int64_t i = from; i < end; i++) {
        const struct rank_case *x = t->rows[i].rank;
        if (!isnan(x[TIMING_BACK_TO_BACK].ms) && x[TIMING_BACK_TO_BACK].ms != x[TIMING_SEPARATE].ms)
            return true;
    }
    return false;
}

// Prints the verdict of the group that begins at row `from`. Returns the row behind the group.
static int64_t print_fastest(const struct table *t, int64_t from, enum timing_kind kind)
{
    char what[160], inputs[128];
    struct rank rank;
    int64_t end = rank_group(t, from, kind, &rank);
    bool back = kind == TIMING_BACK_TO_BACK;
    if (back && !any_back(t, from, end)) return end;
    snprintf(what, sizeof what, "%s,%s", back ? " back to back" : "",
             inputs_text(t, t->rows[from].c, inputs));
    fastest_print(stderr, what, &rank, GRID_TEXT);
    return end;
}

// Returns true if no two cases of the plan have the same product: there is nothing to compare.
static bool is_alone(const struct plan *plan)
{
    for (int64_t i = 1; i < plan->count; i++)
        if (case_same_product(&plan->cases[i], &plan->cases[i - 1])) return false;
    return true;
}

static void print_all_fastest(const struct table *t)
{
    bool any = false;
    for (int64_t i = 0; i < t->done; i++) any |= !isnan(t->rows[i].rank[TIMING_SEPARATE].ms);
    if (!any) fprintf(stderr, "  fastest: none, no checked result\n");
    for (int64_t from = 0, end; any && from < t->done; from = end) {
        end = print_fastest(t, from, TIMING_SEPARATE);
        if (t->kind == TIMING_BACK_TO_BACK) print_fastest(t, from, TIMING_BACK_TO_BACK);
    }
}

void table_matrix_end(struct table *t, bool whole)
{
    table_clear(t);
    if (t->detail == TABLE_OFF) return;
    print_rows(t);
    if (whole && !is_alone(t->plan)) print_all_fastest(t);
}

static bool runs_on(const struct plan *plan, const char *id)
{
    for (int64_t i = 0; i < plan->count; i++)
        if (!strcmp(plan->cases[i].device, id)) return true;
    return false;
}

static void print_roof(const struct roof *roof)
{
    char rate[32], size[32];
    fprintf(stderr, "  at most");
    if (roof->memory_gb_s > 0) {
        fprintf(stderr, " %s GB/s from memory", cell_number(roof->memory_gb_s, rate));
        if (roof_is_unsteady(roof))
            fprintf(stderr, " (tries from %s%s)", cell_number(roof->memory_low_gb_s, rate),
                    roof->busy ? ", busy machine" : "");
        fputc(',', stderr);
    }
    if (roof->cache_seen_bytes)
        fprintf(stderr, " %s GB/s from %s of cache,", cell_number(roof->cache_gb_s, rate),
                size_text(roof->cache_seen_bytes, size));
    fprintf(stderr, " %s GFLOPS in f32,", cell_number(roof->fma_gflops[F32], rate));
    fprintf(stderr, " %s in f64\n", cell_number(roof->fma_gflops[F64], rate));
}

void table_head(const struct table *t, const struct bench_devices *devices)
{
    bool any = false;
    char prec[16] = "";
    if (t->detail == TABLE_OFF) return;
    if (!t->precs_vary && t->plan->count)
        snprintf(prec, sizeof prec, ", %s", prec_name(t->plan->cases[0].prec));
    table_clear(t);
    for (int i = 0; i < devices->count; i++) {
        const struct bench_device *bd = &devices->list[i];
        if (!bd->dev || !runs_on(t->plan, bd->id)) continue;
        fprintf(stderr, "spbench %s on %s%s: %s; %s\n", record_version(), bd->id, prec,
                bd->dev->name, bd->dev->detail);
        if (bd->roof.fma_gflops[F32] > 0) print_roof(&bd->roof);
        any = true;
    }
    if (!any) fprintf(stderr, "spbench %s\n", record_version());
}
