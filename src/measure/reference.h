// The reference: the right result of a problem, computed once for all algorithms. Rows that do not
// fit in host memory are computed again for each algorithm.
#ifndef REFERENCE_H
#define REFERENCE_H

#include "algos/algo.h"

// A sample has 1,000 random rows: up to half of them drawn by their work, which finds the few long
// rows, the others with equal chances. The sample also has the first rows of each class (2^c to
// 2^(c+1) - 1 multiply-adds), since algorithms treat rows by their size, the row with the most
// work, the first and the last row. No row comes twice.
#define SAMPLE_RANDOM     1000
#define SAMPLE_CLASS_ROWS 8
#define SAMPLE_ROWS       (SAMPLE_RANDOM + 64 * SAMPLE_CLASS_ROWS + 3)

struct kept_row; // a row in one block of memory

struct reference {
    const struct problem *p;
    bool made;
    int variant; // index in p->op->variants
    bool full;   // true: all rows; false: a sample, and a projection of all rows
    int64_t count;
    int32_t *rows;                // rows of the sample; NULL if full
    int64_t room;                 // elements of the longest of these rows
    struct kept_row **kept;       // size count; NULL: the row is not kept
    int64_t budget;               // bytes that may still be kept
    struct projection projection; // projection of all rows, beside a sample
};

void reference_init(struct reference *r, const struct problem *p);
void reference_free(struct reference *r);
// Sets the variant, and all rows or a sample. Keeps rows that are already right for them.
int reference_make(struct reference *r, int variant, bool full);
// Returns row number x of the reference. `room` belongs to the calling thread, from
// row_alloc(r->room); the row may use its memory.
struct row reference_row(struct reference *r, int64_t x, struct row *room);
int32_t reference_row_number(const struct reference *r, int64_t x);

#endif
