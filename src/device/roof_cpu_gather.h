// Fetching rows at random with the processor; a part of roof_cpu.c.
#ifndef ROOF_CPU_GATHER_H
#define ROOF_CPU_GATHER_H

#include "device/device.h"

// Fetches `count` rows, each any of the `rows` that the block has, drawn from the random number x
// on. What it returns depends on every byte, so that a compiler leaves out no load.
typedef uint64_t (*gather_cpu)(const char *block, uint32_t rows, uint64_t x, int64_t count);
// One for each length of rows in roof_row_bytes[].
extern const gather_cpu gather_cpu_rows[ROOF_ROWS];

#endif
