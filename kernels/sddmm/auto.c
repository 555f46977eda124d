// SDDMM by the algorithm that is the fastest in trial runs, C = A .* (X * Y^T).
//
// Format: CSR. The formats of the chosen algorithm are made from CSR. Any k. The rule:
// select/auto_rules.h.
#include "select/auto.h"

static int prepare(struct task *t) { return pick_by_order(t, &auto_cpu_sddmm, clock_ms()); }

const struct algo sddmm_auto_cpu = {AUTO_DENSE(ROW_MAJOR, BOTH_PRECS, {"balanced", "aspt"})};
