// The end of a file of records where a crash has left a line without an end.
#ifndef RECORD_TAIL_H
#define RECORD_TAIL_H

#include "base/base.h"

// Whether a line without an end is the beginning of a record and no more. What is a JSON document
// is whole. ERR_MEMORY: it is not known.
int record_tail_judge(const char *line, int64_t length, bool *part);
// Mends the end of an open file that begins as records do: a record gets its end, the beginning of
// one is cut off, *cut bytes. Anything else is left as it is: ERR_USAGE. Where the end is whole,
// and of a pipe, nothing is done. The caller keeps others from writing.
int record_tail_mend(int fd, const char *path, int64_t *cut);

#endif
