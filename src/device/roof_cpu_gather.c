#include "device/roof_cpu_gather.h"

#include "device/roof.h"

// Vectors that every clone has registers for; two sums, as one would wait for itself.
typedef uint64_t quad __attribute__((vector_size(32)));

// A row as PARTS of these. The next row is known long before this one is there, so as many are on
// their way as the processor can have.
#define GATHER(PARTS)                                                                              \
    CPU_CLONES static uint64_t gather_##PARTS(const char *block, uint32_t rows, uint64_t x,        \
                                              int64_t count)                                       \
    {                                                                                              \
        quad even = {0}, odd = {0};                                                                \
        for (int64_t n = 0; n < count; n++) {                                                      \
            const quad *row = (const quad *)block + (int64_t)roof_random_row(x, rows) * PARTS;     \
            x = roof_random_next(x);                                                               \
            for (int i = 0; i < PARTS; i += 2) even ^= row[i];                                     \
            for (int i = 1; i < PARTS; i += 2) odd ^= row[i];                                      \
        }                                                                                          \
        even ^= odd;                                                                               \
        return even[0] ^ even[1] ^ even[2] ^ even[3];                                              \
    }
GATHER(1)
GATHER(2)
GATHER(4)
GATHER(8)
GATHER(16)

const gather_cpu gather_cpu_rows[ROOF_ROWS] = {gather_1, gather_2, gather_4, gather_8, gather_16};
