// Predicted speed of `naive` and `tiled` by the bytes that they read: the model of "Optimizing
// Tiled Sparse Matrix Multiplication with Performance Modeling on GPUs", sections 2.3, 3 and 4.1.
// Intensity is FLOPs over bytes of memory. GFLOPS are the intensity times the memory's bandwidth,
// at most the rate of multiply-adds. With
//
//   BT, BI, BIS  bytes of a value, of an index into memory (4) and into shared memory (2)
//   mu     nonzeros a row; with long rows cut into segments mu* of a segment
//   rho    nonzeros for each element of B that is loaded
//   Z      entries of A that are read, padding included, over nonzeros
//   R      columns of C for which an entry of A is read once: k over the passes that
//          the factor needs for it, which is the factor where k is a multiple of it
//   delta  bytes of metadata of a thread: two row starts of 4 bytes
//   Gamma  bytes that an element of B costs, over BT: 1 in the algorithmic intensity, C in the
//          effective one where every access misses, C / L where only the first one of a line does
//   C      bytes of the lines that warps touch over the bytes that they load
//   L      loads of B over the columns of A that hold a nonzero, whose rows of B a cache of
//          unlimited size would load once. The paper's text divides by M, its table by N
//
// the intensity of one column of C is, by the numbers of the paper's equations,
//
//   (2)  2 mu / (mu (BT + BI) + mu BT Gamma + BT + delta)
//   (3)  2 / ((BT + BIS) Z / R + BT Gamma / rho + BI / (rho mu) + delta / (R mu))
//   (6)  2 / ((BT + BIS) Z / R + BT Gamma / rho + BI / (rho mu*) + (BI + delta) / (R mu*)
//             + BT / mu)
//
// These are the printed equations, with two changes: Gamma in (2), which the paper leaves out, and
// Gamma in (6), which the paper gives for misses alone. Equation (3) leaves out the writing of C,
// as in the paper.
//
// A further prediction, which is not the paper's, covers the whole run (whole_gflops). It adds the
// times of all transfers, each at the rate of its source:
//
//   lines of B       gathered as pairs of sectors from the part of B that a pass over A needs
//   A                from memory; for further passes from the cache, if A fits beside that part
//   C, partial sums  to and from memory; with sorted rows each sum has its own sector of the cache
//   kernels          3 us each
//
// H200, f32, 69 matrices: cases with measured over predicted within 0.5 to 2, and rank correlation:
//
//                             naive       tiled
//     all miss               31, 0.30    26, 0.50
//     whole_gflops           56, 0.81    61, 0.97
//
// The paper's equations leave out launches, C, and matrices with too few or too long rows. They
// also leave out B in the L2: meshes reach 1.9 to 3.7 times the predicted speed.
//
// `tiled` on a CPU has the same tiles, and lines of the same size. Its predictions use the roof of
// the CPU; a warp stands for 32 elements of B that a thread copies one after the other.
#ifndef TILED_MODEL_H
#define TILED_MODEL_H

#include "algos/algo.h"
#include "measure/tiled_counts.h"

// Kinds of predictions, by the assumption about the caches.
enum prediction_kind {
    PREDICTION_ALGORITHMIC,
    PREDICTION_ALL_MISS,
    PREDICTION_COLD_MISS,
    PREDICTION_KINDS
};
extern const char *const prediction_names[PREDICTION_KINDS]; // as in records

// The tiles of an algorithm.
struct cutting {
    int64_t rows, stage, factor; // rows of a panel; distinct columns of a stage; see R above
};
// The tiles of `tiled` with default options.
extern const struct cutting cutting_standard;
// Returns `rows` rounded up to whole warps: a panel has a thread for each row.
int64_t whole_warps(int64_t rows);
// Returns the tiles of an algorithm by its options. MODEL_TILED needs all three options.
struct cutting cutting_of(const struct algo *a, const double *opt);

struct tiled_prediction {
    int equation; // 2, 3 or 6; 0: there is none
    double mu, rho, Z, R, C, L, delta;
    double mu_segment;                  // mu* of equation 6; else NAN
    double intensity[PREDICTION_KINDS]; // FLOPs per byte
    double gflops[PREDICTION_KINDS];    // NAN: unknown bandwidth
    struct moved {
        double flops;
        double gathered, block; // bytes of lines of B; bytes of the part of B that has them
        double A, passes;       // bytes of A; number of times that A is read
        double streamed;        // bytes of C and of partial sums, written and read
        double scattered;       // bytes of sectors of C
        int kernels;
    } moved;             // transfers of the whole run
    double whole_gflops; // NAN: a rate is unknown
};

// Predicts the speed for the matrix of `of` and k columns. Statistics of the algorithm (`told`)
// replace those of A: `segment` ("mu" or "U mu", with `U`) if rows are cut to that length, for
// equation 6; `rho` and `Z` if rows are sorted. The factor C stays that of A's order. A matrix
// without nonzeros has no prediction.
int tiled_model_predict(struct tiled_counts_cache *of, enum prec prec, int64_t k,
                        enum model_kind kind, const struct cutting *cut,
                        const struct algo_stats *told, struct tiled_prediction *out);
// Sets the intensities from mu, rho, Z, R, C, L and delta.
void tiled_model_intensity(struct tiled_prediction *x, enum prec prec);
// Sets the rates from the intensities.
void tiled_model_gflops(struct tiled_prediction *x, enum prec prec, const struct roof *roof);

#endif
