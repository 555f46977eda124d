// Files of libraries that replace a vendor's library: options -cusparse and -mkl.
#ifndef LIBRARY_FILES_H
#define LIBRARY_FILES_H

#include "sweep/worker_request.h"

#define LIBRARIES_MAX 15

// Adds the full path of each file of a comma-separated list, as the loader knows the file.
// `option`: name of the option. `preload`: for LD_PRELOAD, which takes no blank and no colon.
int library_files_add(const char *option, const char *list, bool preload, struct texts *out);

#endif
