// Options of `tile-tuned` on CUDA that decide together how a tile of C is made, on matrices whose
// tiles hold much beside others that hold little.
#include "cases.h"
#include "exact/shapes.h"

static const struct setting {
    double full, window, matches, tnnz, prune;
} together[] = {
    {0, 0, 32, 0, 0},     {0, 32, 32, 256, 1},     {20, 0, 33, 256, 0},
    {20, 2048, 32, 0, 1}, {257, 2048, 33, 256, 0}, {-1, -1, 32, 256, 0},
};

static void test_setting(struct inputs *in, const struct algo_entry *e, const struct setting *s,
                         const char *shape)
{
    double opt[ALGO_OPTIONS_MAX] = {0};
    algo_defaults(e->algo, opt);
    set_option(e, opt, "full-from", s->full);
    set_option(e, opt, "bitmap-columns", s->window);
    set_option(e, opt, "pairs", s->matches);
    set_option(e, opt, "tnnz", s->tnnz);
    set_option(e, opt, "prune", s->prune);
    struct case_outcome out = case_run(in, e, opt, CHECK_FULL);
    CHECK(!out.err && out.check.error_ratio == 0 && !out.left,
          "%s, \"%s\", full=%g, window=%g, matches=%g, tnnz=%g, prune=%g: %s",
          prec_name(in->p.prec), shape, s->full, s->window, s->matches, s->tnnz, s->prune,
          out.err ? fail_text() : out.check.reason);
}

static void test_shape(struct device *dev, const struct shape *shape)
{
    const struct op *op = op_find("spgemm");
    const struct algo_entry *e = algo_find(op, "tile-tuned", dev->kind);
    const int64_t axis[AXES_MAX] = {0};
    struct csr A;
    if (shape_build(shape, &A)) return;
    for (int prec = 0; prec < PRECS; prec++) {
        struct inputs in;
        int err = inputs_make(&in, dev, op, &A, (enum prec)prec, axis, true, 0);
        CHECK(!err, "%s", fail_text());
        // Every other setting in each precision of 16 bits: f16 and bf16 have both halves.
        const bool half = type_bytes(prec_in((enum prec)prec)) == 2;
        for (int x = half ? prec / 2 % 2 : 0; x < COUNT(together) && !err; x += half ? 2 : 1)
            test_setting(&in, e, &together[x], shape->name);
        if (!err) inputs_free(&in);
    }
    csr_free(&A);
}

int main(void)
{
    struct device dev;
    int tried = 0;
    if (!open_kind(DEVICE_CUDA, &dev)) return TEST_END();
    for (int s = 0; s < product_shape_count; s++) {
        const struct shape *shape = &product_shapes[s];
        if (!shape->mixed) continue;
        test_shape(&dev, shape);
        tried++;
    }
    CHECK(tried == 2, "%d shapes of the two", tried);
    device_close(&dev);
    return TEST_END();
}
