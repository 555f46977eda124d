// The loop over cases: every case gives one result whatever happens, memory that runs out at any
// point included.
#include "run/bench.h"

#include <stdlib.h>

#include "data/gen.h"
#include "test.h"

static struct tally {
    int results, status[STATUS_SKIPPED + 1];
    int stop_after; // results until Ctrl-C, 0: never
} tally;

static int count_result(const struct result *r, void *arg)
{
    (void)arg;
    tally.results++;
    tally.status[r->status]++;
    CHECK((r->status == STATUS_OK) == (r->timed && r->reason[0] == 0), "%s: status %s, reason '%s'",
          r->entry->name, status_name(r->status), r->reason);
    CHECK(!r->timed || (r->timing.median > 0 && r->gflops > 0 && r->check.ok), "%s: a time of %g",
          r->entry->name, r->timing.median);
    CHECK(!r->timed || r->peak_bytes >= r->compulsory_bytes, "%s: peak %lld, operands alone %lld",
          r->entry->name, (long long)r->peak_bytes, (long long)r->compulsory_bytes);
    bool sparse = r->entry->op == OP_SPGEMM && r->timed;
    CHECK(!sparse || (2 * r->products == r->flops && r->result_nnz > 0 && r->phases.count > 0 &&
                      r->trace.count > 0),
          "%s: %lld products, %lld nonzeros, %d phases, %d moments", r->entry->name,
          (long long)r->products, (long long)r->result_nnz, r->phases.count, r->trace.count);
    if (tally.stop_after && tally.results == tally.stop_after) interrupted = 1;
    return OK;
}

static int run(const struct plan *plan, struct bench_device devices[2], const struct matrix *M)
{
    tally = (struct tally){.stop_after = tally.stop_after};
    return bench_matrix(plan, devices, M, count_result, NULL);
}

// Memory that runs out at the n-th allocation, n < `end`: a record for every case, and nothing
// leaks. Returns whether no case needs so many allocations.
static bool test_no_memory(struct plan *plan, struct bench_device devices[2],
                           const struct matrix *M, int end)
{
    struct device *dev = devices[DEVICE_CPU].dev;
    bool survived = false;
    for (int n = 1; n < end && !survived; n++) {
        mem_fail_at(n);
        int err = run(plan, devices, M);
        mem_fail_at(0);
        CHECK(!err && tally.results == plan->entry_count, "allocation %d: error %d, %d results", n,
              err, tally.results);
        CHECK(tally.status[STATUS_OK] + tally.status[STATUS_OOM] == tally.results,
              "allocation %d: %d failed", n, tally.status[STATUS_FAILED]);
        CHECK(dev->used_bytes == 0, "allocation %d: %lld bytes left", n,
              (long long)dev->used_bytes);
        survived = tally.status[STATUS_OK] == tally.results;
    }
    return survived;
}

// The algorithms of one operation; returns how many are of the CPU, which come first.
static int choose(struct plan *plan, enum op_kind op)
{
    int cpu = 0;
    plan->entry_count = 0;
    for (int kind = DEVICE_CPU; kind <= DEVICE_CUDA; kind++) {
        for (int e = 0; e < algo_count && plan->entry_count < 64; e++)
            if (algos[e].op == op && algos[e].device == (enum device_kind)kind)
                plan->entries[plan->entry_count++] = &algos[e];
        if (kind == DEVICE_CPU) cpu = plan->entry_count;
    }
    return cpu;
}

static void test_spmm(struct plan *plan, struct bench_device devices[2], const struct matrix *M)
{
    struct device *dev = devices[DEVICE_CPU].dev;
    int cpu = choose(plan, OP_SPMM);
    int err = run(plan, devices, M);
    CHECK(!err && tally.results == bench_case_count(plan), "%d results of %lld", tally.results,
          (long long)bench_case_count(plan));
    CHECK(tally.status[STATUS_OK] == 4 * cpu + 4, "%d ok; reference does both layouts",
          tally.status[STATUS_OK]);
    CHECK(tally.status[STATUS_OK] + tally.status[STATUS_UNSUPPORTED] == tally.results, "%d failed",
          tally.status[STATUS_FAILED]);
    CHECK(dev->used_bytes == 0, "%lld bytes left", (long long)dev->used_bytes);

    plan->k_count = plan->prec_count = plan->layout_count = 1;
    plan->entry_count = 4;
    CHECK(test_no_memory(plan, devices, M, 500), "the failures did not end");

    tally.stop_after = 2;
    err = run(plan, devices, M);
    interrupted = 0;
    CHECK(err == ERR_INTERRUPTED && tally.results == 2, "error %d after %d results", err,
          tally.results);
    tally.stop_after = 0;
}

