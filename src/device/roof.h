// How the ceilings of a device are found; a backend's part is called through
// device_ops.measure_roof.
//
// The ladder is what tells caches from memory: blocks from just above the caches that each core has
// for itself to one that no cache holds. Other work can only make a step slower, so the best of all
// tries of a step is kept, those of earlier measurements included, and what follows from the ladder
// is found anew each time.
#ifndef ROOF_H
#define ROOF_H

#include "base/mix.h"
#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// A case can show that a ceiling is higher than measured, but not by more than this factor.
#define ROOF_GAIN 1.1
// GB/s, GFLOPS: what this program runs on is faster, the emulator included.
#define ROOF_LEAST 1e-3
// No block is larger: beyond is no machine that this program runs on.
#define ROOF_BYTES_MOST ((int64_t)1 << 40)

// Sets the sizes of the ladder, from `first` to `last`, a factor of about sqrt(2) apart.
void roof_plan_ladder(struct roof *roof, int64_t first, int64_t last);
// The same of the blocks that rows are gathered from, a factor of about 4 apart.
void roof_plan_gathers(struct roof *roof, int64_t first, int64_t last);
// Finds what follows from the ladder, the copy and the multiply-adds that were measured: memory,
// the last cache and its size, and what no bytes come faster than.
void roof_derive(struct roof *roof);
// Each ceiling the better of both, also step by step.
void roof_merge(struct roof *roof, const struct roof *earlier);
// Whether all of it can be true of some machine, and fits together.
bool roof_is_sane(const struct roof *roof);

// The parts of these two that are of gathers.
void roof_merge_gathers(struct roof *roof, const struct roof *earlier);
bool roof_gathers_are_sane(const struct roof *roof);

// Lengths of rows that are measured: from what a GPU fetches at least, to where longer ones are no
// faster.
extern const int roof_row_bytes[ROOF_ROWS];
// The rate at which rows are fetched out of a block of this size, between the measured ones on
// scales of ratios, beyond them as at the end; 0 where it is not known.
double roof_gather_gb_s(const struct roof *roof, double row_bytes, double block_bytes);

// Which row comes next: all are as likely, and it costs little beside fetching one. The start is
// any number that mix() made.
static HOST_DEVICE inline uint64_t roof_random_next(uint64_t x)
{
    return x * 6364136223846793005u + 1442695040888963407u;
}
static HOST_DEVICE inline uint32_t roof_random_row(uint64_t x, uint32_t rows)
{
    return (uint32_t)(((x >> 32) * rows) >> 32); // the high half is the random one
}

int roof_measure_cpu(struct device *d, struct roof *roof);
int roof_probe_cpu(struct device *d, double *gb_s);
int roof_measure_cuda(struct device *d, struct roof *roof);
int roof_probe_cuda(struct device *d, double *gb_s);

// Starts a read of the whole block on d->stream, `rounds` times over, not through the L1s.
int roof_cuda_read(struct device *d, const void *block, int64_t bytes, int rounds);

#ifdef __cplusplus
}
#endif
#endif
