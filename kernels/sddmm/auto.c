// SDDMM by the fastest algorithm in trial runs, C = A .* (X * Y^T). On CUDA by balanced, or by
// rowwise if balanced lacks memory.
//
// Format: CSR. The formats of the chosen algorithm are made from CSR. Any k. The rules:
// select/auto_rules.h.
#include "select/auto.h"

static int prepare(struct task *t) { return pick_by_order(t, &auto_cpu_sddmm, clock_ms()); }

static int prepare_cuda(struct task *t) { return pick_by_order(t, &auto_sddmm, clock_ms()); }

const struct algo sddmm_auto_cpu = {
    AUTO_DENSE(prepare, ROW_MAJOR, BOTH_PRECS, {"balanced", "aspt"})};
const struct algo sddmm_auto_cuda = {
    AUTO_DENSE(prepare_cuda, ROW_MAJOR, BY_TYPE_PRECS, {"balanced", "rowwise"})};
