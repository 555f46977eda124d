// The table-driven test: every operation x algorithm x precision x values of its axes x tiny
// matrix, with whole-number values, so that the result must be exact. On the CPU, a GPU, or the
// emulator.
//
//     test_algos [cpu|cuda] [short|tiny|even|odd] [own] [OPERATION...] [ALGORITHM...]
//
// One kind of device only; every third, ninth or second shape, each of the latter with every second
// value of k; no vendor's algorithms; what is named.
#include "cases.h"
#include "shapes.h"

#define NAMES_MAX 16
static struct {
    int device;                      // -1: all
    int first, step;                 // shapes
    int axis_step;                   // values of numbers that axes are tried at
    bool own;                        // leaves out the vendor's algorithms
    const struct op *ops[NAMES_MAX]; // only these, if any
    const char *algs[NAMES_MAX];     // only these, if any
    int op_count, alg_count;
} wanted = {.device = -1, .step = 1, .axis_step = 1};

static int refused;
static int *cases_of; // by algos[]: cases that were run

static bool is_wanted(const struct algo_entry *e)
{
    bool op = !wanted.op_count, alg = !wanted.alg_count;
    for (int i = 0; i < wanted.op_count; i++) op |= wanted.ops[i] == e->op;
    for (int i = 0; i < wanted.alg_count; i++) alg |= !strcmp(wanted.algs[i], e->name);
    return op && alg && (wanted.device < 0 || wanted.device == (int)e->device) &&
           !(wanted.own && e->algo && e->algo->vendor);
}

// "k 33, layout col": the axes of a problem.
static const char *axes_text(const struct problem *p, char text[96])
{
    char value[32];
    text[0] = 0;
    for (int a = 0; p->op->axes[a]; a++)
        snprintf(text + strlen(text), 96 - strlen(text), "%s%s %s", a ? ", " : "",
                 p->op->axes[a]->name, axis_text(p->op->axes[a], p->axis[a], value));
    return text;
}

static void test_case(struct inputs *in, const struct algo_entry *e, const double *opt,
                      const char *shape, const char *note)
{
    char axes[96];
    struct outcome out = case_run(in, e, opt, CHECK_FULL);
    cases_of[e - algos]++;
    if (out.err == ERR_UNSUPPORTED) {
        refused++;
        return;
    }
    const char *why = out.err ? fail_text() : out.check.reason;
    bool right = !out.err && out.check.error_ratio == 0 && out.left == 0;
    CHECK(right, "%s %s on %s, %s, %s, \"%s\"%s: error %d, ratio %g, %lld bytes left: %s",
          e->op->name, e->name, in->o.dev->id, prec_name(in->p.prec), axes_text(&in->p, axes),
          shape, note, out.err, out.check.error_ratio, (long long)out.left, why);
}

static bool does(const struct inputs *in, const struct algo_entry *e)
{
    const struct op *op = in->p.op;
    return !algo_missing(e) && e->op == op && e->device == in->o.dev->kind && is_wanted(e) &&
           (e->algo->precs & BIT(in->p.prec)) && !(op->refuse && op->refuse(&in->p, e->algo));
}

// Each option at its limits, at 0 where that is not one of them and, if `between`, at powers of
// two. Of more than three options each shape has a part of them, by its `turn`.
static void test_options(struct inputs *in, const struct algo_entry *e, const char *shape,
                         const char *apart, bool between, int turn)
{
    const struct param *p;
    double opt[PARAMS_MAX] = {0};
    int options = 0;
    while (algo_param(e->algo, options)) options++;
    for (int i = 0, parts = (options + 2) / 3; (p = algo_param(e->algo, i)); i++) {
        if ((i + turn) % parts) continue;
        double values[16] = {p->min, p->max};
        int count = 2;
        if (p->min < 0) values[count++] = 0;
        for (double v = 1; between && v < p->max && count < 14; v *= 2)
            if (v > p->min) values[count++] = v;
        for (int v = 0; v < count; v++) {
            char note[128];
            algo_defaults(e->algo, opt);
            opt[i] = values[v];
            snprintf(note, sizeof note, ", %s=%g%s", p->name, values[v], apart);
            test_case(in, e, opt, shape, note);
        }
    }
}

// What is tried beyond the defaults: options at their limits, or also at values between them.
enum extra { NOTHING, LIMITS, BETWEEN };

// Elements between the lines of the dense operands, and of a dense result: each its own, so that
// none is taken for another's. Vectors of 4 stay aligned in all of them, in none, or in all but
// one; those of 2 also where all are even.
static const int distances[][DENSE_MAX + 1] = {
    {0, 0, 0}, {1, 2, 3}, {0, 0, 0}, {4, 8, 12}, {4, 1, 8},
    {0, 0, 0}, {1, 4, 8}, {8, 4, 1}, {2, 6, 4},
};

