// KERNEL: SDDMM by a compiled kernel, C = A .* (X * Y^T), row-major. EDIT marks lines to change.
//     make && spbench conform -plugin ./KERNEL.so
//     spbench -op sddmm -plugin ./KERNEL.so -alg "KERNEL,cusparse*" -k 64 MATRIX
#include "spbench_plugin.h"

#include <dlfcn.h>
#include <stdio.h>

#define NAME    "SYMBOL" // EDIT: name of the kernel; cuobjdump -symbols lists the names
#define THREADS 128      // EDIT: threads of a block; Triton: 32 * num_warps of its .json file
#define SHARED  0        // EDIT: bytes of dynamic shared memory; Triton: shared of its .json file

// The cubin, fatbin or PTX becomes part of the plug-in, and of its hash.
__asm__(".section .rodata\n.balign 64\nmodule: .incbin \"MODULE\"\n.byte 0\n.previous");
extern const char module[] __attribute__((visibility("hidden")));
static void *kernel; // NULL: not loaded yet
static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     void *, void **, void **);

static int check(struct spbench_task *t, int error)
{
    char text[sizeof NAME + 64];
    snprintf(text, sizeof text, "kernel " NAME ": CUDA error %d (see CUresult)", error);
    return error ? t->host->log(t, text), SPBENCH_FAILED : SPBENCH_OK;
}

static int prepare(struct spbench_task *t)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *loaded;
    if (!cuda) return t->host->log(t, dlerror()), SPBENCH_FAILED;
    int (*load)(void **, const void *) = dlsym(cuda, "cuModuleLoadData");
    int (*find)(void **, void *, const char *) = dlsym(cuda, "cuModuleGetFunction");
    int (*set)(void *, int, int) = dlsym(cuda, "cuFuncSetAttribute"); // 8: dynamic shared memory
    launch = dlsym(cuda, "cuLaunchKernel");
    int error = kernel ? 0 : load(&loaded, module);
    if (!error && !kernel) error = find(&kernel, loaded, NAME);
    return check(t, error ? error : set(kernel, 8, SHARED));
}

static int run(struct spbench_task *t, void *stream)
{
    struct spbench_csr A = *t->A;
    struct spbench_dense X = *t->B, Y = *t->Y;
    // EDIT: number of blocks, and the address of each argument of the kernel, in order. Sizes are
    // 64-bit here. For Triton they are 32-bit, and NULLs for its scratch memory can follow:
    //     int32_t m = (int32_t)A.m, k = (int32_t)X.cols; void *none = NULL;
    //     void *args[] = {&A.ptr, &A.idx, &A.val, &X.val, &Y.val, &t->C_val, &m, &k, &none, &none};
    const unsigned blocks = (unsigned)((A.m + THREADS - 1) / THREADS);
    void *args[] = {&A.m, &X.cols, &A.ptr, &A.idx, &A.val, &X.val, &X.ld, &Y.val, &Y.ld, &t->C_val};
    if (!blocks) return SPBENCH_OK;
    return check(t, launch(kernel, blocks, 1, 1, THREADS, 1, 1, SHARED, stream, args, NULL));
}

static const struct spbench_algorithm algorithm = { // EDIT: precisions
    .size = sizeof algorithm, .name = "KERNEL", .about = "a compiled kernel", .cite = "Own work",
    .operation = SPBENCH_SDDMM, .device = SPBENCH_ON_CUDA, .precisions = SPBENCH_F32,
    .formats = SPBENCH_CSR, .prepare = prepare, .run = run};
static const struct spbench_algorithm *const list[] = {&algorithm};
const struct spbench_plugin spbench_plugin_v1 = {sizeof spbench_plugin_v1, "0.1", list, 1};
