// The devices of a sweep's workers, from -device: auto, a device as for run, several of a kind
// (cuda:0,1,2,3 or cuda:0,cuda:1), or all of a kind (cuda:all; all: all GPUs).
//
// A worker sees its own device only, as the first of the kind. So a case has the same key on each
// device, and a sweep can continue with other devices.
#ifndef WORKER_DEVICES_H
#define WORKER_DEVICES_H

#include "sweep/sweep.h"

#define WORKER_DEVICES_MAX  SLOTS_MAX
#define WORKER_DEVICES_TEXT 256 // letters of a setting

struct worker_devices {
    bool automatic;                // -device auto: the worker chooses
    bool all;                      // all of the kind: the number is unknown yet
    enum device_kind kind;         // kind of all devices, unless automatic
    int index[WORKER_DEVICES_MAX]; // among its kind, size count
    int count;
};

// Parses -device without looking for devices. ERR_USAGE: the text names the mistake.
int worker_devices_parse(const char *text, struct worker_devices *out);
// Writes NAME=VALUE of the environment variable that makes only device i visible: its number, or
// that entry of the variable's present list. NULL: none is needed.
const char *worker_devices_setting(const struct worker_devices *p, int i,
                                   char text[WORKER_DEVICES_TEXT]);
// Returns -device of the workers.
const char *worker_devices_option(const struct worker_devices *p, char id[16]);
// Writes "cuda:3", the user's number of device i, for messages.
const char *worker_devices_name(const struct worker_devices *p, int i, char id[16]);

#endif
