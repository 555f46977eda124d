// The ceilings of devices, kept in the user's cache folder from run to run. A place that cannot be
// read or written is no error: then they are measured again.
#ifndef ROOF_FILE_H
#define ROOF_FILE_H

#include "device/roof.h"

// False where there are none of this device as it is now, or none that can be true.
bool roof_file_read(struct device *d, struct roof *roof);
// Keeps these in place of what is in the file.
void roof_file_replace(struct device *d, const struct roof *roof);
// Takes over what is better in the file, where other runs keep theirs, and keeps the better of
// both.
void roof_file_keep(struct device *d, struct roof *roof);

#endif
