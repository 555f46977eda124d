// Plug-ins of spbench, version 1. A plug-in is a shared library with algorithms for sparse matrix
// multiplication. spbench checks and times these algorithms like its own.
//
//     spbench new-kernel spmm mine -cpu      writes mine.c, a Makefile and this header
//     make                                   builds mine.so
//     spbench conform -plugin ./mine.so      runs exact cases and traps
//     spbench -plugin ./mine.so -alg mine,rowsplit -k 64 web.mtx
//
// A plug-in exports one symbol, the constant spbench_plugin_v1. This header is C11 and C++11, and
// needs no other file of spbench. Copy the header into your project.
//
// Every struct begins with its size in bytes. Later headers add fields at the end of structs only.
// A plug-in sets `size` to sizeof of its own header's struct.
#ifndef SPBENCH_PLUGIN_H
#define SPBENCH_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SPBENCH_EXPORT __attribute__((visibility("default")))
#else
#define SPBENCH_EXPORT
#endif

// Operations. A is sparse m x n.
enum spbench_operation {
    SPBENCH_SPMM = 1,   // C = A * B: B dense n x k, C dense m x k
    SPBENCH_SDDMM = 2,  // C = A .* (X * Y^T): X dense m x k, Y dense n x k, C on the pattern of A
    SPBENCH_SPGEMM = 3, // C = A * S: S and C sparse; S is A, or the transpose of A
};

enum spbench_device { SPBENCH_ON_CPU = 1, SPBENCH_ON_CUDA = 2 };

// Bits of `precisions`, `layouts` and `formats`.
enum spbench_precision {
    SPBENCH_F32 = 1,
    SPBENCH_F64 = 2,
    SPBENCH_F16 = 4,       // inputs and result in IEEE half precision, sums in f32
    SPBENCH_BF16 = 8,      // inputs and result in bfloat16, sums in f32
    SPBENCH_F16_F32 = 16,  // inputs in f16, result in f32
    SPBENCH_BF16_F32 = 32, // inputs in bf16, result in f32
};
enum spbench_layout { SPBENCH_ROW_MAJOR = 1, SPBENCH_COL_MAJOR = 2 };
enum spbench_format { SPBENCH_CSR = 1 }; // the only format of version 1

// Results of prepare(), run() and alloc().
enum spbench_status {
    SPBENCH_OK = 0,
    SPBENCH_FAILED = 1,      // a call of the device or of a library failed
    SPBENCH_NO_MEMORY = 2,   // the case gets the status oom
    SPBENCH_UNSUPPORTED = 3, // the algorithm does not support this case; only from prepare()
};

// A sparse matrix in compressed sparse rows, in the memory of the device.
struct spbench_csr {
    size_t size;
    int64_t m, n, nnz; // rows, columns, nonzeros
    int64_t ptr_bytes; // size of a row start: 8 (int64_t) on the CPU, 4 (int32_t) on CUDA
    void *ptr;         // row starts, size m + 1
    int32_t *idx;      // columns, ascending in a row, size nnz
    void *val;         // values, of the type of the precision, size nnz
};

// A dense matrix in the memory of the device. Element (i, j) is at i * ld + j if the matrix is
// row-major, and at j * ld + i if the matrix is column-major.
struct spbench_dense {
    size_t size;
    int64_t rows, cols, ld;
    int64_t layout; // enum spbench_layout
    void *val;      // values, of the type of the precision
};

struct spbench_task;

// Functions of spbench that an algorithm may call during prepare(), run() and teardown(), from the
// thread that entered them. A call that breaks a rule of its function makes the case fail.
struct spbench_host {
    size_t size;
    // Allocates memory of the device, aligned to 256 bytes (on the CPU to 64). spbench counts this
    // memory as that of the algorithm. spbench frees only the result of SpGEMM by itself.
    int (*alloc)(struct spbench_task *task, int64_t bytes, void **block);
    void (*free)(struct spbench_task *task, void *block);
    // SpGEMM: begins a phase of run(). A name can be used again. A case has at most 8 names of at
    // most 31 letters. A separate run measures the phases and waits for the device here.
    void (*phase)(struct spbench_task *task, const char *name);
    // Prints a line. The last line before an error is the reason in the record.
    void (*log)(struct spbench_task *task, const char *text);
    // Adds a stat to the record of the case, under a name of at most 31 letters. A case has at
    // most 32 stats.
    void (*number)(struct spbench_task *task, const char *name, double value);
};

// A case. Pointers and sizes stay the same from prepare() to teardown(). Arrays of operands begin
// at multiples of 256 bytes (on the CPU of 64).
struct spbench_task {
    size_t size;
    int64_t precision;             // enum spbench_precision
    const struct spbench_csr *A;   // the sparse operand
    const struct spbench_csr *S;   // SpGEMM: the second factor, the same matrix as A or another
    const struct spbench_dense *B; // SpMM; of SDDMM this is X
    const struct spbench_dense *Y; // SDDMM
    const struct spbench_dense *C; // SpMM: run() writes every element
    void *C_val;                   // SDDMM: run() writes a value for each nonzero of A
    struct spbench_csr *R;         // SpGEMM: run() sets nnz, ptr_bytes, ptr, idx, val
    const double *options;         // values in the order of the algorithm's options
    void *state;                   // for the algorithm; NULL before prepare()
    void *stream;                  // cudaStream_t, as for run(); NULL on the CPU
    const struct spbench_host *host;
    int64_t threads; // CPU: most threads that run() may use, as -threads says; 0 on CUDA
};

// An option: -opt NAME=VALUE. Each value is a case of its own.
struct spbench_option {
    size_t size;
    const char *name;
    double standard, min, max;
    int64_t whole; // 1: whole numbers only
    const char *about;
};

struct spbench_algorithm {
    size_t size;
    const char *name;                     // as in -alg: letters, digits, '-', '_'
    const char *about;                    // the idea, one line of at most 60 characters
    const char *cite;                     // source: a paper, or "Own work"
    int64_t operation;                    // enum spbench_operation
    int64_t device;                       // enum spbench_device
    int64_t precisions, layouts, formats; // bits; layouts of SpMM only
    const struct spbench_option *options; // size option_count, may be NULL
    int64_t option_count;

    // Called once for each case: analysis, conversion, scratch memory. May be NULL. prepare() may
    // keep the structure of A and S, and any pointer. Values of operands change in place between
    // runs: prepare() must not keep a value, nor anything computed from values.
    int (*prepare)(struct spbench_task *task);
    // Computes the whole result from the operands, many times. All work on CUDA goes to `stream`,
    // or joins `stream` before the end. SpMM and SDDMM: run() neither allocates nor waits for the
    // device, as runs are captured as a graph. SpGEMM: run() allocates the arrays of R, waits for
    // sizes, and frees all other memory.
    int (*run)(struct spbench_task *task, void *stream);
    // Frees `state`. May be NULL. Also called after a failed prepare().
    void (*teardown)(struct spbench_task *task);
};

struct spbench_plugin {
    size_t size;
    const char *version; // of the plug-in, such as "1.0" or a revision; part of each record
    const struct spbench_algorithm *const *algorithms; // size algorithm_count
    int64_t algorithm_count;
};

extern SPBENCH_EXPORT const struct spbench_plugin spbench_plugin_v1;

#ifdef __cplusplus
}
#endif
#endif
