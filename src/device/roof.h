// How the ceilings of a device are found; a backend's part is called through
// device_ops.measure_roof.
//
// The ladder is what tells caches from memory: blocks from just above the caches that each core has
// for itself to one that no cache holds. Other work can only make a step slower, so the best of all
// tries of a step is kept, those of earlier measurements included, and what follows from the ladder
// is found anew each time.
#ifndef ROOF_H
#define ROOF_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// A case can show that a ceiling is higher than measured, but not by more than this factor.
#define ROOF_GAIN 1.1
// GB/s, GFLOPS: what this program runs on is faster, the emulator included.
#define ROOF_LEAST 1e-3

// Sets the sizes of the ladder, from `first` to `last`, a factor of about sqrt(2) apart.
void roof_plan_ladder(struct roof *roof, int64_t first, int64_t last);
// Finds what follows from the ladder, the copy and the multiply-adds that were measured: memory,
// the last cache and its size, and what no bytes come faster than.
void roof_derive(struct roof *roof);
// Each ceiling the better of both, also step by step.
void roof_merge(struct roof *roof, const struct roof *earlier);
// Whether all of it can be true of some machine, and fits together.
bool roof_is_sane(const struct roof *roof);

int roof_measure_cpu(struct device *d, struct roof *roof);
int roof_probe_cpu(struct device *d, double *gb_s);
int roof_measure_cuda(struct device *d, struct roof *roof);

// Starts a read of the whole block on d->stream, `rounds` times over, not through the L1s.
int roof_cuda_read(struct device *d, const void *block, int64_t bytes, int rounds);

#ifdef __cplusplus
}
#endif
#endif
