// Checks of one GPU. A check sets no value if NVML does not report the facts.
#include "doctor/doctor.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sysfs.h"
#include "base/words.h"

#define PROCESSES_MAX 64
#define HEAT_MARGIN   5   // degrees below the slowdown temperature
#define UTILIZED      5   // percent of the time in use by other processes
#define MEMORY_SHARE  0.8 // share of memory that must be free

static void check_driver(const struct probe *p, struct finding *f)
{
    if (p->nvml.lib)
        finding_value(f, "%s", p->nvml.driver[0] ? p->nvml.driver : "unknown");
    else
        finding_unclear(f, "clocks, temperature and other processes are unknown: %s", p->no_nvml);
}

// Checks that kernels of this build run, and reports the versions of CUDA. The last check to open
// the GPU: from then on this process is on the GPU's process list.
static void check_runs(const struct probe *p, struct finding *f)
{
    struct device d;
    if (device_open(p->id, &d)) {
        finding_value(f, "no");
        finding_advise(f, "%s", fail_text());
        return;
    }
    finding_value(f, "yes: %s, %s, built with this runtime", d.name, d.detail);
    device_close(&d);
}

// Some GPUs set application clocks below the maximum but run at the maximum. Only a setting below
// the factory default is a finding.
static void check_clocks(const struct probe *p, struct finding *f)
{
    const struct nvml *n = &p->nvml;
    unsigned now, most, set, usual, memory = 0, memory_most = 0;
    if (NVML_ASK(n, nvmlDeviceGetClockInfo, NVML_CLOCK_SM, &now) ||
        NVML_ASK(n, nvmlDeviceGetMaxClockInfo, NVML_CLOCK_SM, &most))
        return;
    NVML_ASK(n, nvmlDeviceGetClockInfo, NVML_CLOCK_MEMORY, &memory);
    NVML_ASK(n, nvmlDeviceGetMaxClockInfo, NVML_CLOCK_MEMORY, &memory_most);
    finding_value(f, "SM %u of %u MHz, memory %u of %u MHz", now, most, memory, memory_most);
    if (!NVML_ASK(n, nvmlDeviceGetApplicationsClock, NVML_CLOCK_SM, &set) &&
        !NVML_ASK(n, nvmlDeviceGetDefaultApplicationsClock, NVML_CLOCK_SM, &usual) && set < usual)
        finding_advise(f, "application clocks are set to %u MHz, not %u: nvidia-smi -rac", set,
                       usual);
}

// Locked clocks are not reported as throttling: users lock clocks to repeat a measurement.
static void check_throttled(const struct probe *p, struct finding *f)
{
    static const struct {
        unsigned long long bits;
        const char *name;
    } reasons[] = {{NVML_POWER_CAP, "the power limit"},
                   {NVML_HEAT, "heat"},
                   {NVML_HELD_DOWN & ~NVML_POWER_CAP & ~NVML_HEAT, "the hardware"},
                   {NVML_CLOCKS_SET, "a setting"}};
    unsigned long long bits;
    char text[128] = "";
    if (NVML_ASK(&p->nvml, nvmlDeviceGetCurrentClocksThrottleReasons, &bits)) return;
    for (int i = 0; i < COUNT(reasons); i++)
        if (bits & reasons[i].bits) words_and(text, sizeof text, reasons[i].name);
    finding_value(f, "%s%s", *text ? "by " : "no", text);
    if (bits & NVML_HELD_DOWN)
        finding_advise(
            f, "times are too long: let the GPU cool; nvidia-smi -q -d PERFORMANCE shows more");
    else if (bits & NVML_CLOCKS_SET)
        f->unclear = true;
}

// Adds the other processes of a kind. Returns false if NVML does not list them.
static bool add_processes(const struct probe *p, bool graphics, int *count, char *text, size_t size)
{
    struct nvml_process list[PROCESSES_MAX];
    unsigned n = PROCESSES_MAX;
    int status = graphics ? NVML_ASK(&p->nvml, nvmlDeviceGetGraphicsRunningProcesses_v3, &n, list)
                          : NVML_ASK(&p->nvml, nvmlDeviceGetComputeRunningProcesses_v3, &n, list);
    if (status == NVML_INSUFFICIENT_SIZE) {
        *count += (int)n;
        return true;
    }
    if (status) return false;
    for (unsigned i = 0; i < n; i++) {
        char path[64], name[64], one[160], bytes[32] = "";
        if (list[i].pid == (unsigned)getpid()) continue;
        snprintf(path, sizeof path, "/proc/%u/comm", list[i].pid);
        sysfs_line(path, name, sizeof name); // the name may be hidden by a container
        if (list[i].bytes != NVML_UNKNOWN) size_text((int64_t)list[i].bytes, bytes);
        snprintf(one, sizeof one, "%u%s%s%s%s%s", list[i].pid, *name || *bytes ? " (" : "", name,
                 *name && *bytes ? ", " : "", bytes, *name || *bytes ? ")" : "");
        words_add(text, size, ", ", one);
        ++*count;
    }
    return true;
}

