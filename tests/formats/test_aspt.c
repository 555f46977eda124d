// Adaptive sparse tiles: where the nonzeros lie, what the format tells, and matrices with tiles
// of every kind, on every device: made by the device as by the host, back to CSR, and multiplied,
// exactly.
#include "csr_equal.h"
#include "formats/aspt.h"

#include "formats.h"
#include "cases.h"
#include "formats/csr.h"
#include "plant.h"
#include "exact/shapes.h"

static struct device cpu;

// The values of the format's parameters, in its order.
static struct aspt *make(struct device *d, const struct csr *A, enum prec prec, const double *opt)
{
    return (struct aspt *)sparse_of(d, &format_aspt, A, prec, opt);
}

// Panels of 3 rows; a column with 2 nonzeros in one is heavy.
//
// [ 1 .  2 3 . 4  ]   0, 2 and 3 are heavy. In slot 0 of 2 is column 0, then 2; in slot 1 is
// [ 5 .  6 . 7 .  ]   column 3: tiles (0, 3) and (2, -).
// [ . .  8 9 . .  ]
// [ . 10 . . . .  ]   Column 1 is heavy: tile (-, 1). The panel's last row is missing.
// [ . 11 . . . 12 ]
static struct aspt *make_small(double fill)
{
    int64_t ptr[] = {0, 4, 7, 9, 10, 12};
    int32_t idx[] = {0, 2, 3, 5, 0, 2, 4, 2, 3, 1, 1, 5};
    double val[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const struct csr A = {5, 6, 12, ptr, idx, val};
    const double opt[] = {3, 2, 2, fill};
    return make(&cpu, &A, F64, opt);
}

static void test_layout(void)
{
    static const int64_t panel_ptr[] = {0, 3, 5};
    static const int64_t tile_row_ptr[] = {0, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10, 10, 11, 12, 12, 12};
    static const int32_t map_list[] = {0, 3, 2, -1, -1, 1};
    static const int32_t idx[] = {0, 3, 2, 5, 0, 2, 4, 3, 2, 1, 1, 5};
    static const int32_t place[] = {0, 2, 1, 3, 0, 1, 2, 1, 0, 0, 0, 1};
    static const double val[] = {1, 3, 2, 4, 5, 6, 7, 9, 8, 10, 11, 12};
    struct aspt *X = make_small(50);
    if (!X) return;
    CHECK(X->panels == 2 && X->tiles == 3 && X->least == 1, "%d panels, %lld tiles", X->panels,
          (long long)X->tiles);
    CHECK(X->tiled == 9 && X->tile_columns == 4, "%lld nonzeros, %lld columns in tiles",
          (long long)X->tiled, (long long)X->tile_columns);
    if (X->tiles == 3) {
        CHECK(!memcmp(X->panel_ptr, panel_ptr, sizeof panel_ptr), "panel_ptr");
        CHECK(!memcmp(X->tile_row_ptr, tile_row_ptr, sizeof tile_row_ptr), "tile_row_ptr");
        CHECK(!memcmp(X->map_list, map_list, sizeof map_list), "map_list");
        CHECK(!memcmp(X->idx, idx, sizeof idx), "idx");
        CHECK(!memcmp(X->place, place, sizeof place), "place");
        CHECK(!memcmp(X->val, val, sizeof val), "val");
    }
    sparse_free(&cpu, &X->head);
    X = make_small(51); // of 2 columns: 2 are wanted, which tile (0, 3) alone has
    if (!X) return;
    CHECK(X->least == 2 && X->tiles == 1 && X->tiled == 4, "%lld tiles", (long long)X->tiles);
    CHECK(!format_broken(&X->head), "%s", format_broken(&X->head));
    sparse_free(&cpu, &X->head);
}

// A panel that is one heavy column, with just as many nonzeros as that takes.
static void test_one_column(void)
{
    int64_t ptr[] = {0, 1, 2};
    int32_t idx[] = {0, 0};
    double val[] = {1, 2};
    const struct csr A = {2, 1, 2, ptr, idx, val};
    struct aspt *X = make(&cpu, &A, F64, (double[]){2, 1, 2, 100});
    if (!X) return;
    CHECK(X->tiles == 1 && X->tiled == 2, "%lld tiles", (long long)X->tiles);
    sparse_free(&cpu, &X->head);
}

// The room that a maker needs goes by the nonzeros: a wide matrix has few tiles, narrow as they
// are.
static void test_wide(void)
{
    int64_t ptr[] = {0, 1, 3, 4};
    int32_t idx[] = {INT32_MAX - 1, 0, INT32_MAX - 1, INT32_MAX - 1};
    double val[] = {1, 2, 3, 4};
    const struct csr A = {3, INT32_MAX, 4, ptr, idx, val};
    replant(100000);
    struct aspt *X = make(&cpu, &A, F64, (double[]){3, 1, 3, 100});
    uproot();
    if (!X) return;
    CHECK(X->tiles == 1 && X->tiled == 3, "%lld tiles", (long long)X->tiles);
    CHECK(!format_broken(&X->head), "%s", format_broken(&X->head));
    sparse_free(&cpu, &X->head);
}

static void check_figures(struct aspt *X, double tiles, double share, double fill)
{
    if (!X) return;
    check_figure(&X->head, "panel", X->panel, 6);
    check_figure(&X->head, "width", X->width, 6);
    check_figure(&X->head, "threshold", X->threshold, 6);
    check_figure(&X->head, "tiles", tiles, 6);
    check_figure(&X->head, "tiled_share", share, 6);
    check_figure(&X->head, "tile_fill", fill, 6);
    sparse_free(&cpu, &X->head);
}

static void test_stats(void)
{
    int64_t ptr[] = {0, 0, 0};
    const struct csr empty = {.m = 2, .n = 3, .ptr = ptr};
    const double opt[] = {1, 2, 3, 50};
    check_figures(make_small(50), 3, 9.0 / 12, 4.0 / 6);
    check_figures(make(&cpu, &empty, F32, opt), 0, 0, 0);
}

static bool one_column(int32_t i, int32_t j) { return j == 5 || (i + 7 * j) % 31 == 0; }
static bool colliding(int32_t i, int32_t j) { return j % 16 == 3 && (i + j) % 3 != 0; }
static bool bands(int32_t i, int32_t j) { return abs(i - j) < 9 || i == 70; }
static bool in_some(int32_t i, int32_t j) { return i / 16 % 2 ? j % 3 == 1 : i == j; }
// A long row among three short ones, now and then; three columns in ten are heavy.
static bool uneven(int32_t i, int32_t j)
{
    return j % 100 < 9 * (i % 2) || (i % 4 == 1 ? (i + j) % 5 == 0 : (i * 3 + j) % 97 == 0);
}
static bool checkered(int32_t i, int32_t j) { return (i + j) % 2 == 0; }
static bool few_long(int32_t i, int32_t j)
{
    return i % 12 ? i == j : j < 300 || j % 3 == i / 12 % 3;
}
// 3,135 nonzeros in some rows.
static bool very_long(int32_t i, int32_t j) { return i % 16 == 3 ? j % 20 != 0 : i == j; }
// Neighbours of the same length, so that all groups of a warp end together: 1, 2, ..., 16.
static bool steps(int32_t i, int32_t j) { return j <= i / 4; }

// Rows of 50 nonzeros, all of them, or a few among rows of one.
static bool fifty(int32_t i, int32_t j) { return (j - i + 60) % 60 < 50; }
static bool some_fifty(int32_t i, int32_t j) { return i % 8 ? i == j : j < 50; }

#define BY_RULE(text, rows, columns, is_there)                                                     \
    {                                                                                              \
        .name = text, .m = rows, .n = columns, .rule = is_there                                    \
    }
// A matrix, values of the options, and how many tiles it has then.
static const struct kind {
    struct shape shape;
    double panel, width, threshold, fill;
    int64_t tiles;
    double split, threads, run; // on CUDA; 0: as it is
} kinds[] = {
    {BY_RULE("all heavy", 40, 33, full), 16, 8, 1, 0, 3 * 5, 512, 0, 0},
    {BY_RULE("runs", 40, 33, full), 16, 8, 1, 0, 3 * 5, 0, 0, 2},
    {BY_RULE("runs and light parts", 90, 400, uneven), 64, 8, 12, 50, 8, 0, 64, 1},
    {BY_RULE("rows that a warp shares", 70, 900, uneven), 32, 8, 4096, 0, 0, 20, 0, 0},
    {BY_RULE("even rows", 40, 60, fifty), 16, 8, 4096, 0, 0, 0, 0, 0},
    {BY_RULE("uneven rows", 40, 60, some_fifty), 16, 8, 4096, 0, 0, 0, 0, 0},
    {BY_RULE("all light", 40, 33, full), 16, 8, 17, 0, 0, 512, 0, 0},
    {BY_RULE("last panel light", 40, 33, full), 16, 8, 9, 0, 2 * 5, 512, 0, 0},
    {BY_RULE("tiles not full", 40, 33, full), 16, 16, 1, 75, 3 * 2, 8, 32, 0},
    {BY_RULE("a column in all rows", 90, 62, one_column), 32, 4, 8, 0, 3, 512, 0, 0},
    {BY_RULE("columns of a slot", 60, 160, colliding), 20, 16, 4, 0, 30, 512, 0, 0},
    {BY_RULE("too few to a tile", 60, 160, colliding), 20, 16, 4, 10, 0, 512, 0, 0},
    {BY_RULE("width 5", 60, 160, colliding), 20, 5, 4, 0, 3 * 2, 512, 0, 0},
    {BY_RULE("a band and a row", 130, 130, bands), 64, 32, 4, 50, 4, 40, 64, 0},
    {BY_RULE("every other panel", 130, 60, in_some), 16, 4, 9, 75, 4 * 5, 512, 0, 5},
    {BY_RULE("long light parts", 35, 4000, few_long), 32, 256, 3, 0, 2, 200, 0, 0},
    {BY_RULE("rows of many segments", 10, 3300, very_long), 16, 8, 4096, 0, 0, 200, 96, 0},
    {BY_RULE("long light parts that stay whole", 10, 3300, very_long), 16, 8, 4096, 0, 0, 3200, 0,
     0},
    {BY_RULE("light parts of every length", 64, 20, steps), 64, 8, 4096, 0, 0, 512, 0, 0},
    {BY_RULE("tiles of every length", 64, 20, steps), 64, 16, 1, 0, 1, 0, 0, 0},
    {BY_RULE("panels of a row", 20, 30, checkered), 1, 7, 1, 0, 20 * 3, 3, 256, 0},
};

static bool same_array(const struct array *x, const struct array *y)
{
    return x->count == y->count && x->size == y->size &&
           !memcmp(*x->data, *y->data, (size_t)x->count * x->size);
}

// Made by the device, which gives what the host gives, and CSR again.
static void test_kind(struct device *dev, const struct kind *kind, const struct csr *A)
{
    const double opt[] = {kind->panel, kind->width, kind->threshold, kind->fill};
    const char *name = kind->shape.name;
    struct csr back = {0};
    struct aspt *X = make(dev, A, F32, opt), *host = make(&cpu, A, F32, opt);
    struct sparse *copy = NULL;
    struct array x[ARRAYS_MAX], y[ARRAYS_MAX];
    int err = X && host ? sparse_copy(dev, &X->head, &cpu, &copy) : ERR_MEMORY;
    CHECK(!err, "%s", fail_text());
    if (!err) {
        const struct aspt *got = aspt_of(copy);
        CHECK(got->tiles == kind->tiles, "\"%s\" has %lld tiles", name, (long long)got->tiles);
        CHECK(!format_broken(copy), "\"%s\" on %s: %s", name, dev->id, format_broken(copy));
        CHECK(!format_to_csr(copy, &back) && csr_equal(A, &back), "\"%s\" to csr", name);
        CHECK(got->tiled == host->tiled && got->tile_columns == host->tile_columns, "\"%s\"", name);
        int count = format_aspt.arrays(copy, x);
        format_aspt.arrays(&host->head, y);
        for (int i = 0; i < count; i++)
            CHECK(same_array(&x[i], &y[i]), "\"%s\": array %d on %s", name, i, dev->id);
    }
    csr_free(&back);
    sparse_free(&cpu, copy);
    if (X) sparse_free(dev, &X->head);
    if (host) sparse_free(&cpu, &host->head);
}

// What is taken out of rows and panels on CUDA, as counted in the format.
struct taken_out {
    int64_t segments, shared, runs;
};

static int64_t light_length(const struct aspt *X, int64_t b, int64_t r)
{
    const int64_t parts = X->panel_ptr[b + 1] - X->panel_ptr[b];
    const int64_t *at = X->tile_row_ptr + X->panel_ptr[b] * X->panel;
    return at[(r + 1) * parts] - at[(r + 1) * parts - 1];
}

// Nonzeros of a light part from which on it is taken out, where no option says it: these matrices
// are small, so 64, or 48 where their standard deviation is not below their mean.
static int64_t usual_split(const struct aspt *X)
{
    int64_t sum = 0, squares = 0;
    for (int64_t b = 0; b < X->panels; b++)
        for (int64_t r = 0; r < X->panel; r++) {
            const int64_t light = light_length(X, b, r);
            sum += light;
            squares += light * light;
        }
    return sum && squares * X->m >= 2 * sum * sum ? 48 : 64;
}

static struct taken_out count_taken_out(const struct aspt *X, const struct kind *kind)
{
    const int64_t split = kind->split ? (int64_t)kind->split : usual_split(X);
    const int64_t run = kind->run ? (int64_t)kind->run : 4;
    struct taken_out out = {0};
    for (int64_t b = 0; b < X->panels; b++) {
        const int64_t parts = X->panel_ptr[b + 1] - X->panel_ptr[b];
        if (parts - 1 > run) out.runs += (parts - 1 + run - 1) / run;
        for (int64_t r = 0; r < X->panel; r++) {
            const int64_t light = light_length(X, b, r);
            if (light <= split) continue;
            if (light > 1024)
                out.segments += (light + 1023) / 1024;
            else
                out.shared++;
        }
    }
    return out;
}

static void check_taken_out(const struct case_outcome *out, const struct kind *kind,
                            const struct taken_out *want)
{
    CHECK(stat_of(out, "segments") == (double)want->segments, "\"%s\": %g segments, not %lld",
          kind->shape.name, stat_of(out, "segments"), (long long)want->segments);
    CHECK(stat_of(out, "warp_rows") == (double)want->shared, "\"%s\": %g warp rows, not %lld",
          kind->shape.name, stat_of(out, "warp_rows"), (long long)want->shared);
    CHECK(stat_of(out, "spans") == (double)want->runs, "\"%s\": %g runs, not %lld",
          kind->shape.name, stat_of(out, "spans"), (long long)want->runs);
}

static void test_product(struct device *dev, const struct kind *kind, const struct csr *A,
                         const struct taken_out *taken_out, const char *op_name, enum prec prec,
                         int64_t k)
{
    const struct op *op = op_find(op_name);
    const struct algo_entry *e = algo_find(op, "aspt", dev->kind);
    const int64_t axis[AXES_MAX] = {k};
    struct inputs in;
    double opt[ALGO_OPTIONS_MAX];
    int err = inputs_make(&in, dev, op, A, prec, axis, true, k % 4 ? 0 : 4);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    algo_defaults(e->algo, opt);
    set_option(e, opt, "panel", kind->panel);
    set_option(e, opt, "width", kind->width);
    set_option(e, opt, "threshold", kind->threshold);
    set_option(e, opt, "fill", kind->fill);
    if (dev->kind != DEVICE_CPU && kind->split) set_option(e, opt, "split", kind->split);
    if (dev->kind != DEVICE_CPU && kind->threads) set_option(e, opt, "threads", kind->threads);
    if (dev->kind != DEVICE_CPU && kind->run) set_option(e, opt, "span", kind->run);
    struct case_outcome out = case_run(&in, e, opt, CHECK_FULL);
    CHECK(!out.err && out.check.error_ratio == 0 && out.left == 0,
          "%s on %s, %s, k %lld, \"%s\": ratio %g: %s", op_name, dev->id, prec_name(prec),
          (long long)k, kind->shape.name, out.check.error_ratio,
          out.err ? fail_text() : out.check.reason);
    CHECK(stat_of(&out, "tiles") == kind->tiles, "\"%s\": %g tiles", kind->shape.name,
          stat_of(&out, "tiles"));
    if (dev->kind != DEVICE_CPU) check_taken_out(&out, kind, taken_out);
    inputs_free(&in);
}

// Sizes that fill slices of every width, and that leave something of one.
static const int64_t sizes[] = {5, 13, 32, 36, 64, 96, 128, 200};

static void test_device(struct device *dev)
{
    for (const struct kind *kind = kinds; kind < kinds + COUNT(kinds); kind++) {
        struct csr A;
        if (shape_build(&kind->shape, &A)) continue;
        test_kind(dev, kind, &A);
        struct aspt *host =
            make(&cpu, &A, F32, (double[]){kind->panel, kind->width, kind->threshold, kind->fill});
        const struct taken_out taken_out =
            host ? count_taken_out(host, kind) : (struct taken_out){0};
        if (host) sparse_free(&cpu, &host->head);
        // Each kind has every size in one of the precisions.
        for (int x = 0; x < COUNT(sizes); x++) {
            enum prec prec = (kind - kinds + x) % 2 ? F64 : F32;
            test_product(dev, kind, &A, &taken_out, "spmm", prec, sizes[x]);
            test_product(dev, kind, &A, &taken_out, "sddmm", prec, sizes[x]);
        }
        csr_free(&A);
    }
    CHECK(!dev->used_bytes, "%lld bytes left on %s", (long long)dev->used_bytes, dev->id);
}

// Sizes that are left to the algorithm: by the caches on the CPU, by k and the precision on a GPU.
static void test_choice(struct device *dev, const char *op_name, enum prec prec, int64_t k,
                        double width)
{
    const struct op *op = op_find(op_name);
    const struct algo_entry *e = algo_find(op, "aspt", dev->kind);
    const struct shape shape = {.name = "small", .m = 4, .n = 4, .rule = full};
    const int64_t axis[AXES_MAX] = {k};
    struct csr A;
    struct inputs in;
    double opt[ALGO_OPTIONS_MAX];
    if (shape_build(&shape, &A)) return;
    int err = inputs_make(&in, dev, op, &A, prec, axis, true, 0);
    CHECK(!err, "%s", fail_text());
    algo_defaults(e->algo, opt);
    if (!err) {
        struct case_outcome out = case_run(&in, e, opt, CHECK_FULL);
        CHECK(!out.err && stat_of(&out, "width") == width, "%s, %s, k %lld on %s: width %g, not %g",
              op_name, prec_name(prec), (long long)k, dev->id, stat_of(&out, "width"), width);
        inputs_free(&in);
    }
    csr_free(&A);
}

int main(void)
{
    CHECK(!device_open("cpu", &cpu), "%s", fail_text());
    RUN_ALL(test_layout, test_one_column, test_wide, test_stats);
    test_device(&cpu);
    // 512 KB for each thread: (256 + 256) rows of 128 floats do not fit, so half of that; 32 of
    // them four times as often.
    cpu.cache_least_bytes = cpu.units * ((int64_t)512 << 10) - 1;
    test_choice(&cpu, "spmm", F32, 128, 256);
    test_choice(&cpu, "spmm", F64, 128, 128);
    test_choice(&cpu, "sddmm", F32, 32, 1024);
    test_choice(&cpu, "sddmm", F64, 1 << 20, 16);
    CHECK(!cpu.used_bytes, "%lld bytes left", (long long)cpu.used_bytes);
    for (int kind = 0; kind < DEVICE_KINDS; kind++) {
        struct device dev;
        if (kind == DEVICE_CPU) continue;
        if (!open_kind((enum device_kind)kind, &dev)) continue;
        test_device(&dev);
        // 32 KB of B: 128 bytes of a row where it has no more, else 256.
        test_choice(&dev, "spmm", F32, 32, 256);
        test_choice(&dev, "spmm", F32, 128, 128);
        test_choice(&dev, "spmm", F64, 16, 256);
        test_choice(&dev, "spmm", F64, 32, 128);
        test_choice(&dev, "spmm", F64, 128, 128);
        test_choice(&dev, "sddmm", F32, 32, 256);
        test_choice(&dev, "sddmm", F32, 128, 64);
        device_close(&dev);
    }
    device_close(&cpu);
    return TEST_END();
}
