// How much the kept matrices may take up, and which of them go.
#ifndef CACHE_ROOM_H
#define CACHE_ROOM_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CACHE_SUFFIX ".csr" // of the names of entries

// Removes what processes that were killed left there, and those entries of the folder that were not
// used for longest, until one of so many bytes more leaves all of them under the limit, and under a
// tenth of what of the disk is free or theirs. False where there can be no such room, or there is
// no such folder.
bool cache_make_room(const char *folder, int64_t bytes, int64_t limit);

#ifdef __cplusplus
}
#endif
#endif
