// Lower bounds for the time of a case, from the measured ceilings of its device.
#ifndef BOUND_H
#define BOUND_H

#include "algos/op.h"
#include "device/device.h"

// Sets `roof` to the ceilings of the device: from the cache file, else measured and written there.
// Ceilings are measured again if they are a week old, or if a short probe beats the probe that
// was kept with them. Each ceiling is the best of all measurements. `fresh` measures in any case
// and forgets the file's ceilings. A cache file that cannot be written is no error.
int bound_roof(struct device *d, bool fresh, struct roof *roof);
// Sets `roof` to the ceilings in the cache file. Returns false if the file has none of the device.
bool bound_kept(struct device *d, struct roof *roof);

// Returns max(bytes / bandwidth, flops / rate) in milliseconds; 0 if neither rate is known.
double bound_roofline_ms(const struct roof *roof, enum prec prec, int64_t flops, int64_t bytes);

// Returns the least time without reuse on chip: the larger of `bound_ms` and the time to gather
// each row at the device's rate for this row length and block size. The two are not added: streams
// and gathers can come from different levels of memory at the same time. 0 if the rate is unknown.
double bound_gather_ms(const struct roof *roof, const struct op_gather *gather, double bound_ms);

// Compares the rate of a case with a right result with the ceiling. A rate above the ceiling, up to
// ROOF_GAIN times the measured rate, becomes the new ceiling, which is kept. Returns false if the
// rate is higher, also after the ceilings were measured once more. True without a roof.
bool bound_learn(struct device *d, struct roof *roof, enum prec prec, double gflops);
// The same for the compulsory bytes of a case. Their limit is the rate of the caches next to the
// cores. Bytes that the caches cannot have held raise the bandwidth of memory.
bool bound_learn_bytes(struct device *d, struct roof *roof, int64_t bytes, double ms);

#endif
