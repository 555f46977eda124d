// Marks of times that may be far off, and how many times of a table have them.
#ifndef DOUBT_H
#define DOUBT_H

#include "records/record_read.h"

// Bits of a set.
enum doubt {
    DOUBT_FEW = 1,   // fewer than TIMING_INTERVAL_SAMPLES samples: no interval
    DOUBT_BUSY = 2,  // see struct record
    DOUBT_SLOW = 4,  // the device reduced its clocks
    DOUBT_ORDER = 8, // runs overtake earlier work; the time itself is sound
};
#define DOUBT_KINDS 4
#define DOUBT_TIME  (DOUBT_FEW | DOUBT_BUSY | DOUBT_SLOW)
#define DOUBT_SIGN  '~' // before a number that is made of a time with DOUBT_TIME

extern const char *const doubt_names[DOUBT_KINDS]; // by bit, for JSON: "few_samples"

struct doubt_counts {
    int64_t times, of[DOUBT_KINDS]; // number of times, and of those with each bit
};

// Returns the marks of a record with `samples` samples. 0: the record has no time.
unsigned doubt_of(const struct record *r, int samples);
// Writes the marks as words: "1 sample; busy". Returns `text`.
#define DOUBT_TEXT_MAX 96
const char *doubt_text(unsigned doubt, int samples, char text[DOUBT_TEXT_MAX]);
void doubt_count(struct doubt_counts *c, unsigned doubt);
// Writes "12 of 87 times with fewer than 6 samples, 3 busy"; "": no time has a mark. Returns
// `text`.
const char *doubt_counts_text(const struct doubt_counts *c, char text[DOUBT_TEXT_MAX]);

#endif
