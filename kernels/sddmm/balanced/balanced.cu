// SDDMM over equal shares of the nonzeros, C = A .* (X * Y^T).
//
// Format: COO, in the order of CSR. Any k, any mix of row lengths: the kernel does not depend on
// them. One lane writes each element of C: no atomics, no sums to join.
//
// Words:
//
// share  the nonzeros of a warp: 8, 16 or 32 neighbouring nonzeros of A
// group  GROUP = 4 or 8 lanes of the warp, which take EACH = 1, 2, 4 or 8 nonzeros of its share
// pack   VEC neighbouring elements of a row of X or Y, 16 bytes where k and the rows allow it. The
//        lanes of a group load GROUP of them side by side, and LOADS times as many at once.
//
// Steps of a warp:
//
// 1. Each lane loads row and column of a nonzero of its group. If EACH is less than GROUP,
//    neighbouring lanes load the same nonzero. Neighbouring nonzeros are in neighbouring groups.
//    Their columns are often neighbours too, and short rows of Y then lie in the same lines of L1.
// 2. A group goes through its nonzeros. The lanes load their packs of Y's row and of X's and add up
//    the products. Loads of one nonzero do not wait for another.
// 3. group_sums() adds up the lanes' parts of all EACH sums together. Each lane is left with the
//    dot product of the nonzero that it loaded, and one lane for each nonzero scales and writes it.
//
// Ends: a warp past the last nonzero returns. A lane past the last nonzero computes the last
// nonzero again and does not write. Packs past column k are zeros.
//
// Limits: loading a row of Y for each nonzero, 4 k bytes in f32, mostly from the caches. In small
// matrices the limit is the start of the kernel. So the kernel starts before the kernel ahead of it
// in the stream has ended. Until then it reads only rows and columns, which no kernel of a run
// writes. In a batch, each run overlaps the run ahead of it; `-opt early-start=0` turns that off.
// H200, f32, 69 matrices, time with the early start over time without: 0.85 to 0.88 if runs are
// launched one by one, 1.06 to 1.08 in a graph with a separator behind each run.
//
// If rows of A span many columns and are not very sparse, nonzeros are ordered by strips of
// columns. Rows of Y are then loaded from L1, see strips.cuh. A warp computes several shares. The
// warps of a multiprocessor take neighbouring shares in turn.
//
// Did not pay on an H200: neighbouring blocks on one multiprocessor (0.95 to 0.97 of the speed),
// one vector load of several columns in place of shuffles (equal), panels of rows with sorted
// columns, cache hints.
#include <math.h>

#include "strips.cuh"

extern "C" int sddmm_balanced_cuda_run(struct task *t)
{
    if (t->A[0]->nnz == 0) return OK;
    BY_TYPE(t, balanced_start, t, NULL);
    return launch_check(t->entry->name);
}

// Returns true if packs of `vec` elements divide the rows of X and Y.
static bool vec_fits(const struct task *t, int64_t vec)
{
    return t->in[0].cols % vec == 0 && t->in[0].ld % vec == 0 && t->in[1].ld % vec == 0;
}

// Returns the elements of the widest pack that divides the rows of X and Y and that gives most
// lanes of a group a pack.
static int choose_vec(const struct task *t)
{
    const int widest = (int)(16 / in_bytes(t));
    for (int vec = widest; vec > 1 && vec >= widest / 2; vec /= 2)
        if (vec_fits(t, vec) && t->in[0].cols > WIDE_GROUP * vec / 2) return vec;
    return 1;
}

// Sets `fill` and `loads`. Narrow rows without strips: AT_MOST. Else as many loads at once as fill
// k with packs of full width.
static void choose_loads(const struct task *t, struct state *s)
{
    const int64_t k = t->in[0].cols, bytes = in_bytes(t);
    const int64_t packs = k / (WIDE_GROUP * s->vec);
    const bool narrow = k > 0 && k * bytes <= NARROW_BYTES && vec_fits(t, 16 / bytes);
    s->fill = narrow && !s->strips.width ? AT_MOST : PARTLY;
    s->loads = 1;
    if (s->vec * bytes < 16 || k % (WIDE_GROUP * s->vec)) return;
    if (packs == 1 || packs == 2 || packs == 4) {
        s->fill = ONCE;
        s->loads = (int)packs;
    } else if (packs % 4 == 0) {
        s->fill = TIMES;
        s->loads = 4;
    }
}

