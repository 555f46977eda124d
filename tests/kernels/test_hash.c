// Paths of `hash` and `hash-tuned` on CUDA that single options do not lead to: tables in global
// memory, rows that overflow the largest table in shared memory and are computed again, chunks of a
// small pool, tables with fewer places than wanted, rows of one matrix whose products are dealt out
// in different ways, rows that are merged or overlaid. Also the rows of the table of cases that lie
// at the boundaries of the groups of table I.
#include "cases.h"
#include "data/gen.h"
#include "exact/shapes.h"

#define SETTINGS_MAX 3
struct setting {
    const char *name;
    double value;
};
static const struct run {
    const char *spec;
    bool tuned; // hash-tuned
    struct setting set[SETTINGS_MAX + 1];
    int slack[2];    // hash-tuned: the stat slots_least that f32 and f64 have to give
    bool overflows;  // some rows of the symbolic phase have to
    bool all_shared; // no row of the numeric phase may be too long for a table in shared memory
} runs[] = {
    {"skew:900:2:600", false, {{0}}, {0, 0}, false, true},
    {"skew:900:12:600", false, {{0}}, {0, 0}, false, true},
    // A row of about 2,800: table I's group 1.
    {"skew:5000:2:2000", false, {{0}}, {0, 0}, false, true},
    {"skew:9000:2:9000", false, {{0}}, {0, 0}, true, false},
    {"fem:4", false, {{0}}, {0, 0}, false, true},
    {"rmat:10:8", false, {{0}}, {0, 0}, false, true},
    {"skew:900:2:600", true, {{"bitmap", 0}, {"split", 1}}, {2, 2}, false, false},
    {"skew:900:2:600", true, {{"bitmap", 0}, {"split", 1}, {"pool", 0}}, {2, 2}, false, false},
    {"skew:9000:2:9000", true, {{"bitmap", 0}, {"shared-memory", 32}}, {2, 2}, true, false},
    {"skew:9000:2:9000", false, {{"pool", 0}}, {0, 0}, true, false},
    {"skew:9000:2:9000", false, {{"streams", 0}}, {0, 0}, true, false},
    // A row of about 1,900 nonzeros: 4,096 places of 8 bytes fit, of 12 bytes they do not.
    {"skew:3000:2:1500", true, {{"bitmap", 0}, {"shared-memory", 32}}, {2, 1}, false, true},
    {"skew:900:12:600", true, {{"bitmap", 0}}, {2, 2}, false, true},
    {"skew:900:12:600", true, {{"bitmap", 1}}, {2, 2}, false, false},
    // 112 products for each nonzero: rows of S one after the other.
    {"uniform:128:112", true, {{"bitmap", 0}}, {2, 2}, false, true},
    {"uniform:300:112", true, {{"bitmap", 1}}, {2, 2}, false, false},
    {"uniform:128:112", true, {{"bitmap", 1}, {"split", 1}}, {2, 2}, false, false},
    {"uniform:128:112", true, {{"bitmap", 0}, {"split", 1}}, {2, 2}, false, false},
};
// Some of its rows have 12 products for each nonzero, some five times as many.
static const char mixed[] = "skew:900:12:600";

static void test_run(const struct run *r, const struct algo_entry *e, struct inputs *in)
{
    double opt[ALGO_OPTIONS_MAX] = {0};
    char what[128];
    int at = snprintf(what, sizeof what, "%s, %s, %s", e->name, r->spec, prec_name(in->p.prec));
    algo_defaults(e->algo, opt);
    for (const struct setting *s = r->set; s->name; s++) {
        set_option(e, opt, s->name, s->value);
        at += snprintf(what + at, sizeof what - (size_t)at, ", %s=%.0f", s->name, s->value);
    }
    struct case_outcome out = case_run(in, e, opt, CHECK_FULL);
    CHECK(!out.err && out.check.ok, "%s: %s", what, out.err ? fail_text() : out.check.reason);
    if (out.err) return;
    CHECK((stat_of(&out, "overflowed_rows") > 0) == r->overflows, "%s: %g rows overflowed", what,
          stat_of(&out, "overflowed_rows"));
    CHECK(!r->all_shared || stat_of(&out, "long_rows_numeric") == 0, "%s: %g rows were too long",
          what, stat_of(&out, "long_rows_numeric"));
    CHECK(!r->tuned || stat_of(&out, "slots_least") == r->slack[in->p.prec],
          "%s: slots_least is %g", what, stat_of(&out, "slots_least"));
    CHECK(!out.left, "%s: %lld bytes left", what, (long long)out.left);
}

