// SDDMM by the algorithm that should be the fastest for the matrix, C = A .* (X * Y^T).
//
// Format: CSR. The formats of the chosen algorithm are made from CSR. Any k. Row lengths, sizes and
// k decide. Rules and candidates: select/auto_rules.h.
#include "select/auto_cpu.h"

static int prepare(struct task *t) { return auto_prepare_dense(t, auto_sddmm_cpu()); }

const struct algo sddmm_auto_cpu = {AUTO_DENSE(ROW_MAJOR, BOTH_PRECS, AUTO_SDDMM_CPU_PICKS)};
