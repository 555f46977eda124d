// MKL as device/mkl.c finds it, and the algorithms that call it, over the library of
// fake_mkl.c: there, not there, in parts, refusing, and without memory. What the loader has found
// it keeps, so each look is done in a child.
#include <dlfcn.h>
#include <limits.h>
#include <omp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "device/mkl.h"
#include "fake_mkl.h"
#include "own.h"

static char fake[PATH_MAX];                                 // its libmkl_rt
static char folder[] = P_tmpdir "/spbench_test_mkl.XXXXXX"; // of libraries in parts

static void in_child(void (*deed)(void))
{
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        deed();
        fflush(stdout);
        _exit(test_failed != 0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && !status, "status %d", status);
}

static const char *missing_of(const char *path)
{
    setenv("MKL_RT", path, 1);
    const char *missing = mkl_missing();
    CHECK(!missing == (mkl_library() != NULL), "missing, and %s", mkl_library());
    return missing ? missing : "";
}

// It is not there, and everyone who asks gets the same line.
#define CHECK_MISSING(path, says)                                                                  \
    do {                                                                                           \
        const struct mkl *mkl = NULL;                                                              \
        const char *missing_ = missing_of(path);                                                   \
        CHECK(strstr(missing_, says) && !strchr(missing_, '\n'), "%s: %s", path, missing_);        \
        CHECK(mkl_use(&mkl) == ERR_UNSUPPORTED && !strcmp(fail_text(), missing_), "%s",            \
              fail_text());                                                                        \
    } while (0)

static void no_file(void) { CHECK_MISSING("/no/such/libmkl_rt.so", "/no/such/libmkl_rt.so"); }
static void no_library(void) { CHECK_MISSING("/proc/self/status", "MKL_RT: /proc/self/status"); }
static void another(void) { CHECK_MISSING("libz.so.1", "libz.so.1 has no MKL_Set_Interface"); }

// libmkl_rt in a folder with these parts of it alone, each an empty file.
static void make_parts(const char *const *parts, char path[PATH_MAX])
{
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command, "rm -f %s/*", folder);
    CHECK(!system(command), "%s", command);
    snprintf(path, PATH_MAX, "%s/libmkl_rt.so.2", folder);
    CHECK(!symlink(fake, path), "%s", path);
    for (; *parts; parts++) {
        snprintf(command, sizeof command, "%s/%s", folder, *parts);
        FILE *f = fopen(command, "w");
        CHECK(f && !fclose(f), "%s", command);
    }
}

#define MAKE_PARTS(...)                                                                            \
    char path[PATH_MAX];                                                                           \
    make_parts((const char *const[]){__VA_ARGS__, NULL}, path)

static void no_core(void)
{
    MAKE_PARTS("libmkl_gnu_thread.so.2");
    CHECK_MISSING(path, "libmkl_core is not beside libmkl_rt in ");
}
static void no_threads(void) // Intel's need its OpenMP library
{
    MAKE_PARTS("libmkl_core.so.2", "libmkl_intel_thread.so.2");
    CHECK_MISSING(path, "no libmkl_gnu_thread is beside libmkl_rt in ");
}
static void refused_layers(void)
{
    setenv("FAKE_MKL_REFUSE", "MKL_Set_Threading_Layer:-1", 1);
    CHECK_MISSING(fake, "refuses the interface");
}
static void refused_indices(void)
{
    setenv("FAKE_MKL_REFUSE", "MKL_Set_Interface_Layer:1", 1);
    CHECK_MISSING(fake, "refuses the interface");
}

// What the loader told it; NULL if it has not been loaded.
static const struct fake_told *told(void)
{
    void *lib = dlopen(getenv("MKL_RT"), RTLD_NOW | RTLD_NOLOAD);
    return lib ? dlsym(lib, "fake_told") : NULL;
}

static void check_there(const char *path, const char *library, int layer)
{
    const struct mkl *mkl = NULL;
    CHECK_TEXT(missing_of(path), "");
    CHECK_TEXT(mkl_library(), library);
    omp_set_num_threads(5);
    CHECK(!mkl_use(&mkl) && mkl && told(), "%s", fail_text());
    CHECK(told() && told()->layer == layer && told()->threads == 5 && !told()->fewer,
          "its layer and its threads");
}

static void gnu(void) { check_there(fake, "MKL 2019.7 (GNU threads, generic code)", 3); }
static void intel(void)
{
    MAKE_PARTS("libmkl_core.so.2", "libmkl_sequential.so", "libmkl_intel_thread.so.2",
               "libiomp5.so");
    setenv("FAKE_MKL_PROCESSOR",
           "Intel(R) Advanced Vector Extensions 2 (Intel(R) AVX2) enabled processors", 1);
    check_there(path, "MKL 2019.7 (Intel threads, AVX2)", 0);
}
static void sequential(void)
{
    MAKE_PARTS("libmkl_core.so.1", "libmkl_sequential.so.1");
    check_there(path, "MKL 2019.7 (one thread, generic code)", 1);
}

