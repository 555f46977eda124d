// Every format of the list: made from csr, in order, and back again; the same from each device that
// makes it itself; copied; and with memory that runs out. The tests of one format's own layout are
// in test_<format>.c.
#include "algos/algo.h"
#include "formats.h"
#include "csr_equal.h"
#include "test.h"

// A chain of formats, each made from the one before, csr first.
#define CHAIN_MAX 4
struct batch {
    const struct format *format[CHAIN_MAX];
    int count;
};

static struct batch chain_of(const struct format *format)
{
    struct batch c = {0};
    const struct format *backwards[CHAIN_MAX];
    for (; format; format = format->from) backwards[c.count++] = format;
    for (int i = 0; i < c.count; i++) c.format[i] = backwards[c.count - 1 - i];
    return c;
}

// The last format of the chain in the memory of a device that makes all of them.
static int make(struct device *d, const struct csr *A, enum prec prec, const struct batch *c,
                const double *opt, struct sparse **out)
{
    struct sparse *made[CHAIN_MAX] = {0};
    int err = csr_place(d, A, prec, &made[0]);
    for (int i = 1; i < c->count && !err; i++)
        err = sparse_make(d, c->format[i], made[i - 1], i == c->count - 1 ? opt : NULL, &made[i]);
    *out = err ? NULL : made[c->count - 1];
    for (int i = 0; i < c->count; i++)
        if (made[i] != *out) sparse_free(d, made[i]);
    return err;
}

// Returns true if two matrices of a format, both in host memory, have the same arrays.
static bool same_arrays(const struct sparse *X, const struct sparse *Y)
{
    struct array x[ARRAYS_MAX], y[ARRAYS_MAX];
    int count = X->format->arrays(X, x);
    bool same = X->nnz == Y->nnz && count == Y->format->arrays(Y, y);
    for (int i = 0; i < count && same; i++)
        same = x[i].count == y[i].count && x[i].size == y[i].size &&
               (!*x[i].data) == (!*y[i].data) &&
               (!*x[i].data || !memcmp(*x[i].data, *y[i].data, (size_t)x[i].count * x[i].size));
    return same;
}

// Checks that row starts have the width of the device, and on the host that of the host.
static bool is_narrow(const struct device *d, const struct format *format)
{
    return (format == &format_csr || format == &format_csc) && d->ops->row_start_bytes != 8;
}

static void check_matrix(const struct sparse *X, const struct csr *A, const char *what)
{
    struct csr back = {0};
    const char *broken = format_broken(X);
    CHECK(!broken, "%s: %s", what, broken);
    CHECK(X->m == A->m && X->n == A->n && X->nnz == A->nnz, "%s: its size", what);
    if (broken || X->format == &format_tilecols) return;
    CHECK(!format_to_csr(X, &back), "%s: no way back", what);
    CHECK(!csr_check(&back) && csr_equal(A, &back), "%s: another csr comes back", what);
    csr_free(&back);
}

// Made on the device itself, if it does so, and copied to the host: what the CPU makes. Then there
// and back again.
static void check_device(struct device *dev, struct device *cpu, const struct csr *A,
                         enum prec prec, const struct batch *c, const double *opt,
                         const struct sparse *want, const char *what)
{
    struct sparse *X = NULL, *back = NULL;
    bool makes = true, narrow = is_narrow(dev, c->format[c->count - 1]);
    for (int i = 1; i < c->count; i++) makes &= format_maker_of(c->format[i], dev->kind) != NULL;
    int err = makes ? make(dev, A, prec, c, opt, &X) : sparse_copy(cpu, want, dev, &X);
    CHECK(!err, "%s on %s: %s", what, dev->id, fail_text());
    if (!err) err = sparse_copy(dev, X, cpu, &back);
    CHECK(!err, "%s from %s: %s", what, dev->id, fail_text());
    if (!err) check_matrix(back, A, what);
    CHECK(err || narrow || same_arrays(want, back), "%s: %s makes another", what, dev->id);
    CHECK(err || narrow || sparse_bytes(X) == sparse_bytes(want), "%s: %lld bytes on %s", what,
          (long long)sparse_bytes(X), dev->id);
    sparse_free(dev, X);
    sparse_free(cpu, back);
}

