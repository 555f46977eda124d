// The format of Tiled SpMM: places of its entries, rows that are cut and sorted, stats, and the
// check of a result in the order of its rows. test_formats.c tests the way back to csr.
#include "formats/tiled.h"

#include "formats.h"
#include "cases.h"
#include "formats/csr.h"
#include "formats/tiled_plan.h"
#include "exact/shapes.h"

static struct device dev;

enum { NEVER = 0, ALWAYS = 1, AUTO = -1 };
static double slabs; // of the matrices that are made

static struct tiled *make(const struct csr *A, double rows, double stage, double balance,
                          double reorder, double permute)
{
    const double opt[] = {rows, stage, balance, reorder, permute, slabs};
    struct sparse *T = sparse_of(&dev, &format_tiled, A, F64, opt);
    CHECK(!T || !format_broken(T), "%s", format_broken(T));
    return (struct tiled *)T;
}

// A matrix whose row i has the first lengths[i] columns.
static struct tiled *make_lengths(const int *lengths, int m, double rows, double balance)
{
    struct csr A;
    int64_t nnz = 0;
    for (int i = 0; i < m; i++) nnz += lengths[i];
    CHECK(!csr_alloc(&A, m, 100, nnz), "%s", fail_text());
    A.ptr[0] = 0;
    for (int i = 0; i < m; i++) {
        A.ptr[i + 1] = A.ptr[i] + lengths[i];
        for (int j = 0; j < lengths[i]; j++) A.idx[A.ptr[i] + j] = j, A.val[A.ptr[i] + j] = 1 + j;
    }
    struct tiled *T = make(&A, rows, 512, balance, NEVER, 0);
    csr_free(&A);
    return T;
}

// [ 1 . 2 . 3 ]       Two columns a stage: 0 and 1, then 2 and 4.
// [ . 0 . . . ]
// [ 4 5 . . . ]
static struct tiled *make_small(double reorder, double permute)
{
    int64_t ptr[] = {0, 3, 4, 6};
    int32_t idx[] = {0, 2, 4, 1, 0, 1};
    double val[] = {1, 2, 3, 0, 4, 5};
    struct csr A = {3, 5, 6, ptr, idx, val};
    return make(&A, 32, 2, NEVER, reorder, permute);
}

static void test_layout(void)
{
    struct tiled *T = make_small(NEVER, 0);
    if (!T) return;
    const int32_t map[] = {0, 1, 2, 4};
    const struct {
        int q, idx;
        double val;
    } entries[] = {{0, 0, 1}, {1, 1, 0},  {2, 0, 4},  {32, 2, 0}, {33, 2, 0},  {34, 1, 5},
                   {3, 2, 0}, {64, 0, 2}, {65, 2, 0}, {96, 1, 3}, {127, 2, 0}, {63, 2, 0}};
    const double *val = T->val;
    CHECK(T->panels == 1 && T->stages == 2 && T->mapped == 4 && T->stored == 128 && !T->to,
          "%d panels, %lld stages, %lld columns, %lld entries", T->panels, (long long)T->stages,
          (long long)T->mapped, (long long)T->stored);
    CHECK(T->slice[1] == 64 && T->map_ptr[1] == 2, "stage 1 starts at %lld, its columns at %lld",
          (long long)T->slice[1], (long long)T->map_ptr[1]);
    for (int i = 0; i < 4; i++) CHECK(T->map[i] == map[i], "column %d is %d", i, T->map[i]);
    for (int e = 0; e < COUNT(entries); e++)
        CHECK(T->idx[entries[e].q] == entries[e].idx && val[entries[e].q] == entries[e].val,
              "entry %d is %d, %g", entries[e].q, T->idx[entries[e].q], val[entries[e].q]);
    sparse_free(&dev, &T->head);
}

// The order of rows is told only where there is one.
static void check_stat(const struct tiled *T, const char *name, double want)
{
    check_figure(&T->head, name, want, T->order ? 10 : 9);
}

// Of the rows of C, "" where nothing is told of them.
static const char *rows_text(const struct tiled *T)
{
    static struct algo_stats f;
    f.count = 0;
    format_tiled.describe(&T->head, &f);
    const struct algo_stat *x = algo_stats_find(&f, "rows");
    return x ? x->text : "";
}