static void test_statuses(void)
{
    static const enum err codes[] = {ERR_DEVICE, ERR_DEVICE, ERR_MEMORY,      ERR_DEVICE,
                                     ERR_DEVICE, ERR_DEVICE, ERR_UNSUPPORTED, ERR_DEVICE};
    char last[FAIL_TEXT_MAX] = "";
    for (int status = 1; status < COUNT(codes); status++) {
        CHECK(mkl_fail(status, "mkl_mm") == (int)codes[status], "status %d", status);
        CHECK(!strncmp(fail_text(), "mkl_mm: ", 8) && strcmp(fail_text(), last), "%s", fail_text());
        snprintf(last, sizeof last, "%s", fail_text());
    }
    CHECK(mkl_fail(-7, "mkl_mm") == ERR_DEVICE && strstr(fail_text(), "-7"), "%s", fail_text());
}

// 40 rows of up to 7 nonzeros.
static void make_matrix(struct csr *A)
{
    CHECK(!csr_alloc(A, 40, 40, 140), "%s", fail_text());
    A->ptr[0] = 0;
    for (int32_t i = 0; i < A->m; i++) {
        A->ptr[i + 1] = A->ptr[i] + i % 8;
        for (int32_t j = 0; j < i % 8; j++) {
            A->idx[A->ptr[i] + j] = j * 5 + i % 3;
            A->val[A->ptr[i] + j] = i - 2 * j;
        }
    }
}

// Runs a case and returns its outcome. pad: elements between lines.
static struct case_outcome run_alg(const char *op, const char *alg, enum prec prec, int64_t *axis,
                                   int64_t pad, int64_t *peak)
{
    const double opt[ALGO_OPTIONS_MAX] = {0};
    const struct op *of = op_find(op);
    struct device dev;
    struct csr A;
    struct inputs in;
    struct case_outcome out = {.err = -1};
    make_matrix(&A);
    CHECK(!device_open("cpu", &dev) && !inputs_make(&in, &dev, of, &A, prec, axis, true, pad), "%s",
          fail_text());
    out = case_run(&in, algo_find(of, alg, DEVICE_CPU), opt, CHECK_FULL);
    CHECK(out.left == 0 && dev.foreign_bytes == 0, "%s: %lld and %lld bytes left", op,
          (long long)out.left, (long long)dev.foreign_bytes);
    if (peak) *peak = dev.peak_bytes;
    inputs_free(&in);
    CHECK(!dev.used_bytes, "%s: %lld bytes left on the device", op, (long long)dev.used_bytes);
    device_close(&dev);
    csr_free(&A);
    return out;
}

static struct case_outcome run_mkl(const char *op, enum prec prec, int64_t *peak)
{
    int64_t axis[AXES_MAX];
    axes_start(op_find(op), 0, axis);
    return run_alg(op, "mkl", prec, axis, 0, peak);
}

// mkl-mv at k, in both layouts.
static struct case_outcome run_mv(enum prec prec, int64_t k, enum layout layout, int64_t pad)
{
    int64_t axis[AXES_MAX] = {k, layout};
    return run_alg("spmm", "mkl-mv", prec, axis, pad, NULL);
}

// A status of any function ends the case with a line that names the function.
static void check_refused(const char *op, enum prec prec, const char *function)
{
    char how[96];
    for (int status = 2; status <= 6; status += 4) {
        snprintf(how, sizeof how, "%s:%d", function, status);
        setenv("FAKE_MKL_REFUSE", how, 1);
        struct case_outcome out = run_mkl(op, prec, NULL);
        CHECK(out.err == (status == 2 ? ERR_MEMORY : ERR_UNSUPPORTED), "%s: error %d", how,
              out.err);
        CHECK(!strncmp(fail_text(), function, strlen(function)), "%s: %s", how, fail_text());
    }
    unsetenv("FAKE_MKL_REFUSE");
}

static void refused_calls(void)
{
    setenv("MKL_RT", fake, 1);
    check_refused("spmm", F32, "mkl_sparse_s_create_csr");
    check_refused("spmm", F64, "mkl_sparse_d_create_csr");
    check_refused("spmm", F32, "mkl_sparse_set_mm_hint");
    check_refused("spmm", F32, "mkl_sparse_optimize");
    check_refused("spmm", F32, "mkl_sparse_s_mm");
    check_refused("spmm", F64, "mkl_sparse_d_mm");
    check_refused("spgemm", F64, "mkl_sparse_d_create_csr");
    check_refused("spgemm", F64, "mkl_sparse_spmm");
    check_refused("spgemm", F64, "mkl_sparse_order");
    check_refused("spgemm", F32, "mkl_sparse_s_export_csr");
    check_refused("spgemm", F64, "mkl_sparse_d_export_csr");
}

