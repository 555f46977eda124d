// graded: SpMM, C = A * B, row-major, with rows graded by their length. Own work.
//
// Format: CSR. Any k, any mix of row lengths. Deterministic: every sum has one fixed order, by
// pieces and by strips. A dense enough A is computed by strips (strips.cu). A trial may select
// between pieces and strips, and the option `strips` fixes the selection.
//
// prepare() assigns every row to threads: a few lanes have a short row, or two tiny rows in turn; a
// warp has a medium row; blocks have the segments of a long row. So a product needs no search, and
// only segments share a row. Neighbouring rows with mostly the same columns, such as the unknowns
// of a mesh node, form a bundle: a row of B is loaded once for all of them. All pieces are computed
// by one launch. Words:
//
// piece   a tiny, short or medium row, a bundle, or a segment of a long row
// team    lanes that compute a piece together
// group   lanes of a team that load a row of B, or one slab of the row, together
// pack    neighbouring columns that a lane loads at once
// slab    neighbouring columns of B and C, one or more packs per lane
// round   nonzeros that a group loads at once, one per lane
// batch   nonzeros of a round whose rows of B are loaded before the first of them is used
//
// pieces.cuh    the kinds of pieces, and the operands of the kernel
// grade.cuh     the lists of pieces, made on the device
// used.cuh      number of rows that are not empty, and the longest row
// scatter.cuh   share of new columns among neighbouring nonzeros, for the hit rate of caches
// alike.cuh     bundles: their rows, columns and values
// team.cuh      the work of a team: products of a round, sums over groups
// multiply.cuh  the kernel: from a piece to its rows of C
// form.cuh      the forms of the kernel, and the form of a case
// plan.cuh      lengths, lists and sizes: decisions and allocations
// way.cuh       strips, pieces, or a trial of both
// graded.cu     instances of the kernel, options
// strips.cu     the kernel without pieces, with B in shared memory
//
// Limits, H200: loads of a B in memory fill 81 to 97 % of the link between the halves of the L2.
// Did not pay, time over the time of this code:
//
//     16 lanes with a pack each for slabs of 256 bytes           1.07 to 1.09 (mean)
//     a warp for rows of up to 512 or 1,024 nonzeros             1.05 to 1.1
//     a warp for a row of 512 bytes, eight loads in flight       1.05 to 1.35
//     slabs of 64 bytes where columns are new                    1.6 (uniform, k = 128)
//     blocks in an order by which neighbours share an L1         1.04 to 1.09
//     odd k: loads of whole packs of memory, sums moved after    1.1 to 1.7; bundles 0.8 to 1.6
#include "multiply.cuh"
#include "way.cuh"

template <typename S, bool BUNDLES, int BLOCKS> static void start(const struct task *t)
{
    typedef typename S::T T;
    const struct plan *s = (const struct plan *)t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    operands<T> x = {(const int32_t *)A->ptr,
                     A->idx,
                     s->bundles.idx,
                     (const T *)A->val,
                     (const T *)s->bundles.val,
                     (const T *)t->in[0].val,
                     (T *)t->C.val,
                     (T *)s->partial,
                     s->arrived,
                     (int32_t)t->C.cols,
                     0,
                     s->B_step,
                     s->C_step};
    auto kernel = multiply<S, BUNDLES, BLOCKS>;
    const int32_t most = 65535; // slabs of one grid
    for (; x.slab < s->slabs; x.slab += most)
        LAUNCH_EARLY_IF(
            s->lists.early, kernel,
            dim3((unsigned)s->lists.at[KINDS], (unsigned)min64(s->slabs - x.slab, most)), THREADS,
            0, t->dev->stream, x, s->lists);
}

template <typename S, bool BUNDLES, form_kind KIND> static constexpr struct form form_of()
{
    constexpr int ROWS = BUNDLES ? ALIKE : 1, BLOCKS = blocks_of<S, ROWS, KIND == ROOMY>();
    return {S::VEC,
            S::LANES,
            S::PACKS,
            S::TEAM,
            BLOCKS, // on a multiprocessor
            S::WHOLE,
            BUNDLES,
            has_tiny<S, BUNDLES>(),
            KIND,
            start<S, BUNDLES, BLOCKS>};
}

#define FORM(VEC, LANES, PACKS, WHOLE, BUNDLES, KIND)                                              \
    form_of<shape<T, VEC, LANES, PACKS, WHOLE>, BUNDLES, KIND>()
