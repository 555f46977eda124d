// The result as it should be: computed once for one set of inputs, for all algorithms, as far as
// host memory reaches; what does not fit is computed again for each.
#ifndef REFERENCE_H
#define REFERENCE_H

#include "algos/algo.h"

// 1,000 rows at random: up to half of them with chances by their work, so that of few long rows
// each is there, the others with equal chances. And of each class of rows by their work (those of
// 2^c to 2^(c+1) - 1 multiply-adds) the first few, since algorithms treat rows by their size; the
// one with most work, the first and the last one. None comes twice.
#define SAMPLE_RANDOM     1000
#define SAMPLE_CLASS_ROWS 8
#define SAMPLE_ROWS       (SAMPLE_RANDOM + 64 * SAMPLE_CLASS_ROWS + 3)

struct kept_row; // a row in one block of memory

struct reference {
    const struct problem *p;
    bool made;
    int variant; // of p->op->variants
    bool full;   // all rows, or a sample of them and a projection of all
    int64_t count;
    int32_t *rows;                // the sample; NULL if full
    int64_t room;                 // elements of the longest of these rows
    struct kept_row **kept;       // size count, NULL where there is none
    int64_t budget;               // bytes that may still be kept
    struct projection projection; // of a sample
};

void reference_init(struct reference *r, const struct problem *p);
void reference_free(struct reference *r);
// Makes it ready for a variant, of all rows or of a sample; what is there is kept if it is of
// those.
int reference_make(struct reference *r, int variant, bool full);
// Row number x of the reference. `room` is a thread's own, from row_alloc(r->room), and what is
// returned may be in it.
struct row reference_row(struct reference *r, int64_t x, struct row *room);
int32_t reference_row_number(const struct reference *r, int64_t x);

#endif
