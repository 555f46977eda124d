// SpMM on padded sliced ELLPACK, C = A * B, row-major.
// Hartwig Anzt, Stanimire Tomov, Jack Dongarra: Implementing a Sparse Matrix Vector Product for the
// SELL-C/SELL-C-sigma formats on NVIDIA GPUs, 2014; its SpMM in MAGMA is a baseline of Yang, Buluc,
// Owens, Euro-Par 2018.
//
// Format: SELL-P, see sellp.h. Any k. A GPU gives each row of a slice to its own threads and lets
// them walk through the padding in step; here threads take whole slices, and a row ends where its
// padding begins.
#include "cpu.h"

// Where the padding of a row begins, by bisection.
static int64_t row_length(const int32_t *idx, int64_t slice, int64_t width)
{
    int64_t low = 0, high = width;
    while (low < high) {
        int64_t j = low + (high - low) / 2;
        if (idx[j * slice] >= 0) {
            low = j + 1;
        } else {
            high = j;
        }
    }
    return low;
}

#define PREC f32
#define T    float
#include "cpu_row.inl"
#include "sellp.inl"
#undef PREC
#undef T
#define PREC f64
#define T    double
#include "cpu_row.inl"
#include "sellp.inl"

static int run(struct task *t)
{
    if (t->in->prec == F32) {
        multiply_f32(t);
    } else {
        multiply_f64(t);
    }
    return OK;
}

// Defaults: those of MAGMA's own tester.
static const struct algo_option options[] = {
    {"slice", 8, 1, 1024, true, "rows of a slice"},
    {"pad", 8, 1, 1024, true, "row lengths of a slice are rounded up to a multiple of this"},
    {"prefetch", 32, 0, 1024, true, "nonzeros that rows of B are fetched ahead of their use"},
    {0},
};

const struct algo spmm_sellp_cpu = {
    .name = "sellp",
    .op = OP_SPMM,
    .device = DEVICE_CPU,
    .layouts = BIT(LAYOUT_ROW),
    .precs = BOTH_PRECS,
    .formats = FORMAT_SELLP,
    .arith = ARITH_PREC,
    .options = options,
    .about = "padded sliced ELLPACK, a slice per thread, vectorised over the columns of B",
    .cite = "Anzt, Tomov, Dongarra: Implementing a Sparse Matrix Vector Product for the "
            "SELL-C/SELL-C-sigma formats on NVIDIA GPUs, 2014",
    .run = run,
};
