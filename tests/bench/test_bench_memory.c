// What cases share on a device, and what it takes there: formats are made once for all who ask,
// nobody pays for what others have left, and whether a case fits does not depend on what ran before
// it.
#include "data/gen.h"
#include "endings.h"
#include "formats/coo.h"
#include "formats/tile16.h"

// The CPU as a device of little memory.
static struct device_ops small_ops;
static int64_t budget;   // bytes it has
static int64_t refusals; // requests that it refused

static int small_alloc(struct device *d, int64_t bytes, void **p)
{
    // The guard behind a block does not count.
    if (d->used_bytes + bytes - DEVICE_GUARD <= budget)
        return device_list[DEVICE_CPU].ops->alloc(d, bytes, p);
    refusals++;
    return fail(ERR_MEMORY, "out of device memory: %lld bytes wanted", (long long)bytes);
}

static void limit(int64_t bytes)
{
    small_ops = *device_list[DEVICE_CPU].ops;
    small_ops.alloc = small_alloc;
    places.cpu.ops = &small_ops;
    budget = bytes;
    refusals = 0;
}

static struct format counted; // coo, whose makings are counted
static int makings;
static int make_counted(struct device *d, const struct sparse *from, const double *opt,
                        struct sparse *out)
{
    makings++;
    return format_coo.make(d, from, opt, out);
}

static const struct algo on_tiles = {.layouts = BOTH_LAYOUTS,
                                     .precs = BOTH_PRECS,
                                     .A = {&format_tile16},
                                     .arith = ARITH_DOUBLE,
                                     .run = own_run};
static const struct algo on_counted = {.layouts = BOTH_LAYOUTS,
                                       .precs = BOTH_PRECS,
                                       .A = {&counted},
                                       .arith = ARITH_DOUBLE,
                                       .run = own_run};
static const struct algo on_both = {.layouts = BOTH_LAYOUTS,
                                    .precs = BOTH_PRECS,
                                    .A = {&format_csr, &counted},
                                    .arith = ARITH_DOUBLE,
                                    .run = own_run};
static const struct algo_entry tile_entry = {"tiles", &own_op, DEVICE_CPU, &on_tiles};
static const struct algo_entry counted_entry = {"counted", &own_op, DEVICE_CPU, &on_counted};
static const struct algo_entry both_entry = {"both", &own_op, DEVICE_CPU, &on_both};
static int64_t width(enum prec prec) { return (int64_t)type_bytes(prec); }

// Bytes of A on the CPU in a format, by hand.
static int64_t csr_size(enum prec prec) { return csr_bytes(M.A.m, M.A.nnz, 8, prec); }
static int64_t coo_size(enum prec prec) { return M.A.nnz * (8 + width(prec)); }

// The dense operands and the result of the operation.
static int64_t dense_size(enum prec prec, int64_t columns)
{
    return (M.A.n * columns + M.A.nnz) * width(prec);
}

static bool adds_up(double sum, double x, double y) { return fabs(sum - x - y) <= 1e-9 * sum; }

// Of four cases with csr, coo, both and coo: making coo costs what making csr does, too, unless csr
// is there for its own sake; and it costs the same whoever asks first.
static void check_costs(const struct ending *r)
{
    const struct format_cost *csr = &r[0].setup.formats[0].cost, *coo = &r[1].setup.formats[0].cost;
    const struct format_cost *more = &r[2].setup.formats[1].cost,
                             *again = &r[3].setup.formats[0].cost;
    CHECK(coo->convert_ms > 0 && coo->warm_ms > 0, "%g ms", coo->convert_ms);
    CHECK(!memcmp(coo, again, sizeof *coo), "%g ms, %g ms for the next one", coo->convert_ms,
          again->convert_ms);
    CHECK(adds_up(coo->convert_ms, csr->convert_ms, more->convert_ms) &&
              adds_up(coo->warm_ms, csr->warm_ms, more->warm_ms) &&
              adds_up(coo->upload_ms, csr->upload_ms, more->upload_ms),
          "coo took %g, %g and %g ms, csr %g, %g and %g, coo beside it %g, %g and %g",
          coo->convert_ms, coo->warm_ms, coo->upload_ms, csr->convert_ms, csr->warm_ms,
          csr->upload_ms, more->convert_ms, more->warm_ms, more->upload_ms);
}