// Rows for both ways of dealing out products, by a wide margin.
static void test_mixed(const struct csr *A)
{
    int few = 0, many = 0;
    for (int32_t i = 0; i < A->m; i++) {
        int64_t nonzeros = A->ptr[i + 1] - A->ptr[i], products = 0;
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
            products += A->ptr[A->idx[p] + 1] - A->ptr[A->idx[p]];
        few += products > 32 && products <= 16 * nonzeros;
        many += nonzeros >= 8 && products >= 48 * nonzeros;
    }
    CHECK(few > 8 && many > 8, "%s: %d rows of few products for a nonzero, %d of many", mixed, few,
          many);
}

// The rows that were built have the products and nonzeros that they were built for.
static void test_chosen(const struct op *op, const struct shape *shape)
{
    const struct row_of_c *rows = shape->chosen;
    struct csr A;
    struct source source;
    struct row row;
    int err = shape_build(shape, &A);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    source_init(&source, &A);
    struct problem p = {.op = op, .source = &source, .prec = F64};
    CHECK(!problem_make(&p) && !row_alloc(&row, &p, p.cols), "%s", fail_text());
    for (int32_t i = 0; i < shape->chosen_count; i++) {
        op->row(&p, 0, i, &row);
        CHECK(op->row_work(&p, i) == rows[i].products && row.count == rows[i].nonzeros,
              "row %d: %lld products and %lld nonzeros instead of %d and %d", i,
              (long long)op->row_work(&p, i), (long long)row.count, rows[i].products,
              rows[i].nonzeros);
    }
    row_free(&row);
    problem_free(&p);
    source_free(&source);
    csr_free(&A);
}

// Inputs for A*A.
static bool inputs_of(struct inputs *in, struct device *dev, const struct op *op,
                      const struct csr *A, enum prec prec)
{
    int err = inputs_make(in, dev, op, A, prec, (int64_t[AXES_MAX]){0}, true, 0);
    CHECK(!err, "%s", fail_text());
    return !err;
}

// So many nonzeros have rows of C in test_sorts(): a warp sorts one, two, four or eight of them a
// lane, or more are sorted in shared memory.
static const int sorted[] = {17,  31,  32,  33,   39,   63,   64,   65,   95,   96,   97,  127, 128,
                             129, 130, 191, 192,  193,  255,  256,  257,  258,  383,  384, 385, 511,
                             512, 513, 700, 1023, 1024, 1025, 2048, 2049, 3000, 4095, 4096};
#define TURN 1024 // rows: BLOCK * LISTED, which list_by_nonzeros() takes at a time

// Where the columns of a row are, of n: each somewhere in its share of all; or the first and the
// last are the matrix's, and the others lie side by side in its middle; or all are its last ones.
enum where { SPREAD, CLOSE, LATE };
static int32_t column_at(enum where where, int32_t n, int32_t count, int32_t j)
{
    const int32_t share = n / count;
    if (where == LATE) return n - count + j;
    if (j == 0 || j == count - 1) return j == 0 ? 0 : n - 1;
    return where == CLOSE ? n / 2 + j : j * share + j * 7919 % share;
}