static void test_stats(void)
{
    struct tiled *T = make_small(ALWAYS, 1);
    if (T) {
        check_stat(T, "rho", 6.0 / 4);
        check_stat(T, "Z", 128.0 / 6);
        check_stat(T, "mu", 2);
        check_stat(T, "U", 3.0 / (32.0 * dev.units)); // three rows of a block of 32
        check_stat(T, "panels", 1);
        check_stat(T, "stages", 2);
        check_stat(T, "segments", 3);
        check_stat(T, "reordered", 1);
        CHECK_TEXT(rows_text(T), "permuted");
        sparse_free(&dev, &T->head);
    }
    T = make_lengths((int[]){0, 0}, 2, 32, AUTO);
    if (!T) return;
    check_stat(T, "rho", 1);
    check_stat(T, "Z", 1);
    CHECK_TEXT(rows_text(T), "");
    sparse_free(&dev, &T->head);
}

// Lengths that are repeated over the rows of a matrix.
static int *repeated(const int *lengths, int count, int m)
{
    static int all[1024];
    for (int i = 0; i < m; i++) all[i] = lengths[i % count];
    return all;
}

// Figure 6, with panels of 32 rows. The longest segment is seen in how many parts a row has.
static void expect_cut(const int *lengths, int count, int m, int units, double balance,
                       enum tiled_cut cut, int64_t segments)
{
    static const char *const names[] = {"none", "mu", "U mu"};
    int kept = dev.units;
    struct algo_stats f = {0};
    dev.units = units;
    struct tiled *T = make_lengths(repeated(lengths, count, m), m, 32, balance);
    dev.units = kept;
    if (!T) return;
    CHECK(T->cut == cut && T->segments == segments, "%d rows, %d units: cut %d, %lld segments", m,
          units, (int)T->cut, (long long)T->segments);
    format_tiled.describe(&T->head, &f);
    const struct algo_stat *x = algo_stats_find(&f, "segment");
    CHECK_TEXT(x ? x->text : "", names[cut]);
    sparse_free(&dev, &T->head);
}

static void test_balance(void)
{
    const int uneven[] = {1, 1, 10}, limit[] = {0, 2}, beyond[] = {0, 0, 3}, even[] = {4, 4, 5};
    expect_cut(uneven, 3, 30, 1, AUTO, TILED_MU, 10 * 5); // 4, 4 and 2
    expect_cut(uneven, 3, 30, 1, NEVER, TILED_WHOLE, 30);
    expect_cut(uneven, 3, 30, 4, NEVER, TILED_WHOLE, 30);
    expect_cut(uneven, 3, 30, 2, AUTO, TILED_U_MU, 10 * 7); // U is 0.47: 5 times 2
    expect_cut(uneven, 3, 30, 4, AUTO, TILED_U_MU, 10 * 12);
    expect_cut(limit, 2, 30, 1, AUTO, TILED_WHOLE, 30); // sigma is mu
    expect_cut(limit, 2, 30, 1, ALWAYS, TILED_MU, 15 * 3);
    expect_cut(beyond, 3, 30, 1, AUTO, TILED_MU, 10 * 5);
    expect_cut(even, 3, 30, 1, AUTO, TILED_WHOLE, 30);
    expect_cut(even, 3, 30, 1, ALWAYS, TILED_MU, 30); // mu is 4.33, so a segment has 5
    expect_cut((int[]){2}, 1, 13 * 32, 20, AUTO, TILED_WHOLE, 13 * 32);        // U is 0.65
    expect_cut((int[]){2}, 1, 12 * 32, 20, AUTO, TILED_U_MU, 12 * 32);         // 0.6
    expect_cut((int[]){2}, 1, 13 * 32 - 1, 20, AUTO, TILED_U_MU, 13 * 32 - 1); // a block not full
    expect_cut((int[]){64}, 1, 1, 1, AUTO, TILED_U_MU, 32);  // one row fills the block
    expect_cut((int[]){100}, 1, 1, 2, AUTO, TILED_U_MU, 50); // two; 100 / 64 is nearer to 2
    expect_cut((int[]){0}, 1, 2, 4, ALWAYS, TILED_WHOLE, 2);
}

// Blocks of all slabs keep the device busy; the segments are those of one slab.
static void test_slabs(void)
{
    const int even[] = {4, 4, 5};
    slabs = 2;
    expect_cut(even, 3, 30, 3, AUTO, TILED_U_MU, 10 * 7); // U is 0.31; 2
    expect_cut(even, 3, 30, 2, AUTO, TILED_WHOLE, 30);    // 0.47
    slabs = 3;
    expect_cut(even, 3, 30, 4, AUTO, TILED_WHOLE, 30); // 0.23
    expect_cut(even, 3, 30, 5, AUTO, TILED_U_MU, 10 * 13);
    slabs = 0;
}

