// The checks of the doctor: those of the machine over a planted /proc and /sys, those of a GPU over
// the library of fake_nvml.c, and NVML that is not there or does not answer.
#include <dlfcn.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sysfs.h"
#include "base/user_cache.h"
#include "plant.h"
#include "doctor/doctor.h"

static struct probe patient;

static const struct doctor_check *named(const struct doctor_check *checks, const char *name)
{
    while (checks->name && strcmp(checks->name, name)) checks++;
    CHECK(checks->name, "there is no check of %s", name);
    return checks;
}

// What a check says. NULL for an advice: it has none; for a value: it does not apply.
static void expect(const struct doctor_check *checks, const char *name, const char *value,
                   const char *advice)
{
    struct finding f = {0};
    named(checks, name)->check(&patient, &f);
    CHECK(value ? strstr(f.value, value) != NULL : !f.value[0], "%s: %s, not %s", name, f.value,
          value ? value : "nothing");
    CHECK(advice ? strstr(f.advice, advice) != NULL : !f.advice[0], "%s: advice %s, not %s", name,
          f.advice, advice ? advice : "none");
}

// The command takes no value of a check of the GPU as unknown.
static bool unclear(const struct doctor_check *checks, const char *name)
{
    struct finding f = {0};
    named(checks, name)->check(&patient, &f);
    return !f.advice[0] && (f.value[0] ? f.unclear : checks == gpu_checks);
}

#define CPU "/sys/devices/system/cpu/"

// Four processors of two nodes, of which this process has three.
static void plant_machine(void)
{
    replant(8000000);
    patient = (struct probe){.id = "cpu", .kind = DEVICE_CPU, .threads = 3};
    plant("/proc/self/status", "Name:\tspbench\nCpus_allowed:\t7\nCpus_allowed_list:\t0-1,3\n");
    plant("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Old  Faithful\nflags\t\t: fpu sse2\n");
    plant(CPU "online", "0-3\n");
    for (int i = 0; i < 4; i++) {
        char path[128];
        snprintf(path, sizeof path, CPU "cpu%d/cpufreq/scaling_governor", i);
        plant(path, "performance\n");
    }
}

static void test_processor(void)
{
    plant_machine();
    expect(host_checks, "processor", "Old Faithful: 3 of 4 processors for 3 threads", NULL);
    patient.threads = 4;
    expect(host_checks, "processor", "for 4 threads", "-threads 3");
    plant("/proc/cpuinfo", "model name\t: Old  Faithful\nflags\t\t: fpu hypervisor\n");
    expect(host_checks, "processor", "of a virtual machine", "-threads 3");
    plant("/proc/self/status", "Name:\tspbench\n");
    CHECK(unclear(host_checks, "processor"), "how many are allowed");
}

static void test_clocks(void)
{
    plant_machine();
    expect(host_checks, "governor", "performance", NULL);
    plant(CPU "cpu0/cpufreq/scaling_driver", "intel_pstate\n");
    expect(host_checks, "governor", "performance (intel_pstate)", NULL);
    plant(CPU "cpu2/cpufreq/scaling_governor", "powersave\n");
    expect(host_checks, "governor", "several", "-g performance");
    for (int i = 0; i < 4; i++) {
        char path[128];
        snprintf(path, sizeof path, CPU "cpu%d/cpufreq/scaling_governor", i);
        plant(path, "schedutil\n");
    }
    expect(host_checks, "governor", "schedutil", "-g performance");

    expect(host_checks, "clock", NULL, NULL);
    plant(CPU "cpu0/cpufreq/cpuinfo_max_freq", "3500000\n");
    plant(CPU "cpu0/cpufreq/scaling_max_freq", "3500000\n");
    plant(CPU "cpu0/cpufreq/scaling_cur_freq", "1200000\n");
    expect(host_checks, "clock", "1.20 GHz now, 3.50 at most", NULL);
    plant(CPU "cpu0/cpufreq/scaling_max_freq", "2000000\n");
    expect(host_checks, "clock", "3.50 at most", "limited to 2.00 GHz");

    expect(host_checks, "turbo", NULL, NULL);
    plant(CPU "cpufreq/boost", "0\n");
    expect(host_checks, "turbo", "off", NULL);
    plant(CPU "cpufreq/boost", "1\n");
    CHECK(unclear(host_checks, "turbo"), "turbo is neither good nor bad");
    plant(CPU "intel_pstate/no_turbo", "1\n");
    expect(host_checks, "turbo", "off", NULL);

    expect(host_checks, "SMT", NULL, NULL);
    plant(CPU "smt/active", "0\n");
    expect(host_checks, "SMT", "one thread per core", NULL);
    plant(CPU "smt/active", "1\n");
    CHECK(unclear(host_checks, "SMT"), "SMT is neither good nor bad");
}

