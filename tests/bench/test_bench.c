// The loop over cases, for every operation: each case gives one result whatever happens, memory
// that runs out at any point included.
#include "data/gen.h"
#include "plans.h"

static struct test_devices places;

// What came out of a plan, held against what it should.
static struct outcomes {
    const struct plan *plan;
    const struct matrix *matrix;
    bool lost; // the matrix could not be read
    int results, status[STATUS_COUNT];
    int untrue;          // results that tell of a check which there was not
    int stop_after;      // results until Ctrl-C, 0: never
    int emit_err, after; // what emit() returns after so many
} tally;

// Whether a case can be run at all: not in this build, not in this machine, or not for these
// inputs.
static bool is_possible(const struct bench_case *c)
{
    const struct op *op = c->entry->op;
    struct source source;
    struct problem p = {.op = op, .source = &source, .prec = c->prec};
    if (algo_missing(c->entry) || c->entry->device != DEVICE_CPU) return false;
    source_init(&source, &tally.matrix->A);
    memcpy(p.axis, c->axis, sizeof p.axis);
    bool possible = (c->entry->algo->precs & BIT(c->prec)) && !problem_make(&p) &&
                    !(op->refuse && op->refuse(&p, c->entry->algo));
    problem_free(&p);
    source_free(&source);
    return possible;
}

static void check_numbers(const struct result *r)
{
    const struct op *op = r->c.entry->op;
    const char *name = r->c.entry->name;
    CHECK(r->timing.median > 0 && r->gflops > 0 && r->check.ok && r->timing.count == 1,
          "%s: a time of %g", name, r->timing.median);
    CHECK(r->bound_ms > 0 && fabs(r->efficiency * r->timing.median / r->bound_ms - 1) < 1e-9,
          "%s: bound %g, efficiency %g", name, r->bound_ms, r->efficiency);
    CHECK((r->gather_ms > 0) == (r->gather_bytes >= 0) && r->gather_ms <= 1e3 * r->bound_ms &&
              (!(r->gather_ms > 0) ||
               (r->gather_ms >= r->bound_ms &&
                fabs(r->gather_efficiency * r->timing.median / r->gather_ms - 1) < 1e-9)),
          "%s: gathers %lld bytes in %g ms, efficiency %g", name, (long long)r->gather_bytes,
          r->gather_ms, r->gather_efficiency);
    CHECK(r->prepared && r->setup.count > 0 && r->setup.format_bytes > 0, "%s: %d formats", name,
          r->setup.count);
    bool csr = r->c.entry->algo->A[0] == &format_csr; // others may be smaller
    CHECK(r->peak_bytes >= r->setup.format_bytes && (!csr || r->peak_bytes >= r->compulsory_bytes),
          "%s: peak %lld, formats %lld, operands %lld", name, (long long)r->peak_bytes,
          (long long)r->setup.format_bytes, (long long)r->compulsory_bytes);
    CHECK(r->flops > 0 && r->compulsory_bytes > 0, "%s: %lld flops, %lld bytes", name,
          (long long)r->flops, (long long)r->compulsory_bytes);
    for (int f = 0; f < op_number_count(op); f++)
        CHECK(isfinite(r->numbers[f]), "%s: %s is not told", name, op->numbers[f].name);
    bool sparse = op->result == RESULT_SPARSE;
    CHECK(!sparse == !r->phases.count && !sparse == !r->trace.count && !r->trace.lost,
          "%s: %d phases, %lld moments", name, r->phases.count, (long long)r->trace.count);
    CHECK(!sparse || (r->check.result_nnz > 0 && r->trace.moments[r->trace.count - 1].bytes > 0),
          "%s: %lld nonzeros", name, (long long)r->check.result_nnz);
}

