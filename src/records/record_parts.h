// Fields that records of several kinds have.
#ifndef RECORD_PARTS_H
#define RECORD_PARTS_H

#include <math.h>
#include <time.h>

#include "records/json.h"
#include "records/record.h"

// Adds version, revision, date, host and os.
void record_add_origin(struct json *j);
// Adds the facts of record_build().
void record_add_build(struct json *j);
// Adds the fields of all records of a run: id, seed, threads.
void record_add_run(struct json *j, const struct record_file *out);
// "2026-11-22T15:05:00Z". Writes into `date` and returns it.
const char *record_date(time_t when, char date[32]);
// Adds the axes of an operation: words as texts, numbers as numbers. `products`: words with all
// values that give the same product, "flag,copy".
void json_axes(struct json *j, cJSON *o, const struct op *op, const int64_t *axis, bool products);
// Adds prep_ms, pays_after and pays. INFINITY runs: `pays` is false. NAN runs, with nothing to pay:
// null.
void json_prep(struct json *j, cJSON *o, double prep_ms, double pays_after);
// Adds a measured value; 0 means unknown and becomes null.
void record_add_known(struct json *j, cJSON *o, const char *name, double x);
// Returns x, or NAN, which becomes null.
static inline double known_or_nan(bool known, int64_t x) { return known ? (double)x : NAN; }
// Writes and frees the document. Fails if a node could not be allocated.
int record_document(struct record_file *out, struct json *j);

#endif
