// Shared parts of SpMM's algorithms on the CPU, compiled for each kind of processor: rows in slabs
// of vectors at every k, column-major B and C, prefetching, streaming stores, and shares of rows.
#include "base/cpu_kind.h"
#include "cases.h"
#include "exact/shapes.h"
#include "spmm/cpu/ahead.h"
#include "spmm/cpu/shares.h"
#include "spmm/cpu/stream.h"

static struct device dev;
static const char *const kinds[] = {"plain", "AVX2", "AVX-512"};
static const char *const names[] = {"rowsplit", "merge", "sellp", "aspt", "bundled"};

// A case of one algorithm. pads: elements after each line of B and of C.
struct row_case {
    const struct algo_entry *e;
    enum layout layout;
    enum prec prec;
    int64_t k;
    int B_pad, C_pad;
    double prefetch, slab;
};

static void test_case(const struct csr *A, const char *shape, struct row_case c)
{
    struct inputs in;
    double opt[ALGO_OPTIONS_MAX] = {0};
    const struct algo_entry *e = c.e;
    const int64_t axis[AXES_MAX] = {c.k, c.layout};
    const int pads[DENSE_MAX + 1] = {c.B_pad, 0, c.C_pad};
    int err = inputs_make(&in, &dev, e->op, A, c.prec, axis, true, 0);
    CHECK(!err, "inputs: %s", fail_text());
    if (err) return;
    err = c.B_pad || c.C_pad ? inputs_apart(&in, pads) : OK;
    CHECK(!err, "inputs: %s", fail_text());
    algo_defaults(e->algo, opt);
    set_option(e, opt, "prefetch", c.prefetch);
    if (algo_option_find(e->algo, "stream") >= 0) set_option(e, opt, "stream", 1);
    if (algo_option_find(e->algo, "common-columns") >= 0) set_option(e, opt, "common-columns", 1);
    if (algo_option_find(e->algo, "fill") >= 0) set_option(e, opt, "fill", 0);
    if (algo_option_find(e->algo, "slab") >= 0) set_option(e, opt, "slab", c.slab);
    struct case_outcome out = case_run(&in, e, opt, CHECK_FULL);
    CHECK(!out.err && out.check.error_ratio == 0,
          "%s %s k %lld, layout %d, %s, prefetch %g, slab %g, %s: error %d, ratio %g", e->name,
          prec_name(c.prec), (long long)c.k, (int)c.layout, shape, c.prefetch, c.slab,
          kinds[cpu_kind()], out.err, out.check.error_ratio);
    inputs_free(&in);
}

static void test_every_k(const struct shape *s, const struct algo_entry *e)
{
    struct csr A;
    if (shape_build(s, &A)) return;
    for (int64_t k = 1; k <= 280; k += k < 70 ? 1 : 9) {
        // Rows of C are whole lines at even k, which may go past the caches.
        const int pad = (int)(k % 2 ? k % 4 : 16 - k % 16);
        const struct row_case c = {.e = e,
                                   .layout = LAYOUT_ROW,
                                   .prec = k % 3 ? F32 : F64,
                                   .k = k,
                                   .B_pad = pad,
                                   .C_pad = k % 2 ? 2 * pad : pad,
                                   .prefetch = k % 2 ? 0 : 3};
        test_case(&A, s->name, c);
    }
    csr_free(&A);
}

// Slabs of several widths, so that most have a narrower last slab.
static void test_every_column(const struct shape *s, const struct algo_entry *e)
{
    struct csr A;
    if (shape_build(s, &A)) return;
    for (int64_t k = 1; k <= 100; k += k < 40 ? 1 : 9) {
        // Columns of C are whole lines at even k, and are stored past the caches.
        const struct row_case c = {.e = e,
                                   .layout = LAYOUT_COL,
                                   .prec = k % 3 ? F32 : F64,
                                   .k = k,
                                   .B_pad = (int)(k % 5),
                                   .C_pad = k % 2 ? (int)(k % 3) : 16 - A.m % 16,
                                   .prefetch = k % 2 ? 0 : 3,
                                   .slab = (double)(k % 4 ? k % 4 * 7 : 0)};
        test_case(&A, s->name, c);
    }
    csr_free(&A);
}

// Two or three rows after one another have the same columns, and some of their own.
static bool alike(int32_t i, int32_t j) { return (j + i / 3) % 4 == 0 || (i + 3 * j) % 13 == 0; }

// Some columns are in all rows, so that aspt has tiles, and adds to what is in C.
static bool shared(int32_t i, int32_t j) { return j % 7 == 0 || (i + 3 * j) % 13 == 0; }

// Rows of 0 to 20 nonzeros, more than two panels of rows.
static bool uneven(int32_t i, int32_t j) { return i % 7 && (i * 5 + j * 3) % (i % 23 + 3) == 0; }

