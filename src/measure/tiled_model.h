// How fast an algorithm should be by what it reads of memory: the model of "Optimizing Tiled Sparse
// Matrix Multiplication with Performance Modeling on GPUs", sections 2.3, 3 and 4.1. Intensity is
// FLOPs over bytes of memory; GFLOPS are that times the memory's bandwidth, at most the rate of
// multiply-adds. With
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
// They are as printed, but for the Gamma of (2), which the paper gives without, and that of (6),
// which it gives for misses alone. That (3) leaves out the writing of C is the paper's.
//
// Beside them is a prediction that is not the paper's, of the whole run: everything that it moves,
// one after the other, each at the rate of where it comes from. The lines of B at the rate of
// gathering pairs of sectors out of as much of B as a pass over A needs; A from memory, and again
// for each further pass, from the cache if it fits there beside that; C, the sums of cut rows'
// segments and those once more, to and from memory; where rows are sorted, each sum into a sector
// of its own in the cache; and 3 us for each kernel. H200, f32, 69 matrices: cases with measured
// over predicted within 0.5 to 2, and rank correlation:
//
//                             naive       tiled
//     all miss               31, 0.30    26, 0.50
//     whole_gflops           56, 0.81    61, 0.97
//
// The paper's equations leave out launches, C, and rows that are too few or too long. B in the L2
// is left out, too: meshes reach 1.9 to 3.7 times the predicted speed.
//
// `tiled` on a CPU has the same tiles, and lines of the same size: its predictions are of the CPU's
// roof, a warp being 32 elements of B that a thread copies one after the other.
#ifndef TILED_MODEL_H
#define TILED_MODEL_H

#include "algos/algo.h"
#include "measure/tiled_counts.h"

// Kinds of predictions, by the assumption about the caches.
enum prediction_kind { PREDICT_ALGORITHMIC, PREDICT_ALL_MISS, PREDICT_COLD_MISS, PREDICT_KINDS };
extern const char *const prediction_names[PREDICT_KINDS]; // as in records

// How an algorithm cuts its operands.
struct cutting {
    int64_t rows, stage, factor; // of a panel; distinct columns of a stage; see R above
};
// The cutting of a tiled algorithm without options.
extern const struct cutting cutting_standard;
// Rows of a panel are threads of a block.
int64_t whole_warps(int64_t rows);
// By the options of an algorithm, of which MODEL_TILED needs all three.
struct cutting cutting_of(const struct algo *a, const double *opt);

struct tiled_prediction {
    int equation; // 2, 3 or 6; 0: there is none
    double mu, rho, Z, R, C, L, delta;
    double mu_segment;               // mu*; NAN but in equation 6
    double intensity[PREDICT_KINDS]; // FLOPs per byte
    double gflops[PREDICT_KINDS];    // NAN where the bandwidth is not known
    struct moved {
        double flops;
        double gathered, block; // bytes of lines of B; of what of B they are gathered from
        double A, passes;       // bytes of A, read so many times
        double streamed;        // of C, and of parts, written and read
        double scattered;       // of sectors of C
        int kernels;
    } moved;             // by the whole run
    double whole_gflops; // NAN where a rate is not known
};

// For the matrix of `of` and k columns. What the algorithm tells of itself in its figures counts:
// `segment` is "mu" or "U mu" where it has cut rows to that length, with `U`, and equation 6 holds;
// `rho` and `Z`, which differ from those of A's order where rows are sorted. Then C is still that
// of A's order. Without a nonzero there is no prediction.
int predict(struct tiled_counts_cache *of, enum prec prec, int64_t k, enum model_kind kind,
            const struct cutting *cut, const struct figures *told, struct tiled_prediction *out);
// Sets the intensities from the fields above them.
void tiled_model_intensity(struct tiled_prediction *x, enum prec prec);
// Sets the rates from the intensities.
void tiled_model_gflops(struct tiled_prediction *x, enum prec prec, const struct roof *roof);

#endif
