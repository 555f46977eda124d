#include "plugin/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sha256.h"

#define SYMBOL "spbench_plugin_v1"

// Sets `sha256` to the hash of the file. Returns ERR_USAGE if the hash is not `wanted`. `wanted`
// NULL: any hash.
static int hash_file(const char *file, const char *wanted, char sha256[SHA256_LETTERS + 1])
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    int e = fd < 0 ? errno : sha256_file(fd, sha256);
    if (fd >= 0) close(fd);
    if (e) return fail(ERR_USAGE, "-plugin %s: %s", file, strerror(e));
    if (!wanted || !strcmp(sha256, wanted)) return OK;
    return fail(ERR_USAGE, "-plugin %s: has changed since the command began", file);
}

// realpath() gives a slash to each path, so that dlopen() does not search the folders of system
// libraries.
static int load_library(struct plugin *p)
{
    char path[PATH_MAX];
    if (!realpath(p->file, path))
        return fail(ERR_USAGE, "-plugin %s: %s", p->file, strerror(errno));
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return fail(ERR_USAGE, "-plugin %s: %s", p->file, dlerror());
    p->exported = dlsym(library, SYMBOL);
    if (p->exported) return plugin_copy(p);
    return fail(ERR_USAGE, "-plugin %s: exports no " SYMBOL "; see spbench_plugin.h", p->file);
}

int plugin_load(const char *file, const char *sha256, char **json)
{
    char found[SHA256_LETTERS + 1];
    struct plugin p = {.file = file};
    int err = hash_file(file, sha256, found);
    if (!err && !(p.sha256 = mem_copy_text(found, strlen(found)))) err = ERR_MEMORY;
    if (!err) err = load_library(&p);
    if (!err) err = plugin_check(&p);
    if (!err) err = plugin_add(&p, true);
    if (err || !json) return err;
    *json = plugin_describe(&p);
    return *json ? OK : ERR_MEMORY;
}
