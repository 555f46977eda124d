// New names of options that an earlier release named otherwise: renamed.def.
#ifndef RENAMED_H
#define RENAMED_H

// Returns the name that option `name` of an algorithm has; `name` itself if it is not an old name.
const char *renamed_option(const char *op, const char *algo, const char *name);

#endif