// The algorithm tells the format how many they are, unless it is told.
static void test_slabs_chosen(void)
{
    const struct algo_entry *e = algo_find(op_find("spmm"), "tiled", DEVICE_CPU);
    const struct {
        int64_t k;
        double factor, told, slabs;
    } cases[] = {{64, 16, 0, 4}, {65, 16, 0, 5}, {1, 16, 0, 1},         {0, 16, 0, 1},
                 {64, 1, 0, 64}, {64, 16, 9, 9}, {1 << 20, 1, 0, 65535}};
    for (int i = 0; i < COUNT(cases); i++) {
        struct task t = {.entry = e, .algo = e->algo};
        struct problem p = {.in = {{.cols = cases[i].k}}};
        algo_defaults(e->algo, t.opt);
        set_option(e, t.opt, "factor", cases[i].factor);
        set_option(e, t.opt, "slabs", cases[i].told);
        e->algo->choose(&t, &p);
        CHECK(task_option(&t, "slabs") == cases[i].slabs, "k %lld: %g slabs", (long long)cases[i].k,
              task_option(&t, "slabs"));
    }
}

// Where the segments of cut rows go: rows of 1, 10 and 1 entries, eight times.
static void test_parts(void)
{
    int kept = dev.units;
    dev.units = 1;
    struct tiled *T = make_lengths(repeated((int[]){1, 10, 1}, 3, 24), 24, 32, AUTO);
    dev.units = kept;
    if (!T) return;
    CHECK(T->cut == TILED_MU && T->cuts == 8 && T->segments == 8 * 5, "%d cuts, %lld segments",
          T->cuts, (long long)T->segments);
    for (int x = 0; x < T->segments && T->segments == 40; x++) {
        const int row = x / 5 * 3, piece = x % 5 - 1;
        const int64_t to = piece < 0 ? row : piece < 3 ? -1 - (x / 5 * 3 + piece) : row + 2;
        CHECK(T->to[x] == to, "segment %d goes to %lld", x, (long long)T->to[x]);
    }
    for (int c = 0; c < T->cuts; c++)
        CHECK(T->cut_row[c] == 3 * c + 1 && T->cut_part[c] == 3 * c, "row %d", T->cut_row[c]);
    CHECK(!T->order, "an order");
    sparse_free(&dev, &T->head);
}

static void expect_order(const struct tiled *T, const int32_t *order)
{
    CHECK(T->reordered && T->order, "not sorted");
    for (int i = 0; i < T->m && T->order; i++)
        CHECK(T->order[i] == order[i], "row %d of C is row %d, not %d", i, T->order[i], order[i]);
}

// The number of a row has a 1 where it has a nonzero; the largest comes first.
static void test_sort(void)
{
    int64_t ptr[] = {0, 1, 3, 5, 5, 7};
    int32_t idx[] = {0, 0, 5, 0, 3, 0, 5};
    double val[] = {1, 2, 3, 4, 5, 6, 7};
    const struct csr A = {5, 6, 7, ptr, idx, val};
    struct tiled *T = make(&A, 32, 512, NEVER, ALWAYS, 1);
    if (!T) return;
    expect_order(T, (int32_t[]){2, 1, 4, 0, 3});
    for (int i = 0; i < 5; i++) CHECK(T->to[i] == i, "segment %d goes elsewhere", i);
    sparse_free(&dev, &T->head);
    T = make(&A, 32, 512, NEVER, ALWAYS, 0);
    if (!T) return;
    const int64_t to[] = {2, 1, 4, 0, 3};
    for (int i = 0; i < 5; i++) CHECK(T->to[i] == to[i], "segment %d goes elsewhere", i);
    CHECK(!T->order, "an order");
    sparse_free(&dev, &T->head);
}

static bool two_patterns(int32_t i, int32_t j) { return j / 2 == i % 2; }
static bool two_halves(int32_t i, int32_t j) { return j / 2 == i / 32; }

