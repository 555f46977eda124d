// gen.c, gen_kinds.c and load.c: the shape of each generator's matrices, the same bits everywhere,
// errors, and every allocation failing in turn.
#include "data/gen.h"
#include "data/load.h"
#include "csr_equal.h"
#include "test.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t fnv(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash;
}

// FNV-1a over the arrays, with the sizes in front.
static uint64_t checksum(const struct csr *A)
{
    int64_t size[3] = {A->m, A->n, A->nnz};
    uint64_t hash = fnv(0xcbf29ce484222325u, size, sizeof size);
    hash = fnv(hash, A->ptr, ((size_t)A->m + 1) * sizeof *A->ptr);
    hash = fnv(hash, A->idx, (size_t)A->nnz * sizeof *A->idx);
    return fnv(hash, A->val, (size_t)A->nnz * sizeof *A->val);
}

// Sizes from the formula of each form, and the bits of seed 42. A checksum that moves means that
// results are no longer comparable with older ones: do not just write the new one here.
static const struct {
    const char *spec;
    int64_t m, n, nnz; // nnz -1: not known beforehand
    uint64_t sum;
} golden[] = {
    {"fem:1", 3, 3, 9, 0x835a52d07a4e8981u},
    {"fem:4", 192, 192, 9 * 1000, 0xff707a6ac63e7fa0u},
    {"stencil:1", 1, 1, 1, 0xb0174231f530c0a3u},
    {"stencil:9", 81, 81, 5 * 81 - 36, 0x92fa994cf8736ed3u},
    {"rmat:0:3", 1, 1, 1, 0x428edd9dc43123f9u},
    {"rmat:7:8", 128, 128, -1, 0x9ff92a67847472efu},
    {"uniform:1:1", 1, 1, 1, 0xb0174231f530c0a3u},
    {"uniform:300:5", 300, 300, 1500, 0xaa8a3817b30d4825u},
    {"uniform:20:20", 20, 20, 400, 0x806ad3a1d7a67ffdu},
    {"skew:10001:2:1000", 10001, 10001, 3 * 1000 + 9998 * 2, 0x0213b26e943b8b47u},
    {"skew:6000:1:600", 6000, 6000, 2 * 600 + 5998, 0xc7ca75bd28915027u},
    {"band:1:1", 1, 1, 1, 0xb0174231f530c0a3u},
    {"band:50:7", 50, 50, 50 * 7 - 12, 0x55f03b22aa6b3e8cu},
    {"band:50:4", 50, 50, 50 * 4 - 1 - 3, 0xbda9520e79c4776eu},
    {"band:6:6", 6, 6, 36 - 3 - 6, 0xc13a36cec2a1c5e7u},
    {"aspect:3:100", 3, 33, 99, 0x5fe46d5220d65537u},
    {"aspect:64:64", 64, 1, 64, 0x3ddd3b637a72a4a0u},
    {"sparse2d:128:64:300", 128, 64, 300, 0xfe24aee7e788f8e7u},
    {"sparse2d:16:8:127", 16, 8, 127, 0xa70d5c6a9c28fbf7u},
    {"sparse2d:3:5:15", 3, 5, 15, 0x03c61fc34269b519u},
};

static void test_golden(void)
{
    for (size_t t = 0; t < sizeof golden / sizeof *golden; t++) {
        struct csr A, B, C;
        int err = gen_matrix(golden[t].spec, 42, &A);
        CHECK(!err, "%s: %s", golden[t].spec, fail_text());
        if (err) continue;
        const char *broken = csr_check(&A);
        CHECK(!broken, "%s: %s", golden[t].spec, broken);
        CHECK(A.m == golden[t].m && A.n == golden[t].n, "%s: %d x %d", golden[t].spec, A.m, A.n);
        CHECK(golden[t].nnz < 0 || A.nnz == golden[t].nnz, "%s: nnz %lld", golden[t].spec,
              (long long)A.nnz);
        CHECK(checksum(&A) == golden[t].sum, "%s: 0x%016llxu", golden[t].spec,
              (unsigned long long)checksum(&A));
        int64_t zeros = 0;
        for (int64_t p = 0; p < A.nnz; p++) zeros += !(fabs(A.val[p]) > 0 && A.val[p] == A.val[p]);
        CHECK(zeros == 0, "%s: %lld zeros", golden[t].spec, (long long)zeros);

        char spec[64];
        snprintf(spec, sizeof spec, "gen:%s", golden[t].spec);
        int threads = omp_get_max_threads();
        omp_set_num_threads(3);
        CHECK(!gen_matrix(spec, 42, &B) && csr_equal(&A, &B), "%s: 3 threads differ", spec);
        omp_set_num_threads(threads);
        CHECK(!gen_matrix(spec, 43, &C) && memcmp(A.val, C.val, sizeof *A.val),
              "%s: the seed changes nothing", spec);
        csr_free(&A);
        csr_free(&B);
        csr_free(&C);
    }
}

