// SpGEMM with hash tables, C = A * S.
// Yusuke Nagasaka, Akira Nukada, Satoshi Matsuoka: High-performance and Memory-saving Sparse
// General Matrix-Matrix Multiplication for NVIDIA Pascal GPU, ICPP 2017, section III.
//
// Format: CSR. Rows of any length. Not deterministic: atomics add the values up in any order. The
// paper's B is S here. Numbers in brackets are the steps of the paper's figure 1.
//
// paper                                 here
// (1) algorithm 2, products of a row    spgemm/bins.cuh: count_products(); count_segments() for
//                                       rows of A over 4096 nonzeros
// (2) groups by products                bins.cuh: list_by_products()
// table I, groups                       groups.cuh: table_1
// (3) algorithm 3, PWARP/ROW            pwarp.cuh: pwarp_walk(), symbolic_pwarp()
// (3) algorithm 4, TB/ROW               tb.cuh: tb_walk(), symbolic_tb(); the loops over j and k:
//                                       spgemm/hash_table.cuh: walk_nonzeros()
// algorithm 5, hash operation           hash_table.cuh: table_place()
// (3) group 0, first phase              symbolic_tb() of the last entry of table_1
// (3) group 0, second phase             global.cuh: global_insert<false>()
// (4), (5) row starts, memory for C     bins.cuh: sum_shares(), list_by_nonzeros(); result.h
// (6) groups by nonzeros                list_by_nonzeros()
// (7) values, gather and sort           pwarp.cuh: numeric_pwarp(), with write_small() of
//                                       spgemm/hash_sort.cuh
//                                       tb.cuh: numeric_tb(), with sort_by_range(),
//                                       sort_by_buckets(), sort_by_columns() of hash_sort.cuh
// (7) group 0                           global.cuh: global_insert<true>(), with sort_tables() and
//                                       global_copy() of spgemm/global_tables.cuh
// a stream for each group               spgemm/bins_host.cuh: run_bins()
//
// A warp of TB/ROW loads 32 nonzeros of A at once. Its lanes load 4 products (symbolic) or 2
// (numeric) before they use the first. A thread of PWARP/ROW loads the start of its next row of S
// and 2 products ahead.
//
// The host waits for the sizes of the groups in both phases, and for the rows of group 0 that did
// not fit. `hash-tuned` is in spgemm/hash_tuned.
#include "global.cuh"
#include "pwarp.cuh"
#include "tb.cuh"

static void report(struct task *t, const struct bins_host *s)
{
    const struct counters *seen = s->seen;
    task_number(t, "long_rows_symbolic", seen->rows[SYMBOLIC][GROUP_0]);
    task_number(t, "long_rows_numeric", seen->rows[NUMERIC][GROUP_0]);
    task_number(t, "overflowed_rows", seen->overflowed);
}

// Step (3).
static int symbolic(struct task *t, struct bins_host *s, struct scratch *w)
{
    const struct factors<float> x = factors_of<float>(t);
    const struct counters *seen = s->seen;
    const int32_t tried = seen->rows[SYMBOLIC][GROUP_0];
    int err = OK;
    if (tried) err = device_alloc(t->dev, tried, sizeof(int32_t), (void **)&w->overflowed);
    if (err) return err;
    const struct overflow overflow = overflow_of(w);
    auto launch = [&](int g, cudaStream_t stream, const struct bin_rows &rows) {
        if (g == GROUP_6)
            LAUNCH(symbolic_pwarp, (unsigned)ceil_div(rows.count, PWARP_ROWS), PWARP_BLOCK, 0,
                   stream, x, rows, w->nz);
#define CASE(G)                                                                                    \
    if (g == G)                                                                                    \
        LAUNCH(symbolic_tb<G>, (unsigned)rows.count, table_1[G].block, 0, stream, x, rows,         \
               overflow, w->nz);
        FOR_TB(CASE)
        CASE(GROUP_0)
#undef CASE
    };
    err = run_bins(t, s, SYMBOLIC, GROUPS, w, launch,
                   [](const struct bin_rows &) { return (int)OK; });
    if (err || !tried) return err;
    err = wait_for(t->dev, t->entry->name, w->counters, s->seen, sizeof *s->seen);
    if (err || !seen->overflowed) return err;
    return run_global<false>(t, x, bin_rows{w->overflowed, seen->overflowed},
                             seen->longest[SYMBOLIC], s->pool_bytes, result<float>{}, w);
}

// Step (7).
template <typename T>
static int numeric(struct task *t, struct bins_host *s, const struct scratch *w)
{
    const struct factors<T> x = factors_of<T>(t);
    const struct result<T> c = result_of<T>(t);
    struct counters *seen = s->seen;
    auto launch = [&](int g, cudaStream_t stream, const struct bin_rows &rows) {
        const auto pwarp = numeric_pwarp<T>;
        if (g == GROUP_6)
            LAUNCH(pwarp, (unsigned)ceil_div(rows.count, PWARP_ROWS), PWARP_BLOCK, pwarp_bytes<T>(),
                   stream, x, rows, c);
#define CASE(G)                                                                                    \
    if (g == G) {                                                                                  \
        const auto tb = numeric_tb<G, T>;                                                          \
        LAUNCH(tb, (unsigned)rows.count, table_1[G].block, (tb_bytes<G, T>()), stream, x, rows,    \
               w->nz, c);                                                                          \
    }
        FOR_TB(CASE)
#undef CASE
    };
    auto global = [&](const struct bin_rows &rows) {
        return run_global<true>(t, x, rows, seen->longest[NUMERIC], s->pool_bytes, c, w);
    };
    // All rows of group 0 run in the main stream.
    seen->giants[NUMERIC] = seen->rows[NUMERIC][GROUP_0];
    return run_bins(t, s, NUMERIC, GROUPS, w, launch, global);
}

extern "C" int spgemm_hash_cuda_run(struct task *t)
{
    struct bins_host *s = (struct bins_host *)t->state;
    const struct groups rule = groups_of_table_1();
    return bins_run(
        t, s, rule, rule, [=](struct scratch *w) { return symbolic(t, s, w); },
        [=]() { report(t, s); }, [=](struct scratch *w) { return BY_PREC(t, numeric, t, s, w); });
}

template <typename T> static int allow_all_shared(struct device *dev)
{
    int err = allow_shared(dev, numeric_pwarp<T>);
#define ALLOW(G)                                                                                   \
    if (!err) err = allow_shared(dev, numeric_tb<G, T>);
    FOR_TB(ALLOW)
#undef ALLOW
    return err;
}

extern "C" int spgemm_hash_cuda_prepare(struct task *t)
{
    struct bins_host *s = (struct bins_host *)mem_zero_alloc(1, sizeof *s);
    t->state = s;
    if (!s) return ERR_MEMORY;
    int err = bins_create(t, s);
    return err ? err : BY_PREC(t, allow_all_shared, t->dev);
}

extern "C" void spgemm_hash_cuda_teardown(struct task *t)
{
    if (t->state) bins_destroy((struct bins_host *)t->state);
    task_free_state(t);
}