// The i-th set of values of a format's parameters: the defaults, then each at its limits and
// between.
static bool choose_options(const struct format *format, int i, double opt[ALGO_OPTIONS_MAX])
{
    int count = 0;
    for (const struct algo_option *p = format->options; p && p->name; p++) opt[count++] = p->value;
    if (i == 0) return true;
    int which = (i - 1) / 4;
    if (which >= count) return false;
    const struct algo_option *p = &format->options[which];
    const double values[] = {p->min, p->max, p->min + 1, p->min + 6};
    opt[which] = values[(i - 1) % 4];
    return true;
}

static void test_shape(const struct format *format, const struct shape *shape, struct device *cpu,
                       struct device *dev)
{
    struct csr A;
    struct batch c = chain_of(format);
    double opt[ALGO_OPTIONS_MAX];
    if (shape_build(shape, &A)) return;
    for (int prec = F32; prec <= F64; prec++)
        for (int i = 0; choose_options(format, i, opt); i++) {
            char what[128];
            struct sparse *X;
            snprintf(what, sizeof what, "%s, %s, \"%s\", options %d", format->name,
                     prec_name((enum prec)prec), shape->name, i);
            int err = make(cpu, &A, (enum prec)prec, &c, opt, &X);
            CHECK(!err, "%s: %s", what, fail_text());
            if (err) continue;
            check_matrix(X, &A, what);
            if (dev) check_device(dev, cpu, &A, (enum prec)prec, &c, opt, X, what);
            sparse_free(cpu, X);
            CHECK(!cpu->used_bytes, "%s: %lld bytes left", what, (long long)cpu->used_bytes);
        }
    csr_free(&A);
}

// The last format of the chain, where the device makes all of them itself, in host memory.
static int make_at(struct device *d, struct device *cpu, const struct csr *A, enum prec prec,
                   const struct batch *c, struct sparse **out)
{
    double opt[ALGO_OPTIONS_MAX];
    struct sparse *X;
    *out = NULL;
    for (int i = 1; i < c->count; i++)
        if (!format_maker_of(c->format[i], d->kind)) return ERR_UNSUPPORTED;
    choose_options(c->format[c->count - 1], 0, opt);
    int err = make(d, A, prec, c, opt, &X);
    if (!err && d != cpu) {
        err = sparse_copy(d, X, cpu, out);
        sparse_free(d, X);
    } else {
        *out = X;
    }
    return err;
}

// Values that f32 does not hold: thirds and tenths lie nearer to the number above, 1e-40 is not
// normal, and what lies in the middle goes to the even one.
static void test_rounding(const struct format *format, struct device *d, struct device *cpu)
{
    static double exact[] = {1.0 / 3, -1.0 / 3, 0.1, -0.1, 1e-40, 1 + 0x1p-24, 1 + 0x3p-24, 0.7};
    static double rounded[] = {0x1.555556p-2,  -0x1.555556p-2,   0x1.99999ap-4,
                               -0x1.99999ap-4, 71362 * 0x1p-149, 1,
                               1 + 0x1p-22,    0x1.666666p-1};
    int64_t ptr[] = {0, 3, 3, 8};
    int32_t idx[] = {0, 5, 17, 1, 2, 3, 4, 19};
    const struct csr A = {3, 20, COUNT(exact), ptr, idx, exact}, R = {3, 20, 8, ptr, idx, rounded};
    struct batch c = chain_of(format);
    for (int prec = F32; prec <= F64; prec++) {
        char what[64];
        struct sparse *X;
        snprintf(what, sizeof what, "%s on %s, rounded to %s", format->name, d->id,
                 prec_name((enum prec)prec));
        int err = make_at(d, cpu, &A, (enum prec)prec, &c, &X);
        CHECK(!err || err == ERR_UNSUPPORTED, "%s: %s", what, fail_text());
        if (!err) check_matrix(X, prec == F32 ? &R : &A, what);
        sparse_free(cpu, X);
    }
}

// More tile columns than any other test has: 2^17 and some.
static void test_wide(const struct format *format, struct device *d, struct device *cpu)
{
    const int32_t n = 16 * (1 << 17) + 60;
    int64_t ptr[] = {0, 3, 3, 5};
    int32_t idx[] = {0, 16 * (1 << 16), n - 1, n - 50, n - 17};
    double val[] = {1, 2, 3, 4, 5};
    const struct csr A = {3, n, COUNT(val), ptr, idx, val};
    struct batch c = chain_of(format);
    struct sparse *want, *X;
    int err = make_at(cpu, cpu, &A, F32, &c, &want);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    check_matrix(want, &A, "a wide matrix");
    err = make_at(d, cpu, &A, F32, &c, &X);
    CHECK(!err || err == ERR_UNSUPPORTED, "%s on %s: %s", format->name, d->id, fail_text());
    if (!err && c.count > 1) {
        check_matrix(X, &A, "a wide matrix");
        CHECK(is_narrow(d, format) || same_arrays(want, X), "%s of a wide matrix: %s makes another", format->name, d->id);
    }
    sparse_free(cpu, X);
    sparse_free(cpu, want);
}

