#include "algos/op.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/words.h"
#include "formats/csr.h"

#define OP(name) extern const struct op op_##name;
#include "algos/ops.def"
#undef OP

#define OP(name) &op_##name,
const struct op *const ops[] = {
#include "algos/ops.def"
};
#undef OP
const int op_count = COUNT(ops);

const struct op *op_find(const char *name)
{
    for (int i = 0; i < op_count; i++)
        if (!strcmp(ops[i]->name, name)) return ops[i];
    return NULL;
}

int op_axis_count(const struct op *op)
{
    int count = 0;
    while (op->axes[count]) count++;
    return count;
}

int op_number_count(const struct op *op)
{
    int count = 0;
    while (op->numbers && op->numbers[count].name) count++;
    return count;
}

const char *op_axes_text(const struct op *op, const int64_t *axis, char text[OP_AXES_TEXT])
{
    char value[32];
    text[0] = 0;
    for (int a = 0; op->axes[a]; a++)
        if (axis_is_written(op->axes[a], axis[a]))
            words_print(text, OP_AXES_TEXT, "%s%s %s", text[0] ? ", " : "", op->axes[a]->name,
                        axis_text(op->axes[a], axis[a], value));
    return text;
}

void op_add_ways(const struct op *op, const int64_t *axis, char *text, size_t size)
{
    char value[32];
    for (int a = 0; op->axes[a]; a++)
        if (axis_has_ways(op->axes[a], axis[a]))
            words_print(text, size, " %s=%s", op->axes[a]->name,
                        axis_text(op->axes[a], axis[a], value));
}

const char *result_name(enum result_kind kind)
{
    static const char *const names[] = {"dense", "pattern", "sparse"};
    return names[kind];
}

// k stops where the sizes of dense matrices would not fit in what libraries take.
static const int64_t tried_ks[] = {1,   2,   3,   8,   31, 32, 33, 64, 65,
                                   100, 128, 130, 256, 16, 48, 96, -1};
const struct axis axis_k = {
    .name = "k",
    .values = "NUMBERS",
    .about = "columns of the dense matrices",
    .min = 1,
    .max = INT32_MAX,
    .standard = 64,
    .tried = tried_ks,
};

static const char *const layouts[] = {[LAYOUT_ROW] = "row", [LAYOUT_COL] = "col", NULL};
const struct axis axis_layout = {
    .name = "layout",
    .values = "NAMES",
    .about = "layouts of the dense matrices: row, col",
    .words = layouts,
    .standard = LAYOUT_ROW,
    .quiet = true,
};

void source_init(struct source *s, const struct csr *A)
{
    *s = (struct source){.A = A, .row_sum = -1, .value = -1, .used_rows = -1, .used_columns = -1};
    for (int type = 0; type < TYPES; type++) s->rounding[type] = -1;
}

void source_free(struct source *s)
{
    csr_free(&s->transposed);
    mem_free(s->turned);
    source_init(s, s->A);
}

double source_row_sum(struct source *s)
{
    const struct csr *A = s->A;
    double largest = 0;
    if (s->row_sum >= 0) return s->row_sum;
#pragma omp parallel for schedule(dynamic, 1024) reduction(max : largest)
    for (int32_t i = 0; i < A->m; i++) {
        double sum = 0;
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) sum += fabs(A->val[p]);
        largest = fmax(largest, sum);
    }
    return s->row_sum = largest;
}

double source_value(struct source *s)
{
    const struct csr *A = s->A;
    double largest = 0;
    if (s->value >= 0) return s->value;
#pragma omp parallel for schedule(static) reduction(max : largest)
    for (int64_t p = 0; p < A->nnz; p++) largest = fmax(largest, fabs(A->val[p]));
    return s->value = largest;
}

double source_rounding(struct source *s, enum prec type)
{
    const struct csr *A = s->A;
    const double most = source_value(s);
    double off = 0, all = 0;
    if (s->rounding[type] >= 0 || !(most > 0)) return fmax(s->rounding[type], 0);
#pragma omp parallel for schedule(static) reduction(+ : off, all)
    for (int64_t p = 0; p < A->nnz; p++) {
        const double x = A->val[p] / most, error = type_round(type, A->val[p]) / most - x;
        off += error * error;
        all += x * x;
    }
    return s->rounding[type] = sqrt(off / all);
}

int64_t source_used_rows(struct source *s)
{
    const struct csr *A = s->A;
    int64_t used = 0;
    if (s->used_rows >= 0) return s->used_rows;
    for (int32_t i = 0; i < A->m; i++) used += A->ptr[i] < A->ptr[i + 1];
    return s->used_rows = used;
}

int source_used_columns(struct source *s, int64_t *count)
{
    const struct csr *A = s->A;
    *count = s->used_columns;
    if (*count >= 0) return OK;
    char *used = mem_zero_alloc(A->n, 1);
    if (!used) return ERR_MEMORY;
    for (int64_t p = 0; p < A->nnz; p++) used[A->idx[p]] = 1;
    *count = 0;
    for (int32_t j = 0; j < A->n; j++) *count += used[j];
    mem_free(used);
    s->used_columns = *count;
    return OK;
}

