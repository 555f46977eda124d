#include "measure/prepare.h"

#include <string.h>

#include "formats/sellp.h"

const struct format_info formats[] = {
    {FORMAT_CSR, "csr", "compressed sparse rows"},
    {FORMAT_COO, "coo", "row and column of each entry, sorted by rows"},
    {FORMAT_SELLP, "sellp", "sliced ELLPACK with padded rows"},
};
const int format_count = sizeof formats / sizeof *formats;

void operands_init(struct operands *o, struct device *dev, const struct inputs *in,
                   enum layout layout)
{
    *o = (struct operands){.dev = dev, .in = in, .layout = layout};
}

void operands_free(struct operands *o)
{
    if (!o->dev) return;
    device_free(o->dev, o->A.ptr);
    device_free(o->dev, o->A.idx);
    device_free(o->dev, o->A.val);
    device_free(o->dev, o->S.ptr);
    device_free(o->dev, o->S.idx);
    device_free(o->dev, o->S.val);
    device_free(o->dev, o->coo.row);
    device_free(o->dev, o->B.val);
    device_free(o->dev, o->C.val);
    *o = (struct operands){0};
}

static void add_cost(struct setup *setup, const struct cost *cost)
{
    setup->convert_ms += cost->convert_ms;
    setup->upload_ms += cost->upload_ms;
}

// The same for values, rounded to the precision on the way, which adds to `convert_ms`.
static int place_values(struct device *d, const double *val, int64_t count, enum prec prec,
                        double *convert_ms, void **to)
{
    if (prec == F64) return device_place(d, val, count, sizeof *val, to);
    double start = clock_ms();
    float *rounded = mem_alloc(count, sizeof *rounded);
    if (!rounded) return ERR_MEMORY;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) rounded[i] = (float)val[i];
    *convert_ms += clock_ms() - start;
    int err = device_place(d, rounded, count, sizeof *rounded, to);
    mem_free(rounded);
    return err;
}

static int row_start_bytes(const struct device *d) { return d->kind == DEVICE_CPU ? 8 : 4; }

// Row starts: 64 bits on the CPU, 32 on CUDA.
static int place_row_starts(struct device *d, const struct csr *A, double *convert_ms, void **to)
{
    int64_t count = (int64_t)A->m + 1;
    if (d->kind == DEVICE_CPU) return device_place(d, A->ptr, count, sizeof *A->ptr, to);
    if (A->nnz > INT32_MAX)
        return fail(ERR_UNSUPPORTED, "%lld nonzeros do not fit in 32-bit row starts",
                    (long long)A->nnz);
    double start = clock_ms();
    int32_t *narrow = mem_alloc(count, sizeof *narrow);
    if (!narrow) return ERR_MEMORY;
    for (int64_t i = 0; i < count; i++) narrow[i] = (int32_t)A->ptr[i];
    *convert_ms += clock_ms() - start;
    int err = device_place(d, narrow, count, sizeof *narrow, to);
    mem_free(narrow);
    return err;
}

// Each need_*() makes one operand ready unless it is so already.

static int need_csr(struct operands *o, const struct csr *A, struct csr_dev *D, struct cost *cost)
{
    if (D->ptr && D->idx && D->val) return OK;
    double start = clock_ms(), convert = 0;
    D->m = A->m, D->n = A->n, D->nnz = A->nnz;
    D->ptr_bytes = row_start_bytes(o->dev);
    int err = OK;
    if (!D->ptr) err = place_row_starts(o->dev, A, &convert, &D->ptr);
    if (!err && !D->idx)
        err = device_place(o->dev, A->idx, A->nnz, sizeof *A->idx, (void **)&D->idx);
    if (!err && !D->val) err = place_values(o->dev, A->val, A->nnz, o->in->prec, &convert, &D->val);
    *cost = (struct cost){convert, clock_ms() - start - convert};
    return err;
}

