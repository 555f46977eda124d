// Checks of this program, of libraries and tools, and of the environment.
#include "doctor/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "algos/algo.h"
#include "base/compiler.h"
#include "base/cpu_kind.h"
#include "base/sysfs.h"
#include "base/user_cache.h"
#include "base/variables.h"
#include "base/words.h"
#include "bench/counters.h"
#include "records/record.h"

#define DISK_LEAST ((int64_t)100 << 20) // free space in the cache folder

#if defined __SANITIZE_ADDRESS__
#define SLOW_BUILD "the program contains AddressSanitizer"
#elif !defined __OPTIMIZE__
#define SLOW_BUILD "the program was built without optimisation"
#else
#define SLOW_BUILD NULL
#endif
// True: the x86-64 kernels of this build use vectors of 16 bytes only.
#if defined __x86_64__ && !defined __AVX2__ && !CPU_HAS_KINDS
#define OLD_COMPILER true
#else
#define OLD_COMPILER false
#endif

// Kernels of clang builds that take over 1.15 times the time of gcc 12, on a Xeon with AVX-512.
#ifdef __clang__
#define SLOWER_THAN_GCC "; aspt at k = 1 and onepass take up to 1.25 times the time of gcc 12"
#else
#define SLOWER_THAN_GCC ""
#endif

static void check_program(const struct probe *p, struct finding *f)
{
    const char *slow = SLOW_BUILD;
    (void)p;
    finding_value(f, "spbench %s, %s%s", record_version(), COMPILER, SLOWER_THAN_GCC);
    if (slow)
        finding_advise(f, "%s, and its times are invalid: make, without EMU, SAN, -O0", slow);
    else if (OLD_COMPILER)
        finding_advise(f,
                       "%s compiles no CPU kernels for AVX2 and AVX-512: gcc or clang, 12 or later",
                       COMPILER);
}

// Lists each vendor library named by a descriptor once.
static void check_libraries(const struct probe *p, struct finding *f)
{
    char text[sizeof f->value] = "";
    (void)p;
    for (int i = 0; i < algo_count; i++) {
        const struct algo *a = algos[i].algo;
        char one[sizeof text];
        if (!a->vendor || !a->library || algo_not_built(&algos[i])) continue;
        const char *missing = algo_missing(&algos[i]), *library = missing ? NULL : a->library();
        if (library && a->built && !strstr(library, a->built))
            snprintf(one, sizeof one, "%s (built with %s)", library, a->built);
        else if (library)
            snprintf(one, sizeof one, "%s", library);
        else
            snprintf(one, sizeof one, "no %s (%s)", a->vendor, missing ? missing : "not found");
        f->unclear |= !library;
        if (!strstr(text, one)) words_add(text, sizeof text, "; ", one);
    }
    if (text[0])
        finding_value(f, "%s", text);
    else
        finding_unclear(f, "none in this build");
}

// Lists obstacles to -counters. None affects a time.
static void check_ncu(const struct probe *p, struct finding *f)
{
    struct counter_tool tool;
    char admin[32];
    counters_open(&tool, p->kind, 0, 1);
    if (tool.missing[0]) {
        finding_unclear(f, "%s", tool.missing);
        return;
    }
    sysfs_value("/proc/driver/nvidia/params", "RmProfilingAdminOnly", admin, sizeof admin);
    bool root_only = !strcmp(admin, "1") && !p->root;
    finding_value(f, "%s%s", tool.name, root_only ? ", for root only" : "");
    if (root_only)
        finding_advise(
            f,
            "-counters cannot count: load the driver with NVreg_RestrictProfilingToAdminUsers=0");
}

static void check_cache(const struct probe *p, struct finding *f)
{
    char folder[USER_CACHE_PATH_MAX], size[32];
    struct statvfs disk;
    (void)p;
    if (!user_cache_path(folder, "")) {
        finding_value(f, "none");
        finding_advise(f, "ceilings are measured again in each run: set HOME or XDG_CACHE_HOME");
        return;
    }
    bool private = user_cache_make("");
    if (statvfs(folder, &disk) || access(folder, W_OK)) {
        finding_value(f, "%s, which cannot be written", folder);
        finding_advise(f, "ceilings are measured again in each run: set XDG_CACHE_HOME");
        return;
    }
    if (!private) {
        finding_value(f, "%s, to which another user can write", folder);
        finding_advise(f, "nothing is kept there: set XDG_CACHE_HOME to a folder of your own");
        return;
    }
    const char *preload = variable_preload();
    int64_t bytes = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
    finding_value(f, "%s, %s free", folder, size_text(bytes, size));
    if (bytes < DISK_LEAST)
        finding_advise(f, "free space on this disk");
    else if (preload)
        finding_advise(f, "measured ceilings are not kept: unset %s", preload);
}

// Lists the variables that are set, of those that affect measurements.
static void check_environment(const struct probe *p, struct finding *f)
{
    char text[sizeof f->value] = "", one[sizeof text];
    const char *slow = NULL;
    (void)p;
    for (const struct variable *v = variables; v->name; v++) {
        const char *value = getenv(v->name);
        if (!value || !*value || !v->matters) continue;
        snprintf(one, sizeof one, "%s=%s", v->name, value);
        words_add(text, sizeof text, " ", one);
        if (v->spoils && strcmp(value, "0")) slow = v->name;
    }
    finding_value(f, "%s", *text ? text : "no relevant variable is set");
    if (slow) finding_advise(f, "unset %s", slow);
}

const struct doctor_check tool_checks[] = {
    {"program", SPOILS_BOTH, check_program},
    {"libraries", 0, check_libraries},
    {"ncu", 0, check_ncu},
    {"cache folder", 0, check_cache},
    {"environment", SPOILS_BOTH, check_environment},
    {NULL, 0, NULL},
};
