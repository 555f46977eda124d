// The ways of `onepass` that rows of C are computed in, one by one at their limits; what the same
// rows hold in the result, infinities, NaN and sums of zero among it; pieces and blocks of memory.
#include "spgemm/onepass/buffers.h"

#include "cases.h"
#include "data/gen.h"
#include "exact/shapes.h"

#include <math.h>
#include <omp.h>

static struct device dev;

#define N    20037 // rows and columns of the matrices made here: no multiple of 64
#define BASE 200   // the first row that has products

// What a run left, of whichever algorithm.
struct product {
    struct csr_dev C;
    struct algo_stats stats;
};

// What a value is in place of a whole number: of two rows that are alike one is taken from the
// other, and there are infinities and NaN among them.
static double odd_value(int32_t row, int32_t col)
{
    if (row >= BASE) return col % 2 ? -1 : 1;
    if (col % 13 == 0) return row % 2 ? INFINITY : -INFINITY;
    if (col % 17 == 0) return NAN;
    return col % 5;
}

// No matrix is read with these; they are put where the run finds them.
static void make_odd(const struct csr_dev *A)
{
    const int64_t *ptr = A->ptr;
    for (int32_t i = 0; i < A->m; i++)
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++)
            type_store(A->type, A->val, p, odd_value(i, A->idx[p]));
}

static struct product multiply(struct inputs *in, const char *name, bool odd)
{
    const struct algo_entry *e = algo_find(op_find("spgemm"), name, DEVICE_CPU);
    struct task t = {.entry = e, .algo = e->algo};
    struct product out = {0};
    struct setup setup;
    algo_defaults(e->algo, t.opt);
    int err = task_prepare(&t, &in->o, &setup);
    CHECK(!err, "%s: %s", name, fail_text());
    if (err) return out;
    if (odd) make_odd(csr_of(t.A[0]));
    err = task_run(&t);
    CHECK(!err, "%s: %s", name, fail_text());
    out.C = t.R, out.stats = t.stats;
    memset(&t.R, 0, sizeof t.R);
    task_teardown(&t);
    return out;
}

static void product_free(struct product *x)
{
    device_free(&dev, x->C.ptr);
    device_free(&dev, x->C.idx);
    device_free(&dev, x->C.val);
}

static bool same_structure(const struct csr_dev *x, const struct csr_dev *y)
{
    return x->nnz == y->nnz && x->m == y->m &&
           !memcmp(x->ptr, y->ptr, ((size_t)x->m + 1) * sizeof(int64_t)) &&
           !memcmp(x->idx, y->idx, (size_t)x->nnz * sizeof *x->idx);
}

// The first value that differs, or -1. NaN is like NaN.
static int64_t other_value(const struct csr_dev *x, const struct csr_dev *y)
{
    for (int64_t p = 0; p < x->nnz; p++) {
        const double a = type_load(x->type, x->val, p), b = type_load(y->type, y->val, p);
        if (a != b && !(isnan(a) && isnan(b))) return p;
    }
    return -1;
}

static void test_marks(void)
{
    int8_t mark[64];
    for (uint64_t x = 0; x < 200; x++) {
        const uint64_t want = x < 64 ? UINT64_C(1) << x : random_at(1, x) & random_at(2, x);
        for (int b = 0; b < 64; b++) mark[b] = (int8_t) - (int)(want >> b & 1);
        CHECK(take_marks(mark) == want, "marks %016llx", (unsigned long long)want);
        int left = 0;
        for (int b = 0; b < 64; b++) left |= mark[b];
        CHECK(!left, "marks are left");
    }
}

static void test_rank(void)
{
    int32_t col[64], place[64];
    for (int count = 1; count <= 64; count++) {
        int wrong = 0;
        for (int x = 0; x < 64; x++)
            col[x] = (int32_t)(random_at((uint64_t)count, (uint64_t)x) % 40) + INT32_MAX - 40;
        rank(col, count, place);
        for (int x = 0; x < count; x++) {
            for (int y = 0; y < count; y++) place[x] -= col[y] < col[x];
            wrong += place[x] != 0;
        }
        CHECK(!wrong, "%d of %d ranks", wrong, count);
    }
}

