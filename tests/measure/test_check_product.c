// A sparse product is checked on the device that made it. The verdict is the host's: the same
// results are wrong, by the same error, for the same reason.
#include "data/gen.h"
#include "faulty.h"
#include "measure/check_product.h"

#include "device/product.h"

static struct device dev;

static const struct device_ops *all_ops; // the device's functions
static struct device_ops host_ops;       // without its check, so that the host has to check
static struct device_ops scarce_ops;     // with an allocation that fails during the check
static int64_t scarce;                   // number of this allocation, from 1 on; 0: none

static int scarce_alloc(struct device *d, int64_t bytes, void **p)
{
    if (faulty_runs == 2 && scarce && !--scarce)
        return fail(ERR_MEMORY, "out of memory for a test");
    return all_ops->alloc(d, bytes, p);
}

static bool near(double x, double y)
{
    return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-9 * fabs(y);
}

static const char *name_of(const struct inputs *in, const char *fault_name)
{
    static char text[160];
    snprintf(text, sizeof text, "%s, %lld x %lld, mul %d, row %lld, element %lld, %s",
             prec_name(in->p.prec), (long long)in->p.rows, (long long)in->p.cols,
             (int)in->p.axis[0], (long long)fault_row, (long long)fault_place, fault_name);
    return text;
}

static struct check check_by(struct inputs *in, const struct device_ops *by,
                             const struct algo *algo, enum fault f)
{
    dev.ops = by;
    struct case_outcome out = faulty_case(in, algo, CHECK_FULL, f);
    dev.ops = all_ops;
    CHECK(!out.err, "%s: error %d, %s", name_of(in, ""), out.err, fail_text());
    return out.check;
}

// Compares both verdicts. Returns the device's.
static struct check both(struct inputs *in, const struct algo *algo, enum fault f, const char *name)
{
    struct check host = check_by(in, &host_ops, algo, f);
    reference_free(&in->ref);
    struct check here = check_by(in, all_ops, algo, f);
    CHECK(!in->ref.made, "%s: the host had to check it", name_of(in, name));
    CHECK_TEXT(here.method, "full");
    CHECK(here.ok == host.ok && here.blind == host.blind, "%s: ok %d here and %d on the host: %s",
          name_of(in, name), here.ok, host.ok, host.reason);
    CHECK(!strcmp(here.reason, host.reason), "%s: '%s' here and '%s' on the host",
          name_of(in, name), here.reason, host.reason);
    CHECK(near(here.error_ratio, host.error_ratio), "%s: an error of %g here and %g on the host",
          name_of(in, name), here.error_ratio, host.error_ratio);
    if (isinf(host.error_ratio)) return here;
    CHECK(here.elements == host.elements && here.seen_share == host.seen_share &&
              here.result_nnz == host.result_nnz,
          "%s: %lld elements here and %lld on the host", name_of(in, name),
          (long long)here.elements, (long long)host.elements);
    CHECK(near(here.tolerance_share, host.tolerance_share), "%s: share %g here, %g on the host",
          name_of(in, name), here.tolerance_share, host.tolerance_share);
    CHECK(near(here.value_error, host.value_error), "%s: value error %g here, %g on the host",
          name_of(in, name), here.value_error, host.value_error);
    return here;
}

// Plants every fault of a sparse result in the chosen element.
static void test_faults(struct inputs *in)
{
    CHECK(both(in, &faulty, NONE, "right").error_ratio <= 1, "%s", name_of(in, "right"));
    both(in, &faulty, NARROW, "row starts of 32 bits");
    both(in, &faulty_double, NONE, "summed in double");
    both(in, &faulty_double, ONE_TOO_MANY, "summed in double, one rounding too many");
    const int64_t count = right.ptr[fault_row + 1] - right.ptr[fault_row];
    for (const struct planted *x = planted; x < planted + COUNT(planted); x++) {
        if (!(x->kinds & SPARSE)) continue;
        if (x->fault == SWAPPED && fault_place + 1 == count) continue;
        if (x->fault == TWICE && fault_place == 0) continue;
        both(in, &faulty, x->fault, x->name);
    }
}

