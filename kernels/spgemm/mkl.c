// Intel's MKL: SpGEMM of its inspector-executor routines, with the columns of C in order.
//
// https://www.intel.com/content/www/us/en/docs/onemkl, "Inspector-Executor Sparse BLAS Routines":
// mkl_sparse_spmm makes C with unsorted rows; mkl_sparse_order sorts them and is timed as well.
// Format: CSR. C lies in MKL's memory and is copied only for the check. The library is loaded when
// the program runs, see device/mkl.h.
#include "cpu.h"
#include "mkl_csr.h"
#include "spgemm/result.h"

#include <string.h>

struct state {
    const struct mkl *mkl;
    struct mkl_csr A, S; // S.A NULL: S is A
    mkl_matrix C;        // NULL: no C, or an empty C, for which MKL is not called
    int64_t memory;      // bytes that MKL held before the run
};

// Arrays of C in MKL's memory, with 32-bit indices.
struct view {
    int base, rows, cols, *start, *end, *idx;
    void *val;
};

static int look_at(const struct task *t, struct view *v)
{
    const struct state *s = t->state;
    if (prec_is_f32(t->prec))
        MKL_TRY(s->mkl, mkl_sparse_s_export_csr, s->C, &v->base, &v->rows, &v->cols, &v->start,
                &v->end, &v->idx, (float **)&v->val);
    else
        MKL_TRY(s->mkl, mkl_sparse_d_export_csr, s->C, &v->base, &v->rows, &v->cols, &v->start,
                &v->end, &v->idx, (double **)&v->val);
    if (v->base || v->rows != t->A[0]->m || v->cols != t->S[0]->n)
        return fail(ERR_DEVICE, "C of MKL is %d x %d, from %d on", v->rows, v->cols, v->base);
    return OK;
}

static int prepare(struct task *t)
{
    struct state *s = t->state = mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    int err = mkl_use(&s->mkl);
    if (err || !t->work) return err;
    err = mkl_csr_make(s->mkl, t, csr_of(t->A[0]), &s->A);
    if (!err && t->S[0] != t->A[0]) err = mkl_csr_make(s->mkl, t, csr_of(t->S[0]), &s->S);
    return err;
}

static int multiply(struct task *t, struct state *s)
{
    struct view v;
    int err = task_phase(t, "multiply");
    if (err) return err;
    MKL_TRY(s->mkl, mkl_sparse_spmm, MKL_NON_TRANSPOSE, s->A.A, s->S.A ? s->S.A : s->A.A, &s->C);
    mkl_memory_count(t->dev, s->memory);

    err = task_phase(t, "sort");
    if (err) return err;
    MKL_TRY(s->mkl, mkl_sparse_order, s->C);
    mkl_memory_count(t->dev, s->memory);
    err = look_at(t, &v);
    if (!err) t->R.nnz = v.rows ? v.end[v.rows - 1] : 0;
    return err;
}

static void release(struct task *t)
{
    struct state *s = t->state;
    if (!s || !s->C) return;
    s->mkl->mkl_sparse_destroy(s->C);
    s->C = NULL;
    device_count_foreign(t->dev, 0);
}

static int run(struct task *t)
{
    struct state *s = t->state;
    t->R.nnz = 0;
    if (!s->A.A) return OK;
    s->memory = mkl_memory_start();
    int err = multiply(t, s);
    if (err) release(t);
    return err;
}

static int finish(struct task *t)
{
    const struct state *s = t->state;
    struct view v = {0};
    int64_t longest;
    int err = result_begin(t, sizeof(int64_t), &t->R);
    if (!err && s->C) err = look_at(t, &v);
    if (err) return err;
    int64_t *length = (int64_t *)t->R.ptr + 1;
    for (int64_t i = 0; i < t->R.m; i++) length[i] = s->C ? v.end[i] - v.start[i] : 0;
    err = result_sum_rows(t->dev, &t->R, &longest);
    if (err || !s->C) return err;
    const int64_t *ptr = t->R.ptr, width = in_bytes(t);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < t->R.m; i++) {
        size_t count = (size_t)(ptr[i + 1] - ptr[i]);
        memcpy(t->R.idx + ptr[i], v.idx + v.start[i], count * sizeof *t->R.idx);
        memcpy((char *)t->R.val + ptr[i] * width, (char *)v.val + v.start[i] * width,
               count * (size_t)width);
    }
    return OK;
}

static void teardown(struct task *t)
{
    struct state *s = t->state;
    if (!s) return;
    release(t);
    mkl_csr_free(s->mkl, t, &s->A);
    mkl_csr_free(s->mkl, t, &s->S);
    task_free_state(t);
}

const struct algo spgemm_mkl_cpu = {
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .S = {&format_csr},
    .arith = ARITH_PREC,
    .cite = "Intel, oneAPI Math Kernel Library, mkl_sparse_spmm and mkl_sparse_order",
    .missing = mkl_missing,
    .vendor = "MKL",
    .call = "mkl_sparse_spmm and mkl_sparse_order",
    .library = mkl_library,
    ALGO_FUNCTIONS(prepare, run, teardown),
    .finish = finish,
    .release = release,
};
