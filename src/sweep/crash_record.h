// The record of a case that never ended: its worker has made it beforehand, as if it had crashed.
#ifndef CRASH_RECORD_H
#define CRASH_RECORD_H

#include "bench/bench.h"

// The same record with this end: a line, to be freed with mem_free(). NULL: fail_text() says why.
char *lost_record(const char *record, enum status status, const char *reason);
// The key of a record; NULL likewise.
char *lost_key(const char *record);
// How many processes the system has ended for lack of memory; -1: it does not say.
long long lost_oom_kills(void);

#endif