// Row r of C, of the first R and of the R from row `turn` on, has counts[r] nonzeros: row r of
// A names two rows, which have the first and the last two thirds of them.
static int make_sorted(int32_t n, enum where where, const int *counts, int32_t R, int32_t turn,
                       struct csr *A)
{
    int64_t p = 0, room = 4 * R;
    for (int32_t r = 0; r < R; r++) room += 2 * counts[r];
    int err = csr_alloc(A, n, n, room);
    CHECK(!err, "%s", fail_text());
    for (int32_t i = 0; i < n && !err; i++) {
        const int32_t r = i % R, count = counts[r], third = count / 3;
        A->ptr[i] = p;
        const int32_t of_C = i < turn ? i : i - turn;
        for (int32_t j = 0; j < 2 && of_C < R; j++)
            A->idx[p] = (j + 1) * R + of_C, A->val[p++] = 1 + j;
        const int32_t first = i < 2 * R ? 0 : third, end = i < 2 * R ? count - third : count;
        for (int32_t j = first; j < end && i >= R && i < 3 * R; j++) {
            A->idx[p] = column_at(where, n, count, j);
            A->val[p++] = (i + j) % 5 - 2;
        }
    }
    if (!err) A->ptr[n] = A->nnz = p;
    return err;
}

// A range of 20,000 columns is wide for short rows, one of 200,000 for all. Columns that are close
// are too many for a bucket and are sorted, of 1,100,000 in rows of any length; and so many rows of
// C a block of list_by_nonzeros() takes in more than one turn.
static void test_sorts(const struct op *op, struct device *dev, int32_t n, bool close)
{
    struct csr A;
    if (make_sorted(n, close ? CLOSE : SPREAD, sorted, COUNT(sorted), TURN, &A)) return;
    for (int turn = 0; turn < 4; turn++) {
        const struct algo_entry *e = algo_find(op, turn < 2 ? "hash" : "hash-tuned", DEVICE_CUDA);
        double opt[ALGO_OPTIONS_MAX] = {0};
        struct inputs in;
        if (!inputs_of(&in, dev, op, &A, turn % 2 ? F32 : F64)) break;
        algo_defaults(e->algo, opt);
        if (turn >= 2) set_option(e, opt, "merge", 0);
        struct case_outcome out = case_run(&in, e, opt, CHECK_FULL);
        CHECK(!out.err && out.check.ok && !out.left, "%s, %d columns%s, %s: %s", e->name, n,
              close ? ", close" : "", prec_name(in.p.prec),
              out.err ? fail_text() : out.check.reason);
        inputs_free(&in);
    }
    csr_free(&A);
}

// Rows that numeric_ranges has, all of shared memory or 32 KB of it. Its table has 16,384 places or
// 2,048, for 14,336 or 1,024 columns at a time; rows of up to 4,096 have a table of another kernel,
// or with 32 KB of up to 2,048 in f64.
static const struct ranged {
    int counts[6];
    double shared, ranges;
    enum where where;
    int ranged[2]; // rows, in f32 and in f64
    int in_global; // rows whose tables are in global memory
} ranged[] = {
    {{4096, 4097, 14336, 14337, 28672, 28673}, 0, 2, SPREAD, {4, 4}, 1},
    {{4096, 4097, 9000, 14336, 14337, 20000}, 0, 1, CLOSE, {3, 3}, 2},
    {{9216, 9217, 10000, 12000, 12288, 14337}, 0, 0, SPREAD, {0, 0}, 6},
    {{2048, 2049, 3000, 4096, 4097, 5120}, 32, 5, SPREAD, {2, 5}, 0},
    {{2049, 4096, 4097, 5120, 5121, 9000}, 32, 5, CLOSE, {2, 4}, 2},
    {{2049, 3000, 4096, 5000, 8192, 9000}, 32, 16, LATE, {3, 6}, 0},
};

