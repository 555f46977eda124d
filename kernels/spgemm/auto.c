// SpGEMM by onepass, C = A * S.
//
// Format: CSR. The rule: select/auto_rules.h.
#include "select/auto.h"

static int prepare(struct task *t) { return pick_by_order(t, &auto_cpu_spgemm, clock_ms()); }

const struct algo spgemm_auto_cpu = {AUTO_SPARSE(NULL, {"onepass", "gustavson"})};