// The first making and another one for the time it takes without it, whoever asks for the format,
// at any value of the axes.
static void test_made_once(void)
{
    enum { CSR, COO, BOTH, AGAIN, CASES };
    struct plan_parts x;
    parts_start(&x, &own_op);
    parts_add(&x, &csr_entry);
    parts_add(&x, &counted_entry);
    parts_add(&x, &both_entry);
    parts_add(&x, &counted_entry);
    makings = 0;
    struct endings o = run(&x);
    // Again once, or as often as the store does it if it is quick.
    CHECK(makings >= 2 * 2 && makings <= 2 * (1 + STORE_AGAIN_MAX),
          "coo was made %d times for two precisions", makings);
    for (int i = 0; i < o.count; i++) {
        enum prec prec = i < o.count / 2 ? F32 : F64;
        int which = i % CASES;
        int64_t columns = own_widths[i / (2 * CASES) % 2], dense = dense_size(prec, columns);
        int64_t want = (which == CSR || which == BOTH ? csr_size(prec) : 0) +
                       (which != CSR ? coo_size(prec) : 0);
        const struct ending *r = &o.list[i];
        CHECK(r->status == STATUS_OK, "case %d: %s", i, r->reason);
        CHECK(r->format_bytes == want && r->peak_bytes == want + dense,
              "case %d: formats of %lld bytes, not %lld; peak %lld, not %lld", i,
              (long long)r->format_bytes, (long long)want, (long long)r->peak_bytes,
              (long long)(want + dense));
        CHECK(r->setup.count == 1 + (which == BOTH), "case %d: %d formats", i, r->setup.count);
        const struct format_use *f = &r->setup.formats[r->setup.count - 1];
        CHECK(f->format == (which == CSR ? &format_csr : &counted) && !strcmp(f->of, "A") &&
                  f->csr_bytes == csr_bytes(M.A.m, M.A.nnz, 4, prec),
              "case %d: another format", i);
        CHECK(seen_bytes[i] <= csr_size(prec) + coo_size(prec) + dense,
              "case %d: %lld bytes on the device, some of them of nobody", i,
              (long long)seen_bytes[i]);
        if (which == AGAIN) check_costs(&o.list[i - AGAIN]);
    }
}

// Who asks for tiles alone has no CSR on the device, and none in his peak.
static void test_no_csr(void)
{
    for (int after = 0; after < 2; after++) {
        struct plan_parts x =
            after ? PARTS(&own_op, &csr_entry, &tile_entry) : PARTS(&own_op, &tile_entry);
        struct endings o = run(&x);
        const struct ending *r = &o.list[after];
        int64_t csr = csr_size(F32), want = r->format_bytes + dense_size(F32, 1);
        CHECK(r->status == STATUS_OK && r->setup.count == 1 &&
                  r->setup.formats[0].format == &format_tile16,
              "%s", r->reason);
        CHECK(r->peak_bytes == want, "peak %lld, not %lld", (long long)r->peak_bytes,
              (long long)want);
        CHECK(seen_bytes[after] == want + (after ? csr : 0), "%lld bytes on the device, not %lld",
              (long long)seen_bytes[after], (long long)want);
        CHECK(r->format_bytes != csr, "it is as large as CSR");
    }
}

// Takes that much of the device for a moment; *most: what is allocated then.
static int take(struct device *d, int64_t bytes, int64_t *most)
{
    void *p;
    int err = device_alloc(d, bytes, 1, &p);
    *most = d->used_bytes;
    device_free(d, p);
    return err;
}

static int64_t prepare_takes, run_takes, prepare_most, run_most;
static const struct algo *product; // of spgemm

static int greedy_prepare(struct task *t)
{
    int err = take(t->dev, prepare_takes, &prepare_most);
    return err || !product->prepare ? err : product->prepare(t);
}

static int greedy_run(struct task *t)
{
    int err = take(t->dev, run_takes, &run_most);
    return err ? err : product->run(t);
}

// The peak of a case is the most of all its phases, whichever takes it: preparing, or a run that
// makes its result from nothing.
static void test_phases(void)
{
    static const int64_t takes[][2] = {{1 << 24, 1 << 20}, {1 << 20, 1 << 24}};
    const struct algo_entry *of = algo_find(op_find("spgemm"), "gustavson", DEVICE_CPU);
    CHECK(of && of->algo, "no gustavson");
    if (!of) return;
    product = of->algo;
    struct algo greedy = *product;
    greedy.prepare = greedy_prepare;
    greedy.run = greedy_run;
    const struct algo_entry entry = {"greedy", of->op, DEVICE_CPU, &greedy};
    for (int i = 0; i < COUNT(takes); i++) {
        struct plan_parts x = PARTS(of->op, &entry);
        prepare_takes = takes[i][0];
        run_takes = takes[i][1];
        struct endings o = run(&x);
        int64_t want = max64(prepare_most, run_most);
        CHECK(o.list[0].status == STATUS_OK && want >= 1 << 24 && o.list[0].peak_bytes == want,
              "preparing takes %lld, a run %lld: peak %lld, not %lld: %s", (long long)takes[i][0],
              (long long)takes[i][1], (long long)o.list[0].peak_bytes, (long long)want,
              o.list[0].reason);
    }
}

