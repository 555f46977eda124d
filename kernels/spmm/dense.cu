// SpMM with A as a dense matrix: NVIDIA's cuBLAS, cublasGemmEx. A comparison that shows the density
// above which a sparse product is slower.
//
// https://docs.nvidia.com/cuda/cublas, "cublasGemmEx". prepare() writes A with all of its zeros,
// row-major, in m * n elements. Both layouts, any k. Sums of 16-bit values are in f32, also between
// parts of a product. The library is loaded at run time, see device/cublas.h.
//
// Limits: the device's memory must hold the dense A. An infinity in B makes NaN where A has a zero.
#include "device/cublas.h"
#include "kernel.cuh"

#define THREADS 256

struct state {
    const struct cublas *cublas;
    cublas_handle handle;
    void *A; // size m * n, row-major
};

// A warp for each row.
template <typename W>
static __global__ void __launch_bounds__(THREADS)
    write_rows(int64_t m, int64_t n, const int32_t *__restrict__ ptr,
               const int32_t *__restrict__ idx, const W *__restrict__ val, W *__restrict__ A)
{
    const int64_t i = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / WARP;
    if (i >= m) return;
    for (int32_t p = ptr[i] + lane_id(); p < ptr[i + 1]; p += WARP) A[i * n + idx[p]] = val[p];
}

template <typename W> static void start(const struct task *t, void *A)
{
    const struct csr_dev *from = csr_of(t->A[0]);
    auto kernel = write_rows<W>;
    LAUNCH(kernel, (unsigned)ceil_div(from->m, THREADS / WARP), THREADS, 0, t->dev->stream,
           (int64_t)from->m, (int64_t)from->n, (const int32_t *)from->ptr, from->idx,
           (const W *)from->val, (W *)A);
}

#define CUBLAS_TRY(s, function, ...)                                                               \
    do {                                                                                           \
        const int cublas_try_status = (s)->cublas->function(__VA_ARGS__);                          \
        if (cublas_try_status) return cublas_fail(cublas_try_status, #function);                   \
    } while (0)

extern "C" int spmm_dense_cuda_prepare(struct task *t)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    const int64_t bytes = in_bytes(t);
    int64_t size;
    t->state = s;
    if (!s) return ERR_MEMORY;
    int err = cublas_use(&s->cublas);
    if (!err) err = size_mul(t->A[0]->m, t->A[0]->n, &size);
    if (!err) err = device_alloc(t->dev, size, (size_t)bytes, &s->A);
    if (!err) err = device_fill(t->dev, s->A, 0, size * bytes);
    if (!err && size) BY_BYTES(bytes, start, t, s->A);
    if (!err) err = launch_check(t->entry->name);
    if (err) return err;
    CUBLAS_TRY(s, cublasCreate_v2, &s->handle);
    CUBLAS_TRY(s, cublasSetStream_v2, s->handle, t->dev->stream);
    CUBLAS_TRY(s, cublasSetMathMode, s->handle, CUBLAS_FULL_SUMS);
    return OK;
}

// cuBLAS takes column-major matrices: a row-major matrix is its transpose. C^T = B^T A^T.
extern "C" int spmm_dense_cuda_run(struct task *t)
{
    const struct state *s = (const struct state *)t->state;
    const struct dense_dev *B = &t->in[0], *C = &t->C;
    const int in = cuda_data_type(prec_in(t->prec)), out = cuda_data_type(prec_out(t->prec));
    const bool wide = t->prec == F64;
    const int sums = wide ? CUBLAS_SUMS_F64 : CUBLAS_SUMS_F32;
    const int64_t m = C->rows, k = C->cols, n = B->rows;
    const float one_f32 = 1, zero_f32 = 0;
    const double one_f64 = 1, zero_f64 = 0;
    const void *one = wide ? (const void *)&one_f64 : &one_f32;
    const void *zero = wide ? (const void *)&zero_f64 : &zero_f32;
    if (m == 0 || k == 0) return OK;
    if (C->layout == LAYOUT_ROW)
        CUBLAS_TRY(s, cublasGemmEx_64, s->handle, CUBLAS_NO_TRANSPOSE, CUBLAS_NO_TRANSPOSE, k, m, n,
                   one, B->val, in, B->ld, s->A, in, max64(n, 1), zero, C->val, out, C->ld, sums,
                   CUBLAS_DEFAULT);
    else
        CUBLAS_TRY(s, cublasGemmEx_64, s->handle, CUBLAS_TRANSPOSE, CUBLAS_NO_TRANSPOSE, m, k, n,
                   one, s->A, in, max64(n, 1), B->val, in, max64(B->ld, 1), zero, C->val, out,
                   C->ld, sums, CUBLAS_DEFAULT);
    return launch_check(t->entry->name);
}

extern "C" void spmm_dense_cuda_teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (!s) return;
    if (s->handle) s->cublas->cublasDestroy_v2(s->handle);
    device_free(t->dev, s->A);
    task_free_state(t);
}
