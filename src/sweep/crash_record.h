// The record of a case that never ended. Its worker writes a record with status crashed before the
// case begins.
#ifndef CRASH_RECORD_H
#define CRASH_RECORD_H

#include "bench/bench.h"

// Returns the record with another status and reason, as a line that the caller frees. NULL: an
// error.
char *crash_record_make(const char *record, enum status status, const char *reason);
// Returns the key of a record, which the caller frees. NULL: an error.
char *crash_record_key(const char *record);
// Returns the number of processes that the system has killed for lack of memory; -1: unknown.
long long system_oom_kills(void);

#endif