static bool same_ending(const struct ending *a, const struct ending *b)
{
    return a->status == b->status && a->peak_bytes == b->peak_bytes &&
           a->format_bytes == b->format_bytes && a->trace_bytes == b->trace_bytes;
}

// Two algorithms that fit alone and not together: what the first has left gives way.
static void test_makes_room(void)
{
    const struct algo_entry *order[] = {&csr_entry, &tile_entry, &counted_entry, &csr_entry};
    struct ending alone[COUNT(order)];
    int64_t most = 0;
    for (int e = 0; e < COUNT(order); e++) {
        struct plan_parts one = PARTS(&own_op, order[e]);
        alone[e] = run(&one).list[0];
    }
    struct plan_parts x = PARTS(&own_op, &csr_entry, &tile_entry, &counted_entry, &csr_entry);
    // Making a format takes CSR besides, which is the most that any of them needs.
    for (int e = 0; e < COUNT(order); e++)
        most = max64(most, alone[e].format_bytes + csr_size(F32));
    limit(max64(most, csr_size(F32) + dense_size(F32, 1)));
    struct endings o = run(&x);
    CHECK(refusals > 0, "all of it fits at once");
    for (int e = 0; e < COUNT(order); e++)
        CHECK(o.list[e].status == STATUS_OK && same_ending(&o.list[e], &alone[e]),
              "%s: %s, peak %lld, alone %lld: %s", order[e]->name, status_name(o.list[e].status),
              (long long)o.list[e].peak_bytes, (long long)alone[e].peak_bytes, o.list[e].reason);
    limit(INT64_MAX);
}

#define STEPS 10
// From no memory to enough: each case ends as it does alone.
static void test_order(struct plan_parts *x, int64_t most, const char *name)
{
    struct choice_entry all[ENTRIES_MAX];
    int count = x->request.entry_count, ooms = 0, oks = 0;
    memcpy(all, x->entries, sizeof all);
    for (int step = 0; step <= STEPS; step++) {
        limit(most * step / STEPS);
        memcpy(x->entries, all, sizeof all);
        x->request.entry_count = count;
        struct endings together = run(x);
        for (int e = 0; e < count; e++) {
            limit(most * step / STEPS);
            x->request.entry_count = 1;
            x->entries[0] = all[e];
            struct ending alone = run(x).list[0];
            const struct ending *r = &together.list[e];
            CHECK(same_ending(r, &alone),
                  "%s, %s, %lld bytes: %s, peak %lld, \"%s\" after others, %s, peak %lld, \"%s\" "
                  "alone",
                  name, all[e].entry->name, (long long)budget, status_name(r->status),
                  (long long)r->peak_bytes, r->reason, status_name(alone.status),
                  (long long)alone.peak_bytes, alone.reason);
            ooms += r->status == STATUS_OOM;
            oks += r->status == STATUS_OK;
        }
    }
    CHECK(ooms >= count && oks >= count, "%s: %d oom, %d ok", name, ooms, oks);
    limit(INT64_MAX);
}

static void test_orders(void)
{
    // What it takes must not depend on how long a trial took.
    static const struct given_option untried = {"trials", 0};
    for (int i = 0; i < op_count; i++) {
        int64_t most = 0;
        struct plan_parts x = PARTS(ops[i], NULL);
        parts_add_all(&x, DEVICE_CPU);
        x.request.opts = &untried;
        x.request.opt_count = 1;
        struct endings o = run(&x);
        for (int e = 0; e < o.count; e++) most = max64(most, o.list[e].peak_bytes);
        test_order(&x, most + csr_size(F32), ops[i]->name);
    }
    struct plan_parts x = PARTS(&own_op, &csr_entry, &counted_entry, &tile_entry);
    test_order(&x, coo_size(F32) + csr_size(F32) + dense_size(F32, 1), own_op.name);
}

int main(void)
{
    int err = gen_matrix("uniform:80:5", 1, &M.A);
    CHECK(!err, "%s", fail_text());
    if (err || places_open(&places)) return TEST_END();
    M.field = "real";
    counted = format_coo;
    counted.make = make_counted;
    RUN_ALL(test_made_once, test_no_csr, test_phases, test_makes_room, test_orders);
    csr_free(&M.A);
    device_close(&places.cpu);
    return TEST_END();
}