// So many columns, `step` apart, given in scrambled order.
static void test_list(const struct buffers *d, int64_t words, int32_t low, int32_t step, int count)
{
    int32_t idx[1000];
    for (int x = 0; x < count; x++) d->list[x] = low + x * step;
    for (int x = count - 1; x > 0; x--) {
        const int y = (int)(random_at(5, (uint64_t)x) % (uint64_t)(x + 1));
        const int32_t swap = d->list[x];
        d->list[x] = d->list[y], d->list[y] = swap;
    }
    const struct range r = {low, (int64_t)(count - 1) * step + 1};
    sort_list(d, r, count, idx);
    int wrong = 0;
    uint64_t left = 0;
    for (int x = 0; x < count; x++) wrong += idx[x] != low + x * step;
    for (int64_t w = 0; w < words; w++) left |= d->bits[w];
    CHECK(!wrong && !left, "%d columns from %d on, each %d: %d wrong, bits %llx left", count, low,
          step, wrong, (unsigned long long)left);
}

static void test_lists(void)
{
    struct thread_buffers all = {0};
    CHECK(!buffers_make(&all, &dev, 1, 20037, 20037, sizeof(float)), "%s", fail_text());
    const struct buffers d = buffers_of_thread(&all, 0, sizeof(float));
    static const int counts[] = {1, 2, 8, 9, 63, 64, 65, 66, 128, 500};
    for (int c = 0; c < COUNT(counts); c++)
        for (int step = 1; step * counts[c] <= 20000; step = 3 * step + 1) {
            const int32_t span = (counts[c] - 1) * step + 1;
            test_list(&d, all.words, 0, step, counts[c]);
            test_list(&d, all.words, 20037 - span, step, counts[c]);
            if (4095 + span < 20037) test_list(&d, all.words, 4095, step, counts[c]);
        }
    buffers_free(&all, &dev);
}

// Rows 0 to 99 of A name columns from 1000 on, whose rows are empty: they have no products. Rows
// from BASE on name these, so that their products are the columns there.

static void add_columns(struct coo *T, int32_t row, int32_t first, int32_t count, int32_t step)
{
    for (int32_t x = 0; x < count; x++)
        add_entry(T, row, first + x * step, value_at(row, first + x * step));
}

static const struct ground {
    int32_t first, count, step;
} grounds[] = {
    {1000, 0, 1},     // 0: empty
    {7000, 1, 1},     // 1
    {1000, 32, 1},    // 2
    {1000, 32, 1},    // 3: as 2
    {1032, 32, 1},    // 4
    {1064, 1, 1},     // 5
    {1000, 64, 1},    // 6
    {1000, 2, 2079},  // 7: to 3079, a span of 32 * 65
    {1000, 2, 2080},  // 8: one more
    {1000, 63, 1},    // 9
    {N - 64, 64, 1},  // 10: the last ones
    {4000, 70, 200},  // 11: far apart
    {4001, 70, 200},  // 12
    {1000, 8, 600},   // 13
    {5000, 9, 7},     // 14
    {1000, 5000, 1},  // 15
    {6000, 5000, 1},  // 16
    {11000, 5000, 1}, // 17
    {16000, 4037, 1}, // 18
    {1000, 100, 41},  // 19: a span of 4060
    {1000, 100, 42},  // 20: of 4159
};

// A row of these, so often, and the method that it takes.
static const struct made {
    int names[5]; // -1: no more
    int copies;
    enum method method;
} rows[] = {
    {{0, -1}, 1, NOTHING},          {{0, 2, -1}, 1, RANKED},
    {{2, -1}, 2, SCALED},           {{18, -1}, 1, SCALED},
    {{1, 2, -1}, 2, RANKED},        {{2, 3, -1}, 2, RANKED}, // 64 products
    {{1, 2, 3, -1}, 1, LISTED},     {{13, 14, -1}, 3, RANKED},
    {{9, 2, -1}, 1, WORD},          {{2, 4, 6, -1}, 1, WORD},      // all 64 columns
    {{2, 3, 4, -1}, 1, WORD},       {{2, 4, 5, 6, -1}, 1, WINDOW}, // 65 columns
    {{6, 10, -1}, 1, LISTED},                                      // 128 columns
    {{7, 9, -1}, 1, WINDOW},                                       // 32 columns for each product
    {{8, 9, -1}, 1, LISTED},        {{3, 10, -1}, 2, LISTED},
    {{11, 12, -1}, 1, LISTED},                                         // 140 columns
    {{2, 1, 3, 14, -1}, 1, LISTED}, {{15, 16, 17, 18, -1}, 1, WINDOW}, // longer than a block
    {{2, 4, 6, -1}, 2, BUNDLED},    {{5, 6, -1}, 3, BUNDLED},
    {{6, 9, -1}, 4, BUNDLED},       {{4, 6, 9, -1}, 5, BUNDLED},
    {{3, 6, 9, -1}, 9, BUNDLED},    {{19, 2, -1}, 3, BUNDLED},
    {{20, 2, -1}, 3, WINDOW}, // too wide for a bundle
};

