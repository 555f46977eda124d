#define _GNU_SOURCE // dl_iterate_phdr
#include "plugin/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sha256.h"

#define SYMBOL               "spbench_plugin_v1"
#define PLUGIN_LIBRARIES_MAX 1024 // that come with a plug-in

// Hashes a file, and sets f->sha256 unless it is set. Returns ERR_USAGE if the hash is another.
static int hash_file(struct algo_file *f)
{
    char found[SHA256_LETTERS + 1];
    int fd = open(f->file, O_RDONLY | O_CLOEXEC);
    int e = fd < 0 ? errno : sha256_file(fd, found);
    if (fd >= 0) close(fd);
    if (e) return fail(ERR_USAGE, "-plugin %s: %s", f->file, strerror(e));
    if (!f->sha256) return (f->sha256 = mem_copy_text(found, SHA256_LETTERS)) ? OK : ERR_MEMORY;
    if (!strcmp(found, f->sha256)) return OK;
    return fail(ERR_USAGE, "-plugin %s: has changed since the command began", f->file);
}

// Files in this process, as the loader lists them.
struct objects {
    int count, before;           // number of files: all, and those before the plug-in
    const char *path;            // of the plug-in
    struct algo_file *libraries; // the others that came with it, size library_count; NULL: none
    int library_count;
    int err;
};

static int take_loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct objects *x = arg;
    (void)size;
    if (x->count++ < x->before || !x->libraries || !strcmp(info->dlpi_name, x->path)) return 0;
    if (x->library_count == PLUGIN_LIBRARIES_MAX)
        return x->err = fail(ERR_USAGE, "-plugin %s: more than %d libraries", x->path,
                             PLUGIN_LIBRARIES_MAX);
    struct algo_file *f = &x->libraries[x->library_count++];
    f->file = mem_copy_text(info->dlpi_name, strlen(info->dlpi_name));
    return x->err = f->file ? hash_file(f) : ERR_MEMORY;
}

// Loads the file and sets p->exported. With `libraries` lists the libraries that came with it
// there. realpath() gives a slash to each path, so that dlopen() does not search the folders of
// system libraries.
static int load_library(struct plugin *p, struct algo_file *libraries)
{
    char path[PATH_MAX];
    const char *file = p->facts.own.file;
    struct objects before = {0};
    if (!realpath(file, path)) return fail(ERR_USAGE, "-plugin %s: %s", file, strerror(errno));
    dl_iterate_phdr(take_loaded, &before);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return fail(ERR_USAGE, "-plugin %s: %s", file, dlerror());
    struct objects after = {.before = before.count, .path = path, .libraries = libraries};
    dl_iterate_phdr(take_loaded, &after);
    if (after.err) return after.err;
    p->facts.libraries = libraries;
    p->facts.library_count = after.library_count;
    p->exported = dlsym(library, SYMBOL);
    int err = p->exported ? plugin_copy(p)
                          : fail(ERR_USAGE,
                                 "-plugin %s: exports no " SYMBOL "; see spbench_plugin.h", file);
    return err ? err : plugin_check(p);
}

// The plug-in of this process, which stays loaded. A compiler removes a variable that is never
// read, unless the variable is `used`: LeakSanitizer then reports the parts of the plug-in.
static __attribute__((used)) struct plugin loaded;

int plugin_load_new(const char *file, char **json)
{
    struct algo_file *libraries = mem_zero_alloc(PLUGIN_LIBRARIES_MAX, sizeof *libraries);
    loaded = (struct plugin){.facts = {.own.file = file, .libraries = libraries}};
    int err = libraries ? hash_file(&loaded.facts.own) : ERR_MEMORY;
    if (!err) err = load_library(&loaded, libraries);
    if (err) return err;
    *json = plugin_describe(&loaded);
    return *json ? OK : ERR_MEMORY;
}

int plugin_look(const struct algo_plugin *facts)
{
    struct algo_file own = facts->own;
    return hash_file(&own);
}

int plugin_load(const struct algo_plugin *facts)
{
    const struct plugin *known = (const struct plugin *)facts;
    int err = plugin_look(facts);
    loaded = *known;
    if (!err) err = load_library(&loaded, NULL);
    for (int64_t i = 0; i < known->exported->algorithm_count && !err; i++) {
        // Allocated by plugin_learn().
        struct spbench_algorithm *to = (struct spbench_algorithm *)known->exported->algorithms[i];
        const struct spbench_algorithm *from =
            i < loaded.exported->algorithm_count ? loaded.exported->algorithms[i] : NULL;
        if (!from || strcmp(from->name, to->name))
            return fail(ERR_USAGE, "-plugin %s: describes itself in another way", facts->own.file);
        to->prepare = from->prepare;
        to->run = from->run;
        to->teardown = from->teardown;
    }
    return err;
}