static void test_ranged(const struct op *op, struct device *dev, const struct ranged *r)
{
    const struct algo_entry *e = algo_find(op, "hash-tuned", DEVICE_CUDA);
    const int32_t n = 300000;
    struct csr A;
    if (make_sorted(n, r->where, r->counts, COUNT(r->counts), n, &A)) return;
    for (int prec = F32; prec <= F64; prec++) {
        double opt[ALGO_OPTIONS_MAX] = {0};
        struct inputs in;
        if (!inputs_of(&in, dev, op, &A, (enum prec)prec)) break;
        algo_defaults(e->algo, opt);
        set_option(e, opt, "bitmap", 0);
        set_option(e, opt, "shared-memory", r->shared);
        set_option(e, opt, "passes", r->ranges);
        struct case_outcome out = case_run(&in, e, opt, CHECK_FULL);
        CHECK(!out.err && out.check.ok && !out.left, "row of %d, ranges %g, %s: %s", r->counts[0],
              r->ranges, prec_name(in.p.prec), out.err ? fail_text() : out.check.reason);
        const double in_ranges = stat_of(&out, "ranged_rows");
        const double in_global = stat_of(&out, "long_rows_numeric");
        CHECK(in_ranges == r->ranged[prec] && in_global == r->in_global,
              "row of %d, ranges %g, %s: %g rows by ranges, %g in global memory", r->counts[0],
              r->ranges, prec_name(in.p.prec), in_ranges, in_global);
        inputs_free(&in);
    }
    csr_free(&A);
}

// Rows of A that name a hub, a long row, which those of C then are, and others besides.
#define OVERLAY 256 // products besides those with the hub, and nonzeros of A's row, at most
#define HUBS    100
static const int32_t hubs[] = {5000, 5000, 511, 512, 32768, 32769}; // nonzeros of row HUBS, ...
#define SMALL   111  // four rows of OVERLAY / 4 nonzeros, then one of a single one
#define NOTHING 1000 // rows without nonzeros from here on
static const struct hung {
    int count, names[6];
    int nothing; // rows that it names as well
    bool overlaid;
} hung[] = {{1, {HUBS}, 0, true},
            {2, {HUBS, SMALL + 4}, 0, true},
            {5, {HUBS, SMALL, SMALL + 1, SMALL + 2, SMALL + 3}, 0, true},
            {6, {HUBS, SMALL, SMALL + 1, SMALL + 2, SMALL + 3, SMALL + 4}, 0, false},
            {2, {HUBS, HUBS + 1}, 0, false},
            {2, {HUBS + 2, SMALL}, 0, false},
            {2, {HUBS + 3, SMALL}, 0, true},
            {2, {HUBS + 4, SMALL + 1}, 0, true},
            {2, {HUBS + 5, SMALL + 1}, 0, false},
            {2, {HUBS, SMALL + 2}, OVERLAY - 2, true},
            {2, {HUBS, SMALL + 2}, OVERLAY - 1, false}};

static int32_t hub_row(int32_t i)
{
    if (i >= HUBS && i < HUBS + COUNT(hubs)) return hubs[i - HUBS];
    if (i >= SMALL && i < SMALL + 4) return OVERLAY / 4;
    return i == SMALL + 4;
}

// Column j of row i. The short rows have columns of the hubs and others, some twice; some lie
// before their first and behind their last.
static int32_t hub_column(int32_t i, int32_t j)
{
    if (i >= HUBS + 4 && i < SMALL) return 5 + j;
    return i < SMALL ? 3 + (i - HUBS) * 2 + 10 * j : j * 800 + (j % 2 ? 3 : i - SMALL);
}

static int make_hubs(int32_t n, struct csr *A)
{
    int64_t p = 0, room = COUNT(hung) * 6 + 2 * OVERLAY + OVERLAY + 1;
    for (int h = 0; h < COUNT(hubs); h++) room += hubs[h];
    int err = csr_alloc(A, n, n, room);
    CHECK(!err, "%s", fail_text());
    for (int32_t i = 0; i < n && !err; i++) {
        static const struct hung none = {0};
        const struct hung *row = i < COUNT(hung) ? &hung[i] : &none;
        A->ptr[i] = p;
        for (int32_t j = 0; j < row->count + row->nothing; j++) {
            A->idx[p] = j < row->count ? row->names[j] : NOTHING + j;
            A->val[p++] = j % 5 - 2.0;
        }
        for (int32_t j = 0; j < hub_row(i); j++) {
            A->idx[p] = hub_column(i, j);
            A->val[p++] = (i + j) % 5 - 2;
        }
    }
    if (!err) A->ptr[n] = A->nnz = p;
    return err;
}

