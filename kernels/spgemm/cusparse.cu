// NVIDIA's cuSPARSE: every algorithm that cusparseSpGEMM offers for CSR, and cusparseSpGEMMreuse.
//
// https://docs.nvidia.com/cuda/cusparse, "cusparseSpGEMM". 32-bit indices, so nnz(C) is at most
// 2^31 - 1. The library refuses a larger product, and its error is passed on. A run allocates and
// frees all buffers that the library asks for, as a run is the whole product. The buffers count in
// the peak memory. The rows of C are sorted by column. 16-bit values are summed in 16 bits, as the
// library refuses their sums in f32 (12.6.3 and 12.9.4).
//
// DEFAULT and ALG1 hold all intermediate products at once. ALG2 first estimates how much memory
// they need. ALG3 also makes them in chunks; `chunk` is the fraction of the products in each.
// H200, 33 matrices: ALG2 takes half the memory of ALG1 and 1.26 times the time, ALG3 half the
// memory and 3.4 times the time.
//
// cusparse-reuse is for repeated products of one structure. prepare() makes everything that depends
// only on the structure, including C's arrays. A run computes the values of C.
#include "cusparse.cuh"
#include "result.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

struct variant {
    cusparseSpGEMMAlg_t alg;
    bool estimate; // calls cusparseSpGEMM_estimateMemory
};

#define BUFFERS 5

// Descriptors and buffers of a product. cusparse-reuse keeps them from prepare() to teardown().
struct product {
    cusparseConstSpMatDescr_t A, S;
    cusparseSpMatDescr_t C;
    cusparseSpGEMMDescr_t descr;
    void *buffer[BUFFERS];
    int64_t buffer_bytes; // sum over all buffers that were allocated
    struct csr_dev R;
};

struct state {
    struct cusparse_library lib;
    bool empty;  // no products: cuSPARSE is not called
    bool asked;  // the library has taken or refused the types
    float chunk; // option of ALG3: the fraction of the products that are made at once
    struct product kept;
};

// Arguments that the functions of a product share.
#define PRODUCT(s, p, alg)                                                                         \
    (s)->lib.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,           \
        &(s)->lib.one, (p)->A, (p)->S, &(s)->lib.zero, (p)->C, (s)->lib.sum, alg, (p)->descr
#define STRUCTURE(s, p, alg)                                                                       \
    (s)->lib.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, (p)->A,   \
        (p)->S, (p)->C, alg, (p)->descr

static int alloc_buffer(struct device *d, struct product *p, int i, size_t bytes)
{
    p->buffer_bytes += (int64_t)bytes;
    return device_alloc(d, (int64_t)bytes, 1, &p->buffer[i]);
}

static void free_buffer(struct device *d, struct product *p, int i)
{
    device_free(d, p->buffer[i]);
    p->buffer[i] = NULL;
}

// Frees all but C, once for each product: the descriptors are not reset.
static void free_product(struct device *d, struct product *p)
{
    if (p->descr) cusparseSpGEMM_destroyDescr(p->descr);
    if (p->C) cusparseDestroySpMat(p->C);
    if (p->S) cusparseDestroySpMat(p->S);
    if (p->A) cusparseDestroySpMat(p->A);
    for (int i = 0; i < BUFFERS; i++) free_buffer(d, p, i);
}

// The descriptors, and the row starts of C.
static int begin(struct task *t, const struct state *s, struct product *p)
{
    int err = result_begin(t, sizeof(int32_t), &p->R);
    if (!err) err = cusparse_describe(&s->lib, csr_of(t->A[0]), &p->A);
    if (!err) err = cusparse_describe(&s->lib, csr_of(t->S[0]), &p->S);
    if (err) return err;
    CUSPARSE_TRY(cusparseCreateCsr, &p->C, p->R.m, p->R.n, 0, p->R.ptr, NULL, NULL,
                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, s->lib.out);
    CUSPARSE_TRY(cusparseSpGEMM_createDescr, &p->descr);
    return OK;
}

// Allocates C's columns and values once the library knows nnz(C).
static int alloc_result(struct task *t, struct product *p)
{
    int64_t rows, cols;
    CUSPARSE_TRY(cusparseSpMatGetSize, p->C, &rows, &cols, &p->R.nnz);
    if (p->R.nnz < 0 || p->R.nnz > INT32_MAX)
        return fail(ERR_UNSUPPORTED, "cuSPARSE: %lld nonzeros of C do not fit in 32-bit row starts",
                    (long long)p->R.nnz);
    int err = result_alloc(t->dev, &p->R);
    if (err) return err;
    CUSPARSE_TRY(cusparseCsrSetPointers, p->C, p->R.ptr, p->R.idx, p->R.val);
    return OK;
}