#define PLAIN(VEC, LANES, PACKS)             FORM(VEC, LANES, PACKS, false, false, USUAL)
#define PLAIN_EXACT(VEC, LANES, PACKS)       FORM(VEC, LANES, PACKS, false, false, EXACT)
#define PLAIN_BY_LANES(VEC, LANES, PACKS)    FORM(VEC, LANES, PACKS, false, false, BY_LANES)
#define FULL(VEC, LANES, PACKS)              FORM(VEC, LANES, PACKS, true, false, USUAL)
#define FULL_OR_NOT(VEC, LANES, PACKS)       FULL(VEC, LANES, PACKS), PLAIN(VEC, LANES, PACKS)
#define FOR_BUNDLES(VEC, LANES, PACKS)       FORM(VEC, LANES, PACKS, false, true, USUAL)
#define FOR_BUNDLES_EXACT(VEC, LANES, PACKS) FORM(VEC, LANES, PACKS, false, true, EXACT)
#define BUNDLES_BY_LANES(VEC, LANES, PACKS)  FORM(VEC, LANES, PACKS, false, true, BY_LANES)
#define BOTH_ROOMY(VEC, LANES, PACKS)                                                              \
    FORM(VEC, LANES, PACKS, true, false, ROOMY), FORM(VEC, LANES, PACKS, false, false, ROOMY)
#define PAIRED(VEC, LANES, PACKS, WHOLE)                                                           \
    form_of<shape<T, VEC, LANES, PACKS, WHOLE, 2 * LANES>, false, ROOMY>()
#define BOTH_PAIRED(VEC, LANES, PACKS)                                                             \
    PAIRED(VEC, LANES, PACKS, true), PAIRED(VEC, LANES, PACKS, false)

#define FORMS_16(V)                                                                                \
    FULL_OR_NOT(V, 8, 1), FULL_OR_NOT(V, 8, 2), PLAIN(V, 8, 3), FULL_OR_NOT(V, 16, 2),             \
        PLAIN(V, 16, 3), FULL(V, 4, 2), FULL(V, 8, 4), BOTH_ROOMY(V, 8, 2), BOTH_ROOMY(V, 16, 2),  \
        FOR_BUNDLES(V, 8, 1), FOR_BUNDLES(V, 16, 1)
#define FORMS_8(V)                                                                                 \
    PLAIN(V, 8, 1), PLAIN(V, 8, 2), PLAIN(V, 16, 2), PLAIN_EXACT(V, 16, 3), PLAIN(V, 16, 4),       \
        PLAIN(V, 32, 3), FOR_BUNDLES(V, 8, 1), FOR_BUNDLES(V, 8, 2), FOR_BUNDLES(V, 16, 2),        \
        FOR_BUNDLES(V, 32, 2), FOR_BUNDLES(V, 32, 3)
#define FORMS_4(V)                                                                                 \
    PLAIN(V, 8, 1), PLAIN(V, 8, 2), PLAIN(V, 16, 2), PLAIN(V, 8, 4), PLAIN(V, 16, 4),              \
        PLAIN_EXACT(V, 32, 3), PLAIN(V, 32, 4), PLAIN(V, 32, 6), PLAIN_EXACT(V, 16, 3),            \
        FOR_BUNDLES(V, 8, 1), FOR_BUNDLES(V, 8, 2), FOR_BUNDLES_EXACT(V, 8, 3),                    \
        FOR_BUNDLES(V, 8, 4), FOR_BUNDLES(V, 16, 4), FOR_BUNDLES_EXACT(V, 32, 3),                  \
        FOR_BUNDLES(V, 32, 4), FOR_BUNDLES(V, 32, 6), FOR_BUNDLES_EXACT(V, 16, 3)
// With half the lanes of others, or twice as many: see lanes_by_length() and by_16_lanes(). In f64
// they are no faster.
#define FORMS_BY_LANES                                                                             \
    PLAIN_BY_LANES(1, 8, 3), PLAIN_BY_LANES(2, 8, 3), PLAIN_BY_LANES(2, 8, 4),                     \
        PLAIN_BY_LANES(1, 16, 6), PLAIN_BY_LANES(1, 16, 8), PLAIN_BY_LANES(1, 32, 2),              \
        BUNDLES_BY_LANES(1, 16, 2), BUNDLES_BY_LANES(2, 16, 1), BUNDLES_BY_LANES(2, 16, 3)
#define FORMS_FEW_COLUMNS PLAIN(1, 1, 1), PLAIN(1, 4, 1)