// A matrix of which there is only the name: every case is there and says why it failed.
static void test_unread(struct plan *plan, struct bench_device devices[2])
{
    struct matrix lost = {.name = (char *)"lost", .path = (char *)"lost.mtx"};
    int cpu = choose(plan, OP_SPMM);
    int64_t cases = bench_case_count(plan);
    tally = (struct tally){0};
    int err = bench_unread(plan, devices, &lost, ERR_INPUT, "no such file", count_result, NULL);
    CHECK(!err && tally.results == cases, "error %d, %d results", err, tally.results);
    CHECK(tally.status[STATUS_FAILED] == cases / plan->entry_count * cpu, "%d failed",
          tally.status[STATUS_FAILED]);
    CHECK(tally.status[STATUS_FAILED] + tally.status[STATUS_UNSUPPORTED] == cases, "%d unsupported",
          tally.status[STATUS_UNSUPPORTED]);
    tally = (struct tally){0};
    err = bench_unread(plan, devices, &lost, ERR_MEMORY, "too large", count_result, NULL);
    CHECK(!err && tally.status[STATUS_OOM] == cases / plan->entry_count * cpu, "%d oom",
          tally.status[STATUS_OOM]);
}

static void test_spgemm(struct plan *plan, struct bench_device devices[2], const struct matrix *M)
{
    int64_t no_k = 0;
    int cpu = choose(plan, OP_SPGEMM);
    plan->ks = &no_k;
    plan->k_count = plan->layout_count = 1;
    plan->prec_count = 2;
    for (int mul = MUL_AA; mul <= MUL_AAT; mul++) {
        plan->mul = (enum mul)mul;
        int err = run(plan, devices, M);
        CHECK(!err && tally.results == bench_case_count(plan), "%d results", tally.results);
        CHECK(tally.status[STATUS_OK] == 2 * cpu, "%s: %d ok", mul_name(plan->mul),
              tally.status[STATUS_OK]);
        CHECK(tally.status[STATUS_UNSUPPORTED] == tally.results - 2 * cpu, "%d of %d unsupported",
              tally.status[STATUS_UNSUPPORTED], tally.results);
    }
    // Unchecked, the nonzeros of C are known even so.
    plan->check = CHECK_OFF;
    CHECK(!run(plan, devices, M) && tally.status[STATUS_OK] == 2 * cpu, "unchecked: %d ok",
          tally.status[STATUS_OK]);
    plan->check = CHECK_AUTO;
    // Each run allocates, and warming up is many runs: the failures would not end.
    plan->prec_count = 1;
    plan->entry_count = 2;
    CHECK(!test_no_memory(plan, devices, M, 40), "fewer allocations than a product needs");

    // A * A of a matrix that is not square: each case says why not.
    struct matrix wide = {.name = (char *)"wide", .path = (char *)"gen:wide"};
    plan->mul = MUL_AA;
    if (gen_matrix("aspect:4:40", 1, &wide.A)) return;
    int err = run(plan, devices, &wide);
    CHECK(!err && tally.status[STATUS_UNSUPPORTED] == 2, "%d unsupported",
          tally.status[STATUS_UNSUPPORTED]);
    csr_free(&wide.A);
}

int main(void)
{
    struct matrix M = {.name = (char *)"tiny", .path = (char *)"gen:tiny"};
    struct device dev;
    struct bench_device devices[2] = {{.missing = "no such device"}, {.missing = "no such device"}};
    int err = gen_matrix("stencil:6", 1, &M.A);
    if (!err) err = device_open("cpu", &dev);
    CHECK(!err, "%s", fail_text());
    if (err) return TEST_END();
    devices[DEVICE_CPU] = (struct bench_device){.dev = &dev, .roof = {10, 20, {30, 15}}};

    const struct algo_entry *entries[64];
    int64_t ks[] = {1, 4};
    struct option_setting setting = {"slice", 8};
    struct plan plan = {.entries = entries,
                        .precs = {F32, F64},
                        .prec_count = 2,
                        .ks = ks,
                        .k_count = 2,
                        .layouts = {LAYOUT_ROW, LAYOUT_COL},
                        .layout_count = 2,
                        .settings = &setting,
                        .setting_count = 1,
                        .rule = {.reps = 1},
                        .seed = 3};
    test_unread(&plan, devices);
    test_spmm(&plan, devices, &M);
    test_spgemm(&plan, devices, &M);
    csr_free(&M.A);
    device_close(&dev);
    return TEST_END();
}