// Sets *bytes to the size of the buffer that cusparseSpGEMM_compute gets.
static int estimate(struct task *t, const struct state *s, const struct variant *v,
                    struct product *p, size_t *bytes)
{
    // ALG2 also takes the fraction, and ignores it. A chunk has at least one product.
    float chunk = 1;
    if (v->alg == CUSPARSE_SPGEMM_ALG3) {
        int64_t products;
        CUSPARSE_TRY(cusparseSpGEMM_getNumProducts, p->descr, &products);
        chunk = fmaxf(s->chunk, (float)(1.0 / (double)max64(products, 1)));
    }
    size_t own_bytes = 0;
    CUSPARSE_TRY(cusparseSpGEMM_estimateMemory, PRODUCT(s, p, v->alg), chunk, &own_bytes, NULL,
                 NULL);
    int err = alloc_buffer(t->dev, p, 2, own_bytes);
    if (err) return err;
    CUSPARSE_TRY(cusparseSpGEMM_estimateMemory, PRODUCT(s, p, v->alg), chunk, &own_bytes,
                 p->buffer[2], bytes);
    free_buffer(t->dev, p, 2);
    return OK;
}

static int multiply(struct task *t, const struct state *s, const struct variant *v,
                    struct product *p)
{
    size_t bytes = 0;
    int err = task_phase(t, "analyse");
    if (!err) err = begin(t, s, p);
    if (err) return err;
    CUSPARSE_TRY(cusparseSpGEMM_workEstimation, PRODUCT(s, p, v->alg), &bytes, NULL);
    err = alloc_buffer(t->dev, p, 0, bytes);
    if (err) return err;
    CUSPARSE_TRY(cusparseSpGEMM_workEstimation, PRODUCT(s, p, v->alg), &bytes, p->buffer[0]);

    bytes = 0;
    if (v->estimate)
        err = estimate(t, s, v, p, &bytes);
    else
        CUSPARSE_TRY(cusparseSpGEMM_compute, PRODUCT(s, p, v->alg), &bytes, NULL);
    if (!err) err = task_phase(t, "numeric");
    if (!err) err = alloc_buffer(t->dev, p, 1, bytes);
    if (err) return err;
    CUSPARSE_TRY(cusparseSpGEMM_compute, PRODUCT(s, p, v->alg), &bytes, p->buffer[1]);

    err = task_phase(t, "allocate");
    if (!err) err = alloc_result(t, p);
    if (!err) err = task_phase(t, "copy");
    if (err) return err;
    CUSPARSE_TRY(cusparseSpGEMM_copy, PRODUCT(s, p, v->alg));
    task_number(t, "buffer_bytes", (double)p->buffer_bytes);
    return OK;
}

// Makes a C without nonzeros.
static int make_empty(struct task *t, struct csr_dev *R)
{
    int err = result_begin(t, sizeof(int32_t), R);
    if (!err) err = result_alloc(t->dev, R);
    return err ? err : device_fill(t->dev, R->ptr, 0, ((int64_t)R->m + 1) * R->ptr_bytes);
}

// Returns the result of ask(). During the call stdout is /dev/null: the library prints refusals of
// types there, also with its logger disabled, and records may go to stdout.
template <typename F> static int ask_quietly(F ask)
{
    fflush(stdout);
    const int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const bool quiet = out >= 0 && null >= 0 && dup2(null, STDOUT_FILENO) >= 0;
    int err = ask();
    fflush(stdout);
    if (quiet && dup2(out, STDOUT_FILENO) < 0)
        err = fail(ERR_DEVICE, "stdout cannot be restored: %s", strerror(errno));
    if (out >= 0) close(out);
    if (null >= 0) close(null);
    return err;
}

extern "C" int spgemm_cusparse_cuda_prepare(struct task *t)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    t->state = s;
    s->empty = t->work == 0;
    s->kept.R.format = &format_csr;
    return cusparse_open(t, algo_sums(t->algo, t->prec), &s->lib);
}

extern "C" int spgemm_cusparse_alg3_cuda_prepare(struct task *t)
{
    int err = spgemm_cusparse_cuda_prepare(t);
    if (!err) ((struct state *)t->state)->chunk = (float)task_option(t, "chunk");
    return err;
}

