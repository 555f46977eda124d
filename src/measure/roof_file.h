// The file of measured ceilings in the user's cache folder. A file that cannot be read or written
// is no error: the ceilings are measured again. Nothing is written while a preloaded library can
// have replaced the clock: later runs would take its ceilings.
#ifndef ROOF_FILE_H
#define ROOF_FILE_H

#include "device/roof.h"

// Reads the ceilings of the device. Returns false if the file has none with the same driver,
// threads, processors and compiler, or none that are possible.
bool roof_file_read(struct device *d, struct roof *roof);
// Writes `roof` in place of the ceilings that the file has of the device.
void roof_file_replace(struct device *d, const struct roof *roof);
// Sets each ceiling of `roof` to the better of `roof` and the file, and writes them.
void roof_file_keep(struct device *d, struct roof *roof);
// Keeps the file as it is from now on. Called before foreign code is loaded.
void roof_file_close(void);

#endif
