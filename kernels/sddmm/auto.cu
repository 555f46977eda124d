// SDDMM by balanced, or by rowwise if balanced lacks memory, C = A .* (X * Y^T).
//
// Format: CSR, converted to that of balanced. Any k. The rule: select/auto_rules.h.
#include "select/auto.cuh"

static int prepare(struct task *t) { return pick_by_order(t, &auto_sddmm, clock_ms()); }

extern const struct algo sddmm_auto_cuda = {AUTO_DENSE(ROW_MAJOR, ALL_PRECS, {"balanced", "rowwise"})};
