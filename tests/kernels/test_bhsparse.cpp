// Long rows of `bhsparse`: launches with larger and larger buffers, and the growth of the
// intermediate matrix, also through host memory.
#include "emu.h"

extern "C" {
#include "cases.h"
#include "exact/shapes.h"
}

#define SHAPE "long rows whose factors interleave"
// The rows of 4, 8 and 16 factors have more than 512 products. The longest row, of 3,200 nonzeros,
// needs buffers of 256, 512, 1024, 2048, 2304 and 4608 entries.
#define LONG_ROWS 3
#define LAUNCHES  6
#define PLENTY    ((int64_t)1 << 30)

static int make_shape(struct csr *A)
{
    int s = 0;
    while (s < product_shape_count && strcmp(product_shapes[s].name, SHAPE)) s++;
    CHECK(s < product_shape_count, "there is no shape \"%s\"", SHAPE);
    return s < product_shape_count ? shape_build(&product_shapes[s], A) : ERR_USAGE;
}

static struct case_outcome run_once(struct inputs *in)
{
    const struct algo_entry *e = algo_find(op_find("spgemm"), "bhsparse", DEVICE_CUDA);
    double opt[ALGO_OPTIONS_MAX] = {};
    algo_defaults(e->algo, opt);
    return case_run(in, e, opt, CHECK_FULL);
}

static bool is_right(const struct case_outcome *out)
{
    return !out->err && out->check.ok && out->check.error_ratio == 0 && !out->left;
}

static void test_launches(struct inputs *in)
{
    struct case_outcome out = run_once(in);
    CHECK(is_right(&out), "%s", out.err ? fail_text() : out.check.reason);
    CHECK(stat_of(&out, "long_rows") == LONG_ROWS, "%g long rows", stat_of(&out, "long_rows"));
    CHECK(stat_of(&out, "merge_launches") == LAUNCHES, "%g launches",
          stat_of(&out, "merge_launches"));
    CHECK(stat_of(&out, "grown_by_host") == 0, "%g arrays grew through the host",
          stat_of(&out, "grown_by_host"));
}

// Runs with less and less memory: the result is right, also by growth through the host, or the run
// ends with ERR_MEMORY. Returns the number of right results by growth through the host.
static int test_memory(struct inputs *in)
{
    struct device *d = in->o.dev;
    d->peak_bytes = d->used_bytes;
    run_once(in);
    const int64_t used = emu_used(), peak = d->peak_bytes - d->used_bytes;
    int by_host = 0, refused = 0;
    for (int percent = 98; percent >= 0; percent--) {
        emu_set_memory(used + peak * percent / 100);
        struct case_outcome out = run_once(in);
        emu_set_memory(PLENTY);
        CHECK(is_right(&out) || (out.err == ERR_MEMORY && strstr(fail_text(), "wanted")) ||
                  out.err == ERR_UNCHECKED,
              "%d %% of its memory: %s", percent, out.err ? fail_text() : out.check.reason);
        CHECK(!out.left && emu_used() == used, "%d %% of its memory: %lld bytes left", percent,
              (long long)(emu_used() - used));
        by_host += is_right(&out) && stat_of(&out, "grown_by_host") > 0;
        refused += out.err == ERR_MEMORY;
    }
    CHECK(refused > 0, "no memory was too small");
    return by_host;
}

int main(void)
{
    struct device dev;
    struct csr A;
    int by_host = 0;
    const int64_t axis[AXES_MAX] = {};
    if (!open_kind(DEVICE_CUDA, &dev)) return TEST_END();
    int err = make_shape(&A);
    CHECK(!err, "%s", fail_text());
    for (int prec = F32; prec <= F64 && !err; prec++) {
        struct inputs in;
        err = inputs_make(&in, &dev, op_find("spgemm"), &A, (enum prec)prec, axis, true, 0);
        CHECK(!err, "%s", fail_text());
        if (err) break;
        test_launches(&in);
        by_host += test_memory(&in);
        inputs_free(&in);
    }
    csr_free(&A);
    CHECK(by_host > 0, "no growth through the host gave a right result");
    CHECK(dev.used_bytes == 0, "%lld bytes left", (long long)dev.used_bytes);
    device_close(&dev);
    return TEST_END();
}
