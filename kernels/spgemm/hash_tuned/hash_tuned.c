// Descriptor of hash-tuned: SpGEMM, C = A * S. The kernels are in hash_tuned.cu.
#include "algos/algo.h"
#include "option_limits.h"
#include "spgemm/cuda_options.h"

DECLARE_FUNCTIONS(spgemm_hash_tuned_cuda);

#define ABOUT_SHARED "KB of a block's tables, at least 32; 0: all shared memory"
#define ABOUT_PASSES                                                                               \
    "without bitmaps: most tables in shared memory, filled one after the other, for a long row; "  \
    "0: none"
#define ABOUT_OVERLAY                                                                              \
    "most products of a row of C that are added to a copy of one long row of S, without a "        \
    "table; 0: off"
#define ABOUT_MERGE                                                                                \
    "most nonzeros of a row of A whose rows of S are merged, not put in a table; 0: off"

static const struct algo_option options[] = {
    {"shared-memory", 0, 0, 1024, true, ABOUT_SHARED},
    {"bitmap", 1, 0, 1, true, "1: long rows as bitmaps; 0: by tables, with retries"},
    {"passes", 4, 0, 64, true, ABOUT_PASSES},
    {"overlay", OVERLAY_MOST, 0, OVERLAY_MOST, true, ABOUT_OVERLAY},
    STREAMS_OPTION,
    {"merge", 8, 0, 8, true, ABOUT_MERGE},
    {"split", 65536, 1, INT32_MAX, true, "products from which blocks may share a row"},
    POOL_OPTION,
    {0},
};

const struct algo spgemm_hash_tuned_cuda = {
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .S = {&format_csr},
    .arith = ARITH_PREC,
    .options = options,
    .cite = "after Nagasaka, Nukada, Matsuoka, ICPP 2017",
    .differs =
        "Products are shared evenly among threads. Rows of few nonzeros of A are merged. Long rows "
        "are bitmaps, and several blocks share a giant one. Rows of up to 32 nonzeros are sorted "
        "by comparing all with all, rows of a warp bitonically, and longer rows by a bitmap if "
        "their range of columns is short, else by buckets or bitonically.",
    .tuned_of = "hash",
    FUNCTIONS_OF(spgemm_hash_tuned_cuda),
};