static int run(struct task *t, const struct variant *v)
{
    struct state *s = (struct state *)t->state;
    if (s->empty) return make_empty(t, &t->R);
    struct product p = {};
    auto ask = [&]() { return multiply(t, s, v, &p); };
    int err = s->asked ? ask() : ask_quietly(ask);
    s->asked = true;
    free_product(t->dev, &p);
    if (p.R.format) t->R = p.R; // the caller frees C, also after an error
    return err;
}

extern "C" void spgemm_cusparse_cuda_teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (!s) return;
    free_product(t->dev, &s->kept);
    sparse_release(t->dev, &s->kept.R.head);
    cusparse_close(&s->lib);
    mem_free(s);
    t->state = NULL;
}

#define REUSE_ALG CUSPARSE_SPGEMM_DEFAULT

// Makes C's structure. Buffers are freed as soon as the library's documentation allows it.
static int make_structure(struct task *t, const struct state *s, struct product *p)
{
    struct device *d = t->dev;
    size_t bytes[BUFFERS] = {0};
    int err = begin(t, s, p);
    if (err) return err;
    CUSPARSE_TRY(cusparseSpGEMMreuse_workEstimation, STRUCTURE(s, p, REUSE_ALG), &bytes[0], NULL);
    err = alloc_buffer(d, p, 0, bytes[0]);
    if (err) return err;
    CUSPARSE_TRY(cusparseSpGEMMreuse_workEstimation, STRUCTURE(s, p, REUSE_ALG), &bytes[0],
                 p->buffer[0]);
    CUSPARSE_TRY(cusparseSpGEMMreuse_nnz, STRUCTURE(s, p, REUSE_ALG), &bytes[1], NULL, &bytes[2],
                 NULL, &bytes[3], NULL);
    for (int i = 1; i <= 3 && !err; i++) err = alloc_buffer(d, p, i, bytes[i]);
    if (err) return err;
    CUSPARSE_TRY(cusparseSpGEMMreuse_nnz, STRUCTURE(s, p, REUSE_ALG), &bytes[1], p->buffer[1],
                 &bytes[2], p->buffer[2], &bytes[3], p->buffer[3]);
    free_buffer(d, p, 0);
    free_buffer(d, p, 1);
    err = alloc_result(t, p);
    if (err) return err;
    CUSPARSE_TRY(cusparseSpGEMMreuse_copy, STRUCTURE(s, p, REUSE_ALG), &bytes[4], NULL);
    err = alloc_buffer(d, p, 4, bytes[4]);
    if (err) return err;
    CUSPARSE_TRY(cusparseSpGEMMreuse_copy, STRUCTURE(s, p, REUSE_ALG), &bytes[4], p->buffer[4]);
    free_buffer(d, p, 2);
    task_number(t, "buffer_bytes", (double)p->buffer_bytes);
    return OK;
}

extern "C" int spgemm_cusparse_reuse_cuda_prepare(struct task *t)
{
    int err = spgemm_cusparse_cuda_prepare(t);
    if (err) return err;
    struct state *s = (struct state *)t->state;
    if (s->empty) return make_empty(t, &s->kept.R);
    return ask_quietly([&]() { return make_structure(t, s, &s->kept); });
}

static int reuse_compute(const struct state *s)
{
    CUSPARSE_TRY(cusparseSpGEMMreuse_compute, PRODUCT(s, &s->kept, REUSE_ALG));
    return OK;
}

extern "C" int spgemm_cusparse_reuse_cuda_run(struct task *t)
{
    struct state *s = (struct state *)t->state;
    const struct product *p = &s->kept;
    t->R = p->R;
    if (s->empty) return OK;
    int err = task_phase(t, "numeric");
    // C's values are not a new allocation, so the poison of the check is written here. The poison
    // is a finite number in all types, as the library may multiply C by beta = 0.
    if (!err && t->dev->poison) err = device_fill(t->dev, p->R.val, 0x7b, p->R.nnz * out_bytes(t));
    if (err) return err;
    err = s->asked ? reuse_compute(s) : ask_quietly([&]() { return reuse_compute(s); });
    s->asked = true;
    return err;
}

// C belongs to the state.
extern "C" void spgemm_cusparse_reuse_cuda_release(struct task *t) { t->R = {}; }

#define VARIANT(symbol, alg, estimate, prepare_function, option_list)                              \
    static const struct variant symbol##_variant = {alg, estimate};                                \
    extern "C" int spgemm_##symbol##_cuda_run(struct task *t) { return run(t, &symbol##_variant); }
CUSPARSE_SPGEMM(VARIANT)