// The sorted order stays where a panel then has fewer columns.
static void test_reorder(void)
{
    const struct shape mixed = {.name = "two patterns", .m = 64, .n = 4, .rule = two_patterns};
    const struct shape sorted = {.name = "two halves", .m = 64, .n = 4, .rule = two_halves};
    struct csr A;
    int32_t order[64];
    for (int i = 0; i < 64; i++) order[i] = i % 32 * 2 + i / 32;
    if (shape_build(&mixed, &A)) return;
    struct tiled *T = make(&A, 32, 512, NEVER, AUTO, 1);
    if (T) expect_order(T, order);
    if (T) check_stat(T, "rho", 32);
    if (T) sparse_free(&dev, &T->head);
    T = make(&A, 32, 512, NEVER, NEVER, 1);
    if (T) CHECK(!T->reordered && !T->order, "sorted");
    if (T) check_stat(T, "rho", 16);
    if (T) sparse_free(&dev, &T->head);
    csr_free(&A);
    if (shape_build(&sorted, &A)) return;
    T = make(&A, 32, 512, NEVER, AUTO, 1);
    if (T) CHECK(!T->reordered && !T->order && !T->to, "sorted for nothing");
    if (T) check_stat(T, "rho", 32);
    if (T) sparse_free(&dev, &T->head);
    csr_free(&A);
}

// Two rows alone agree in their first column, and are in the wrong order.
static void test_sort_pair(void)
{
    int64_t ptr[] = {0, 2, 4};
    int32_t idx[] = {0, 5, 0, 3};
    double val[] = {1, 2, 3, 4};
    const struct csr A = {2, 6, 4, ptr, idx, val};
    struct tiled *T = make(&A, 32, 512, NEVER, ALWAYS, 1);
    if (T) expect_order(T, (int32_t[]){1, 0});
    if (T) sparse_free(&dev, &T->head);
}

