// SDDMM by balanced, C = A .* (X * Y^T).
//
// Format: CSR, converted to that of balanced. Any k. The rule: select/auto_dense.h.
#include "select/auto.cuh"
#include "select/auto_dense.h"

static int prepare(struct task *t)
{
    const struct pick_order order = auto_sddmm();
    return pick_by_order(t, &order, clock_ms());
}

extern const struct algo sddmm_auto_cuda = {AUTO_DENSE(ROW_MAJOR, ALL_PRECS, {"balanced"})};