static int take_result(const struct result *r, void *arg)
{
    char key[2][CASE_KEY_MAX];
    const struct bench_case *c = &tally.plan->cases[tally.results++];
    CHECK(arg == &tally && r->matrix == tally.matrix, "a result of something else");
    case_key(&r->c, r->matrix, key[0]);
    CHECK(!strcmp(key[0], case_key(c, r->matrix, key[1])) && r->c.entry == c->entry &&
              !memcmp(r->c.opt, c->opt, sizeof c->opt),
          "%s in place of %s", key[0], key[1]);
    tally.status[r->status]++;
    bool ok = r->status == STATUS_OK;
    CHECK(ok == (r->timed && r->reason[0] == 0) && ok != (r->reason[0] != 0),
          "%s: status %s, reason '%s'", key[0], status_name(r->status), r->reason);
    CHECK(r->status != STATUS_WRONG && r->status != STATUS_FAILED + (tally.lost ? 99 : 0), "%s: %s",
          key[0], r->reason);
    tally.untrue += !ok && r->status != STATUS_WRONG && r->check.method && !r->checked;
    if (r->timed) check_numbers(r);
    if (tally.stop_after && tally.results == tally.stop_after) interrupted = 1;
    return tally.results == tally.after ? tally.emit_err : OK;
}

static int run(const struct plan *plan, const struct matrix *M)
{
    tally = (struct outcomes){.plan = plan,
                              .matrix = M,
                              .stop_after = tally.stop_after,
                              .emit_err = tally.emit_err,
                              .after = tally.after};
    int err = bench_matrix(plan, &places.all, M, take_result, &tally);
    CHECK(!places.cpu.used_bytes, "%lld bytes left", (long long)places.cpu.used_bytes);
    return err;
}

static struct plan_parts all_parts(const struct op *op)
{
    struct plan_parts x;
    parts_start(&x, op);
    for (int kind = 0; kind < DEVICE_KINDS; kind++) parts_add_all(&x, (enum device_kind)kind);
    return x;
}

// Every algorithm of every device; those that can be run are ok, the others say why not.
static void test_cases(const struct op *op, const struct matrix *M, enum check_mode check)
{
    struct plan_parts x = all_parts(op);
    struct plan plan = parts_plan(&x);
    int possible = 0;
    plan.check = check;
    int err = run(&plan, M);
    for (int64_t i = 0; i < plan.count; i++) possible += is_possible(&plan.cases[i]);
    CHECK(!err && tally.results == plan.count, "%s: error %d, %d results of %lld", op->name, err,
          tally.results, (long long)plan.count);
    CHECK(tally.status[STATUS_OK] == possible && (possible || M->A.m != M->A.n),
          "%s on %s: %d of %d ok", op->name, M->name, tally.status[STATUS_OK], possible);
    CHECK(tally.status[STATUS_UNSUPPORTED] == tally.results - possible, "%s: %d unsupported",
          op->name, tally.status[STATUS_UNSUPPORTED]);
    plan_free(&plan);
}

// A matrix of which there is only the name: every case is there and says why it failed.
static void test_unread(const struct op *op)
{
    struct matrix lost = {.name = (char *)"lost", .path = (char *)"lost.mtx"};
    struct plan_parts x = all_parts(op);
    struct plan plan = parts_plan(&x);
    static const struct {
        int err;
        enum status status;
    } table[] = {{ERR_INPUT, STATUS_FAILED}, {ERR_MEMORY, STATUS_OOM}};
    for (int i = 0; i < COUNT(table); i++) {
        int here = 0;
        for (int64_t c = 0; c < plan.count; c++)
            here += plan.cases[c].entry->device == DEVICE_CPU && !algo_missing(plan.cases[c].entry);
        tally = (struct outcomes){.plan = &plan, .matrix = &lost, .lost = true};
        int err = bench_unread(&plan, &places.all, &lost, table[i].err, "it is too much",
                               take_result, &tally);
        CHECK(!err && tally.results == plan.count && tally.status[table[i].status] == here,
              "%s: error %d, %d of %d %s", op->name, err, tally.status[table[i].status], here,
              status_name(table[i].status));
        CHECK(tally.status[STATUS_UNSUPPORTED] == plan.count - here, "%s: %d unsupported", op->name,
              tally.status[STATUS_UNSUPPORTED]);
    }
    plan_free(&plan);
}