static int need_coo(struct operands *o)
{
    int err = need_csr(o, o->in->A, &o->A, &o->A_cost);
    if (err || o->coo.row) return err;
    const struct csr *A = o->in->A;
    double start = clock_ms();
    int32_t *row = mem_alloc(A->nnz, sizeof *row);
    if (!row) return ERR_MEMORY;
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < A->m; i++)
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) row[p] = i;
    double converted = clock_ms();
    err = device_place(o->dev, row, A->nnz, sizeof *row, (void **)&o->coo.row);
    mem_free(row);
    o->coo.m = A->m, o->coo.n = A->n, o->coo.nnz = A->nnz;
    o->coo.col = o->A.idx;
    o->coo.val = o->A.val;
    o->coo_cost = (struct cost){converted - start, clock_ms() - converted};
    return err;
}

// B is kept row-major on the host; a column-major device gets it transposed, in blocks that stay in
// the cache.
#define TRANSPOSE_BLOCK 32
static void *transposed(const void *from, int64_t rows, int64_t cols, enum prec prec)
{
    void *to = mem_alloc(rows * cols, prec_bytes(prec));
    if (!to) return NULL;
    const float *ff = from;
    const double *fd = from;
    float *tf = to;
    double *td = to;
#pragma omp parallel for schedule(static)
    for (int64_t i0 = 0; i0 < rows; i0 += TRANSPOSE_BLOCK)
        for (int64_t j = 0; j < cols; j++)
            for (int64_t i = i0; i < min64(i0 + TRANSPOSE_BLOCK, rows); i++)
                if (prec == F32)
                    tf[j * rows + i] = ff[i * cols + j];
                else
                    td[j * rows + i] = fd[i * cols + j];
    return to;
}

static void dense_shape(struct dense_dev *D, int64_t rows, int64_t cols, enum layout layout)
{
    D->rows = rows, D->cols = cols;
    D->layout = layout;
    D->ld = layout == LAYOUT_ROW ? cols : rows;
}

static int need_dense(struct operands *o)
{
    const struct inputs *in = o->in;
    int64_t n = in->A->n, k = in->k, count;
    size_t w = prec_bytes(in->prec);
    if (o->B.val && o->C.val) return OK;
    double start = clock_ms(), convert = 0;
    dense_shape(&o->B, n, k, o->layout);
    dense_shape(&o->C, in->A->m, k, o->layout);
    int err = size_mul(in->A->m, k, &count);
    if (!err && !o->C.val) err = device_alloc(o->dev, count, w, &o->C.val);
    if (err || o->B.val) return err;
    if (o->layout == LAYOUT_ROW) {
        err = device_place(o->dev, in->B, n * k, w, &o->B.val);
    } else {
        void *turned = transposed(in->B, n, k, in->prec);
        convert = clock_ms() - start;
        err = turned ? device_place(o->dev, turned, n * k, w, &o->B.val) : ERR_MEMORY;
        mem_free(turned);
    }
    o->dense_cost = (struct cost){convert, clock_ms() - start - convert};
    return err;
}

static int share_dense(struct task *t, struct operands *o, struct setup *setup)
{
    int err = need_dense(o);
    t->B = o->B;
    t->C = o->C;
    add_cost(setup, &o->dense_cost);
    return err;
}

// SpGEMM's second factor: A again, or its transpose.
static int share_factor(struct task *t, struct operands *o, struct setup *setup,
                        int64_t *format_bytes)
{
    const struct inputs *in = o->in;
    t->S = t->A;
    if (in->S == in->A) return OK;
    int err = need_csr(o, in->S, &o->S, &o->S_cost);
    t->S = o->S;
    setup->convert_ms += in->transpose_ms;
    add_cost(setup, &o->S_cost);
    *format_bytes += csr_dev_bytes(&o->S, in->prec);
    return err;
}