static void test_memory(void)
{
    plant_machine();
    unsetenv("OMP_PROC_BIND");
    unsetenv("OMP_PLACES");
    expect(host_checks, "NUMA", NULL, NULL);
    plant("/sys/devices/system/node/online", "0,2\n");
    plant("/sys/devices/system/node/node0/cpulist", "0-1\n");
    plant("/sys/devices/system/node/node2/cpulist", "2-3\n");
    expect(host_checks, "NUMA", "2 nodes", "OMP_PROC_BIND");
    setenv("OMP_PROC_BIND", "spread", 1);
    expect(host_checks, "NUMA", "threads are bound", NULL);
    setenv("OMP_PROC_BIND", "false", 1);
    expect(host_checks, "NUMA", "2 nodes", "OMP_PROC_BIND");
    unsetenv("OMP_PROC_BIND");
    plant("/proc/self/status", "Cpus_allowed_list:\t2-3\n");
    expect(host_checks, "NUMA", "1 node of", NULL);

    expect(host_checks, "huge pages", NULL, NULL);
    plant("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    expect(host_checks, "huge pages", "madvise", NULL);
    plant("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
    expect(host_checks, "huge pages", "never", "echo madvise");

    expect(host_checks, "memory", "8.2 GB free of 16.4 GB", NULL);
    plant("/proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 100000 kB\n");
    expect(host_checks, "memory", "102 MB free", "oom");
}

static void test_quota(void)
{
    plant_machine();
    expect(host_checks, "CPU quota", "none", NULL);
    plant("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    plant("/proc/self/cgroup", "0::/user/job\n");
    plant("/sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
    expect(host_checks, "CPU quota", "none", NULL);
    plant("/sys/fs/cgroup/user/cpu.max", "250000 100000\n");
    expect(host_checks, "CPU quota", "2.50 processors", "3 threads are paused");
    patient.threads = 2;
    expect(host_checks, "CPU quota", "2.50 processors", NULL);

    plant_machine();
    plant("/proc/self/mountinfo", "31 23 0:28 / /cg rw - cgroup cgroup rw,cpu,cpuacct\n");
    plant("/proc/self/cgroup", "4:cpu,cpuacct:/job\n");
    plant("/cg/job/cpu.cfs_quota_us", "-1\n");
    plant("/cg/job/cpu.cfs_period_us", "100000\n");
    expect(host_checks, "CPU quota", "none", NULL);
    plant("/cg/job/cpu.cfs_quota_us", "50000\n");
    expect(host_checks, "CPU quota", "0.50 processors", "-threads 1");
}

static void plant_stat(long long ticks)
{
    char text[200];
    snprintf(text, sizeof text,
             "cpu  %lld 0 0 9999 0 0 0 0 0 0\ncpu0 1 0 0 9999 0 0 0 0\ncpu1 1 0 0 9999 0 0 0 0\n",
             1000 + ticks);
    plant("/proc/stat", text);
}

// While the doctor looks, another process takes ten seconds of processor time.
static void test_load(void)
{
    plant_machine();
    CHECK(unclear(host_checks, "load"), "without /proc/stat");
    plant_stat(0);
    expect(host_checks, "load", "other programs use 0.00 of 2 processors", NULL);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        usleep(100000);
        plant_stat(10 * sysconf(_SC_CLK_TCK));
        _exit(test_failed != 0);
    }
    int status = -1;
    expect(host_checks, "load", "of 2 processors", "idle machine");
    CHECK(child > 0 && waitpid(child, &status, 0) == child && !status, "status %d", status);
}

static void test_tools(void)
{
    plant_machine();
    setenv("XDG_CACHE_HOME", plant_folder, 1);
    expect(tool_checks, "cache folder", "/spbench, ", NULL);
    char folder[USER_CACHE_PATH_MAX];
    if (user_cache_path(folder, "") && !chown(folder, 65534, 65534)) { // as root
        expect(tool_checks, "cache folder", "another user can write", "XDG_CACHE_HOME");
        CHECK(!chown(folder, geteuid(), getegid()), "%s is not given back", folder);
    }
    setenv("XDG_CACHE_HOME", "/proc/no", 1);
    expect(tool_checks, "cache folder", "cannot be written", "XDG_CACHE_HOME");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    expect(tool_checks, "cache folder", "none", "HOME");

    unsetenv("CUDA_LAUNCH_BLOCKING");
    setenv("OMP_NUM_THREADS", "3", 1);
    expect(tool_checks, "environment", "OMP_NUM_THREADS=3", NULL);
    setenv("CUDA_LAUNCH_BLOCKING", "0", 1);
    expect(tool_checks, "environment", "CUDA_LAUNCH_BLOCKING=0", NULL);
    setenv("LD_PRELOAD", "/no/such/clock.so", 1);
    expect(tool_checks, "environment", "LD_PRELOAD=/no/such/clock.so", NULL);
    setenv("XDG_CACHE_HOME", plant_folder, 1);
    expect(tool_checks, "cache folder", "/spbench, ", "unset LD_PRELOAD");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("LD_PRELOAD");
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    expect(tool_checks, "environment", "CUDA_LAUNCH_BLOCKING=1", "unset CUDA_LAUNCH_BLOCKING");
    unsetenv("CUDA_LAUNCH_BLOCKING");

    setenv("MKL_RT", "/no/such/libmkl_rt.so", 1);
    expect(tool_checks, "libraries", "no MKL (MKL_RT: /no/such", NULL);
    CHECK(unclear(tool_checks, "libraries"), "a library that is not there");
    CHECK(unclear(tool_checks, "ncu"), "ncu counts nothing of the CPU");
}

// Who may count what a GPU does; the tool is a program that says a version.
static void test_counting_tool(void)
{
    char path[PATH_MAX];
    if (!device_list[DEVICE_CUDA].ops) {
        SKIP("ncu: built without CUDA");
        return;
    }
    plant_machine();
    plant("/ncu", "#!/bin/sh\necho Version 2025.1.0\n");
    snprintf(path, sizeof path, "%s/ncu", plant_folder);
    CHECK(!chmod(path, 0777), "%s", path);
    setenv("NCU", path, 1);
    patient = (struct probe){.gpu = true, .kind = DEVICE_CUDA, .root = false};
    expect(tool_checks, "ncu", "ncu 2025.1.0", NULL);
    plant("/proc/driver/nvidia/params", "EnableMSI: 1\nRmProfilingAdminOnly: 0\n");
    expect(tool_checks, "ncu", "ncu 2025.1.0", NULL);
    plant("/proc/driver/nvidia/params", "EnableMSI: 1\nRmProfilingAdminOnly: 1\n");
    expect(tool_checks, "ncu", "for root only", "NVreg_RestrictProfilingToAdminUsers=0");
    patient.root = true;
    expect(tool_checks, "ncu", "ncu 2025.1.0", NULL);
    setenv("NCU", "/no/such/ncu", 1);
    CHECK(unclear(tool_checks, "ncu"), "no ncu");
    unsetenv("NCU");
}

// A GPU that says this instead of what it usually does.
static void says(const char *text) { setenv("FAKE_NVML_SAYS", text, 1); }

static void test_gpu(void)
{
    const struct nvml none = {0};
    says("");
    patient = (struct probe){.id = "cuda:0", .gpu = true};
    CHECK(!nvml_open(&patient.nvml, "0000:01:00.0"), "%s", fail_text());
    expect(gpu_checks, "driver", "580.95.05", NULL);
    expect(gpu_checks, "clocks", "SM 345 of 1980 MHz, memory 2619 of 3201 MHz", NULL);
    expect(gpu_checks, "throttled", "no", NULL);
    expect(gpu_checks, "processes", "none; used 0 %", NULL);
    expect(gpu_checks, "persistence", "on", NULL);
    expect(gpu_checks, "compute mode", "default", NULL);
    expect(gpu_checks, "ECC", "off", NULL);
    expect(gpu_checks, "MIG", "off", NULL);
    expect(gpu_checks, "GPU memory", "140 GB free of 150 GB", NULL);
    expect(gpu_checks, "temperature", "31 C, throttled from 87 C", NULL);
    expect(gpu_checks, "power", "75 W of 700 W", NULL);

    says("set=1200 reasons=4 others=2 persistence=0 mode=2 ecc=11 mig=1 free=20000000000 heat=84 "
         "limit=500000");
    expect(gpu_checks, "clocks", "of 1980", "set to 1200 MHz, not 1755");
    expect(gpu_checks, "throttled", "by the power limit", "too long");
    expect(gpu_checks, "processes", "2: 4000001, 4000002 (5.0 GB); used 0 %", "choose another GPU");
    expect(gpu_checks, "persistence", "off", "-pm 1");
    expect(gpu_checks, "compute mode", "prohibited", "-c DEFAULT");
    expect(gpu_checks, "ECC", "on, the other after a reset", NULL);
    expect(gpu_checks, "MIG", "on", "-mig 0");
    expect(gpu_checks, "GPU memory", "20.0 GB free", "oom");
    expect(gpu_checks, "temperature", "84 C", "cool");
    expect(gpu_checks, "power", "of 500 W", "-pl 700");

    says("reasons=104 used=40");
    expect(gpu_checks, "throttled", "by heat and the hardware", "too long");
    expect(gpu_checks, "processes", "none; used 40 %", "choose another GPU");
    says("reasons=2 others=100 mode=9 slow=-1 heat=99");
    expect(gpu_checks, "throttled", "by a setting", NULL);
    CHECK(unclear(gpu_checks, "throttled"), "clocks that somebody set");
    expect(gpu_checks, "processes", "101; used", "choose another GPU");
    CHECK(unclear(gpu_checks, "compute mode"), "a mode of the future");
    expect(gpu_checks, "temperature", "99 C", NULL);

    static const char *const asked[] = {"clocks",       "throttled", "processes", "persistence",
                                        "compute mode", "ECC",       "MIG",       "GPU memory",
                                        "temperature",  "power"};
    says("sm=-1 reasons=-1 others=-1 used=-1 persistence=-1 mode=-1 ecc=-1 mig=-1 free=-1 heat=-1 "
         "power=-1");
    nvml_close(&patient.nvml);
    CHECK(!nvml_open(&patient.nvml, "0000:01:00.0"), "%s", fail_text());
    patient.nvml.nvmlDeviceGetGraphicsRunningProcesses_v3 = NULL; // an older driver
    for (int i = 0; i < COUNT(asked); i++)
        CHECK(unclear(gpu_checks, asked[i]), "%s: no answer, and a verdict", asked[i]);
    nvml_close(&patient.nvml);
    patient.nvml = none;
    snprintf(patient.no_nvml, sizeof patient.no_nvml, "nobody is at home");
    CHECK(unclear(gpu_checks, "driver"), "no library");
    expect(gpu_checks, "driver", "nobody is at home", NULL);
    for (int i = 0; i < COUNT(asked); i++)
        CHECK(unclear(gpu_checks, asked[i]), "%s: no library, and a verdict", asked[i]);
}

// Before the library is loaded, and with one that does not work.
static void test_nvml(const char *fake)
{
    struct nvml nvml;
    void *real = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (real) {
        SKIP("NVML that is not there: this machine has one");
    } else {
        CHECK(nvml_open(&nvml, "0000:01:00.0") == ERR_UNSUPPORTED && !nvml.lib &&
                  strstr(fail_text(), "no NVML"),
              "%s", fail_text());
        nvml_close(&nvml);
    }
    if (real) dlclose(real);
    // What is loaded is found by its name.
    CHECK(dlopen(fake, RTLD_NOW), "%s", dlerror());
    says("init=9");
    CHECK(nvml_open(&nvml, "0000:01:00.0") == ERR_UNSUPPORTED && !nvml.lib &&
              strstr(fail_text(), "status 9"),
          "%s", fail_text());
    says("find=6");
    CHECK(nvml_open(&nvml, "0000:01:00.0") == ERR_UNSUPPORTED && !nvml.lib &&
              strstr(fail_text(), "no GPU at 0000:01:00.0: status 6"),
          "%s", fail_text());
    says("");
    for (int i = 0; i < 3; i++) {
        CHECK(!nvml_open(&nvml, "0000:01:00.0") && nvml.lib && nvml.device, "%s", fail_text());
        CHECK_TEXT(nvml.driver, "580.95.05");
        nvml_close(&nvml);
        CHECK(!nvml.lib, "it is still open");
    }
}

// Advice on what does not matter to a device does not count for it.
static void test_counting(void)
{
    struct probe cpu = {.gpu = false}, gpu = {.gpu = true};
    const struct doctor_check *governor = named(host_checks, "governor");
    const struct doctor_check *load = named(host_checks, "load");
    const struct doctor_check *power = named(gpu_checks, "power");
    const struct doctor_check *persistence = named(gpu_checks, "persistence");
    const struct finding bad = {.value = "so", .advice = "do"}, fine = {.value = "so"};
    const struct finding odd = {.value = "so", .unclear = true};
    const struct {
        const struct doctor_check *check;
        enum severity of_cpu, of_gpu;
    } wanted[] = {{governor, SEVERITY_ADVICE, SEVERITY_HINT},
                  {load, SEVERITY_ADVICE, SEVERITY_ADVICE},
                  {power, SEVERITY_HINT, SEVERITY_ADVICE},
                  {persistence, SEVERITY_HINT, SEVERITY_HINT}};
    for (int i = 0; i < COUNT(wanted); i++) {
        const struct doctor_check *check = wanted[i].check;
        CHECK(doctor_severity(check, &bad, &cpu) == wanted[i].of_cpu, "%s, CPU", check->name);
        CHECK(doctor_severity(check, &bad, &gpu) == wanted[i].of_gpu, "%s, GPU", check->name);
        CHECK(doctor_severity(check, &fine, &gpu) == SEVERITY_OK, "%s", check->name);
        CHECK(doctor_severity(check, &odd, &cpu) == SEVERITY_UNCLEAR, "%s", check->name);
    }
}

static void test_lists(void)
{
    bool set[8];
    CHECK(sysfs_list("0-2,5", set, 8) == 4 && set[0] && set[2] && !set[3] && set[5], "a list");
    CHECK(sysfs_list("1,1-1,1", set, 8) == 1 && set[1], "one, three times");
    CHECK(sysfs_list("6-90", set, 8) == 2 && set[7], "over the end");
    CHECK(sysfs_list("", set, 8) == 0 && !set[0], "an empty one");
    CHECK(sysfs_list("x", set, 8) == 0, "none");
    CHECK(sysfs_list("3-", set, 8) == 0, "without its end");
}

int main(void)
{
    char fake[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", fake, sizeof fake - 32);
    CHECK(length > 0, "no place for libraries");
    if (test_failed) return TEST_END();
    fake[length] = 0;
    strcpy(strrchr(fake, '/'), "/../nvml/libnvidia-ml.so.1");
    RUN_ALL(test_lists, test_counting, test_processor, test_clocks, test_memory, test_quota,
            test_load, test_tools, test_counting_tool);
    uproot();
    test_nvml(fake);
    test_gpu();
    return TEST_END();
}