// Rows that are cut and not sorted leave C in their own order, whatever `permute` is.
static void test_cut_unsorted(void)
{
    int kept = dev.units;
    int64_t ptr[] = {0, 1, 11};
    int32_t idx[] = {3, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    double val[11] = {1};
    const struct csr A = {2, 10, 11, ptr, idx, val};
    dev.units = 1;
    struct tiled *T = make(&A, 32, 512, ALWAYS, NEVER, 1);
    dev.units = kept;
    if (T) CHECK(T->cuts == 1 && T->to && !T->order, "%d cuts, or an order", T->cuts);
    if (T) CHECK_TEXT(rows_text(T), "");
    if (T) sparse_free(&dev, &T->head);
}

static bool by_eights(int32_t i, int32_t j) { return j / 20 == i / 8 % 2; }

// With C in the order of the matrix the pieces that it is written in count as well.
static void test_reorder_pieces(void)
{
    const struct shape single = {.name = "two patterns", .m = 64, .n = 4, .rule = two_patterns};
    const struct shape eights = {.name = "eight rows each", .m = 64, .n = 40, .rule = by_eights};
    const struct {
        const struct shape *shape;
        bool permute, sorted;
    } cases[] = {{&single, false, false}, // 8 columns, or 4 and 63 more pieces
                 {&single, true, true},
                 {&eights, false, true}, // 80 columns, or 40 and 7 more pieces
                 {&eights, true, true}};
    for (int i = 0; i < COUNT(cases); i++) {
        struct csr A;
        if (shape_build(cases[i].shape, &A)) return;
        struct tiled *T = make(&A, 32, 512, NEVER, AUTO, cases[i].permute);
        CHECK(T && T->reordered == cases[i].sorted, "%s, permute=%d: sorted %d",
              cases[i].shape->name, cases[i].permute, T && T->reordered);
        if (T) sparse_free(&dev, &T->head);
        csr_free(&A);
    }
    CHECK(tiled_follows(4, 5) && !tiled_follows(5, 4) && !tiled_follows(4, 4), "rows");
    CHECK(tiled_follows(-3, -4) && !tiled_follows(-4, -3) && !tiled_follows(3, -1), "parts");
}

// Equal rows of many columns, which agree in all of them.
static void test_sort_equal(void)
{
    const struct shape equal = {.name = "equal rows", .m = 45, .n = 300, .rule = full};
    struct csr A;
    int32_t order[45];
    for (int i = 0; i < 45; i++) order[i] = i;
    if (shape_build(&equal, &A)) return;
    struct tiled *T = make(&A, 32, 512, NEVER, ALWAYS, 1);
    if (T) expect_order(T, order);
    if (T) sparse_free(&dev, &T->head);
    csr_free(&A);
}

static const int32_t *false_order;

static int prepare_false(struct task *t)
{
    int err = algo_find(t->entry->op, "tiled", DEVICE_CPU)->algo->prepare(t);
    t->order = false_order;
    return err;
}

// C in the order of sorted and cut rows is compared with the reference's rows; in any other order
// it is wrong.
static void test_order(void)
{
    const struct shape random = {.name = "random", .m = 120, .n = 90, .rule = scattered};
    const struct algo_entry *e = algo_find(op_find("spmm"), "tiled", DEVICE_CPU);
    struct algo own = *e->algo;
    struct algo_entry entry = *e;
    struct csr A;
    struct inputs in;
    double opt[ALGO_OPTIONS_MAX] = {0};
    int64_t axis[AXES_MAX] = {7, LAYOUT_COL};
    int32_t order[120];
    if (shape_build(&random, &A)) return;
    int err = inputs_make(&in, &dev, e->op, &A, F32, axis, true, 0);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    algo_defaults(e->algo, opt);
    set_option(e, opt, "balance", ALWAYS);
    set_option(e, opt, "reorder", ALWAYS);
    set_option(e, opt, "permute", 1);
    struct case_outcome out = case_run(&in, e, opt, CHECK_FULL);
    CHECK(!out.err && out.check.ok && out.check.error_ratio == 0, "permuted: %s",
          out.err ? fail_text() : out.check.reason);
    CHECK(algo_stats_find(&out.stats, "rows") && stat_of(&out, "segments") > 120,
          "neither permuted nor cut");

    own.prepare = prepare_false;
    entry.algo = &own;
    out = case_run(&in, &entry, opt, CHECK_FULL);
    CHECK(!out.err && !out.check.ok, "rows in another order pass");
    false_order = order;
    for (int i = 0; i < 120; i++) order[i] = i == 5 ? 6 : i;
    out = case_run(&in, &entry, opt, CHECK_FULL);
    CHECK(!out.err && !out.check.ok, "no order passes");
    CHECK_TEXT(out.check.reason, "row 5 has no place in C");
    order[5] = 120;
    out = case_run(&in, &entry, opt, CHECK_FULL);
    CHECK(!out.err && !out.check.ok, "a row outside passes");
    CHECK_TEXT(out.check.reason, "row 5 has no place in C");
    inputs_free(&in);
    csr_free(&A);
}

// What a device makes of a shape is what the host does, with rows cut, sorted and permuted at once.
static void compare_makers(struct device *d, const struct shape *shape, const double *opt)
{
    struct csr A;
    struct sparse *csr = NULL, *there = NULL, *X = NULL, *here;
    uint64_t bits, want;
    if (shape_build(shape, &A)) return;
    here = (struct sparse *)make(&A, opt[0], opt[1], opt[2], opt[3], opt[4]);
    int err = csr_place(d, &A, F64, &csr);
    if (!err) err = sparse_make(d, &format_tiled, csr, opt, &there);
    if (!err) err = sparse_copy(d, there, &dev, &X);
    CHECK(!err, "%s on %s: %s", shape->name, d->id, fail_text());
    if (!err && here) {
        CHECK(!format_broken(X), "%s: %s", shape->name, format_broken(X));
        err = sparse_digest(&dev, X, &bits);
        if (!err) err = sparse_digest(&dev, here, &want);
        CHECK(!err && bits == want, "%s: %s makes another", shape->name, d->id);
        CHECK(tiled_of(X)->cut == tiled_of(here)->cut, "%s: cut in another way", shape->name);
    }
    sparse_free(d, csr);
    sparse_free(d, there);
    sparse_free(&dev, X);
    sparse_free(&dev, here);
    csr_free(&A);
}

static void test_device(void)
{
    struct device d;
    int units = dev.units;
    if (!open_kind(DEVICE_CUDA, &d)) return;
    d.units = dev.units = 1;
    for (int s = 0; s < shape_count; s++) {
        compare_makers(&d, &shapes[s], (double[]){32, 3, ALWAYS, ALWAYS, 1, 0});
        compare_makers(&d, &shapes[s], (double[]){64, 1, AUTO, AUTO, 1, 0});
        compare_makers(&d, &shapes[s], (double[]){32, 4, AUTO, AUTO, 0, 0});
        compare_makers(&d, &shapes[s], (double[]){32, 8, NEVER, ALWAYS, 1, 0});
    }
    dev.units = units;
    CHECK(!d.used_bytes, "%lld bytes left", (long long)d.used_bytes);
    device_close(&d);
}

TESTS_ON_CPU(dev, test_layout, test_stats, test_balance, test_slabs, test_slabs_chosen, test_parts,
             test_sort, test_sort_pair, test_cut_unsorted, test_reorder, test_reorder_pieces,
             test_sort_equal, test_order, test_device)
