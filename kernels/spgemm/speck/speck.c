// Descriptor of speck: SpGEMM, C = A * S. The kernels are in speck.cu.
#include "algos/algo.h"
#include "spgemm/cuda_options.h"

DECLARE_FUNCTIONS(spgemm_speck_cuda);

static const struct algo_option options[] = {
    {"balance", -1, -1, 1, true, "merge rows: 1: always; 0: if a row is long; -1: by thresholds"},
    {"shared-memory", 0, 0, 1024, true, "KB of shared memory per block of large kernels; 0: all"},
    STREAMS_OPTION,
    {0},
};

const struct algo spgemm_speck_cuda = {
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .S = {&format_csr},
    .arith = ARITH_PREC,
    .options = options,
    .cite = "Parger, Winter, Mlakar, Steinberger: spECK: Accelerating GPU Sparse Matrix-Matrix "
            "Multiplication through Lightweight Analysis, PPoPP 2020",
    .differs =
        "A key is the column minus the least column of the row, plus an offset per row. So column "
        "numbers are not limited to 2^27. Rows are sorted by bitmaps and buckets, in shared memory "
        "of their own. Merged rows are aligned powers of two. If a row may be dense, rows are "
        "always balanced. The range of columns of a dense row chooses the window. Rows that exceed "
        "the largest table are dense in both phases; no table is in global memory. Several blocks "
        "analyse a long row of A. A block has four teams of 32 threads. The next product is "
        "prefetched.",
    FUNCTIONS_OF(spgemm_speck_cuda),
};
