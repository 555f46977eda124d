// SpMM by strips, for an A with many nonzeros in few columns, such as pruned weights. A
// multiprocessor needs most rows of B many times. By pieces (pieces.cuh) each nonzero loads its row
// of B from the L2, which limits the speed. Here the row comes from shared memory. Words:
//
// panel    rows of A that one block computes. The rows are a fixed distance apart, so that panels
//          have about the same work
// strip    neighbouring rows of B. Shared memory holds one slab of two strips at a time
// slab     128 bytes of a row of B, and the same columns of C
// segment  nonzeros of a row of A in the columns of a strip
// step     four nonzeros of a segment, which a warp multiplies at once, by groups of eight lanes
//
// A block goes through B strip by strip, and copies the next strip while it multiplies by the
// current strip. A warp has 1 to 4 rows of the panel, whose sums stay in registers. A copy of the
// nonzeros is in the order in which the warps use them, each with the position of its row of B in
// shared memory. So a warp reads them one after the other, ahead of time, across segments. The last
// step of a segment is filled with zeros, whose row of B is zero too.
//
// strips_multiply.cuh  the kernel
// strips_list.cuh      the nonzeros in that order, made on the device
// strips_pay.cuh       the rule for strips, and the number of rows per warp
// strips.cu            sizes, and the launch
#include <string.h>

#include "strips_pay.cuh"

template <typename T, int ROWS> static void start(const struct task *t, const struct strips *s)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const strip_operands<T> x = {s->steps,
                                 s->starts,
                                 (const few<sum_type<T>> *)s->blocks,
                                 (const T *)t->in[0].val,
                                 t->C.val,
                                 A->m,
                                 A->n,
                                 (int32_t)t->C.cols,
                                 s->panels,
                                 s->height,
                                 s->count,
                                 s->B_step,
                                 s->C_step,
                                 result_is_narrow(t)};
    auto kernel = multiply_strips<T, ROWS>;
    LAUNCH(kernel, dim3((unsigned)s->panels, (unsigned)s->slabs), STRIP_THREADS,
           strips_bytes(s->height, s->count) + STRIP_EXTRA, t->dev->stream, x);
}

template <typename T> static void start_rows(const struct task *t, const struct strips *s)
{
    if (s->rows == 1)
        start<T, 1>(t, s);
    else if (s->rows == 2)
        start<T, 2>(t, s);
    else
        start<T, 4>(t, s);
}

void strips_start(const struct task *t, const struct strips *s) { BY_TYPE(t, start_rows, t, s); }

template <typename T> static int allow_all_shared(const struct device *d)
{
    int err = allow_shared(d, multiply_strips<T, 1>);
    if (!err) err = allow_shared(d, multiply_strips<T, 2>);
    if (!err) err = allow_shared(d, multiply_strips<T, 4>);
    return err;
}

void strips_free(struct device *d, struct strips *s)
{
    device_free(d, s->steps);
    device_free(d, s->starts);
    device_free(d, s->blocks);
}

// Returns true if rows of B and C begin at multiples of 16 bytes.
static bool strips_fit(const struct task *t)
{
    const int64_t bytes = in_bytes(t);
    return t->C.cols * bytes % 16 == 0 && t->in[0].ld * bytes % 16 == 0 &&
           t->C.ld * out_bytes(t) % 16 == 0 && t->A[0]->nnz > 0 && t->C.cols > 0;
}

// Returns true if an option sets a property of pieces, which excludes strips.
static bool pieces_are_meant(const struct task *t)
{
    double defaults[ALGO_OPTIONS_MAX];
    const struct algo_option *p;
    algo_defaults(t->algo, defaults);
    for (int i = 0; (p = algo_option_at(t->algo, i)) != NULL; i++)
        if (strcmp(p->name, "strips") && task_option(t, p->name) != defaults[i]) return true;
    return false;
}

static int choose(struct task *t, struct strips *s, int wanted)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    int most, err = OK;
    CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, t->dev->index));
    const int64_t rows = (most - STRIP_EXTRA) / STRIP_SLAB;
    const int64_t strips = A->n <= rows ? 1 : ceil_div(A->n, rows / 2);
    const int64_t slabs = ceil_div(t->C.cols * in_bytes(t), STRIP_SLAB);
    if (slabs > 65535) return OK; // blocks of a grid
    s->height = (int32_t)ceil_div(A->n, strips);
    s->count = (int32_t)ceil_div(A->n, s->height);
    s->slabs = (int32_t)slabs;
    if (wanted < 0)
        err = choose_rows(t, s);
    else
        take_rows(t, s, wanted == 3 ? 2 : wanted);
    if (!err) err = row_step(t, &t->in[0], &s->B_step);
    return err ? err : row_step(t, &t->C, &s->C_step);
}

int strips_choose(struct task *t, struct strips *s)
{
    const int wanted = (int)task_option(t, "strips");
    *s = {};
    if (t->C.layout != LAYOUT_ROW || wanted == 0 || !strips_fit(t) ||
        (wanted < 0 && pieces_are_meant(t)))
        return OK;
    return choose(t, s, wanted);
}

int strips_make(struct task *t, struct strips *s)
{
    int err = BY_TYPE(t, allow_all_shared, t->dev);
    if (!err) err = BY_TYPE(t, make_blocks, t, s);
    if (err == ERR_MEMORY && task_option(t, "strips") < 0) { // pieces need no such memory
        strips_free(t->dev, s);
        *s = {};
        return fail_drop();
    }
    return err;
}