static void test_kinds(void)
{
    static const struct shape shapes_of[] = {
        {.name = "few", .m = 23, .n = 31, .rule = few},
        {.name = "scattered", .m = 12, .n = 40, .rule = scattered},
        {.name = "alike", .m = 14, .n = 25, .rule = alike},
        {.name = "shared columns", .m = 37, .n = 40, .rule = shared},
        {.name = "uneven", .m = 131, .n = 61, .rule = uneven},
    };
    const struct op *spmm = op_find("spmm");
    for (enum cpu_kind kind = CPU_PLAIN; kind <= CPU_AVX512; kind++) {
        cpu_kind_limit(kind);
        if (cpu_kind() != kind) {
            SKIP("rows on %s: this machine, or this build, has none", kinds[kind]);
            continue;
        }
        for (int a = 0; a < COUNT(names); a++)
            for (int s = 0; s < COUNT(shapes_of); s++)
                test_every_k(&shapes_of[s], algo_find(spmm, names[a], DEVICE_CPU));
        for (int s = 0; s < COUNT(shapes_of); s++)
            test_every_column(&shapes_of[s], algo_find(spmm, "bundled", DEVICE_CPU));
    }
    cpu_kind_limit(CPU_AVX512);
}

// The share of surprises among `count` columns of `n`, in a cache that has room for 64 rows.
static double share_of(int32_t (*column)(int64_t p), int64_t count, int32_t n)
{
    double share = -1;
    int32_t *idx = mem_alloc(count, sizeof *idx);
    for (int64_t p = 0; idx && p < count; p++) idx[p] = column(p);
    int err = idx ? ahead_miss_rate(idx, count, n, 64, &share) : ERR_MEMORY;
    CHECK(!err, "%s", fail_text());
    mem_free(idx);
    return share;
}

enum { WIDE = 100000 };
static int32_t in_order(int64_t p) { return (int32_t)(p % WIDE); }
static int32_t anywhere(int64_t p) { return (int32_t)(random_at(5, (uint64_t)p) % WIDE); }
static int32_t again(int64_t p) { return (int32_t)(p * 17 % 50); }
static int32_t too_many(int64_t p) { return (int32_t)(p * 17 % 200); }
static int32_t half_padding(int64_t p) { return p % 2 ? -1 : anywhere(p); }
static int32_t all_padding(int64_t p) { return (void)p, -1; }
// Every fourth column is anywhere, the others are near one another.
static int32_t a_quarter(int64_t p) { return p % 4 ? (int32_t)(p % 20) : anywhere(p); }

static void test_share(void)
{
    static const struct {
        const char *what;
        int32_t (*column)(int64_t p);
        int64_t count;
        double low, high;
    } rows[] = {
        {"one after the other", in_order, 50000, 0, 0.01},
        {"anywhere", anywhere, 50000, 0.95, 1},
        {"fewer than there is room for", again, 50000, 0, 0},
        {"more than there is room for", too_many, 50000, 0.9, 1},
        {"with padding", half_padding, 50000, 0.95, 1},
        {"padding alone", all_padding, 5000, 0, 0},
        {"a quarter of them anywhere", a_quarter, 50000, 0.2, 0.3},
        {"one", anywhere, 1, 0, 1},
        {"none", anywhere, 0, 0, 0},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        const double share = share_of(rows[i].column, rows[i].count, WIDE);
        CHECK(share >= rows[i].low && share <= rows[i].high, "columns %s: %g of them surprise",
              rows[i].what, share);
    }
}

// Rows of B are fetched ahead where they are many, and anywhere.
static void test_ahead(const char *name, int32_t n, int32_t (*column)(int64_t p), double ahead)
{
    const struct algo_entry *e = algo_find(op_find("spmm"), name, DEVICE_CPU);
    const int64_t axis[AXES_MAX] = {64, LAYOUT_ROW};
    struct inputs in;
    struct coo T;
    struct csr A;
    double opt[ALGO_OPTIONS_MAX];
    int err = entries_alloc(&T, 4000, n, 4000);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    for (int32_t i = 0; i < 4000; i++) add_entry(&T, i, column(i) % n, 1);
    if (entries_to_csr(&T, name, &A)) return;
    algo_defaults(e->algo, opt);
    err = inputs_make(&in, &dev, e->op, &A, F32, axis, true, 0);
    CHECK(!err, "%s", fail_text());
    if (!err) {
        struct case_outcome out = case_run(&in, e, opt, CHECK_SAMPLE);
        CHECK(!out.err && out.check.error_ratio == 0 && stat_of(&out, "fetched_ahead") == ahead,
              "%s, %d rows of B: error %d, %g ahead, not %g", name, n, out.err,
              stat_of(&out, "fetched_ahead"), ahead);
        inputs_free(&in);
    }
    csr_free(&A);
}

// A B that is a small part of a large last cache is not.
static void test_ahead_large(void)
{
    const int64_t own = dev.cache_block_bytes;
    dev.cache_block_bytes = (int64_t)300 << 20;
    test_ahead("rowsplit", 40000, anywhere, 0);
    dev.cache_block_bytes = own;
}