// Memory that runs out at the n-th allocation: a record for every case, and nothing leaks. Each run
// of a sparse result allocates, and warming up is many runs: there the failures would not end. An
// algorithm that picks would take another one.
static void test_no_memory(const struct op *op, const struct matrix *M)
{
    struct plan_parts x;
    bool ends = op->result != RESULT_SPARSE, survived = false;
    int untrue = 0;
    parts_start(&x, op);
    for (int e = 0; e < algo_count && x.request.entry_count < (ends ? 4 : 2); e++)
        if (algos[e].op == op && algos[e].device == DEVICE_CPU && !algos[e].algo->picks[0])
            parts_add(&x, &algos[e]);
    parts_one(&x);
    struct plan plan = parts_plan(&x);
    for (int n = 1; n < (ends ? 500 : 40) && !survived; n++) {
        mem_fail_at(n);
        int err = run(&plan, M);
        mem_fail_at(0);
        CHECK(!err && tally.results == plan.count, "%s, allocation %d: error %d, %d results",
              op->name, n, err, tally.results);
        untrue += tally.untrue;
        survived = tally.status[STATUS_OK] == tally.results && tally.results;
        CHECK(tally.status[STATUS_OK] + tally.status[STATUS_OOM] + tally.status[STATUS_UNCHECKED] ==
                  tally.results,
              "%s, allocation %d: %d failed", op->name, n, tally.status[STATUS_FAILED]);
    }
    CHECK(survived == ends, "%s: the failures end too late, or too early", op->name);
    plan_free(&plan);
    CHECK(!untrue, "%s: %d results that were not checked tell of a check", op->name, untrue);
}

static void test_stop(const struct op *op, const struct matrix *M)
{
    struct plan_parts x = all_parts(op);
    struct plan plan = parts_plan(&x);
    tally.stop_after = 2;
    int err = run(&plan, M);
    interrupted = 0;
    CHECK(err == ERR_INTERRUPTED && tally.results == 2, "error %d after %d results", err,
          tally.results);
    tally.stop_after = 0;
    tally.emit_err = ERR_OUTPUT, tally.after = 3;
    err = run(&plan, M);
    CHECK(err == ERR_OUTPUT && tally.results == 3, "error %d after %d results", err, tally.results);
    tally.emit_err = tally.after = 0;
    plan_free(&plan);
}

static void test_status_names(void)
{
    for (int s = 0; s < STATUS_COUNT; s++)
        CHECK(status_find(status_name((enum status)s)) == s, "%s", status_name((enum status)s));
    CHECK(status_find("") < 0 && status_find("OK") < 0 && status_find("ok ") < 0, "no status");
    CHECK(bench_device_find(&places.all, "cpu") == &places.list[DEVICE_CPU] &&
              !bench_device_find(&places.all, "cp") && !bench_device_find(&places.all, ""),
          "devices by id");
}

int main(void)
{
    struct matrix tiny = {.name = (char *)"tiny", .path = (char *)"gen:tiny"};
    struct matrix wide = {.name = (char *)"wide", .path = (char *)"gen:wide"};
    int err = gen_matrix("stencil:6", 1, &tiny.A);
    if (!err) err = gen_matrix("aspect:4:40", 1, &wide.A);
    CHECK(!err, "%s", fail_text());
    if (err || places_open(&places)) return TEST_END();
    test_status_names();
    for (int x = 0; x < op_count; x++) {
        test_cases(ops[x], &tiny, CHECK_AUTO);
        test_cases(ops[x], &tiny, CHECK_OFF);
        test_cases(ops[x], &wide, CHECK_AUTO); // not square
        test_unread(ops[x]);
        test_no_memory(ops[x], &tiny);
    }
    test_stop(ops[0], &tiny);
    csr_free(&tiny.A);
    csr_free(&wide.A);
    device_close(&places.cpu);
    return TEST_END();
}