// An element that is off by a little less, and a little more, than its tolerance.
static void test_edge(struct inputs *in)
{
    static const double shares[] = {0.5, 0.999, 1.001, 2};
    for (int s = 0; s < COUNT(shares); s++) {
        faulty_small = shares[s];
        struct check c = both(in, &faulty, SMALL, "a part of the tolerance");
        // The element is rounded to the precision of the case; underflow adds to the tolerance.
        bool is_far = shares[s] == 0.5 || (shares[s] == 2 && !c.blind);
        CHECK(!is_far || (c.error_ratio <= 1) == (shares[s] < 1), "%s: %g of the tolerance, %g",
              name_of(in, ""), shares[s], c.error_ratio);
    }
    faulty_small = 0.4;
    // All elements off, so that the root mean square says what no element does.
    for (int s = -25; s < -18; s++) {
        faulty_shift = ldexp(in->p.prec == F32 ? 1 : 0x1p-29, s);
        both(in, &faulty, NONE, "all elements off");
    }
    faulty_shift = 0;
}

// Plants faults in elements next to the borders of segments, in the longest row of C and in
// another.
static void test_places(struct inputs *in)
{
    static const struct {
        bool longest;  // the row of C with most elements, else a row in the middle
        int64_t place; // -1: the last element
        bool gap;      // moves on to an element without a neighbour in the next column
        bool faults;   // false: only faults of rounding
    } table[] = {{true, PRODUCT_SEGMENT - 1, false, true},
                 {true, PRODUCT_SEGMENT, false, true},
                 {true, 1, true, true},
                 {true, -1, false, false},
                 {false, 0, true, true}};
    int64_t longest = 0, some = -1;
    for (int64_t i = 0; i < in->p.rows; i++) {
        int64_t count = right.ptr[i + 1] - right.ptr[i];
        if (count > right.ptr[longest + 1] - right.ptr[longest]) longest = i;
        if (count > 1 && some < 0 && i > in->p.rows / 3) some = i;
    }
    for (int x = 0; x < COUNT(table); x++) {
        fault_row = table[x].longest ? longest : some;
        int64_t count = right.ptr[fault_row + 1] - right.ptr[fault_row];
        fault_place = table[x].place < 0 ? count - 1 : table[x].place;
        const int32_t *col = right.col + right.ptr[fault_row];
        while (table[x].gap && fault_place + 1 < count &&
               col[fault_place + 1] == col[fault_place] + 1)
            fault_place++;
        if (fault_place >= count) continue;
        if (table[x].faults) test_faults(in);
        test_edge(in);
    }
}

// No memory on the device for the check: the host does it.
static void test_scarce(struct inputs *in)
{
    bool failed = true;
    int64_t n = 1;
    for (; failed && n < 50; n++) {
        scarce = n;
        struct check c = check_by(in, &scarce_ops, &faulty, NONE);
        failed = !scarce;
        CHECK(c.ok && !c.reason[0], "allocation %lld: %s", (long long)n, c.reason);
        scarce = n;
        c = check_by(in, &scarce_ops, &faulty, ENTRY_LOST);
        CHECK(!c.ok && !strncmp(c.reason, "row ", 4), "allocation %lld: %s", (long long)n,
              c.reason);
    }
    CHECK(n > 5, "only %lld allocations", (long long)n);
    scarce = 0;
}

// The outcome does not depend on the number of segments in a batch.
static void test_batches(struct inputs *in)
{
    static const int64_t batches[] = {1, 2, 3, 7, 100, PRODUCT_BATCH};
    static struct product_seen first, again;
    const struct algo_entry entry = {"faulty", in->p.op, dev.kind, &faulty};
    struct task t = {.entry = &entry, .algo = &faulty};
    struct setup setup;
    struct output_view R = {0};
    fault = NONE;
    dev.poison = true;
    int err = task_prepare(&t, &in->o, &setup);
    if (!err) err = task_run(&t);
    dev.poison = false;
    if (!err) err = output_starts(&t, &in->p, &R);
    for (int b = 0; b < COUNT(batches) && !err; b++) {
        struct product_seen *seen = b ? &again : &first;
        memset(seen, 0, sizeof *seen);
        err = product_check(&t, &in->p, R.ptr, batches[b], seen);
        CHECK(!err && seen->broken_row < 0 && seen->another_row < 0, "%s", fail_text());
        CHECK(!b || !memcmp(&first, &again, sizeof first), "batches of %lld and of 1 differ",
              (long long)batches[b]);
    }
    CHECK(!err, "%s", fail_text());
    output_free(&R);
    task_release_result(&t);
    task_teardown(&t);
}