static int64_t length(const struct csr *A, int64_t i) { return A->ptr[i + 1] - A->ptr[i]; }

static struct csr make(const char *spec)
{
    struct csr A;
    CHECK(!gen_matrix(spec, 1, &A), "%s: %s", spec, fail_text());
    return A;
}

// The reference matrices of the project: their sizes.
static void test_reference(void)
{
    static const struct {
        const char *spec;
        int64_t m, nnz_min, nnz_max;
    } known[] = {
        {"fem:28", 65856, 4962312, 4962312},
        {"stencil:1000", 1000000, 4996000, 4996000},
        {"uniform:500000:8", 500000, 4000000, 4000000},
        {"skew:300000:6:20000", 300000, 2999640, 2999640},
        // 1,942,914 for the seed that was measured: within a few standard deviations.
        {"rmat:17:16", 131072, 1940000, 1946000},
    };
    for (size_t t = 0; t < sizeof known / sizeof *known; t++) {
        struct csr A = make(known[t].spec);
        CHECK(A.m == known[t].m && A.n == A.m, "%s: %d x %d", known[t].spec, A.m, A.n);
        CHECK(A.nnz >= known[t].nnz_min && A.nnz <= known[t].nnz_max, "%s: nnz %lld", known[t].spec,
              (long long)A.nnz);
        csr_free(&A);
    }
}

static bool has(const struct csr *A, int64_t i, int64_t j)
{
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
        if (A->idx[p] == j) return true;
    return false;
}

static int64_t distance(int64_t a, int64_t b) { return a > b ? a - b : b - a; }

// Every pair of rows, against what the words of the form say.
static void test_meshes(void)
{
    enum { N = 4 };
    struct csr A = make("fem:4"), S = make("stencil:4"), B = make("band:40:6");
    int64_t wrong = 0;
    for (int64_t i = 0; i < A.m; i++)
        for (int64_t j = 0; j < A.n; j++) {
            int64_t a = i / 3, b = j / 3;
            bool near = distance(a % N, b % N) <= 1 && distance(a / N % N, b / N % N) <= 1 &&
                        distance(a / N / N, b / N / N) <= 1;
            wrong += has(&A, i, j) != near;
        }
    CHECK(wrong == 0, "fem: %lld", (long long)wrong);
    for (int64_t i = 0; i < S.m; i++)
        for (int64_t j = 0; j < S.n; j++)
            wrong += has(&S, i, j) != (distance(i % N, j % N) + distance(i / N, j / N) <= 1);
    CHECK(wrong == 0, "stencil: %lld", (long long)wrong);
    for (int64_t i = 0; i < B.m; i++)
        for (int64_t j = 0; j < B.n; j++) wrong += has(&B, i, j) != (j >= i - 2 && j <= i + 3);
    CHECK(wrong == 0, "band: %lld", (long long)wrong);
    csr_free(&A);
    csr_free(&S);
    csr_free(&B);
}

static void test_random_rows(void)
{
    struct csr A = make("skew:10001:3:2000"), U = make("uniform:4000:20");
    int64_t wrong = 0;
    for (int64_t i = 0; i < A.m; i++) wrong += length(&A, i) != (i % 5000 ? 3 : 2000);
    CHECK(wrong == 0, "skew: %lld rows have another length", (long long)wrong);
    for (int64_t i = 0; i < U.m; i++) wrong += length(&U, i) != 20;
    CHECK(wrong == 0, "uniform: %lld rows have another length", (long long)wrong);
    // 80,000 columns thrown into 8 parts: 10,000 each, with a standard deviation of 94.
    int64_t part[8] = {0};
    for (int64_t p = 0; p < U.nnz; p++) part[U.idx[p] / 500]++;
    for (int b = 0; b < 8; b++)
        CHECK(part[b] > 9500 && part[b] < 10500, "part %d has %lld", b, (long long)part[b]);
    csr_free(&A);
    csr_free(&U);
}