// With bitmaps and without, in both precisions, and last without overlays.
static void test_overlay(const struct op *op, struct device *dev)
{
    const struct algo_entry *e = algo_find(op, "hash-tuned", DEVICE_CUDA);
    struct csr A;
    if (make_hubs(60000, &A)) return;
    for (int turn = 0; turn < 5; turn++) {
        double opt[ALGO_OPTIONS_MAX] = {0};
        struct inputs in;
        if (!inputs_of(&in, dev, op, &A, turn % 2 ? F64 : F32)) break;
        int overlaid = 0;
        for (int h = 0; h < COUNT(hung) && turn < 4; h++) overlaid += hung[h].overlaid;
        algo_defaults(e->algo, opt);
        set_option(e, opt, "bitmap", turn / 2 % 2);
        set_option(e, opt, "overlay", turn < 4 ? OVERLAY : 0);
        struct case_outcome out = case_run(&in, e, opt, CHECK_FULL);
        CHECK(!out.err && out.check.ok && !out.left, "turn %d: %s", turn,
              out.err ? fail_text() : out.check.reason);
        CHECK(stat_of(&out, "overlaid_rows") == overlaid, "turn %d: %g rows are overlaid, not %d",
              turn, stat_of(&out, "overlaid_rows"), overlaid);
        inputs_free(&in);
    }
    csr_free(&A);
}

// Rows of A around the bounds of those that are merged, each by the lengths of the rows that it
// names. Of the first of them the bounds are 4 nonzeros and 32 products, of the others 8 and 64.
#define NAMED 200 // row NAMED + l has l nonzeros, ENDS the first column and the last one
#define ENDS  300
static const struct merged {
    int times; // in a row. Eight share a warp, and 64 a block, the last of whose warps has no pool
               // behind its own.
    int count, names[10];
} merged[] = {
    {1, 0, {0}},
    {1, 1, {0}},
    {1, 1, {1}},
    {3, 1, {ENDS - NAMED}},
    {1, 1, {32}},
    {1, 1, {33}},
    {1, 1, {64}},
    {1, 2, {1, 64}},
    {1, 3, {0, 2, ENDS - NAMED}},
    {70, 4, {5, 6, 10, 11}},
    {1, 4, {5, 6, 10, 12}},
    {1, 4, {14, 15, 17, 18}},
    {1, 5, {0, 1, 2, 3, 4}},
    {2, 7, {0, 3, 6, 9, 12, 15, ENDS - NAMED}},
    {1, 8, {1, 2, 3, 4, 5, 6, 7, 8}},
    {70, 8, {4, 5, 6, 7, 8, 9, 12, 13}},
    {1, 8, {4, 5, 6, 7, 8, 9, 12, 14}},
    {1, 9, {0, 1, 2, 3, 4, 5, 6, 7, 8}},
};
// Nonzeros and products up to which rows are merged, by the option.
static const struct {
    int merge, nonzeros, products;
} merges[] = {{0, 0, 0}, {3, 0, 0}, {4, 4, 32}, {7, 4, 32}, {8, 8, 64}};

// Rows of the same length modulo 3 share columns.
static int32_t named_columns(int32_t i) { return i == ENDS ? 2 : i - NAMED; }
static int32_t named_column(int32_t n, int32_t i, int32_t j)
{
    if (i == ENDS) return j == 0 ? 0 : n - 1;
    return 10 * j + i % 3;
}

static int make_merged(int32_t n, struct csr *A)
{
    int64_t p = 0;
    int err = csr_alloc(A, n, n, NAMED * 10 + 64 * 65 / 2 + 2);
    CHECK(!err, "%s", fail_text());
    int c = 0, time = 0;
    for (int32_t i = 0; i < n && !err; i++) {
        A->ptr[i] = p;
        for (int32_t j = 0; i < NAMED && c < COUNT(merged) && j < merged[c].count; j++) {
            A->idx[p] = NAMED + merged[c].names[j];
            A->val[p++] = 1 + j % 3;
        }
        if (i < NAMED && c < COUNT(merged) && ++time == merged[c].times) c++, time = 0;
        const bool named = i == ENDS || (i >= NAMED && i <= NAMED + 64);
        for (int32_t j = 0; named && j < named_columns(i); j++) {
            A->idx[p] = named_column(n, i, j);
            A->val[p++] = (i + j) % 5 - 2;
        }
    }
    CHECK(err || c == COUNT(merged), "there is room for %d of the rows", c);
    if (!err) A->ptr[n] = A->nnz = p;
    return err;
}

