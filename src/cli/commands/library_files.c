#include "cli/commands/library_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int library_files_add(const char *option, const char *list, bool preload, struct texts *out)
{
    int err = OK;
    for (const char *rest = list; rest && *rest && !err; rest += *rest == ',') {
        char path[PATH_MAX];
        const int length = (int)strcspn(rest, ",");
        if (out->count == LIBRARIES_MAX)
            return fail(ERR_USAGE, "-%s: more than %d files", option, LIBRARIES_MAX);
        if (snprintf(path, sizeof path, "%.*s", length, rest) >= (int)sizeof path)
            return fail(ERR_USAGE, "-%s %s: the path is too long", option, rest);
        char *full = realpath(path, NULL);
        if (!full) return fail(ERR_USAGE, "-%s %s: %s", option, path, strerror(errno));
        if (preload && strpbrk(full, " :")) // the loader takes them for the ends of names
            err = fail(ERR_USAGE,
                       "-%s %s: the path has a blank or a colon, which LD_PRELOAD does not allow",
                       option, full);
        else
            err = texts_add(out, full);
        free(full);
        rest += length;
    }
    return err;
}
