#include "measure/output.h"

#include <stdio.h>
#include <string.h>

#include "measure/prepare.h"

#define POISON 0xff // NaN in all types

int unchecked(int err)
{
    return err == ERR_MEMORY ? fail(ERR_UNCHECKED, "not checked: %s", fail_text()) : err;
}

static int64_t width(const struct problem *p) { return (int64_t)type_bytes(prec_out(p->prec)); }

struct device_block output_block(const struct task *t)
{
    if (t->C.val) return dense_block(&t->C, prec_out(t->prec));
    const int64_t nnz = t->val ? t->A[0]->nnz : 0;
    return (struct device_block){.p = t->val, .bytes = nnz * out_bytes(t)};
}

int output_poison(struct task *t)
{
    const struct device_block b = output_block(t);
    return device_fill(t->dev, b.p, POISON, b.bytes);
}

// Returns true if a product of `work` multiply-adds can have this many nonzeros.
static bool sizes_are_possible(const struct csr_dev *R, int64_t work)
{
    return R->nnz >= 0 && R->nnz <= work && (R->ptr_bytes == 4 || R->ptr_bytes == 8);
}

bool output_is_whole(const struct task *t)
{
    const struct csr_dev *R = &t->R;
    return R->m >= 0 && sizes_are_possible(R, t->work) &&
           device_holds(t->dev, R->ptr, ((int64_t)R->m + 1) * R->ptr_bytes) &&
           device_holds(t->dev, R->idx, R->nnz * (int64_t)sizeof *R->idx) &&
           device_holds(t->dev, R->val, R->nnz * out_bytes(t));
}

struct device_view output_values(const struct task *t)
{
    const int real = REAL_OF(prec_out(t->prec)), width = (int)out_bytes(t);
    if (t->C.val) return dense_view(&t->C, prec_out(t->prec));
    const int64_t count = t->val ? t->A[0]->nnz : t->R.nnz;
    return (struct device_view){t->val ? t->val : t->R.val, 1, count, count, width, real};
}

// Sets `v` to the arrays of a result. Returns their number; 0 if lengths and sizes disagree.
static int views(const struct task *t, struct device_view v[OUTPUT_ARRAYS])
{
    const struct csr_dev *R = &t->R;
    v[0] = output_values(t);
    if (t->C.val || t->val) return 1;
    int64_t starts = (int64_t)R->m + 1;
    v[1] = (struct device_view){R->idx, 1, R->nnz, R->nnz, 4, ONLY_BITS};
    v[2] = (struct device_view){R->ptr, 1, starts, starts, R->ptr_bytes, ONLY_BITS};
    return output_is_whole(t) ? 3 : 0;
}

int output_digest(struct task *t, struct output_bits *out)
{
    struct device_view v[OUTPUT_ARRAYS];
    int err = OK, count = views(t, v);
    *out = (struct output_bits){.nnz = t->R.nnz, .m = t->R.m, .n = t->R.n};
    for (int i = 0; i < count && !err; i++) err = device_digest(t->dev, &v[i], &out->bits[i]);
    return err;
}

bool output_same(const struct output_bits *x, const struct output_bits *y)
{
    bool same = x->nnz == y->nnz && x->m == y->m && x->n == y->n;
    for (int i = 0; i < OUTPUT_ARRAYS; i++) same &= x->bits[i] == y->bits[i];
    return same;
}

int output_spoil(struct task *t, uint64_t seed)
{
    struct device_view v[OUTPUT_ARRAYS];
    return views(t, v) ? device_spoil(t->dev, &v[0], seed) : OK;
}

#define PAGE_BYTES   4096
#define THREADS_FROM ((int64_t)4 << 20) // bytes; for fewer, starting threads takes longer
void output_touch(const struct task *t)
{
    struct device_view v[OUTPUT_ARRAYS];
    if (!device_is_host(t->dev) || !views(t, v)) return;
    const int64_t bytes = (v[0].lines - 1) * v[0].step * v[0].width + v[0].length * v[0].width;
#pragma omp parallel for schedule(static) if (bytes > THREADS_FROM)
    for (int64_t b = 0; b < bytes; b += PAGE_BYTES) (void)((volatile const char *)v[0].p)[b];
}

void output_free(struct output_view *R)
{
    mem_free(R->ptr);
    mem_free(R->idx);
    mem_free(R->val);
    mem_free(R->place);
    *R = (struct output_view){0};
}

