#include "plugin/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"

#define SYMBOL "spbench_plugin_v1"

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

// Sets `sha256` to the hash of the file.
static int hash_file(const char *file, struct stat *facts, char sha256[SHA256_LETTERS + 1])
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int e = fd < 0 || fstat(fd, facts) ? errno : 0;
    if (!e && !S_ISREG(facts->st_mode)) e = EINVAL;
    if (!e) e = sha256_file(fd, sha256);
    if (fd >= 0) close(fd);
    return e ? fail(ERR_USAGE, "-plugin %s: %s", file, strerror(e)) : OK;
}

// Loads the file that was hashed. realpath() gives a slash to each path, so that dlopen() does not
// search the folders of system libraries.
static int open_file(const char *file, const struct stat *hashed, void **library)
{
    struct stat facts;
    char path[PATH_MAX];
    if (!realpath(file, path)) return fail(ERR_USAGE, "-plugin %s: %s", file, strerror(errno));
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!*library) return fail(ERR_USAGE, "-plugin %s: %s", file, dlerror());
    if (stat(path, &facts) || !same_file(&facts, hashed))
        return fail(ERR_USAGE, "-plugin %s: changed while it was loaded", file);
    return OK;
}

static int check_hash(const char *file, const char *found, const char *wanted)
{
    if (!wanted || !strcmp(found, wanted)) return OK;
    return fail(ERR_USAGE, "-plugin %s: has changed since the command began", file);
}

static int load_library(struct plugin *p, const char *sha256, char found[SHA256_LETTERS + 1])
{
    struct stat facts;
    void *library;
    int err = hash_file(p->file, &facts, found);
    if (!err) err = check_hash(p->file, found, sha256);
    if (!err) err = open_file(p->file, &facts, &library);
    if (err) return err;
    p->exported = dlsym(library, SYMBOL);
    if (p->exported) return plugin_copy(p);
    return fail(ERR_USAGE, "-plugin %s: exports no " SYMBOL "; see spbench_plugin.h", p->file);
}

int plugin_load(const char *file, const char *sha256, char **json)
{
    char found[SHA256_LETTERS + 1];
    struct plugin p = {.file = file};
    int err = load_library(&p, sha256, found);
    if (!err && !(p.sha256 = mem_copy_text(found, strlen(found)))) err = ERR_MEMORY;
    if (!err) err = plugin_check(&p);
    if (!err) err = plugin_add(&p, true);
    if (err || !json) return err;
    *json = plugin_describe(&p);
    return *json ? OK : ERR_MEMORY;
}