// The widest packs first, and of what costs the same the faster one: one slab of (1, 32, 6) ahead
// of three of (1, 16, 3), and in f64 (1, 16, 4) ahead of (1, 32, 2). A form fits where all rows of
// B and C begin at a multiple of its pack.
static const struct form *forms_of(enum prec prec, int *count)
{
    if (prec == F32) {
        typedef float T;
        static const struct form forms[] = {
            FORMS_16(4),           BOTH_ROOMY(4, 8, 1), BOTH_PAIRED(4, 8, 1), FOR_BUNDLES(4, 32, 1),
            FOR_BUNDLES(4, 32, 2), FORMS_8(2),          FORMS_4(1),           FORMS_BY_LANES,
            FORMS_FEW_COLUMNS};
        *count = (int)(sizeof forms / sizeof *forms);
        return forms;
    }
    typedef double T;
    static const struct form forms[] = {FORMS_16(2),
                                        FOR_BUNDLES(2, 16, 2),
                                        FOR_BUNDLES(1, 16, 4),
                                        FORMS_8(1),
                                        PLAIN_EXACT(1, 8, 3),
                                        FOR_BUNDLES_EXACT(1, 8, 3),
                                        FOR_BUNDLES_EXACT(1, 16, 3),
                                        FORMS_FEW_COLUMNS};
    *count = (int)(sizeof forms / sizeof *forms);
    return forms;
}

static int prepare(struct task *t)
{
    int count;
    const struct form *forms = forms_of(t->prec, &count);
    int err = plan_make(t, forms, count);
    struct plan *s = (struct plan *)t->state;
    if (err) return err;
    if (s->by_strips) {
        task_number(t, "strip_rows", s->strips.rows);
        return OK;
    }
    task_number(t, "short", s->lists.count[SHORT] + s->lists.count[SHORT_BUNDLE]);
    task_number(t, "tiny", s->lists.count[TINY]);
    task_number(t, "tiny_rows_per_team", s->lists.turns);
    task_number(t, "early_start", s->lists.early);
    task_number(t, "medium", s->lists.count[MEDIUM] + s->lists.count[MEDIUM_BUNDLE]);
    task_number(t, "segments", s->lists.count[SEGMENT]);
    task_number(t, "bundles", s->lists.count[SHORT_BUNDLE] + s->lists.count[MEDIUM_BUNDLE]);
    task_number(t, "columns", (double)form_slab(s->form));
    task_number(t, "lanes", s->form->lanes);
    task_number(t, "team", s->form->team);
    task_number(t, "more_registers", s->form->kind == ROOMY);
    task_number(t, "pack", s->form->vec * (double)prec_bytes(t->prec));
    return OK;
}

static int run(struct task *t)
{
    const struct plan *s = (const struct plan *)t->state;
    if (t->C.rows == 0 || t->C.cols == 0) return OK;
    if (s->by_strips)
        strips_start(t, &s->strips);
    else
        s->form->start(t);
    return launch_check(t->entry->name);
}

static const struct param options[] = {
    {"tiny", MOST_TINY, -1, MOST_TINY, true,
     "most nonzeros of a tiny row; a few lanes compute up to two tiny rows; -1: no row is tiny"},
    {"short", -1, -1, MOST_SHORT, true,
     "most nonzeros of a row for a few lanes; -1: by the size, up to 64 if all blocks then run at "
     "the same time"},
    {"medium", 0, 0, 1 << 20, true,
     "most nonzeros of a row for a warp; 0: by the size"},
    {"segment", 0, 0, 1 << 20, true, "nonzeros of a longer row per block; 0: by the size"},
    {"slab", 0, 0, 1 << 20, true,
     "most bytes of a row of B that a block reads; 0, or an unsupported number: by the size"},
    {"pack", 0, 0, 16, true, "most bytes that a lane loads at once; 0: by the size"},
    {"lanes", 0, 0, WARP, true,
     "lanes that load a row of B together; 0, or an unsupported number: by the size"},
    {"bundle-min", -1, -1, ALIKE, false,
     "least nonzeros for each column of a bundle; 0: no bundles; -1: by k and the size"},
    {"bundle-share", 0.6, 0, 1, false, "least share of the nonzeros in bundles; below: no bundles"},
    {"more-registers", -1, -1, 1, true,
     "1: more registers and fewer blocks, if such a kernel exists; -1: if that is faster, also with "
     "two groups for a short row"},
    {"strips", -1, -1, 4, true,
     "rows of A per warp with strips of B in shared memory: 1, 2 or 4; 0: no strips; -1: if strips "
     "are faster, by a trial if unsure"},
    {"early-start", -1, -1, 1, true,
     "1: blocks start before the previous kernel has ended, sm_90 and later; -1: if that is faster"},
    {},
};

extern const struct algo spmm_graded_cuda = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .options = options,
    .cite = "Own work",
    ALGO_FUNCTIONS(prepare, run, plan_free),
};