// Bytes checked behind each line of a dense matrix: a run must leave the gap between lines alone.
#define GAP_BYTES 1024
static int check_gap(struct device *d, const char *gap, int64_t bytes, bool *touched)
{
    char room[GAP_BYTES];
    bytes = min64(bytes, GAP_BYTES);
    int err = device_download(d, room, gap, bytes);
    for (int64_t b = 0; b < bytes && !err; b++) *touched |= room[b] != (char)POISON;
    return err;
}

static int download_dense(const struct task *t, struct output_view *R)
{
    const struct dense_dev *C = &t->C;
    int64_t w = width(R->p), length = dense_length(C) * w, step = C->ld * w;
    R->layout = C->layout;
    R->val = mem_alloc(dense_lines(C) * dense_length(C), (size_t)w);
    int err = R->val ? OK : ERR_MEMORY;
    if (!err && step == length)
        err = device_download(t->dev, R->val, C->val, dense_lines(C) * step);
    bool touched = false;
    for (int64_t l = 0; l < dense_lines(C) && step > length && !err; l++) {
        const char *line = (const char *)C->val + l * step;
        err = device_download(t->dev, (char *)R->val + l * length, line, length);
        if (!err) err = check_gap(t->dev, line + length, step - length, &touched);
    }
    if (touched)
        snprintf(R->broken, sizeof R->broken, "something was written between the rows of C");
    return err;
}

// Copies the order of the rows of C, if the algorithm has an order of its own.
static int download_order(const struct task *t, struct output_view *R)
{
    int64_t rows = R->p->rows;
    int32_t *order = mem_alloc(rows, sizeof *order);
    R->place = mem_alloc(rows, sizeof *R->place);
    int err = order && R->place ? OK : ERR_MEMORY;
    if (!err) err = device_download(t->dev, order, t->order, rows * (int64_t)sizeof *order);
    for (int64_t i = 0; i < rows && !err; i++) R->place[i] = -1;
    for (int64_t i = 0; i < rows && !err; i++)
        if (order[i] >= 0 && order[i] < rows) R->place[order[i]] = (int32_t)i;
    for (int64_t i = 0; i < rows && !err; i++)
        if (R->place[i] < 0) {
            snprintf(R->broken, sizeof R->broken, "row %lld has no place in C", (long long)i);
            R->place[i] = 0;
        }
    mem_free(order);
    return err;
}

static int download_pattern(const struct task *t, struct output_view *R)
{
    int64_t nnz = R->p->A->nnz;
    R->val = mem_alloc(nnz, (size_t)out_bytes(t));
    return R->val ? device_download(t->dev, R->val, t->val, nnz * width(R->p)) : ERR_MEMORY;
}

// Sets R->broken if the row starts are wrong.
static void check_starts(struct output_view *R)
{
    int64_t m = R->p->rows;
    if (R->ptr[0] != 0 || R->ptr[m] != R->nnz) {
        snprintf(R->broken, sizeof R->broken,
                 "the row starts go from %lld to %lld and should go from 0 to %lld",
                 (long long)R->ptr[0], (long long)R->ptr[m], (long long)R->nnz);
        return;
    }
    for (int64_t i = 0; i < m; i++)
        if (R->ptr[i] > R->ptr[i + 1] || R->ptr[i + 1] > R->nnz) {
            snprintf(R->broken, sizeof R->broken, "row %lld ends at %lld, before it starts",
                     (long long)i, (long long)R->ptr[i + 1]);
            return;
        }
}

// Returns true if the columns of row i ascend and lie inside the matrix.
static bool columns_are_right(const struct output_view *R, int64_t i)
{
    const int32_t *idx = R->idx + (R->ptr[i] - R->first);
    int64_t before = -1, n = R->p->cols, count = R->ptr[i + 1] - R->ptr[i];
    for (int64_t e = 0; e < count; e++) {
        if (idx[e] <= before || idx[e] >= n) return false;
        before = idx[e];
    }
    return true;
}

static void tell_columns(struct output_view *R, int64_t i)
{
    snprintf(R->broken, sizeof R->broken,
             "row %lld: its columns are not ascending, unique and inside the matrix", (long long)i);
}

static void check_columns(struct output_view *R)
{
    int64_t m = R->p->rows, bad = -1;
#pragma omp parallel for schedule(dynamic, 64) reduction(max : bad)
    for (int64_t i = 0; i < m; i++)
        if (!columns_are_right(R, i)) bad = max64(bad, i);
    if (bad >= 0) tell_columns(R, bad);
}

