// Descriptor of tsparse: SpGEMM, C = A * S. The kernels are in tsparse.cu.
#include "algos/algo.h"
#include "formats/tile8.h"

DECLARE_FUNCTIONS(spgemm_tsparse_cuda);

const struct algo spgemm_tsparse_cuda = {
    .precs = BIT(F16) | BIT(BF16) | BIT(F16_F32) | BIT(BF16_F32),
    .A = {&format_tile8},
    .S = {&format_tile8},
    .arith = ARITH_PREC,
    .cite = "Zachariadis, Satpute, Gomez-Luna, Olivares: Accelerating Sparse Matrix-Matrix "
            "Multiplication with GPU Tensor Cores, Computers & Electrical Engineering 88, 2020",
    .differs =
        "Values have 16 bits in memory, where the paper rounds f32 when it loads. The pairs are "
        "sorted by one radix sort of tile row and tile column, not by segments. A product of "
        "16 x 16 x 8 takes the two pairs of a warp. C is compacted only if a sum is 0.",
    .tensor = true,
    .drops_zeros = true,
    FUNCTIONS_OF(spgemm_tsparse_cuda),
    .finish = spgemm_tsparse_cuda_finish,
    .release = spgemm_tsparse_cuda_release,
};
