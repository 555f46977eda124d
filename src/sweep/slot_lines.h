// What the worker of a seat says, line by line, and what comes of it.
#ifndef SLOT_LINES_H
#define SLOT_LINES_H

#include "sweep/slot.h"

// All that it has written by now.
int seat_take_lines(struct seat *x);
// The record of a case is there: it is written, and counted as finished.
int seat_take_result(struct seat *x, const char *record, enum status status, const char *text);
// News of this kind of its job; of a case with this text.
void seat_tell(struct seat *x, int kind, const char *text);
// The run that records of a job belong to.
struct voice *seat_voice(const struct seat *x, const struct job *job);
// From now on it has the whole of -timeout.
void seat_set_deadline(struct seat *x);
// Puts a copy in place of an owned text.
int seat_copy_text(char **out, const char *text);

#endif
