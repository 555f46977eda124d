// A libnvidia-ml for tests: the functions that device/nvml.h declares, of one GPU that is fit to
// measure on. FAKE_NVML_SAYS="reasons=4 persistence=0" changes what it says, one number each; a
// question whose number is -1 gets the status "not supported", and init= and find= are statuses.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/nvml.h"

enum { SUCCESS = 0, NOT_SUPPORTED = 3 };

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, nvml_device *device);
int nvmlSystemGetDriverVersion(char *text, unsigned size);
#define NVML_DECLARE(name, args) int name args;
NVML_FUNCTIONS(NVML_DECLARE)

static int running; // nvmlInit_v2() less nvmlShutdown()

static long long says(const char *key, long long usual)
{
    const char *told = getenv("FAKE_NVML_SAYS");
    size_t length = strlen(key);
    for (const char *p = told; p && *p; p += strspn(p, " ")) {
        if (!strncmp(p, key, length) && p[length] == '=') return atoll(p + length + 1);
        p += strcspn(p, " ");
    }
    return usual;
}

// A function whose answer is one number.
#define NUMBER(name, type, key, usual)                                                             \
    int name(nvml_device device, type *out)                                                        \
    {                                                                                              \
        long long x = says(key, usual);                                                            \
        if (!device || x < 0) return NOT_SUPPORTED;                                                \
        *out = (type)x;                                                                            \
        return SUCCESS;                                                                            \
    }
NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, "reasons", 1)
NUMBER(nvmlDeviceGetPersistenceMode, unsigned, "persistence", 1)
NUMBER(nvmlDeviceGetComputeMode, unsigned, "mode", 0)
NUMBER(nvmlDeviceGetPowerUsage, unsigned, "power", 75000)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned, "limit", 700000)
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned, "usual", 700000)

// One whose answer depends on a number that it is given.
#define CHOICE(name, first, key, usual, other_key, other)                                          \
    int name(nvml_device device, int which, unsigned *out)                                         \
    {                                                                                              \
        long long x = which == first ? says(key, usual) : says(other_key, other);                  \
        if (!device || x < 0) return NOT_SUPPORTED;                                                \
        *out = (unsigned)x;                                                                        \
        return SUCCESS;                                                                            \
    }
CHOICE(nvmlDeviceGetClockInfo, NVML_CLOCK_SM, "sm", 345, "memory", 2619)
CHOICE(nvmlDeviceGetMaxClockInfo, NVML_CLOCK_SM, "sm_most", 1980, "memory_most", 3201)
CHOICE(nvmlDeviceGetApplicationsClock, NVML_CLOCK_SM, "set", 1755, "memory_set", 3201)
CHOICE(nvmlDeviceGetDefaultApplicationsClock, NVML_CLOCK_SM, "default", 1755, "memory_set", 3201)
CHOICE(nvmlDeviceGetTemperature, 0, "heat", 31, "no", -1)
CHOICE(nvmlDeviceGetTemperatureThreshold, NVML_HEAT_SLOWDOWN, "slow", 87, "no", -1)

// And two numbers.
#define MODES(name, key)                                                                           \
    int name(nvml_device device, unsigned *now, unsigned *after_reset)                             \
    {                                                                                              \
        long long x = says(key, 0);                                                                \
        if (!device || x < 0) return NOT_SUPPORTED;                                                \
        *now = (unsigned)x % 10, *after_reset = x < 10 ? *now : !*now;                             \
        return SUCCESS;                                                                            \
    }
MODES(nvmlDeviceGetEccMode, "ecc")
MODES(nvmlDeviceGetMigMode, "mig")

int nvmlInit_v2(void)
{
    int status = (int)says("init", SUCCESS);
    running += !status;
    return status;
}

int nvmlShutdown(void)
{
    running--;
    return SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, nvml_device *device)
{
    *device = running > 0 && bus_id[0] ? (nvml_device)&running : NULL;
    return *device ? (int)says("find", SUCCESS) : NOT_SUPPORTED;
}

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    snprintf(text, size, "580.95.05");
    return SUCCESS;
}

int nvmlDeviceGetName(nvml_device device, char *text, unsigned size)
{
    snprintf(text, size, "NVIDIA Fake 9000");
    return device ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetUtilizationRates(nvml_device device, struct nvml_utilization *rates)
{
    long long x = says("used", 0);
    *rates = (struct nvml_utilization){.gpu = (unsigned)x};
    return device && x >= 0 ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetMemoryInfo(nvml_device device, struct nvml_memory *memory)
{
    long long x = says("free", 140000000000);
    *memory = (struct nvml_memory){.total = 150000000000, .free = (unsigned long long)x};
    return device && x >= 0 ? SUCCESS : NOT_SUPPORTED;
}

// This process and so many more; one of them does not tell what it has.
int nvmlDeviceGetComputeRunningProcesses_v3(nvml_device device, unsigned *count,
                                            struct nvml_process *list)
{
    long long others = says("others", 0);
    if (!device || others < 0) return NOT_SUPPORTED;
    unsigned most = *count;
    *count = (unsigned)others + 1;
    if (*count > most) return NVML_INSUFFICIENT_SIZE;
    list[0] = (struct nvml_process){.pid = (unsigned)getpid(), .bytes = 1};
    for (unsigned i = 1; i < *count; i++)
        list[i] =
            (struct nvml_process){.pid = 4000000 + i, .bytes = i == 1 ? NVML_UNKNOWN : 5000000000};
    return SUCCESS;
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(nvml_device device, unsigned *count,
                                             struct nvml_process *list)
{
    (void)list;
    *count = 0;
    return device ? SUCCESS : NOT_SUPPORTED;
}
