// Loads MKL and sets its interface layer, its threads and its memory functions.
#define _GNU_SOURCE // dladdr
#include "device/mkl.h"

#include <dlfcn.h>
#include <malloc.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct mkl mkl;
static bool tried;        // load() was called
static char missing[512]; // reason why MKL is missing; "": MKL is loaded
static char library[96];

// Bytes that MKL has allocated, and their maximum. Atomic, because any thread may free a block.
static atomic_llong held, held_most;

static void count(long long bytes)
{
    long long now = atomic_fetch_add(&held, bytes) + bytes, most = atomic_load(&held_most);
    while (now > most && !atomic_compare_exchange_weak(&held_most, &most, now)) {}
}

static void *counted(void *p)
{
    if (p)
        count((long long)malloc_usable_size(p));
    else
        fail_drop(); // MKL has an error of its own
    return p;
}

static void own_free(void *p)
{
    if (p) count(-(long long)malloc_usable_size(p));
    mem_free(p);
}
static void *own_malloc(size_t bytes) { return counted(mem_alloc((int64_t)bytes, 1)); }
static void *own_calloc(size_t n, size_t bytes)
{
    return counted(mem_zero_alloc((int64_t)n, bytes));
}
static void *own_realloc(void *old, size_t bytes)
{
    void *p = own_malloc(bytes);
    if (!p || !old) return p;
    memcpy(p, old, (size_t)min64((int64_t)malloc_usable_size(old), (int64_t)bytes));
    own_free(old);
    return p;
}

int64_t mkl_memory_start(void)
{
    int64_t now = atomic_load(&held);
    atomic_store(&held_most, now);
    return now;
}

void mkl_memory_count(struct device *d, int64_t start)
{
    device_count_foreign(d, atomic_load(&held_most) - start);
    device_count_foreign(d, mkl_memory_start() - start);
}

// RTLD_GLOBAL, so that the other libraries of MKL find the memory functions set in libmkl_rt.
#define OPEN_FLAGS (RTLD_NOW | RTLD_GLOBAL)
static const char *const ends[] = {".so.3", ".so.2", ".so.1", ".so"};

static const char *opened; // file name as passed to dlopen()

static void *open_library(void)
{
    static char name[32];
    const char *path = getenv("MKL_RT");
    void *lib = NULL;
    opened = path && path[0] ? path : name;
    if (opened == path) {
        lib = dlopen(path, OPEN_FLAGS);
        if (!lib) fail(ERR_UNSUPPORTED, "MKL_RT: %s", dlerror());
        return lib;
    }
    for (int i = 0; i < COUNT(ends) && !lib; i++) {
        snprintf(name, sizeof name, "libmkl_rt%s", ends[i]);
        lib = dlopen(name, OPEN_FLAGS);
    }
    if (!lib) fail(ERR_UNSUPPORTED, "no libmkl_rt in the loader's folders; MKL_RT=PATH names one");
    return lib;
}

static int find(void *lib, const char *name, void *where)
{
    void *p = dlsym(lib, name);
    if (!p) return fail(ERR_UNSUPPORTED, "%s has no %s: it is not libmkl_rt", opened, name);
    memcpy(where, &p, sizeof p); // C has no cast from an object pointer to a function pointer
    return OK;
}