// Rows of A with so many nonzeros and products at most, and one product at least.
static int rows_within(const struct csr *A, int64_t most_nonzeros, int64_t most_products)
{
    int rows = 0;
    for (int32_t i = 0; i < A->m; i++) {
        int64_t products = 0;
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
            products += A->ptr[A->idx[p] + 1] - A->ptr[A->idx[p]];
        rows +=
            products > 0 && products <= most_products && A->ptr[i + 1] - A->ptr[i] <= most_nonzeros;
    }
    return rows;
}

static void test_merge(const struct op *op, struct device *dev)
{
    const struct algo_entry *e = algo_find(op, "hash-tuned", DEVICE_CUDA);
    struct csr A;
    if (make_merged(2000, &A)) return;
    for (int turn = 0; turn < 2 * COUNT(merges); turn++) {
        const int m = turn / 2;
        double opt[ALGO_OPTIONS_MAX] = {0};
        struct inputs in;
        if (!inputs_of(&in, dev, op, &A, turn % 2 ? F64 : F32)) break;
        algo_defaults(e->algo, opt);
        set_option(e, opt, "merge", merges[m].merge);
        struct case_outcome out = case_run(&in, e, opt, CHECK_FULL);
        CHECK(!out.err && out.check.ok && !out.left, "merge=%d, %s: %s", merges[m].merge,
              prec_name(in.p.prec), out.err ? fail_text() : out.check.reason);
        const int rows = rows_within(&A, merges[m].nonzeros, merges[m].products);
        CHECK(stat_of(&out, "merged_rows") == rows, "merge=%d: %g rows are merged, not %d",
              merges[m].merge, stat_of(&out, "merged_rows"), rows);
        inputs_free(&in);
    }
    csr_free(&A);
}

static void test_runs(const struct op *op, struct device *dev)
{
    const int64_t axis[AXES_MAX] = {0};
    for (int r = 0; r < COUNT(runs); r++) {
        const struct algo_entry *e =
            algo_find(op, runs[r].tuned ? "hash-tuned" : "hash", dev->kind);
        struct csr A;
        int err = gen_matrix(runs[r].spec, 1, &A);
        CHECK(!err, "%s", fail_text());
        if (err) continue;
        if (!strcmp(runs[r].spec, mixed)) test_mixed(&A);
        for (int prec = F32; prec <= F64; prec++) {
            struct inputs in;
            err = inputs_make(&in, dev, op, &A, (enum prec)prec, axis, false, 0);
            CHECK(!err, "%s", fail_text());
            if (err) continue;
            test_run(&runs[r], e, &in);
            inputs_free(&in);
        }
        csr_free(&A);
    }
}

int main(void)
{
    const struct op *op = op_find("spgemm");
    struct device dev;
    int chosen = 0;
    for (int i = 0; i < product_shape_count; i++) {
        if (!product_shapes[i].chosen) continue;
        test_chosen(op, &product_shapes[i]);
        chosen++;
    }
    CHECK(chosen == 2, "%d matrices with chosen rows", chosen);
    if (!open_kind(DEVICE_CUDA, &dev)) return TEST_END();
    // The host checks: for a row of 1.1 million columns the emulator takes 8 minutes.
    struct device_ops host_checks = *dev.ops;
    host_checks.check_product = NULL;
    dev.ops = &host_checks;
    test_runs(op, &dev);
    test_sorts(op, &dev, 20000, false);
    test_sorts(op, &dev, 200000, false);
    test_sorts(op, &dev, 1100000, true);
    for (int r = 0; r < COUNT(ranged); r++) test_ranged(op, &dev, &ranged[r]);
    test_overlay(op, &dev);
    test_merge(op, &dev);
    device_close(&dev);
    return TEST_END();
}
