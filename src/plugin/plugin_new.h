// spbench new-kernel: the first files of a plug-in.
#ifndef PLUGIN_NEW_H
#define PLUGIN_NEW_H

#include "device/device.h"

// Writes NAME.c or NAME.cu, spbench_plugin.h and a Makefile into the working directory. The caller
// has checked both words. ERR_OUTPUT: the source exists, or a file cannot be written. A header or
// Makefile that exists is left as it is. Sets *kept to the number of these.
int plugin_new(const char *op, const char *name, enum device_kind device, int *kept);

#endif