// C goes past the caches where it is large, in whole lines.
static void test_stream(void)
{
    static const struct {
        int64_t rows, ld;
        int option, off; // elements that C begins off a line
        bool stream;
    } cases[] = {
        {70000, 32, -1, 0, true},  {60000, 32, -1, 0, false}, {70000, 33, -1, 0, false},
        {70000, 32, -1, 8, false}, {70000, 32, 0, 0, false},  {5, 32, 1, 0, true},
        {5, 33, 1, 0, false},      {0, 0, -1, 0, false},
    };
    const struct algo_entry *e = algo_find(op_find("spmm"), "rowsplit", DEVICE_CPU);
    float *lines = mem_alloc(16, sizeof *lines);
    for (int i = 0; i < COUNT(cases) && lines; i++) {
        struct task t = {.entry = e, .algo = e->algo, .dev = &dev, .prec = F32};
        t.C = (struct dense_dev){.rows = cases[i].rows, .cols = cases[i].ld, .ld = cases[i].ld};
        t.C.val = lines + cases[i].off;
        algo_defaults(e->algo, t.opt);
        set_option(e, t.opt, "stream", cases[i].option);
        CHECK(cpu_stream(&t) == cases[i].stream, "case %d: %d", i, !cases[i].stream);
        const struct algo_stat *told = algo_stats_find(&t.stats, "streamed");
        CHECK(told && told->number == cases[i].stream, "case %d tells %g", i,
              told ? told->number : -1);
    }
    mem_free(lines);
}

// Large is what is large for the threads' part of a cache that others share, and for their own.
static void test_stream_part(void)
{
    const int64_t whole = dev.cache_bytes, part = dev.cache_part_bytes,
                  least = dev.cache_least_bytes, mib = 1 << 20;
    static const struct {
        int64_t mib, least;
        bool stream;
    } cases[] = {{10, 4, true}, {8, 4, false}, {10, 16, false}, {17, 16, true}};
    const struct algo_entry *e = algo_find(op_find("spmm"), "rowsplit", DEVICE_CPU);
    float *line = mem_alloc(16, sizeof *line);
    for (int i = 0; i < COUNT(cases) && line; i++) {
        struct task t = {.entry = e, .algo = e->algo, .dev = &dev, .prec = F32};
        t.C = (struct dense_dev){.rows = cases[i].mib * mib / 128, .cols = 32, .ld = 32};
        t.C.val = line;
        dev.cache_bytes = 300 * mib;
        dev.cache_part_bytes = 36 * mib;
        dev.cache_least_bytes = cases[i].least * mib;
        algo_defaults(e->algo, t.opt);
        CHECK(cpu_stream(&t) == cases[i].stream, "%lld MiB beside %lld: %d",
              (long long)cases[i].mib, (long long)cases[i].least, !cases[i].stream);
    }
    mem_free(line);
    dev.cache_bytes = whole;
    dev.cache_part_bytes = part;
    dev.cache_least_bytes = least;
}

// Every thread begins with its own range, and each share is taken exactly once.
static void test_shares_take(void)
{
    enum { SHARES = 50, THREADS = 3 };
    static const int64_t shares[] = {0, 1, THREADS, SHARES};
    for (int i = 0; i < COUNT(shares); i++) {
        int taken[SHARES] = {0}, strange = 0;
        struct share_range ranges[THREADS];
        struct shares s = {.ranges = ranges, .count = THREADS, .total = shares[i]};
        for (int again = 0; again < 2; again++) {
            shares_reset(&s);
#pragma omp parallel num_threads(THREADS) reduction(+ : strange)
            {
                const int me = omp_get_thread_num();
                int empty = 0;
                int64_t x = shares_take(&s, &empty);
                if (shares[i] >= THREADS) strange += x != shares[i] * me / THREADS;
#pragma omp barrier
                for (; x >= 0 && me; x = shares_take(&s, &empty)) {
#pragma omp atomic
                    taken[x]++;
                }
#pragma omp barrier
                for (; x >= 0; x = shares_take(&s, &empty)) taken[x]++;
            }
        }
        int wrong = 0;
        for (int64_t x = 0; x < shares[i]; x++) wrong += taken[x] != 2;
        CHECK(!wrong && !strange, "%lld shares: %d not taken once, %d begin elsewhere",
              (long long)shares[i], wrong, strange);
    }
}

int main(void)
{
    int err = device_open("cpu", &dev);
    CHECK(!err, "%s", fail_text());
    if (err) return TEST_END();
    dev.cache_bytes = 32 << 20; // a matrix of 8 MB is large
    dev.cache_block_bytes = dev.cache_part_bytes = dev.cache_bytes;
    dev.cache_least_bytes = dev.units * ((int64_t)512 << 10);
    RUN_ALL(test_share, test_stream, test_stream_part, test_ahead_large, test_shares_take);
    for (int a = 0; a < COUNT(names); a++) {
        test_ahead(names[a], 40000, anywhere, AHEAD_NONZEROS);
        test_ahead(names[a], 40000, in_order, 0);
        test_ahead(names[a], 20000, anywhere, 0); // 5 MB
    }
    test_kinds();
    device_close(&dev);
    return TEST_END();
}
