// A case of a trap, see traps.h.
#ifndef TRAP_CASE_H
#define TRAP_CASE_H

#include "exact/exact.h"

#ifdef __cplusplus
extern "C" {
#endif

// A case of a trap. The driver sets all but `why`.
struct trap_case {
    struct device *dev;
    const struct algo_entry *entry;
    struct csr *A; // a trap may change its values
    enum prec prec;
    const int64_t *axis;
    int64_t offset;
    char why[FAIL_TEXT_MAX]; // reason of a result that is not EXACT_RIGHT
};

// Returns true if the device has room for `bytes` bytes. Otherwise sets the reason.
bool trap_has_room(struct trap_case *c, int64_t bytes);
// Sets the reason of an element (i, j) that differs from the right one.
void trap_differs(struct trap_case *c, int64_t i, int64_t j, double got, double want);
// Returns the result of a case that ended with this error, with the text of the error as reason.
enum exact_result trap_failed(struct trap_case *c, int err);

#ifdef __cplusplus
}
#endif
#endif