static void right_results(void)
{
    int64_t peak = 0;
    setenv("MKL_RT", fake, 1);
    for (int prec = F32; prec <= F64; prec++) {
        struct case_outcome out = run_mkl("spmm", (enum prec)prec, NULL);
        CHECK(!out.err && out.check.error_ratio == 0, "spmm: %s", fail_text());
        CHECK(told() && told()->calls > 1 && told()->layout == MKL_ROW_MAJOR, "no hint");
        out = run_mkl("spgemm", (enum prec)prec, &peak);
        CHECK(!out.err && out.check.error_ratio == 0, "spgemm: %s", fail_text());
        // C is counted, which lies in the library's memory, beside the copy of it for the check.
        int64_t width = (int64_t)type_bytes((enum prec)prec);
        CHECK(peak > 2 * out.check.result_nnz * (width + 4), "a peak of %lld bytes",
              (long long)peak);
    }
}

// The product with a vector: k = 1 alone, and no gaps between the elements.
static void vectors(void)
{
    setenv("MKL_RT", fake, 1);
    for (int prec = F32; prec <= F64; prec++)
        for (int layout = LAYOUT_ROW; layout <= LAYOUT_COL; layout++) {
            struct case_outcome out = run_mv((enum prec)prec, 1, (enum layout)layout, 0);
            CHECK(!out.err && out.check.error_ratio == 0, "layout %d: %s", layout, fail_text());
        }
    CHECK(run_mv(F32, 2, LAYOUT_ROW, 0).err == ERR_UNSUPPORTED, "k = 2");
    CHECK_TEXT(fail_text(), "the algorithm is for k = 1 only");
    CHECK(run_mv(F32, 1, LAYOUT_ROW, 3).err == ERR_UNSUPPORTED, "gaps");
    CHECK_TEXT(fail_text(), "the library takes no vector with gaps between its elements");
    CHECK(!run_mv(F32, 1, LAYOUT_COL, 3).err, "a gap behind the column: %s", fail_text());
    setenv("FAKE_MKL_REFUSE", "mkl_sparse_set_mv_hint:6", 1);
    CHECK(run_mv(F32, 1, LAYOUT_ROW, 0).err == ERR_UNSUPPORTED, "no hint");
    setenv("FAKE_MKL_REFUSE", "mkl_sparse_d_mv:2", 1);
    CHECK(run_mv(F64, 1, LAYOUT_ROW, 0).err == ERR_MEMORY, "no product");
}

// The n-th allocation fails, the library's own among them: the case is out of memory.
static void lost_memory(void)
{
    static const char *const list[] = {"spmm", "spgemm"};
    setenv("MKL_RT", fake, 1);
    CHECK(!mkl_missing(), "%s", mkl_missing());
    for (int x = 0; x < COUNT(list); x++) {
        const double opt[ALGO_OPTIONS_MAX] = {0};
        const struct op *op = op_find(list[x]);
        int64_t axis[AXES_MAX], n = 0;
        struct device dev;
        struct csr A;
        struct inputs in;
        struct setup setup;
        int err;
        make_matrix(&A);
        axes_start(op, 0, axis);
        CHECK(!device_open("cpu", &dev) && !inputs_make(&in, &dev, op, &A, F64, axis, true, 0),
              "%s", fail_text());
        case_run(&in, algo_find(op, "mkl", DEVICE_CPU), opt, CHECK_FULL); // the operands are there
        int64_t before = dev.used_bytes;
        do {
            struct task t = {.entry = algo_find(op, "mkl", DEVICE_CPU)};
            t.algo = t.entry->algo;
            mem_fail_at(++n);
            err = task_prepare(&t, &in.o, &setup);
            if (!err) {
                err = task_run(&t);
                if (!err && t.algo->finish) err = t.algo->finish(&t);
                task_release_result(&t);
                task_teardown(&t);
            }
            mem_fail_at(0);
            CHECK(!err || err == ERR_MEMORY, "allocation %lld: %s", (long long)n, fail_text());
            CHECK(dev.used_bytes == before, "allocation %lld: %lld bytes left", (long long)n,
                  (long long)(dev.used_bytes - before));
        } while (err && n < 100);
        CHECK(!err && n == (x ? 14 : 4), "%s: error %d after %lld allocations", list[x], err,
              (long long)n);
        inputs_free(&in);
        device_close(&dev);
        csr_free(&A);
    }
}

int main(void)
{
    static void (*const deeds[])(void) = {
        no_file,        no_library,      another, no_core,    no_threads,
        refused_layers, refused_indices, gnu,     intel,      sequential,
        refused_calls,  right_results,   vectors, lost_memory};
    ssize_t length = readlink("/proc/self/exe", fake, sizeof fake - 32);
    CHECK(length > 0 && mkdtemp(folder), "no place for libraries");
    if (test_failed) return TEST_END();
    fake[length] = 0;
    strcpy(strrchr(fake, '/'), "/../mkl/libmkl_rt.so");
    for (int i = 0; i < COUNT(deeds); i++) in_child(deeds[i]);
    test_statuses();
    MAKE_PARTS(NULL);
    CHECK(!unlink(path) && !rmdir(folder), "%s stays", folder);
    return TEST_END();
}