static int build(const struct made *made, struct csr *A)
{
    struct coo T;
    int err = entries_alloc(&T, N, N, 30000);
    CHECK(!err, "%s", fail_text());
    if (err) return err;
    for (int g = 0; g < COUNT(grounds); g++)
        add_columns(&T, g, grounds[g].first, grounds[g].count, grounds[g].step);
    for (int c = 0; c < made->copies; c++)
        for (int x = 0; x < COUNT(made->names) && made->names[x] >= 0; x++)
            add_columns(&T, BASE + c, made->names[x], 1, 1);
    return entries_to_csr(&T, "ways", A);
}

static int make_inputs(struct inputs *in, const struct csr *A, enum prec prec, bool exact)
{
    const int64_t axis[AXES_MAX] = {0};
    int err = inputs_make(in, &dev, op_find("spgemm"), A, prec, axis, exact, 0);
    CHECK(!err, "%s", fail_text());
    return err;
}

static const char *const stats[METHODS] = {NULL,          "scaled_rows", "ranked_rows", "word_rows",
                                           "window_rows", "listed_rows", "bundled_rows"};

static double stat(const struct product *x, enum method method)
{
    const struct algo_stat *f = algo_stats_find(&x->stats, stats[method]);
    return f ? f->number : -1;
}

// A row that is left over by bundles takes a method of its own.
static void check_method(const struct made *made, const struct product *x, int number)
{
    int want = made->copies;
    double all = 0;
    if (made->method == BUNDLED && made->copies % BUNDLE == 1) want--;
    for (int method = SCALED; method < METHODS; method++) all += stat(x, method);
    if (made->method == NOTHING)
        CHECK(all == 0, "row %d: %g rows", number, all);
    else
        CHECK(stat(x, made->method) == want && all == made->copies, "row %d: %g of %g rows are %s",
              number, stat(x, made->method), all, stats[made->method]);
}

// Against the reference; the method too, unless `number` is -1.
static void test_product(const struct csr *A, int number, enum prec prec, bool odd)
{
    struct inputs in;
    if (make_inputs(&in, A, prec, true)) return;
    struct product mine = multiply(&in, "onepass", odd), other = multiply(&in, "gustavson", odd);
    if (number >= 0) check_method(&rows[number], &mine, number);
    const bool same = same_structure(&mine.C, &other.C);
    CHECK(same, "row %d, %s: another structure", number, prec_name(prec));
    const int64_t p = same ? other_value(&mine.C, &other.C) : -1;
    CHECK(p < 0, "row %d, %s: nonzero %lld is %g, should be %g", number, prec_name(prec),
          (long long)p, type_load(prec, mine.C.val, p), type_load(prec, other.C.val, p));
    product_free(&mine);
    product_free(&other);
    inputs_free(&in);
}

static void test_ways(void)
{
    struct csr A;
    omp_set_num_threads(1);
    for (int r = 0; r < COUNT(rows); r++) {
        if (build(&rows[r], &A)) return;
        for (int prec = F32; prec <= F64; prec++) {
            test_product(&A, r, (enum prec)prec, false);
            test_product(&A, r, (enum prec)prec, true);
        }
        csr_free(&A);
    }
}

// Row 0 names the last two rows, which are expanded in whole steps: not past the end of all.
static void test_end(void)
{
    for (int last = 0; last <= 20; last++) {
        struct coo T;
        struct csr A;
        CHECK(!entries_alloc(&T, 40, 40, 40), "%s", fail_text());
        add_columns(&T, 0, 38, 2, 1);
        add_columns(&T, 38, 5, 3, 2);
        add_columns(&T, 39, 1, last, 1);
        if (entries_to_csr(&T, "end", &A)) return;
        for (int prec = F32; prec <= F64; prec++) test_product(&A, -1, (enum prec)prec, false);
        csr_free(&A);
    }
}

