// How fast could it be: the measured ceilings of a device, and the bound they set for a case.
#ifndef BOUND_H
#define BOUND_H

#include "algos/op.h"
#include "device/device.h"

// The ceilings of this device: from the cache file of an earlier run, else measured now and kept.
// They are measured again where they are some days old, or where a short probe does better than
// the one that was kept with them, and each ceiling is the best of all times; `fresh` measures in
// any case, and forgets what was kept. A cache that cannot be written is no error.
int bound_roof(struct device *d, bool fresh, struct roof *roof);
// Those that are kept of it, if any.
bool bound_kept(struct device *d, struct roof *roof);

// The larger of bytes over bandwidth and flops over rate, in milliseconds; 0 if neither is known.
double bound_roofline_ms(const struct roof *roof, enum prec prec, int64_t flops, int64_t bytes);

// The least time without reuse on chip: that bound, or every row fetched at the rate for its length
// and for the block, whichever is larger. What streams and what is gathered may come from different
// levels at the same time, so they are not added up. 0 where that rate is not known.
double bound_gather_ms(const struct roof *roof, const struct op_gather *gather, double bound_ms);

// What a case whose result is right tells of the device. Where it did more than the ceiling, and
// not over ROOF_GAIN times what was measured, the ceiling rises to it, and is kept. False: no such
// device can do it, also after its ceilings were measured once more. Without a roof: true.
bool bound_learn(struct device *d, struct roof *roof, enum prec prec, double gflops);
// The same of its compulsory bytes: they are not faster than the caches next to the cores, and
// memory's bandwidth is raised by what caches cannot have held.
bool bound_learn_bytes(struct device *d, struct roof *roof, int64_t bytes, double ms);

#endif