// Returns the threads of a block. With strips: a warp for each share of a multiprocessor, at most
// STRIPS_THREADS threads. Else threads are halved until each multiprocessor has two blocks.
static int choose_threads(const struct task *t, const struct state *s)
{
    const int most = s->strips.width ? STRIPS_THREADS : MAX_THREADS;
    const int wanted = (int)task_option(t, "threads");
    if (wanted) return min(max(wanted / WARP, 1) * WARP, most);
    const int64_t shares = ceil_div(t->A[0]->nnz, s->share), units = t->dev->units;
    if (s->strips.width) return (int)min64(ceil_div(shares, units) * WARP, most);
    int threads = most;
    while (threads > WARP && shares * WARP / threads < 2 * units) threads /= 2;
    return threads;
}

// Returns the cost of the kernel with the share and the threads of the state: the bytes that a
// group loads and SHARE_BYTES, times the warps of the busiest multiprocessor. In the last wave of
// blocks the multiprocessor is not full. The time of that wave is between that of its own warps and
// that of a full wave. H100, 25 matrices, rows of 128 to 2,048 bytes, time over that of the best
// share:
//
//     last wave counts as    mean     worst
//     the mean of both       1.008    1.14
//     its own warps          1.054    1.45
//     a full wave            1.017    1.26
static double cost(const struct task *t, const struct state *s)
{
    const int groups = WARP / (s->fill == AT_MOST ? NARROW_GROUP : WIDE_GROUP);
    const int64_t m = t->A[0]->m, nnz = t->A[0]->nnz, warps = s->threads / WARP;
    const int64_t blocks = ceil_div(ceil_div(nnz, s->share * warps), t->dev->units);
    const double row_bytes = (double)(t->in[0].cols * in_bytes(t));
    const double Y_rows = (double)s->share / groups;
    const double X_rows = fmin(Y_rows, 1 + (s->share - groups) * (double)m / (double)nnz);
    int room = 0;
    BY_TYPE(t, balanced_start, t, &room);
    const int64_t rest = room > 0 ? blocks % room : 0;
    const double waves = (double)(blocks - rest) + (rest ? (double)(rest + room) / 2 : 0);
    return ((Y_rows + X_rows) * row_bytes + SHARE_BYTES) * (double)warps * waves;
}

// Sets `share`, to the share of least cost unless strips or an option fix it, and `threads`.
static void choose_share(const struct task *t, struct state *s)
{
    const int wanted = (int)task_option(t, "share");
    const int fixed = s->strips.width ? strips_share(s->fill) : wanted;
    double least = INFINITY;
    int best = 8;
    for (s->share = 8; s->share <= 32 && !fixed; s->share *= 2) {
        s->threads = choose_threads(t, s);
        const double c = cost(t, s);
        if (c < least) best = s->share;
        least = fmin(c, least);
    }
    s->share = fixed ? fixed : best;
    s->threads = choose_threads(t, s);
}

extern "C" int sddmm_balanced_cuda_prepare(struct task *t)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    t->state = s;
    if (!s) return ERR_MEMORY;
    if (t->A[0]->nnz > INT32_MAX)
        return fail(ERR_UNSUPPORTED, "%s: more than 2^31 - 1 nonzeros", t->entry->name);
    const int share = (int)task_option(t, "share");
    if (share != 0 && share != 8 && share != 16 && share != 32)
        return fail(ERR_UNSUPPORTED, "%s: share=%d: must be 0, 8, 16 or 32", t->entry->name, share);
    int err = row_step(t, &t->in[0], &s->X_step);
    if (!err) err = row_step(t, &t->in[1], &s->Y_step);
    if (!err) err = strips_make(t, &s->strips);
    if (err) return err;
    s->vec = choose_vec(t);
    choose_loads(t, s);
    choose_share(t, s);
    s->overlap = task_option(t, "early-start") != 0 && balanced_can_start_early();
    task_number(t, "share", s->share);
    task_number(t, "early_start", s->overlap);
    task_number(t, "strip_width", s->strips.width);
    return OK;
}

extern "C" void sddmm_balanced_cuda_teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (s) strips_free(t->dev, &s->strips);
    task_free_state(t);
}