static void test_rmat(void)
{
    // 160,000 entries, of which few coincide: a quarter of the matrix has its share of them.
    struct csr A = make("rmat:14:10");
    double share[2][2] = {{0}};
    int32_t half = A.m / 2;
    for (int32_t i = 0; i < A.m; i++)
        for (int64_t p = A.ptr[i]; p < A.ptr[i + 1]; p++)
            share[i >= half][A.idx[p] >= half] += 1.0 / (double)A.nnz;
    CHECK(share[0][0] > 0.53 && share[0][0] < 0.59, "%f", share[0][0]);
    CHECK(share[0][1] > 0.18 && share[0][1] < 0.22, "%f", share[0][1]);
    CHECK(share[1][0] > 0.18 && share[1][0] < 0.22, "%f", share[1][0]);
    CHECK(share[1][1] > 0.04 && share[1][1] < 0.07, "%f", share[1][1]);
    csr_free(&A);
}

static void test_sparse2d(void)
{
    struct csr A = make("sparse2d:1000:400:20000");
    double mean = 20, spread = 0;
    for (int64_t i = 0; i < A.m; i++)
        spread += ((double)length(&A, i) - mean) * ((double)length(&A, i) - mean) / A.m;
    // Binomial rows: the variance is about the mean; rows of one length would have none.
    CHECK(spread > 15 && spread < 25, "variance %f", spread);
    csr_free(&A);
}