static int download_starts(const struct task *t, struct output_view *R)
{
    const struct csr_dev *D = &t->R;
    int64_t starts = R->p->rows + 1;
    if (D->m != R->p->rows || D->n != R->p->cols) {
        snprintf(R->broken, sizeof R->broken, "C is %d x %d and should be %lld x %lld", D->m, D->n,
                 (long long)R->p->rows, (long long)R->p->cols);
        return OK;
    }
    if (!sizes_are_possible(D, R->p->work)) {
        snprintf(R->broken, sizeof R->broken,
                 "C has %lld nonzeros of %lld products, starts of %d bytes", (long long)D->nnz,
                 (long long)R->p->work, (int)D->ptr_bytes);
        return OK;
    }
    if (!output_is_whole(t)) {
        snprintf(R->broken, sizeof R->broken, "the arrays of C are shorter than its %lld nonzeros",
                 (long long)D->nnz);
        return OK;
    }
    R->nnz = D->nnz;
    R->ptr = mem_alloc(starts, sizeof *R->ptr);
    int err = R->ptr ? OK : ERR_MEMORY;
    if (!err) err = device_download(t->dev, R->ptr, D->ptr, starts * D->ptr_bytes);
    if (err) return err;
    // Narrow starts are widened in place, from the end.
    for (int64_t i = starts - 1; i >= 0 && D->ptr_bytes == 4; i--) {
        int32_t start;
        memcpy(&start, (char *)R->ptr + 4 * i, 4);
        R->ptr[i] = start;
    }
    check_starts(R);
    return OK;
}

static int download_entries(const struct task *t, struct output_view *R, int64_t first,
                            int64_t count)
{
    const int64_t w = width(R->p);
    mem_free(R->idx);
    mem_free(R->val);
    R->first = first;
    R->idx = mem_alloc(count, sizeof *R->idx);
    R->val = mem_alloc(count, (size_t)w);
    int err = R->idx && R->val ? OK : ERR_MEMORY;
    if (!err) err = device_download(t->dev, R->idx, t->R.idx + first, count * 4);
    if (!err) err = device_download(t->dev, R->val, (char *)t->R.val + first * w, count * w);
    return err;
}

static int download_sparse(const struct task *t, struct output_view *R)
{
    int err = download_starts(t, R);
    if (err || R->broken[0]) return err;
    err = download_entries(t, R, 0, R->nnz);
    if (!err) check_columns(R);
    return err;
}

int output_starts(const struct task *t, const struct problem *p, struct output_view *out)
{
    *out = (struct output_view){.p = p};
    int err = download_starts(t, out);
    if (err) output_free(out);
    return unchecked(err);
}

int output_row(const struct task *t, struct output_view *R, int64_t i)
{
    int err = download_entries(t, R, R->ptr[i], R->ptr[i + 1] - R->ptr[i]);
    if (!err && !columns_are_right(R, i)) tell_columns(R, i);
    return unchecked(err);
}

int output_download(const struct task *t, const struct problem *p, struct output_view *out)
{
    int err = OK;
    *out = (struct output_view){.p = p};
    switch (p->op->result) {
    case RESULT_DENSE:
        err = download_dense(t, out);
        if (!err && t->order) err = download_order(t, out);
        break;
    case RESULT_PATTERN: err = download_pattern(t, out); break;
    case RESULT_SPARSE: err = download_sparse(t, out); break;
    }
    if (err) output_free(out);
    return unchecked(err);
}

int64_t output_count(const struct output_view *R, int64_t i)
{
    switch (R->p->op->result) {
    case RESULT_DENSE: return R->p->cols;
    case RESULT_PATTERN: return R->p->A->ptr[i + 1] - R->p->A->ptr[i];
    default: return R->ptr[i + 1] - R->ptr[i];
    }
}

int64_t output_col(const struct output_view *R, int64_t i, int64_t e)
{
    switch (R->p->op->result) {
    case RESULT_DENSE: return e;
    case RESULT_PATTERN: return R->p->A->idx[R->p->A->ptr[i] + e];
    default: return R->idx[R->ptr[i] + e - R->first];
    }
}

double output_at(const struct output_view *R, int64_t i, int64_t e)
{
    const struct problem *p = R->p;
    int64_t q = 0;
    if (R->place) i = R->place[i];
    switch (p->op->result) {
    case RESULT_DENSE: q = R->layout == LAYOUT_ROW ? i * p->cols + e : e * p->rows + i; break;
    case RESULT_PATTERN: q = p->A->ptr[i] + e; break;
    case RESULT_SPARSE: q = R->ptr[i] + e - R->first; break;
    }
    return type_load(prec_out(p->prec), R->val, q);
}
