// Where the workers of a sweep run, by its -device: auto, a device as a run takes it, several of a
// kind (cuda:0,1,2,3 or cuda:0,cuda:1), or all of a kind (cuda:all; all: of the GPUs).
//
// A worker sees its own device alone, as the first of the kind. So a case has the same key wherever
// it was measured, and a sweep goes on with other devices than it began with.
#ifndef WORKER_DEVICES_H
#define WORKER_DEVICES_H

#include "sweep/sweep.h"

#define WORKER_DEVICES_MAX SEATS_MAX
#define WORKER_DEVICES_TEXT 256 // letters of a setting

struct worker_devices {
    bool automatic;        // what a worker finds
    bool all;              // of the kind: their number is not known yet
    enum device_kind kind; // of all, unless automatic
    int index[WORKER_DEVICES_MAX]; // among its kind, size count
    int count;
};

// Looks at no device. ERR_USAGE names the mistake.
int worker_devices_parse(const char *text, struct worker_devices *out);
// What is in the environment's variable, so that a worker sees only one device: its number, or the
// word of that number in what the variable says already. NULL: the worker is to find it as it is.
const char *worker_devices_setting(const struct worker_devices *p, int place, char text[WORKER_DEVICES_TEXT]);
// What the worker gets for -device.
const char *worker_devices_option(const struct worker_devices *p, char id[16]);
// "cuda:3", for messages: as the user counts them.
const char *worker_devices_name(const struct worker_devices *p, int place, char id[16]);

#endif