static const char *const specs[] = {"fem:4",      "rmat:10:8",       "skew:900:12:600",
                                    "stencil:30", "uniform:3000:25", "uniform:7:1"};

// The same bits by any number of threads, whoever has which share.
static void test_threads(const char *spec, enum prec prec)
{
    struct inputs in;
    struct csr A;
    int err = gen_matrix(spec, 1, &A);
    CHECK(!err, "%s: %s", spec, fail_text());
    if (err) return;
    if (!make_inputs(&in, &A, prec, false)) {
        omp_set_num_threads(1);
        struct product one = multiply(&in, "onepass", false);
        for (int threads = 2; threads <= 5; threads++) {
            omp_set_num_threads(threads);
            struct product more = multiply(&in, "onepass", false);
            CHECK(same_structure(&one.C, &more.C) &&
                      !memcmp(one.C.val, more.C.val, (size_t)one.C.nnz * type_bytes(prec)),
                  "%s, %s: other bits by %d threads", spec, prec_name(prec), threads);
            product_free(&more);
        }
        product_free(&one);
        inputs_free(&in);
    }
    csr_free(&A);
}

// Each allocation of a run fails once: it is told, and nothing is left.
static void test_failures(void)
{
    const struct algo_entry *e = algo_find(op_find("spgemm"), "onepass", DEVICE_CPU);
    struct task t = {.entry = e, .algo = e->algo};
    struct inputs in;
    struct setup setup;
    struct csr A;
    CHECK(!gen_matrix("uniform:3000:25", 1, &A), "%s", fail_text());
    if (make_inputs(&in, &A, F32, false)) return;
    CHECK(!task_prepare(&t, &in.o, &setup), "%s", fail_text());
    omp_set_num_threads(2);
    const int64_t before = dev.used_bytes;
    int failed = 0, err = ERR_MEMORY;
    for (int n = 1; err == ERR_MEMORY && n < 1000; n++) {
        mem_fail_at(n);
        err = task_run(&t);
        mem_fail_at(0);
        if (!err) break;
        failed++;
        CHECK(strstr(fail_text(), "out of host memory"), "allocation %d: %s", n, fail_text());
        task_release_result(&t);
        CHECK(dev.used_bytes == before, "allocation %d: %lld bytes left", n,
              (long long)(dev.used_bytes - before));
    }
    CHECK(!err && failed > 12, "%d failures, then error %d", failed, err);
    task_release_result(&t);
    task_teardown(&t);
    inputs_free(&in);
    csr_free(&A);
}

// A dense block in a matrix that is far wider: a bundle has more products than a block of memory
// has room for, and few nonzeros. What is kept for it goes by these.
static void test_room(void)
{
    enum { SIDE = 560, WIDE = 300000 };
    struct csr A;
    struct inputs in;
    int err = csr_alloc(&A, WIDE, WIDE, SIDE * SIDE);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    for (int32_t i = 0; i < WIDE; i++) {
        A.ptr[i] = (int64_t)(i < SIDE ? i : SIDE) * SIDE;
        for (int32_t j = 0; i < SIDE && j < SIDE; j++)
            A.idx[A.ptr[i] + j] = j, A.val[A.ptr[i] + j] = (i + j) % 3 - 1;
    }
    A.ptr[WIDE] = A.nnz = SIDE * SIDE;
    if (!make_inputs(&in, &A, F32, true)) {
        device_peak_reset(&dev);
        struct product x = multiply(&in, "onepass", false);
        CHECK(x.C.nnz == SIDE * SIDE, "%lld nonzeros", (long long)x.C.nnz);
        CHECK(dev.peak_bytes < 100 << 20, "%lld bytes for a result of %d",
              (long long)dev.peak_bytes, SIDE * SIDE * 8);
        product_free(&x);
        inputs_free(&in);
    }
    csr_free(&A);
}

int main(void)
{
    CHECK(!device_open("cpu", &dev), "%s", fail_text());
    RUN_ALL(test_marks, test_rank, test_lists, test_ways, test_end, test_room);
    for (int s = 0; s < COUNT(specs); s++)
        for (int prec = F32; prec <= F64; prec++) test_threads(specs[s], (enum prec)prec);
    test_failures();
    CHECK(!dev.used_bytes, "%lld bytes left", (long long)dev.used_bytes);
    device_close(&dev);
    return TEST_END();
}
