// The ceilings ("roof") of a device: measuring, merging and checking. A backend measures by
// device_ops.measure_roof.
//
// The ladder tells caches from memory: reads of blocks of growing size, from just above the caches
// of a core to a block that no cache holds. Other work can only lower a rate. So the best rate of
// each block size is kept, also from earlier measurements, and roof_derive() computes the rest
// anew.
#ifndef ROOF_H
#define ROOF_H

#include "base/mix.h"
#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// A case can show that a ceiling is higher than measured, but not by more than this factor.
#define ROOF_GAIN   1.1
// Least part of the memory bandwidth in the slowest round of a steady measurement.
#define ROOF_STEADY 0.8
// Lowest plausible rate, in GB/s or GFLOPS. Lower than the emulator's.
#define ROOF_LEAST 1e-3
// Largest plausible block.
#define ROOF_BYTES_MOST ((int64_t)1 << 40)

// Sets the block sizes of the ladder, from `first` to `last`, in steps of a factor of about
// sqrt(2).
void roof_plan_ladder(struct roof *roof, int64_t first, int64_t last);
// Sets the block sizes of the gathers, in steps of a factor of about 4.
void roof_plan_gathers(struct roof *roof, int64_t first, int64_t last);
// Sets *best, a rate of `roof`, to the better of *best and `rate`. Does the same with *memory, the
// best rate of a round, if *best is the copy or a read of the two largest blocks.
void roof_add_try(const struct roof *roof, double *best, double rate, double *memory);
// Ends a round of tries in which memory had the rate `memory`.
void roof_end_round(struct roof *roof, double memory);
// Sets the ceilings that follow from measured rates: memory, the last-level cache and its size, and
// the highest rate.
void roof_derive(struct roof *roof);
// Sets each rate of `roof` to the better of both.
void roof_merge(struct roof *roof, const struct roof *earlier);
// Returns true if the rates are plausible and consistent.
bool roof_is_sane(const struct roof *roof);
// Returns true if the ceilings may be too low: the machine was busy, or a round of tries found less
// than ROOF_STEADY of the memory bandwidth.
bool roof_is_unsteady(const struct roof *roof);

// Lengths of rows for gathers: from the smallest fetch of a GPU up to a length beyond which the
// rate does not grow.
extern const int roof_row_bytes[ROOF_ROWS];
// Returns the rate of reading rows of `row_bytes` at random from a block of `block_bytes`. The rate
// is interpolated on logarithmic scales, and constant beyond the measured sizes. 0: unknown.
double roof_gather_gb_s(const struct roof *roof, double row_bytes, double block_bytes);

// A fast random sequence of rows, all equally likely. The sequence starts with a result of mix().
static HOST_DEVICE inline uint64_t roof_random_next(uint64_t x)
{
    return x * 6364136223846793005u + 1442695040888963407u;
}
static HOST_DEVICE inline uint32_t roof_random_row(uint64_t x, uint32_t rows)
{
    return (uint32_t)(((x >> 32) * rows) >> 32); // only the high bits of x are random
}

int roof_measure_cpu(struct device *d, struct roof *roof);
int roof_probe_cpu(struct device *d, double *gb_s);
int roof_measure_cuda(struct device *d, struct roof *roof);
int roof_probe_cuda(struct device *d, double *gb_s);

// Starts a kernel on d->stream that reads the whole block `rounds` times, past the L1s.
int roof_cuda_read(struct device *d, const void *block, int64_t bytes, int rounds);

#ifdef __cplusplus
}
#endif
#endif
