// Repair of a file of records after a crash that has left a line without an end.
#ifndef RECORD_TAIL_H
#define RECORD_TAIL_H

#include "base/base.h"

// Sets *part to true if a line without an end is the beginning of a record only. A JSON document is
// whole. ERR_MEMORY: unknown.
int record_tail_judge(const char *line, int64_t length, bool *part);
// Repairs the end of an open file that begins like records: a whole record gets its newline, a part
// of a record is cut off (*cut bytes). ERR_USAGE: the end is something else and stays. Pipes and
// whole ends need no repair. The caller keeps other processes from writing.
int record_tail_mend(int fd, const char *path, int64_t *cut);

#endif