// Changes the lowest bit of each byte of each array: the invariants are broken, or another matrix
// comes back. tilecols has only a part of the matrix.
static void test_changed_bytes(const struct format *format, struct device *cpu)
{
    const struct shape random = {.name = "random", .m = 40, .n = 37, .rule = scattered};
    struct batch c = chain_of(format);
    struct array list[ARRAYS_MAX];
    double opt[ALGO_OPTIONS_MAX];
    struct sparse *X;
    struct csr A;
    if (format == &format_tilecols || shape_build(&random, &A)) return;
    choose_options(format, 0, opt);
    CHECK(!make(cpu, &A, F64, &c, opt, &X), "%s: %s", format->name, fail_text());
    for (int x = X ? format->arrays(X, list) - 1 : -1; x >= 0; x--) {
        const int64_t bytes = *list[x].data ? list[x].count * (int64_t)list[x].size : 0;
        for (int64_t i = 0; i < bytes; i++) {
            struct csr back = {0};
            ((char *)*list[x].data)[i] ^= 1;
            const bool seen = format_broken(X) || format_to_csr(X, &back) || !csr_equal(&A, &back);
            CHECK(seen, "%s: a change of byte %lld of array %d is not found", format->name,
                  (long long)i, x);
            ((char *)*list[x].data)[i] ^= 1;
            csr_free(&back);
        }
    }
    sparse_free(cpu, X);
    csr_free(&A);
}

// The n-th allocation on the host fails, for every n until none does.
static void test_no_memory(const struct format *format, struct device *d)
{
    struct csr A;
    struct sparse *X;
    struct batch c = chain_of(format);
    double opt[ALGO_OPTIONS_MAX];
    int n, err = ERR_MEMORY;
    const struct shape random = {.name = "random", .m = 90, .n = 80, .rule = scattered};
    for (int i = 1; i < c.count; i++)
        if (!format_maker_of(c.format[i], d->kind)) return;
    if (shape_build(&random, &A)) return;
    choose_options(format, 0, opt);
    for (n = 1; err == ERR_MEMORY && n < 100; n++) {
        mem_fail_at(n);
        err = make(d, &A, F64, &c, opt, &X);
        mem_fail_at(0);
        CHECK(!err || !d->used_bytes, "%s on %s, allocation %d: %lld bytes left", format->name,
              d->id, n, (long long)d->used_bytes);
    }
    CHECK(!err && n > 3, "%s on %s: error %d at allocation %d", format->name, d->id, err, n);
    if (!err) sparse_free(d, X);
    csr_free(&A);
}

int main(void)
{
    struct device cpu, others[DEVICE_KINDS] = {0}, *dev = NULL;
    int err = device_open("cpu", &cpu);
    CHECK(!err, "%s", fail_text());
    for (int kind = 0; kind < DEVICE_KINDS && !err; kind++) {
        if (kind == (int)cpu.kind) continue;
        const char *missing = device_missing((enum device_kind)kind);
        if (missing) SKIP("%s: %s", device_list[kind].name, missing);
        if (missing) continue;
        dev = &others[kind];
        err = device_open(device_list[kind].name, dev);
        CHECK(!err, "%s", fail_text());
        dev->units = cpu.units; // a format that goes by it is to be the same
    }
    for (int f = 0; f < format_count && !err; f++) {
        for (int s = 0; s < shape_count; s++) test_shape(formats[f], &shapes[s], &cpu, dev);
        for (int s = 0; s < product_shape_count; s++)
            test_shape(formats[f], &product_shapes[s], &cpu, dev);
        test_rounding(formats[f], &cpu, &cpu);
        test_no_memory(formats[f], &cpu);
        test_changed_bytes(formats[f], &cpu);
        if (!dev) continue;
        test_rounding(formats[f], dev, &cpu);
        test_wide(formats[f], dev, &cpu);
        test_no_memory(formats[f], dev);
    }
    if (dev) device_close(dev);
    device_close(&cpu);
    return TEST_END();
}
