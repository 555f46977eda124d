// How fast could it be: the measured ceilings of a device, and the bound they set for a case.
#ifndef MODEL_H
#define MODEL_H

#include "device/device.h"
#include "data/matrix.h"

// The ceilings of this device: from the cache file of an earlier run, else measured now and kept.
// `fresh` measures in any case. A cache that cannot be written is no error.
int model_roof(struct device *d, bool fresh, struct roof *roof);

// The larger of bytes over bandwidth and flops over rate, in milliseconds; 0 if neither is known.
double model_bound_ms(const struct roof *roof, enum prec prec, int64_t flops, int64_t bytes);

#endif
