// What records of several kinds have in common.
#ifndef RECORD_PARTS_H
#define RECORD_PARTS_H

#include <math.h>
#include <time.h>

#include "records/json.h"
#include "records/record.h"

// Which program it is, where, and when: version, revision, date, host, os.
void record_add_origin(struct json *j);
// How the program was built: compiler, flags.
void record_add_build(struct json *j);
// What all records of a run say: its id, seed, threads.
void record_add_run(struct json *j, const struct record_file *out);
// "2026-11-22T15:05:00Z". Writes into `date` and returns it.
const char *record_date(time_t when, char date[32]);
// A measure of which 0 stands for "not known".
void record_add_known(struct json *j, cJSON *o, const char *name, double x);
// What was not reached becomes null.
static inline double known_or_nan(bool known, int64_t x) { return known ? (double)x : NAN; }
// Writes the document, if every node of it is there, and frees it.
int record_document(struct record_file *out, struct json *j);

#endif