static void test_errors(void)
{
    static const struct {
        const char *spec;
        enum err err;
        const char *text;
    } wrong[] = {
        {"", ERR_USAGE,
         "gen:: no generator is called ''; there are fem, stencil, rmat, uniform, skew, band, "
         "aspect and sparse2d"},
        {"fen:3", ERR_USAGE,
         "gen:fen:3: no generator is called 'fen'; did you mean fem? there are fem, stencil, rmat, "
         "uniform, skew, "
         "band, aspect and sparse2d"},
        {"gen:fem", ERR_USAGE, "gen:fem: 0 numbers given, 1 wanted; the form is gen:fem:N"},
        {"fem:3:4", ERR_USAGE, "gen:fem:3:4: 2 numbers given, 1 wanted; the form is gen:fem:N"},
        {"skew:3", ERR_USAGE, "gen:skew:3: 1 number given, 3 wanted; the form is gen:skew:M:D:L"},
        {"fem:", ERR_USAGE, "gen:fem:: N is '', not a whole number; the form is gen:fem:N"},
        {"fem:-1", ERR_USAGE, "gen:fem:-1: N is '-1', not a whole number; the form is gen:fem:N"},
        {"fem:3 ", ERR_USAGE, "gen:fem:3 : N is '3 ', not a whole number; the form is gen:fem:N"},
        {"rmat:3:1e3", ERR_USAGE,
         "gen:rmat:3:1e3: E is '1e3', not a whole number; the form is gen:rmat:L:E"},
        {"fem:9223372036854775808", ERR_USAGE,
         "gen:fem:9223372036854775808: N is '9223372036854775808', not a whole number below 2^63; "
         "the form is gen:fem:N"},
        {"fem:0", ERR_USAGE, "gen:fem:0: N is 0, it must be from 1 to 894; the form is gen:fem:N"},
        {"stencil:46341", ERR_USAGE,
         "gen:stencil:46341: N is 46341, it must be from 1 to 46340; the form is gen:stencil:N"},
        {"rmat:31:1", ERR_USAGE,
         "gen:rmat:31:1: L is 31, it must be from 0 to 30; the form is gen:rmat:L:E"},
        {"rmat:3:0", ERR_USAGE,
         "gen:rmat:3:0: E is 0, it must be from 1 to 2147483647; the form is gen:rmat:L:E"},
        {"uniform:2147483648:1", ERR_USAGE,
         "gen:uniform:2147483648:1: M is 2147483648, it must be from 1 to 2147483647; the form is "
         "gen:uniform:M:D"},
        {"uniform:10:11", ERR_USAGE,
         "gen:uniform:10:11: D is 11, it must be from 1 to 10; the form is gen:uniform:M:D"},
        {"skew:10:2:11", ERR_USAGE,
         "gen:skew:10:2:11: L is 11, it must be from 1 to 10; the form is gen:skew:M:D:L"},
        {"band:10:0", ERR_USAGE,
         "gen:band:10:0: B is 0, it must be from 1 to 10; the form is gen:band:M:B"},
        {"aspect:10:9", ERR_USAGE,
         "gen:aspect:10:9: NNZ is 9, it must be from 10 to 21474836470; the form is "
         "gen:aspect:M:NNZ"},
        {"sparse2d:5:4:21", ERR_USAGE,
         "gen:sparse2d:5:4:21: NNZ is 21, it must be from 1 to 20; the form is "
         "gen:sparse2d:M:N:NNZ"},
        {"sparse2d:3:1000000000:1", ERR_USAGE,
         "gen:sparse2d:3:1000000000:1: too few entries: over 268435456 rows or columns need an "
         "entry for each 8"},
    };
    int64_t nnz;
    for (size_t t = 0; t < sizeof wrong / sizeof *wrong; t++) {
        struct csr A = {.m = 7};
        int err = gen_matrix(wrong[t].spec, 1, &A);
        CHECK(err == (int)wrong[t].err, "%s: %d", wrong[t].spec, err);
        CHECK_TEXT(fail_text(), wrong[t].text);
        CHECK(!A.ptr && !A.m, "%s: something is left", wrong[t].spec);
        fail(OK, "nothing yet");
        fail_drop();
        CHECK(gen_look(wrong[t].spec, &nnz) == err, "%s: a look says %s", wrong[t].spec,
              fail_text());
        CHECK_TEXT(fail_text(), wrong[t].text);
    }
    // More than any machine has, in each of the ways to get there.
    static const char *huge[] = {"uniform:2147483647:2147483647", "band:2147483647:2147483647",
                                 "rmat:30:2147483647", "aspect:1073741824:2305843008139952128",
                                 "sparse2d:2147483647:2147483647:4611686014132420609"};
    for (size_t t = 0; t < sizeof huge / sizeof *huge; t++) {
        struct csr A;
        CHECK(!gen_look(huge[t], &nnz) && nnz > 1000000000000, "%s: %s", huge[t],
              fail_text()); // memory may be there later
        CHECK(gen_matrix(huge[t], 1, &A) == ERR_MEMORY, "%s", huge[t]);
        CHECK(strstr(fail_text(), "of memory wanted"), "%s", fail_text());
    }
    char name[2000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    struct csr A;
    CHECK(gen_matrix(name, 1, &A) == ERR_USAGE, "a long name");
    CHECK(strstr(fail_text(), "there are fem"), "%s", fail_text());
}

static void test_help(void)
{
    for (const struct gen_kind *k = gen_help; k->name; k++) {
        size_t n = strlen(k->name);
        CHECK(!strncmp(k->form, k->name, n) && k->form[n] == ':', "%s: %s", k->name, k->form);
        CHECK(k->about[0], "%s", k->name);
        bool made = false; // every generator has a golden line
        for (size_t t = 0; t < sizeof golden / sizeof *golden; t++)
            made |= !strncmp(golden[t].spec, k->form, n + 1);
        CHECK(made, "%s has no golden checksum", k->name);
    }
}

static void test_allocation_failures(void)
{
    for (size_t t = 0; t < sizeof golden / sizeof *golden; t++) {
        int n = 1;
        for (;; n++) {
            struct csr A;
            mem_fail_at(n);
            int err = gen_matrix(golden[t].spec, 42, &A);
            mem_fail_at(0);
            if (!err) {
                CHECK(checksum(&A) == golden[t].sum, "%s after a failure", golden[t].spec);
                csr_free(&A);
                break;
            }
            CHECK(err == ERR_MEMORY && !A.ptr, "%s: %d at allocation %d", golden[t].spec, err, n);
            if (n == 50) break;
        }
        CHECK(n >= 4 && n < 50, "%s: %d allocations", golden[t].spec, n - 1);
    }
}

static void test_interrupt(void)
{
    static const char *spec[] = {"uniform:100:3", "rmat:5:3"};
    for (int t = 0; t < 2; t++) {
        struct csr A;
        interrupted = 1;
        CHECK(gen_matrix(spec[t], 1, &A) == ERR_INTERRUPTED && !A.ptr, "%s", spec[t]);
        interrupted = 0;
    }
    // Entries are not made, and not sorted, for nobody.
    struct csr A;
    double start = clock_ms();
    interrupted = 1;
    CHECK(gen_matrix("rmat:21:16", 1, &A) == ERR_INTERRUPTED && !A.ptr, "%s", fail_text());
    interrupted = 0;
    CHECK(clock_ms() - start < 3000, "it took %.0f ms", clock_ms() - start);
}

static void test_load(void)
{
    struct matrix M;
    CHECK(!matrix_load("gen:stencil:9", 42, &M), "%s", fail_text());
    CHECK_TEXT(M.name, "stencil:9");
    CHECK_TEXT(M.path, "gen:stencil:9");
    CHECK_TEXT(M.field, "real");
    CHECK_TEXT(M.symmetry, "general");
    CHECK(M.stored == M.A.nnz && !M.values_drawn && !M.real_part && !M.duplicates, "generated");
    CHECK(M.load_ms == 0 && M.load_mb_s == 0 && M.file_bytes == 0, "generated");
    CHECK(M.facts.row_max == 5 && M.facts.tiles == -1, "%lld", (long long)M.facts.row_max);
    matrix_free(&M);
    matrix_free(&M);

    static const struct {
        const char *file, *name, *text, *field, *symmetry;
        int64_t nnz, stored, duplicates;
        bool drawn, real_part;
    } file[] = {
        {"a.mtx", "a", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 5\n2 3 6\n",
         "real", "general", 2, 2, 0, false, false},
        {"b.mtx.gz", "b", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n1 1\n3 1\n",
         "pattern", "symmetric", 3, 2, 0, true, false},
        {"c.gz", "c.gz",
         "%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 1 2\n1 1 3 4\n", "complex",
         "general", 1, 2, 1, false, true},
        {".mtx", ".mtx", "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1\n",
         "integer", "general", 1, 1, 0, false, false},
    };
    char folder[] = "/tmp/test_gen.XXXXXX", path[128];
    CHECK(mkdtemp(folder), "no temporary folder");
    for (size_t t = 0; t < sizeof file / sizeof *file; t++) {
        snprintf(path, sizeof path, "%s/%s", folder, file[t].file);
        FILE *f = fopen(path, "w");
        CHECK(f && fputs(file[t].text, f) >= 0 && !fclose(f), "cannot write %s", path);
        int n = 1, err;
        while (mem_fail_at(n), (err = matrix_load(path, 1, &M)) == ERR_MEMORY && n < 200) {
            CHECK(!M.name && !M.path && !M.A.ptr, "%s: something is left", file[t].file);
            n++;
        }
        mem_fail_at(0);
        CHECK(!matrix_look(path), "%s", fail_text());
        CHECK(!err && n > 3, "%s: %d at allocation %d: %s", file[t].file, err, n, fail_text());
        unlink(path);
        if (err) continue;
        CHECK_TEXT(M.name, file[t].name);
        CHECK_TEXT(M.path, path);
        CHECK_TEXT(M.field, file[t].field);
        CHECK_TEXT(M.symmetry, file[t].symmetry);
        CHECK(M.A.nnz == file[t].nnz && M.stored == file[t].stored, "%s", file[t].file);
        CHECK(M.duplicates == file[t].duplicates, "%s", file[t].file);
        CHECK(M.values_drawn == file[t].drawn && M.real_part == file[t].real_part, "%s",
              file[t].file);
        CHECK(M.file_bytes == (int64_t)strlen(file[t].text), "%lld", (long long)M.file_bytes);
        CHECK(M.load_ms > 0 && M.load_mb_s > 0, "%g ms", M.load_ms);
        CHECK(M.facts.row_mean == (double)M.A.nnz / M.A.m, "%g", M.facts.row_mean);
        matrix_free(&M);
    }
    rmdir(folder);

    CHECK(matrix_load("/nowhere/x.mtx", 1, &M) == ERR_INPUT && !M.path, "a missing file");
    CHECK(matrix_load("gen:fem:0", 1, &M) == ERR_USAGE && !M.path, "a wrong spec");
    CHECK(matrix_look("/nowhere/x.mtx") == ERR_INPUT, "a look at a missing file");
    CHECK(matrix_look("gen:fem:0") == ERR_USAGE && matrix_look("gen:") == ERR_USAGE &&
              matrix_look("") == ERR_USAGE,
          "a look at a wrong spec");
    CHECK(matrix_look("/") == ERR_USAGE && matrix_look("/tmp") == ERR_INPUT, "a look at a folder");
    CHECK(!matrix_look("-") && !matrix_look("gen:fem:3") && !matrix_look("/dev/null"), "%s",
          fail_text());
}

TESTS(test_golden, test_reference, test_meshes, test_random_rows, test_rmat, test_sparse2d,
      test_errors, test_help, test_allocation_failures, test_interrupt, test_load)
