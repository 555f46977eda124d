// Fetching rows at random with the processor; a part of roof_cpu.c.
#ifndef ROOF_CPU_GATHER_H
#define ROOF_CPU_GATHER_H

#include "device/device.h"

// Fetches `count` rows out of `rows`, from the random number x on; by the length of a row as in
// roof_row_bytes. Returns something of every byte.
typedef uint64_t (*gather_cpu)(const char *block, uint32_t rows, uint64_t x, int64_t count);
extern const gather_cpu gather_cpu_rows[ROOF_ROWS];

#endif