int source_transpose(struct source *s)
{
    if (s->turned) return OK;
    struct source *turned = mem_alloc(1, sizeof *turned);
    int err = turned ? csr_transpose(s->A, &s->transposed) : ERR_MEMORY;
    if (err) {
        mem_free(turned);
        return err;
    }
    source_init(turned, &s->transposed);
    s->turned = turned;
    return OK;
}

int problem_bound(struct problem *p, double bound)
{
    const enum prec sum = prec_sum(p->prec);
    p->bound = bound;
    if (bound <= type_list[sum].largest / 2) return OK;
    return fail(ERR_UNSUPPORTED, "sums of %s %g overflow %s%s",
                bound <= DBL_MAX ? "up to" : "more than", fmin(bound, DBL_MAX), prec_name(sum),
                bound <= DBL_MAX / 2 ? "; try -prec f64" : "");
}

int problem_make(struct problem *p)
{
    p->factor = p->source;
    p->A = p->stored = p->source->A;
    int64_t flops;
    int err = p->op->make(p);
    if (!err) err = size_mul(p->work, 2, &flops);
    if (err) problem_free(p);
    return err;
}

void problem_free(struct problem *p)
{
    for (int i = 0; i < DENSE_MAX; i++) {
        mem_free(p->in[i].val);
        p->in[i] = (struct dense){0};
    }
}

int64_t problem_flops(const struct problem *p) { return 2 * p->work; }

double op_draw_whole(uint64_t seed, int64_t i, double density)
{
    const double x = random_value(seed, (uint64_t)i);
    return fabs(x) <= density ? copysign(1, x) : 0;
}

// Draws element i of a dense input.
static void draw(const struct problem *p, const struct dense *D, uint64_t seed, int64_t i)
{
    const enum prec type = prec_in(p->prec);
    double x = random_value(seed, (uint64_t)i);
    if (p->density > 0)
        x = op_draw_whole(seed, i, p->density);
    else if (p->integers)
        x = floor(x * 4);
    else if (type == F64) // more bits than f32 has, so that who loads it as f32 is seen
        x += 0x1p-24 * random_value(~seed, (uint64_t)i);
    type_store(type, D->val, i, x);
}

int dense_make(struct problem *p, int which, int64_t rows, int64_t cols)
{
    struct dense *D = &p->in[which];
    int64_t count;
    int err = size_mul(rows, cols, &count);
    if (err) return err;
    *D = (struct dense){rows, cols, mem_alloc(count, type_bytes(prec_in(p->prec)))};
    if (!D->val) return ERR_MEMORY;
    uint64_t seed = which ? random_at(p->seed, (uint64_t)which) : p->seed;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) draw(p, D, seed, i);
    return OK;
}

int64_t op_csr_bytes(const struct csr *A, enum prec type)
{
    return csr_bytes(A->m, A->nnz, 4, type);
}

int row_alloc(struct row *row, const struct problem *p, int64_t room)
{
    size_t scratch = p->op->row_scratch ? p->op->row_scratch(p) : 0;
    *row = (struct row){0};
    int64_t sparse = p->op->result == RESULT_SPARSE ? room : 0;
    row->col = mem_alloc(sparse, sizeof *row->col);
    row->each = mem_alloc(sparse, sizeof *row->each);
    row->ref = mem_alloc(room, sizeof *row->ref);
    row->error = mem_alloc(room, sizeof *row->error);
    row->scratch = mem_zero_alloc((int64_t)scratch, 1);
    if (row->col && row->each && row->ref && row->error && row->scratch) return OK;
    row_free(row);
    return ERR_MEMORY;
}

void row_free(struct row *row)
{
    mem_free(row->col);
    mem_free(row->each);
    mem_free(row->ref);
    mem_free(row->error);
    mem_free(row->scratch);
    *row = (struct row){0};
}

uint64_t op_column_hash(int64_t j) { return random_at(0xc01, (uint64_t)j); }

double op_weight(const struct problem *p, int64_t j)
{
    double x = random_value(p->seed ^ 0x5eed, (uint64_t)j);
    return x < 0 ? x / 2 - 0.5 : x / 2 + 0.5;
}

const struct axis *axis_all(int i)
{
    const struct axis *seen[AXES_ALL_MAX];
    int count = 0;
    for (int x = 0; x < op_count; x++)
        for (int a = 0; ops[x]->axes[a]; a++) {
            bool known = false;
            for (int s = 0; s < count; s++) known |= seen[s] == ops[x]->axes[a];
            if (known) continue;
            if (count == AXES_ALL_MAX) bug("-%s: an axis too many", ops[x]->axes[a]->name);
            seen[count++] = ops[x]->axes[a];
        }
    return i < count ? seen[i] : NULL;
}

int axis_place(const struct axis *axis)
{
    int i = 0;
    while (axis_all(i) != axis) i++;
    return i;
}

const char *axis_ops(const struct axis *axis, char text[64])
{
    text[0] = 0;
    for (int x = 0; x < op_count; x++)
        for (int a = 0; ops[x]->axes[a]; a++)
            if (ops[x]->axes[a] == axis) words_and(text, 64, ops[x]->name);
    return text;
}
