// What a worker of a sweep says to its parent, and is told by it, as sweep/worker.h has it.
#ifndef WORKER_TALK_H
#define WORKER_TALK_H

#include "sweep/worker.h"
#include "sweep/worker_request.h"

// A line on the channel.
int worker_say(const char *format, ...) PRINTF_LIKE(1, 2);
// Waits until its parent says something: this, or `other`, which is then in *told.
int worker_await(enum worker_word word, enum worker_word other, enum worker_word *told);
// The line of stdin from there on, which is an order; *at is then behind it.
int worker_read_order(int64_t *at, struct order *order);

#endif