static void test_matrix(const struct csr *A)
{
    for (int64_t mul = 0; mul < 2; mul++)
        for (int prec = F32; prec <= F64; prec++) {
            const int64_t axis[AXES_MAX] = {mul};
            struct inputs in;
            int err = inputs_make(&in, &dev, op_find("spgemm"), A, (enum prec)prec, axis, false, 0);
            if (err == ERR_UNSUPPORTED) continue;
            CHECK(!err, "%s", fail_text());
            if (err) return;
            if (!right_make(&in.p, 0)) {
                test_places(&in);
                test_batches(&in);
                if (!mul && prec == F64) test_scarce(&in);
            }
            right_free();
            inputs_free(&in);
        }
}

// Matrices with short rows, with rows of several segments and long operands, with more columns than
// rows, and with products that underflow.
static void test_matrices(void)
{
    static const struct {
        const char *spec;
        double scale;
    } table[] = {{"uniform:40:3", 1},
                 {"skew:300:1:290", 1.0 / 3},
                 {"aspect:3:90", 1},
                 {"skew:300:1:290", 0x1p-72}};
    for (int x = 0; x < COUNT(table); x++) {
        struct csr A;
        int err = gen_matrix(table[x].spec, 1, &A);
        CHECK(!err, "%s", fail_text());
        if (err) return;
        for (int64_t q = 0; q < A.nnz; q++) A.val[q] *= table[x].scale;
        test_matrix(&A);
        csr_free(&A);
    }
}

// C = 3 * 5 in any type, with indices beyond 2^31 into the arrays of each matrix.
static void test_far(enum prec type)
{
    const int64_t far = (int64_t)1 << 33, starts[] = {far, far + 1};
    const int32_t zero = 0;
    const double three = 3, five = 5;
    double right_one = 0;
    struct product x = {.in = type,
                        .out = type,
                        .sum = prec_sum(type),
                        .unit = type_list[F64].unit,
                        .roundoff = {.sums = type_list[F64].unit}};
    const struct product_segment g = {.begin = far, .count = 1, .first = true, .last = true};
    struct product_segment *segment = NULL;
    struct product_part part, *parts = NULL;
    void *ptr = NULL, *idx = NULL, *val[3] = {NULL, NULL, NULL};
    type_store(type, &right_one, 0, 15);
    int err = device_place(&dev, starts, 2, sizeof *starts, &ptr);
    if (!err) err = device_place(&dev, &zero, 1, sizeof zero, &idx);
    if (!err) err = device_place(&dev, &three, 1, sizeof three, &val[0]);
    if (!err) err = device_place(&dev, &five, 1, sizeof five, &val[1]);
    if (!err) err = device_place(&dev, &right_one, 1, sizeof right_one, &val[2]);
    if (!err) err = device_place(&dev, &g, 1, sizeof g, (void **)&segment);
    if (!err) err = device_alloc(&dev, 1, sizeof *parts, (void **)&parts);
    x.A = (struct csr){1, 1, far + 1, ptr, (int32_t *)idx - far, (double *)val[0] - far};
    x.S = x.A;
    x.S.val = (double *)val[1] - far;
    x.idx = x.A.idx;
    x.val = (char *)val[2] - far * (int64_t)type_bytes(type);
    if (!err) err = dev.ops->check_product(&dev, &x, segment, 1, parts);
    if (!err) err = device_download(&dev, &part, parts, sizeof part);
    CHECK(!err && !part.faults && part.worst == 0 && part.bucket.count == 1 && part.terms == 1,
          "error %d, faults %d, worst %g", err, part.faults, part.worst);
    device_free(&dev, ptr);
    device_free(&dev, idx);
    for (int v = 0; v < 3; v++) device_free(&dev, val[v]);
    device_free(&dev, segment);
    device_free(&dev, parts);
}

int main(void)
{
    if (!open_kind(DEVICE_CUDA, &dev)) return TEST_END();
    all_ops = dev.ops;
    host_ops = scarce_ops = *dev.ops;
    host_ops.check_product = NULL;
    scarce_ops.alloc = scarce_alloc;
    test_matrices();
    for (int type = 0; type < TYPES; type++) test_far((enum prec)type);
    CHECK(!dev.used_bytes, "%lld bytes left", (long long)dev.used_bytes);
    device_close(&dev);
    return TEST_END();
}
