// NVML, NVIDIA's management library: settings and state of a GPU. The library comes with the driver
// and is loaded at run time. The build needs no NVML: its functions are declared here.
#ifndef NVML_H
#define NVML_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nvmlDevice_st *nvml_device;
struct nvml_memory {
    unsigned long long total, free, used;
};
struct nvml_utilization {
    unsigned gpu, memory; // percent of the time
};
struct nvml_process {
    unsigned pid;
    unsigned long long bytes; // NVML_UNKNOWN: not available
    unsigned gpu_instance, compute_instance;
};
#define NVML_UNKNOWN (~0ull)

enum { NVML_SUCCESS = 0, NVML_INSUFFICIENT_SIZE = 7, NVML_FUNCTION_NOT_FOUND = 13 };
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };
enum { NVML_HEAT_SLOWDOWN = 1 };      // for nvmlDeviceGetTemperatureThreshold
enum { NVML_COMPUTE_PROHIBITED = 2 }; // from nvmlDeviceGetComputeMode
// Bits of nvmlDeviceGetCurrentClocksThrottleReasons.
#define NVML_CLOCKS_SET 0x2ull
#define NVML_POWER_CAP  0x4ull
#define NVML_HEAT       (0x20ull | 0x40ull) // thermal slowdown by the driver, by the hardware
#define NVML_HELD_DOWN  (NVML_POWER_CAP | 0x8ull | NVML_HEAT | 0x80ull) // also slowdown and brake

// FUNCTION(name, arguments after the device). Older drivers may lack a function.
#define NVML_FUNCTIONS(FUNCTION)                                                                   \
    FUNCTION(nvmlDeviceGetName, (nvml_device, char *text, unsigned size))                          \
    FUNCTION(nvmlDeviceGetClockInfo, (nvml_device, int clock, unsigned *mhz))                      \
    FUNCTION(nvmlDeviceGetMaxClockInfo, (nvml_device, int clock, unsigned *mhz))                   \
    FUNCTION(nvmlDeviceGetApplicationsClock, (nvml_device, int clock, unsigned *mhz))              \
    FUNCTION(nvmlDeviceGetDefaultApplicationsClock, (nvml_device, int clock, unsigned *mhz))       \
    FUNCTION(nvmlDeviceGetCurrentClocksThrottleReasons, (nvml_device, unsigned long long *bits))   \
    FUNCTION(nvmlDeviceGetComputeRunningProcesses_v3,                                              \
             (nvml_device, unsigned *count, struct nvml_process *list))                            \
    FUNCTION(nvmlDeviceGetGraphicsRunningProcesses_v3,                                             \
             (nvml_device, unsigned *count, struct nvml_process *list))                            \
    FUNCTION(nvmlDeviceGetUtilizationRates, (nvml_device, struct nvml_utilization * rates))        \
    FUNCTION(nvmlDeviceGetPersistenceMode, (nvml_device, unsigned *on))                            \
    FUNCTION(nvmlDeviceGetComputeMode, (nvml_device, unsigned *mode))                              \
    FUNCTION(nvmlDeviceGetEccMode, (nvml_device, unsigned *now, unsigned *after_reset))            \
    FUNCTION(nvmlDeviceGetMigMode, (nvml_device, unsigned *now, unsigned *after_reset))            \
    FUNCTION(nvmlDeviceGetMemoryInfo, (nvml_device, struct nvml_memory * memory))                  \
    FUNCTION(nvmlDeviceGetTemperature, (nvml_device, int sensor, unsigned *celsius))               \
    FUNCTION(nvmlDeviceGetTemperatureThreshold, (nvml_device, int which, unsigned *celsius))       \
    FUNCTION(nvmlDeviceGetPowerUsage, (nvml_device, unsigned *mw))                                 \
    FUNCTION(nvmlDeviceGetEnforcedPowerLimit, (nvml_device, unsigned *mw))                         \
    FUNCTION(nvmlDeviceGetPowerManagementDefaultLimit, (nvml_device, unsigned *mw))

// The library, open for one GPU.
struct nvml {
    void *lib; // NULL: not open, no other field is set
    nvml_device device;
    char driver[80]; // version of the driver, "580.95.05"; "" if unknown
    int (*shutdown)(void);
#define NVML_FIELD(name, args) int(*name) args;
    NVML_FUNCTIONS(NVML_FIELD)
#undef NVML_FIELD
};

// Opens NVML for the GPU at a bus address, "0000:3b:00.0". ERR_UNSUPPORTED: NVML is not usable, and
// nvml->lib is NULL.
int nvml_open(struct nvml *nvml, const char *bus_id);
void nvml_close(struct nvml *nvml);

// Calls a function for the open GPU. Returns its status.
#define NVML_ASK(nvml, name, ...)                                                                  \
    ((nvml)->name ? (nvml)->name((nvml)->device, __VA_ARGS__) : NVML_FUNCTION_NOT_FOUND)

#ifdef __cplusplus
}
#endif
#endif
