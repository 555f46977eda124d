// Compares a sparse product C = A * S on the device that made it, for check.c. C is not copied to
// the host.
#ifndef CHECK_PRODUCT_H
#define CHECK_PRODUCT_H

#include "measure/tolerance.h"

// Segments that a device checks at a time: 120 bytes each, 31 MB on the host and on the device.
#define PRODUCT_BATCH ((int64_t)1 << 18)

// Findings of a check. A row is -1 if there is none.
struct product_seen {
    struct tally tally;
    double worst;        // the largest error in units of the tolerance
    int64_t worst_row;   // the first row with this error
    int64_t broken_row;  // the last row whose columns do not ascend, or are no columns
    int64_t another_row; // the first row whose columns are not those of its products
};

// Returns true if the device has a check for the result of this task. The host checks the results
// of algorithms that drop zeros.
bool product_is_on_device(const struct task *t, const struct problem *p);
// Compares every entry of t->R, `batch` segments at a time. `ptr`: row starts of t->R, on the host.
// Returns ERR_MEMORY if copies of the operands, or a batch, do not fit.
int product_check(const struct task *t, const struct problem *p, const int64_t *ptr, int64_t batch,
                  struct product_seen *out);

#endif
