#include "device/nvml.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libnvidia-ml.so.1"

// memcpy(), because C has no cast from an object pointer to a function pointer.
static bool find(void *lib, const char *name, void *where)
{
    void *p = dlsym(lib, name);
    memcpy(where, &p, sizeof p);
    return p != NULL;
}

// Initialises NVML and finds the GPU.
static int start(struct nvml *nvml, void *lib, const char *bus_id)
{
    int (*init)(void), (*handle)(const char *, nvml_device *), (*driver)(char *, unsigned);
    if (!find(lib, "nvmlInit_v2", &init) || !find(lib, "nvmlShutdown", &nvml->shutdown) ||
        !find(lib, "nvmlDeviceGetHandleByPciBusId_v2", &handle))
        return fail(ERR_UNSUPPORTED, "%s: lacks functions of NVML", LIBRARY);
    int status = init();
    if (status)
        return fail(ERR_UNSUPPORTED, "NVML cannot be used: status %d of nvmlInit_v2", status);
    status = handle(bus_id, &nvml->device);
    if (status) {
        nvml->shutdown();
        return fail(ERR_UNSUPPORTED, "NVML knows no GPU at %s: status %d", bus_id, status);
    }
    bool known = find(lib, "nvmlSystemGetDriverVersion", &driver) &&
                 !driver(nvml->driver, sizeof nvml->driver);
    if (!known) nvml->driver[0] = 0;
#define NVML_FIND(name, args) find(lib, #name, &nvml->name);
    NVML_FUNCTIONS(NVML_FIND)
#undef NVML_FIND
    return OK;
}

int nvml_open(struct nvml *nvml, const char *bus_id)
{
    memset(nvml, 0, sizeof *nvml);
    void *lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!lib) return fail(ERR_UNSUPPORTED, "no NVML, which comes with the driver: %s", dlerror());
    int err = start(nvml, lib, bus_id);
    if (err)
        dlclose(lib);
    else
        nvml->lib = lib;
    return err;
}

void nvml_close(struct nvml *nvml)
{
    if (!nvml->lib) return;
    nvml->shutdown();
    dlclose(nvml->lib);
    nvml->lib = NULL;
}