// The format depends on options, so it belongs to the task and not to the shared operands.
static int make_sellp(struct task *t, struct setup *setup)
{
    struct sellp S = {0};
    struct sellp_dev *D = &t->sellp;
    double start = clock_ms();
    int err = sellp_from_csr(t->in->A, (int32_t)task_option(t, "slice"),
                             (int32_t)task_option(t, "pad"), &S);
    double converted = clock_ms();
    if (err) return err;
    *D = (struct sellp_dev){
        .m = S.m, .n = S.n, .slice = S.slice, .pad = S.pad, .slices = S.slices, .stored = S.stored};
    err = device_place(t->dev, S.ptr, S.slices + 1, sizeof *S.ptr, (void **)&D->ptr);
    if (!err) err = device_place(t->dev, S.idx, S.stored, sizeof *S.idx, (void **)&D->idx);
    double convert = 0;
    if (!err) err = place_values(t->dev, S.val, S.stored, t->in->prec, &convert, &D->val);
    setup->convert_ms += converted - start + convert;
    setup->upload_ms += clock_ms() - converted - convert;
    task_number(t, "padding", S.nnz ? (double)S.stored / (double)S.nnz : 1);
    sellp_free(&S);
    return err;
}

int64_t operands_foreign_bytes(const struct operands *o, const struct task *t)
{
    int64_t bytes = 0;
    if (o->A.val && !(t->algo->formats & (FORMAT_CSR | FORMAT_COO)))
        bytes += csr_dev_bytes(&o->A, o->in->prec);
    if (o->coo.row && !(t->algo->formats & FORMAT_COO)) bytes += o->in->A->nnz * 4;
    return bytes;
}

static int refuse_unfit(const struct task *t, const struct operands *o)
{
    const struct algo *a = t->algo;
    if (!(a->layouts & BIT(o->layout)))
        return fail(ERR_UNSUPPORTED, "%s does not do the %s-major layout", a->name,
                    layout_name(o->layout));
    if (!(a->precs & BIT(o->in->prec)))
        return fail(ERR_UNSUPPORTED, "%s does not do %s", a->name, prec_name(o->in->prec));
    return OK;
}

int task_prepare(struct task *t, struct operands *o, struct setup *setup, int64_t *format_bytes)
{
    unsigned wants = t->algo->formats;
    *setup = (struct setup){0};
    *format_bytes = 0;
    t->dev = o->dev;
    t->in = o->in;
    t->layout = o->layout;
    t->figure_count = 0;
    t->repeat_ms = 0;
    int err = refuse_unfit(t, o);
    if (err) return err;

    if (wants & FORMAT_CSR) {
        err = need_csr(o, o->in->A, &o->A, &o->A_cost);
        if (err) goto done;
        t->A = o->A;
        add_cost(setup, &o->A_cost);
        *format_bytes += csr_dev_bytes(&o->A, o->in->prec);
    }
    if (wants & FORMAT_COO) {
        if ((err = need_coo(o))) goto done;
        t->coo = o->coo;
        add_cost(setup, &o->coo_cost);
        if (!(wants & FORMAT_CSR)) add_cost(setup, &o->A_cost);
        *format_bytes += o->coo.nnz * (8 + (int64_t)prec_bytes(o->in->prec));
    }
    if (wants & FORMAT_SELLP) {
        if ((err = make_sellp(t, setup))) goto done;
        *format_bytes +=
            (t->sellp.slices + 1) * 8 + t->sellp.stored * (4 + (int64_t)prec_bytes(o->in->prec));
    }
    err = ops[t->algo->op].sparse_row ? share_factor(t, o, setup, format_bytes)
                                      : share_dense(t, o, setup);
    if (err) goto done;

    double start = clock_ms();
    if (t->algo->prepare) err = t->algo->prepare(t);
    if (!err) err = device_sync(t->dev);
    setup->analyse_ms = clock_ms() - start - t->repeat_ms;
done:
    if (err) task_teardown(t);
    return err;
}

void task_teardown(struct task *t)
{
    if (!t->dev) return;
    if (t->algo->teardown) t->algo->teardown(t);
    t->state = NULL;
    device_free(t->dev, t->sellp.ptr);
    device_free(t->dev, t->sellp.idx);
    device_free(t->dev, t->sellp.val);
    t->sellp = (struct sellp_dev){0};
}
