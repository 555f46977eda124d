// Instances of the kernel for a type of values. forms_*.cu list the instances of each type.
#ifndef GRADED_FORMS_CUH
#define GRADED_FORMS_CUH

#include "multiply.cuh"
#include "plan.h"

template <typename S, int BLOCKS> static void start(const struct task *t)
{
    typedef typename S::T T;
    const struct graded_plan *s = (const struct graded_plan *)t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    operands<T> x = {(const int32_t *)A->ptr,
                     A->idx,
                     s->bundles.idx,
                     (const T *)A->val,
                     (const T *)s->bundles.val,
                     (const T *)(s->B ? s->B : t->in[0].val),
                     s->C ? s->C : t->C.val,
                     (sum_type<T> *)s->partial,
                     s->arrived,
                     (int32_t)s->view.k,
                     0,
                     s->B_step,
                     result_is_narrow(t),
                     s->view.B_ld,
                     s->view.C_ld};
    auto kernel = multiply<S, BLOCKS>;
    const int32_t most = 65535; // slabs of one grid
    for (; x.slab < s->slabs; x.slab += most)
        LAUNCH_EARLY_IF(
            s->lists.early, kernel,
            dim3((unsigned)s->lists.at[KINDS], (unsigned)min64(s->slabs - x.slab, most)), THREADS,
            0, t->dev->stream, x, s->lists);
}

template <typename T, int VEC, int PACKS, int LANES, enum layout LAYOUT, bool BUNDLES>
static constexpr struct form form_of()
{
    typedef shape<T, VEC, PACKS, LANES, LAYOUT, BUNDLES> S;
    // Bytes of the sums of a lane, which are most of its registers.
    constexpr int BYTES = S::SUMS * (int)sizeof(typename S::SUM);
    constexpr int BLOCKS = BUNDLES      ? (sizeof(T) == 8         ? (BYTES > 16  ? 5
                                                                     : BYTES > 8 ? 6
                                                                                 : 8)
                                           : LANES && BYTES <= 16 ? 8
                                                                  : 6)
                           : BYTES > 16 ? (LANES ? 8 : 6)
                           : BYTES > 8  ? (LANES ? 9 : 8)
                                        : 10;
    return {VEC, PACKS, LANES, LAYOUT, BUNDLES, BLOCKS, start<S, BLOCKS>};
}

#define FORM(VEC, PACKS, LANES, BUNDLES) form_of<T, VEC, PACKS, LANES, LAYOUT_ROW, BUNDLES>()
#define NARROW(VEC, PACKS)               FORM(VEC, PACKS, 0, false)
#define WIDE(VEC, PACKS, LANES)          FORM(VEC, PACKS, LANES, false)
#define BUNDLED(VEC, PACKS, LANES)       FORM(VEC, PACKS, LANES, true)
#define BY_COLUMNS(PACKS)                form_of<T, 1, PACKS, 0, LAYOUT_COL, false>()
#define FORMS_BY_1                                                                                 \
    NARROW(1, 1), NARROW(1, 4), WIDE(1, 2, 8), WIDE(1, 2, 16), WIDE(1, 4, 16), BUNDLED(1, 4, 16),  \
        BY_COLUMNS(4)
#define FORMS_OF_HALVES                                                                            \
    NARROW(1, 1), NARROW(1, 4), WIDE(1, 4, 16), BY_COLUMNS(4), NARROW(2, 1), WIDE(2, 2, 8),        \
        WIDE(2, 4, 16), NARROW(4, 1), WIDE(4, 1, 8), WIDE(4, 2, 8), NARROW(8, 1), WIDE(8, 1, 8),   \
        WIDE(8, 1, 16), BUNDLED(1, 4, 16), BUNDLED(8, 1, 8), BUNDLED(8, 1, 16)
#define FORMS_BY_16_BYTES(V)                                                                       \
    NARROW(V, 1), WIDE(V, 1, 8), WIDE(V, 2, 8), WIDE(V, 2, 16), BUNDLED(V, 1, 8), BUNDLED(V, 1, 16)

#endif