// A container may hide the processes of others. Then utilization shows them.
static void check_processes(const struct probe *p, struct finding *f)
{
    struct nvml_utilization use = {0};
    char text[160] = "";
    int count = 0;
    bool listed = add_processes(p, false, &count, text, sizeof text);
    listed |= add_processes(p, true, &count, text, sizeof text);
    bool timed = !NVML_ASK(&p->nvml, nvmlDeviceGetUtilizationRates, &use);
    if (!listed && !timed) return;
    if (count)
        finding_value(f, "%d%s%s; used %u %% of the time", count, *text ? ": " : "", text, use.gpu);
    else
        finding_value(f, "none%s; used %u %% of the time", listed ? "" : " listed", use.gpu);
    if (count || use.gpu > UTILIZED)
        finding_advise(f, "other programs use the GPU: wait, or choose another GPU with -device or "
                          "CUDA_VISIBLE_DEVICES");
}

static void check_persistence(const struct probe *p, struct finding *f)
{
    unsigned on;
    if (NVML_ASK(&p->nvml, nvmlDeviceGetPersistenceMode, &on)) return;
    finding_value(f, on ? "on" : "off");
    if (!on) finding_advise(f, "the driver resets the clocks between runs: nvidia-smi -pm 1");
}

static void check_mode(const struct probe *p, struct finding *f)
{
    static const char *const names[] = {"default", "exclusive thread", "prohibited",
                                        "exclusive process"};
    unsigned mode;
    if (NVML_ASK(&p->nvml, nvmlDeviceGetComputeMode, &mode) || mode >= COUNT(names)) return;
    finding_value(f, "%s", names[mode]);
    if (mode == NVML_COMPUTE_PROHIBITED)
        finding_advise(f, "the GPU prohibits computing: nvidia-smi -c DEFAULT");
}

// ECC costs memory and bandwidth, but production runs with ECC.
static void check_ecc(const struct probe *p, struct finding *f)
{
    unsigned on, later;
    if (NVML_ASK(&p->nvml, nvmlDeviceGetEccMode, &on, &later)) {
        finding_unclear(f, "none, or unknown");
        return;
    }
    finding_value(f, "%s%s", on ? "on" : "off", on == later ? "" : ", the other after a reset");
}

static void check_mig(const struct probe *p, struct finding *f)
{
    unsigned on, later;
    if (NVML_ASK(&p->nvml, nvmlDeviceGetMigMode, &on, &later)) {
        finding_unclear(f, "none, or unknown");
        return;
    }
    finding_value(f, "%s%s", on ? "on" : "off", on == later ? "" : ", the other after a reset");
    if (on) finding_advise(f, "other instances share the memory of this GPU: nvidia-smi -mig 0");
}

static void check_gpu_memory(const struct probe *p, struct finding *f)
{
    struct nvml_memory m;
    char free[32], total[32];
    if (NVML_ASK(&p->nvml, nvmlDeviceGetMemoryInfo, &m)) return;
    finding_value(f, "%s free of %s", size_text((int64_t)m.free, free),
                  size_text((int64_t)m.total, total));
    if ((double)m.free < MEMORY_SHARE * (double)m.total)
        finding_advise(f,
                       "other programs hold the rest, and large cases end as oom: see nvidia-smi");
}

static void check_heat(const struct probe *p, struct finding *f)
{
    unsigned now, slow;
    if (NVML_ASK(&p->nvml, nvmlDeviceGetTemperature, 0, &now)) return;
    bool bounded =
        !NVML_ASK(&p->nvml, nvmlDeviceGetTemperatureThreshold, NVML_HEAT_SLOWDOWN, &slow);
    if (bounded)
        finding_value(f, "%u C, throttled from %u C", now, slow);
    else
        finding_value(f, "%u C", now);
    if (bounded && now + HEAT_MARGIN >= slow)
        finding_advise(f, "the GPU is about to throttle: let it cool, check the fans");
}

static void check_power(const struct probe *p, struct finding *f)
{
    unsigned now, limit, usual;
    if (NVML_ASK(&p->nvml, nvmlDeviceGetPowerUsage, &now) ||
        NVML_ASK(&p->nvml, nvmlDeviceGetEnforcedPowerLimit, &limit))
        return;
    finding_value(f, "%u W of %u W", now / 1000, limit / 1000);
    if (!NVML_ASK(&p->nvml, nvmlDeviceGetPowerManagementDefaultLimit, &usual) && limit < usual)
        finding_advise(f, "the limit was lowered from %u W: nvidia-smi -pl %u", usual / 1000,
                       usual / 1000);
}

const struct doctor_check gpu_checks[] = {
    {"driver", 0, check_driver},
    {"clocks", SPOILS_GPU, check_clocks},
    {"throttled", SPOILS_GPU, check_throttled},
    {"processes", SPOILS_GPU, check_processes},
    {"persistence", 0, check_persistence},
    {"compute mode", SPOILS_GPU, check_mode},
    {"ECC", 0, check_ecc},
    {"MIG", SPOILS_GPU, check_mig},
    {"GPU memory", SPOILS_GPU, check_gpu_memory},
    {"temperature", SPOILS_GPU, check_heat},
    {"power", SPOILS_GPU, check_power},
    {"kernels", SPOILS_GPU, check_runs},
    {NULL, 0, NULL},
};