// `turn` says which of the pads.
static void test_inputs(struct device *dev, const struct op *op, const struct csr *A,
                        enum prec prec, const int64_t *axis, const struct shape *shape,
                        enum extra extra, int turn)
{
    const int *pad = distances[turn % COUNT(distances)];
    struct inputs in;
    char note[64] = "";
    double opt[PARAMS_MAX] = {0};
    int err = inputs_make(&in, dev, op, A, prec, axis, true, 0);
    if (pad[0]) snprintf(note, sizeof note, ", lines %d, %d, %d apart", pad[0], pad[1], pad[2]);
    CHECK(!err, "inputs: %s", fail_text());
    if (err) return;
    err = pad[0] ? inputs_apart(&in, pad) : OK;
    CHECK(!err, "inputs%s: %s", note, fail_text());
    for (const struct algo_entry *e = algos; e < algos + algo_count && !err; e++) {
        if (!does(&in, e)) continue;
        algo_defaults(e->algo, opt);
        test_case(&in, e, opt, shape->name, note);
        if (extra != NOTHING) test_options(&in, e, shape->name, note, extra == BETWEEN, turn);
    }
    inputs_free(&in);
}

// Goes on to the next combination of the values that axes are tried at; false after the last. `at`
// counts for each axis.
static bool next_axes(const struct op *op, int *at, int64_t *axis, int step)
{
    for (int a = op_axis_count(op) - 1; a >= 0; a--) {
        at[a] += op->axes[a]->words ? 1 : step;
        int done = 0;
        bool more = true;
        while (more && done <= at[a]) more = axis_try(op->axes[a], done++, &axis[a]);
        if (more) return true;
        at[a] = 0;
        axis_try(op->axes[a], 0, &axis[a]);
    }
    return false;
}

// Of the values tried of k: 33, where no vectors are.
#define ODD_K 6

// Options are most of what the test takes. At k = 33 each is tried in one of the precisions, and
// its middling values on every third shape; at the others, where kernels load vectors, on some
// shapes. Of products only with the first value of the first axis.
static enum extra extra_of(const struct op *op, const struct shape *shape, int number,
                           enum prec prec, int place, int turn)
{
    if (op->result == RESULT_SPARSE)
        return !place && shape->options && prec == F64 ? LIMITS : NOTHING;
    if (place == ODD_K) return turn % 2 ? NOTHING : number % 3 ? LIMITS : BETWEEN;
    return turn % 16 == 0 ? BETWEEN : turn % 16 == 8 ? LIMITS : NOTHING;
}

static void test_shape(struct device *dev, const struct op *op, const struct shape *shape,
                       int number)
{
    struct csr A;
    if (shape_build(shape, &A)) return;
    bool product = op->result == RESULT_SPARSE;
    for (int prec = F32; prec <= F64; prec++) {
        int at[AXES_MAX] = {0};
        int64_t axis[AXES_MAX] = {0};
        if (!product && wanted.axis_step == 2) at[0] = number / 2 % 2;
        for (int a = 0; op->axes[a]; a++) axis_try(op->axes[a], at[a], &axis[a]);
        do {
            if (product && (A.m != A.n ? !at[0] : shape->square && at[0])) continue;
            int turn = number + 3 * at[0] + prec;
            enum extra extra = extra_of(op, shape, number, (enum prec)prec, at[0], turn);
            test_inputs(dev, op, &A, (enum prec)prec, axis, shape, extra, turn);
        } while (next_axes(op, at, axis, wanted.axis_step));
    }
    csr_free(&A);
}

static void test_op(struct device *dev, const struct op *op)
{
    bool product = op->result == RESULT_SPARSE;
    const struct shape *list = product ? product_shapes : shapes;
    int count = product ? COUNT(product_shapes) : COUNT(shapes);
    for (int s = wanted.first; s < count; s += wanted.step) test_shape(dev, op, &list[s], s);
}

