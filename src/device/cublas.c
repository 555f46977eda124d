#include "device/cublas.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static struct cublas cublas;
static bool tried;        // load() was called
static char missing[256]; // reason why cuBLAS is missing; "": cuBLAS is loaded
static char library[64];

static void *open_library(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
    void *lib = NULL;
    for (int i = 0; i < COUNT(names) && !lib; i++) lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!lib) snprintf(missing, sizeof missing, "no libcublas in the loader's folders");
    return lib;
}

static void find(void *lib, const char *name, void *where)
{
    void *p = dlsym(lib, name);
    if (!p && !missing[0]) snprintf(missing, sizeof missing, "libcublas has no %s", name);
    memcpy(where, &p, sizeof p); // C has no cast from an object pointer to a function pointer
}

static void load(void)
{
    int version[3] = {0};
    tried = true;
    void *lib = open_library();
    if (!lib) return;
#define CUBLAS_FIND(name, args) find(lib, #name, &cublas.name);
    CUBLAS_FUNCTIONS(CUBLAS_FIND)
#undef CUBLAS_FIND
    for (int i = 0; i < 3 && !missing[0]; i++)
        if (cublas.cublasGetProperty(i, &version[i]))
            snprintf(missing, sizeof missing, "libcublas does not tell its version");
    snprintf(library, sizeof library, "cuBLAS %d.%d.%d", version[0], version[1], version[2]);
}

const char *cublas_missing(void)
{
    if (!tried) load();
    return missing[0] ? missing : NULL;
}

const char *cublas_library(void) { return cublas_missing() ? NULL : library; }

int cublas_use(const struct cublas **out)
{
    const char *why = cublas_missing();
    *out = &cublas;
    return why ? fail(ERR_UNSUPPORTED, "%s", why) : OK;
}

int cublas_fail(int status, const char *function)
{
    const enum err code = status == CUBLAS_NOT_SUPPORTED  ? ERR_UNSUPPORTED
                          : status == CUBLAS_ALLOC_FAILED ? ERR_MEMORY
                                                          : ERR_DEVICE;
    return fail(code, "%s: status %d", function, status);
}
