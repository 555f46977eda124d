// SpGEMM by onepass, C = A * S.
//
// Format: CSR. The rule: select/auto_rules.h.
#include "select/auto.h"

static int prepare(struct task *t) { return pick_by_order(t, &auto_cpu_spgemm, clock_ms()); }

const struct algo spgemm_auto_cpu = {AUTO_SPARSE(prepare, NULL, {"onepass", "gustavson"})};

// The choice for CUDA is in auto.cu.
DECLARE_FUNCTIONS(spgemm_auto_cuda);

const struct algo spgemm_auto_cuda = {AUTO_SPARSE(
    spgemm_auto_cuda_prepare,
    "If tile-tuned is picked, C stays in tiles. The tiles of A are made during preparation.",
    {"hash-tuned", "tile-tuned", "speck", "esc"})};