// Dense matrices whose rows lie so far apart that offsets do not fit in 32 bits: of elements as
// int, then as unsigned. Only where the device has the memory, and the host has not to fill it.
static void test_far(struct device *dev, const struct op *op)
{
    const struct shape shape = {.name = "far rows", .m = 70000, .n = 70000, .rule = NULL};
    const int64_t k = 5, pads[] = {32768 - k, 65536 - k};
    struct csr A;
    struct inputs in;
    double opt[PARAMS_MAX] = {0};
    int64_t axis[AXES_MAX] = {0};
    if (device_is_host(dev) || !op->axes[0] || op->axes[0]->words) return;
    if (csr_alloc(&A, shape.m, shape.n, 2 * (int64_t)shape.m)) return;
    for (int32_t i = 0; i < A.m; i++) {
        A.ptr[i] = 2 * (int64_t)i;
        A.idx[2 * i] = i % 7;
        A.idx[2 * i + 1] = A.n - 1 - i % 11;
        A.val[2 * i] = i % 5 - 2;
        A.val[2 * i + 1] = i % 3 + 1;
    }
    A.ptr[A.m] = A.nnz;
    axis[0] = k;
    for (int x = 0; x < COUNT(pads); x++) {
        int err = inputs_make(&in, dev, op, &A, F32, axis, true, pads[x]);
        CHECK(!err, "inputs: %s", fail_text());
        for (const struct algo_entry *e = algos; e < algos + algo_count && !err; e++) {
            if (!does(&in, e)) continue;
            algo_defaults(e->algo, opt);
            struct outcome out = case_run(&in, e, opt, CHECK_FULL);
            if (out.err == ERR_MEMORY) {
                SKIP("%s, offsets past 32 bits: %s", op->name, fail_text());
                break;
            }
            bool right = !out.err && out.check.error_ratio == 0;
            CHECK(right || out.err == ERR_UNSUPPORTED, "%s %s, rows %lld apart: %s", op->name,
                  e->name, (long long)(pads[x] + k), out.err ? fail_text() : out.check.reason);
        }
        if (!err) inputs_free(&in);
    }
    csr_free(&A);
}

static bool any_wanted(const struct op *op, enum device_kind kind)
{
    for (int e = 0; e < algo_count; e++)
        if (algos[e].op == op && algos[e].device == kind && is_wanted(&algos[e])) return true;
    return false;
}

static void test_device(enum device_kind kind)
{
    struct device dev;
    if (!open_kind(kind, &dev)) return;
    for (int x = 0; x < op_count; x++) {
        if (!any_wanted(ops[x], kind)) continue;
        test_op(&dev, ops[x]);
        if (wanted.axis_step < 3 && !wanted.first) test_far(&dev, ops[x]);
    }
    CHECK(dev.used_bytes == 0, "%lld bytes left on %s", (long long)dev.used_bytes, dev.id);
    device_close(&dev);
    // A descriptor without .precs or .layouts would pass by not being tried at all.
    for (int e = 0; e < algo_count; e++)
        CHECK(algo_missing(&algos[e]) || algos[e].device != kind || !is_wanted(&algos[e]) ||
                  cases_of[e],
              "%s %s on %s: no case runs it", algos[e].op->name, algos[e].name,
              device_list[kind].name);
}

// One word of the command line; false if it is none.
static bool parse(const char *word)
{
    for (int k = 0; k < DEVICE_KINDS; k++)
        if (!strcmp(word, device_list[k].name)) return wanted.device = k, true;
    if (!strcmp(word, "short")) return wanted.step = wanted.axis_step = 3, true;
    if (!strcmp(word, "tiny")) return wanted.step = wanted.axis_step = 9, true;
    if (!strcmp(word, "even")) return wanted.step = wanted.axis_step = 2, true;
    if (!strcmp(word, "odd")) return wanted.first = 1, wanted.step = wanted.axis_step = 2, true;
    if (!strcmp(word, "own")) return wanted.own = true;
    if (op_find(word) && wanted.op_count < NAMES_MAX)
        return wanted.ops[wanted.op_count++] = op_find(word), true;
    for (int e = 0; e < algo_count; e++)
        if (!strcmp(word, algos[e].name) && wanted.alg_count < NAMES_MAX)
            return wanted.algs[wanted.alg_count++] = word, true;
    return false;
}

int main(int argc, char **argv)
{
    for (int a = 1; a < argc; a++)
        CHECK(parse(argv[a]), "%s: not a device, operation, algorithm, short, tiny, even, odd or own",
              argv[a]);
    cases_of = mem_zero_alloc(algo_count, sizeof *cases_of);
    if (!cases_of || test_failed) return TEST_END();
    for (int kind = 0; kind < DEVICE_KINDS; kind++)
        if (wanted.device < 0 || wanted.device == kind) test_device((enum device_kind)kind);
    for (int e = 0; e < algo_count; e++)
        if (algo_missing(&algos[e]) && is_wanted(&algos[e]))
            SKIP("%s %s: %s", algos[e].op->name, algos[e].name, algo_missing(&algos[e]));
    if (refused) printf("%d cases refused by their algorithm\n", refused);
    mem_free(cases_of);
    return TEST_END();
}
