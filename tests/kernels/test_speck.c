// Paths of `speck` on CUDA that the table of cases does not reach: balanced and unbalanced blocks
// of the same matrix, dense rows with several windows of columns in both phases, and all kernel
// sizes.
#include "cases.h"
#include "data/gen.h"

// Matrix "wide": row r of A, from FIRST on, has COUNT nonzeros in columns `step` apart. The first
// rows name two or more of these. All columns are in [0, WIDE).
#define WIDE  530000
#define FIRST 64
static const struct named {
    int32_t count, step;
} named[] = {
    {40, 3},     {80, 1},     {160, 2},    {330, 1},    {660, 5},    {1300, 3},
    {2000, 1},   {2600, 30},  {0, 1},      {1, 1},      {1000, 529}, {1000, 528},
    {1000, 527}, {1000, 526}, {1000, 525}, {1000, 524}, {1000, 523}, {1000, 522},
    {1000, 521}, {1000, 520}, {1000, 519}, {1000, 518}, {1000, 517}, {1000, 516},
    {1000, 515}, {1000, 514}, {1000, 513}, {1000, 512}, {1000, 511}, {1000, 510},
};
#define NAMED ((int32_t)COUNT(named))

// Columns of a row of A before FIRST: `count` names from `first` on.
static const struct {
    int32_t first, count;
} naming[] = {
    {0, 1}, {0, 2},   {1, 2}, {2, 2}, {3, 2}, {4, 2},  {5, 2}, {6, 2},  {7, 1}, {8, 1},
    {8, 2}, {10, 20}, {9, 1}, {0, 8}, {6, 1}, {10, 1}, {0, 4}, {8, 22}, {7, 3}, {0, 30},
};

static int make_wide(struct csr *A)
{
    int64_t p = 0, room = 0;
    for (int32_t r = 0; r < NAMED; r++) room += named[r].count;
    for (int r = 0; r < COUNT(naming); r++) room += naming[r].count;
    int err = csr_alloc(A, WIDE, WIDE, room);
    CHECK(!err, "%s", fail_text());
    for (int32_t i = 0; i < WIDE && !err; i++) {
        A->ptr[i] = p;
        for (int32_t j = 0; i < COUNT(naming) && j < naming[i].count; j++) {
            A->idx[p] = FIRST + naming[i].first + j;
            A->val[p++] = 1 + j % 3;
        }
        const int32_t r = i - FIRST;
        for (int32_t j = 0; r >= 0 && r < NAMED && j < named[r].count; j++) {
            A->idx[p] = WIDE - 1 - (named[r].count - 1 - j) * named[r].step;
            A->val[p++] = (r + j) % 5 - 2;
        }
    }
    if (!err) A->ptr[WIDE] = A->nnz = p;
    return err;
}

static const struct run {
    const char *spec; // NULL: the wide matrix
    int balance, shared;
    int balanced[2]; // the phases that have to be
    int dense[2];    // dense rows, f32 and f64; -1: any
} runs[] = {
    {"uniform:2000:6", -1, 0, {0, 0}, {0, 0}},
    {"uniform:2000:6", 1, 0, {1, 1}, {0, 0}},
    {"rmat:9:4", 0, 0, {0, 0}, {0, 0}},
    {"rmat:9:4", 1, 0, {1, 1}, {0, 0}},
    {"fem:4", -1, 0, {0, 0}, {0, 0}},
    {"fem:4", 1, 0, {1, 1}, {0, 0}},
    {"skew:9000:2:9000", -1, 0, {1, 1}, {4, 4}},
    // Two windows of f64.
    {"skew:9000:2:9000", -1, 1, {1, 1}, {4, 4}},
    {NULL, -1, 0, {1, 1}, {-1, -1}},
    {NULL, -1, 1, {1, 1}, {-1, -1}},
};

static void test_run(const struct run *r, struct device *dev, const struct csr *A, enum prec prec)
{
    const struct op *op = op_find("spgemm");
    const struct algo_entry *e = algo_find(op, "speck", dev->kind);
    struct inputs in;
    double opt[ALGO_OPTIONS_MAX] = {0};
    const char *name = r->spec ? r->spec : "wide";
    int err = inputs_make(&in, dev, op, A, prec, (int64_t[AXES_MAX]){0}, !r->spec, 0);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    algo_defaults(e->algo, opt);
    set_option(e, opt, "balance", r->balance);
    set_option(e, opt, "shared-memory", r->shared);
    struct case_outcome out = case_run(&in, e, opt, CHECK_FULL);
    CHECK(!out.err && out.check.ok && !out.left, "%s, %s, balance=%d, shared-memory=%d: %s", name,
          prec_name(prec), r->balance, r->shared, out.err ? fail_text() : out.check.reason);
    CHECK(stat_of(&out, "balanced_symbolic") == r->balanced[0] &&
              stat_of(&out, "balanced_numeric") == r->balanced[1],
          "%s: balanced %g and %g", name, stat_of(&out, "balanced_symbolic"),
          stat_of(&out, "balanced_numeric"));
    const double dense = stat_of(&out, "dense_rows");
    CHECK(r->dense[prec] < 0 ? dense > 0 : dense == r->dense[prec], "%s, %s: %g dense rows", name,
          prec_name(prec), dense);
    inputs_free(&in);
}

int main(void)
{
    struct device dev;
    if (!open_kind(DEVICE_CUDA, &dev)) return TEST_END();
    // The host checks: for a matrix of many columns the emulator takes minutes.
    struct device_ops host_checks = *dev.ops;
    host_checks.check_product = NULL;
    dev.ops = &host_checks;
    for (int r = 0; r < COUNT(runs); r++) {
        struct csr A;
        int err = runs[r].spec ? gen_matrix(runs[r].spec, 1, &A) : make_wide(&A);
        CHECK(!err, "%s", fail_text());
        if (err) continue;
        // The emulator takes 20 s for the wide matrix.
        for (int prec = runs[r].spec ? F32 : F64; prec <= F64; prec++)
            test_run(&runs[r], &dev, &A, (enum prec)prec);
        csr_free(&A);
    }
    CHECK(dev.used_bytes == 0, "%lld bytes left", (long long)dev.used_bytes);
    device_close(&dev);
    return TEST_END();
}
