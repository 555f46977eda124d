// Traps: cases that ask for more than an exact result on a small matrix. A trap is one function and
// one row of the list. docs/conforming.md defines the judgement of each trap.
#ifndef TRAPS_H
#define TRAPS_H

#include "exact/trap_case.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TRAP_OFFSET (INT64_C(1) << 31) // exact_rule.offset: the smallest that an int cannot hold

struct trap {
    const char *name;    // a word: column of the table, -trap
    const char *about;   // for the help, a line
    const char *lacking; // word for EXACT_LACKING; NULL: always right or wrong
    bool promised;       // a lacking property is an error
    const char *matrix;  // name of the matrix
    int64_t k;           // columns of dense operands, 1 if the algorithm has a largest k
    bool widths;         // the trap runs only with the first type of each width
    int32_t m;           // rows and columns of a matrix by rule
    bool (*rule)(int32_t i, int32_t j); // see struct shape; NULL: build() makes the matrix
    // Makes the matrix. The only error is ERR_MEMORY.
    int (*build)(const struct trap *trap, int64_t offset, struct csr *A);
    // Returns true if the trap is for this algorithm on this device. NULL: for all.
    bool (*fits)(const struct device *dev, const struct algo_entry *entry);
    enum exact_result (*run)(struct trap_case *c);
};
#define TRAPS_MAX 16
extern const struct trap traps[]; // size trap_count, in the order of the table
extern const int trap_count;

// Runs a trap in every precision of the algorithm and with every word of its axes. `rule`: precs,
// offset, begin, take and arg as for exact_run(). Returns the first error of begin() or take().
int trap_run(struct device *dev, const struct trap *trap, const struct algo_entry *entry,
             const struct exact_rule *rule);

// The functions of the trap `far` (trap_far.c).
int far_build(const struct trap *trap, int64_t offset, struct csr *A);
enum exact_result far_run(struct trap_case *c);

#ifdef __cplusplus
}
#endif
#endif