static int find_functions(void *lib)
{
    int err = OK;
#define MKL_FIND(type, name, args)                                                                 \
    if (!err) err = find(lib, #name, &mkl.name);
    MKL_FUNCTIONS(MKL_FIND)
#undef MKL_FIND
    return err;
}

// Sets the memory functions of MKL. Must precede every other call of MKL.
static int give_memory(void *lib)
{
    void *(**i_malloc)(size_t) = NULL, *(**i_calloc)(size_t, size_t) = NULL;
    void *(**i_realloc)(void *, size_t) = NULL, (**i_free)(void *) = NULL;
    int err = find(lib, "i_malloc", &i_malloc);
    if (!err) err = find(lib, "i_calloc", &i_calloc);
    if (!err) err = find(lib, "i_realloc", &i_realloc);
    if (!err) err = find(lib, "i_free", &i_free);
    if (err) return err;
    *i_malloc = own_malloc;
    *i_calloc = own_calloc;
    *i_realloc = own_realloc;
    *i_free = own_free;
    return OK;
}

// Returns true if `part` is in the folder of libmkl_rt. MKL ends the program if a part is missing.
static bool has_part(const char *folder, const char *part)
{
    char path[4096];
    for (int i = 0; i < COUNT(ends); i++) {
        snprintf(path, sizeof path, "%s%s%s", folder, part, ends[i]);
        if (!access(path, R_OK)) return true;
    }
    return false;
}

// Threading layers, the best first. GNU threads are those of this program: two thread libraries
// would compete for the processors.
static const struct layer {
    int code;
    const char *part, *needs, *name;
} layers[] = {{3, "libmkl_gnu_thread", NULL, "GNU threads"},
              {0, "libmkl_intel_thread", "libiomp5", "Intel threads"},
              {1, "libmkl_sequential", NULL, "one thread"}};
#define LP64 0 // 32-bit indices

static int choose_layers(const struct layer **layer)
{
    Dl_info at;
    char folder[4000] = "";
    void *inside;
    memcpy(&inside, &mkl.MKL_Set_Threading_Layer, sizeof inside);
    if (dladdr(inside, &at) && strrchr(at.dli_fname, '/'))
        snprintf(folder, sizeof folder, "%.*s",
                 (int)(strrchr(at.dli_fname, '/') - at.dli_fname + 1), at.dli_fname);
    if (!has_part(folder, "libmkl_core"))
        return fail(ERR_UNSUPPORTED, "libmkl_core is not beside libmkl_rt in %s", folder);
    *layer = NULL;
    for (int i = 0; i < COUNT(layers) && !*layer; i++)
        if (has_part(folder, layers[i].part) &&
            (!layers[i].needs || has_part(folder, layers[i].needs)))
            *layer = &layers[i];
    if (!*layer)
        return fail(ERR_UNSUPPORTED, "no libmkl_gnu_thread is beside libmkl_rt in %s", folder);
    if (mkl.MKL_Set_Interface_Layer(LP64) != LP64 ||
        mkl.MKL_Set_Threading_Layer((*layer)->code) != (*layer)->code)
        return fail(ERR_UNSUPPORTED, "libmkl_rt refuses the interface or threading layer");
    mkl.MKL_Set_Dynamic(false);
    return OK;
}

// Copies the text between `before` and one of the letters `last`, such as the number in "...
// Library Version 2025.1-Product Build ...". Returns its length, 0 if there is none.
static int between(const char *text, const char *before, const char *last, char *out, size_t size)
{
    const char *start = text ? strstr(text, before) : NULL;
    if (!start) return 0;
    start += strlen(before);
    return snprintf(out, size, "%.*s", (int)strcspn(start, last), start);
}

static void name_library(const struct layer *layer)
{
    char text[256] = "", number[24] = "of unknown version", set[32] = "";
    struct mkl_version version = {0};
    mkl.MKL_Get_Version_String(text, sizeof text - 1);
    mkl.MKL_Get_Version(&version);
    between(text, "Version ", "- ", number, sizeof number);
    // MKL names no instruction set on processors of other makers, where MKL runs its generic code.
    if (!between(version.processor, "(Intel(R) ", ")", set, sizeof set))
        snprintf(set, sizeof set, "generic code");
    snprintf(library, sizeof library, "MKL %s (%s, %s)", number, layer->name, set);
}

// Loads MKL. The library is never closed, because its threads run until the program ends.
static int load(void)
{
    const struct layer *layer;
    void *lib = open_library();
    int err = lib ? find_functions(lib) : ERR_UNSUPPORTED;
    if (!err) err = give_memory(lib);
    if (!err) err = choose_layers(&layer);
    if (!err) name_library(layer);
    return err;
}

const char *mkl_missing(void)
{
    if (!tried && load()) snprintf(missing, sizeof missing, "%s", fail_text());
    tried = true;
    return missing[0] ? missing : NULL;
}

const char *mkl_library(void) { return mkl_missing() ? NULL : library; }

int mkl_use(const struct mkl **out)
{
    if (mkl_missing()) return fail(ERR_UNSUPPORTED, "%s", mkl_missing());
    mkl.MKL_Set_Num_Threads(omp_get_max_threads());
    *out = &mkl;
    return OK;
}

int mkl_fail(int status, const char *function)
{
    static const struct {
        enum err code;
        const char *text;
    } statuses[] = {{OK, ""},
                    {ERR_DEVICE, "a handle or an array is empty"},
                    {ERR_MEMORY, "no memory, or a size past 2^31"},
                    {ERR_DEVICE, "an argument has a wrong value"},
                    {ERR_DEVICE, "it failed"},
                    {ERR_DEVICE, "an error inside of MKL"},
                    {ERR_UNSUPPORTED, "MKL does not support this"}};
    if (status <= 0 || status >= COUNT(statuses))
        return fail(ERR_DEVICE, "%s: status %d of MKL", function, status);
    return fail(statuses[status].code, "%s: %s", function, statuses[status].text);
}
