// Descriptor of bidmach: SDDMM, C = X * Y^T on the pattern of A. The kernel is in bidmach.cu.
#include "algos/algo.h"
#include "algos/op_sddmm.h"
#include "formats/coocols.h"

DECLARE_FUNCTIONS(sddmm_bidmach_cuda);

const struct algo sddmm_bidmach_cuda = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_coocols},
    .arith = ARITH_PREC,
    .variant = SDDMM_UNSCALED,
    .cite = "Canny, Zhao: BIDMach: Large-scale Learning with Zero Memory Allocation, BigLearn 2013",
    .differs =
        "Values are written in the order of CSR, through a list of places. The authors' kernel "
        "writes values sorted by columns, in f32 only. A row of threads is a warp for any k.",
    .run = sddmm_bidmach_cuda_run,
};
