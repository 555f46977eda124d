// Checks for conditions that spoil measurements on this machine.
//
// A check is a row of a table: its name, the work that it affects, and a function. `spbench doctor`
// (cli/commands/doctor.c) runs all rows, those of gpu_checks only for a GPU.
//   doctor_host.c    processors, other load, limits of this process
//   doctor_gpu.c     one GPU, through NVML
//   doctor_tools.c   this program, libraries, tools, environment variables
#ifndef DOCTOR_H
#define DOCTOR_H

#include "device/device.h"
#include "device/nvml.h"

// Subject of the checks: a device and the process that would measure.
struct probe {
    char id[16];      // id of the device: "cuda:0"
    char name[96];    // name of the device from NVML; "": unknown
    bool gpu;         // the device is a GPU
    struct nvml nvml; // NVML facts of the GPU; all zero if there is none
    char no_nvml[FAIL_TEXT_MAX];
    enum device_kind kind;
    int threads; // OpenMP threads
    bool root;   // the user is root
};

struct finding {
    char value[256];  // current state; "": unknown, for a GPU; else the check does not apply
    char advice[256]; // action to take; "": no problem
    bool unclear;     // unknown, or neither right nor wrong
};

// Work that a finding with advice spoils. 0: none; the advice is a hint.
#define SPOILS_CPU  1u
#define SPOILS_GPU  2u
#define SPOILS_BOTH (SPOILS_CPU | SPOILS_GPU)

// A check. To add a check: a function, and a row in the table of its file. A table ends with NULL.
struct doctor_check {
    const char *name;
    unsigned spoils;
    void (*check)(const struct probe *p, struct finding *f);
};
extern const struct doctor_check host_checks[], gpu_checks[], tool_checks[];

// Setters for check functions: each writes a field of the finding.
void finding_value(struct finding *f, const char *format, ...) PRINTF_LIKE(2, 3);
void finding_advise(struct finding *f, const char *format, ...) PRINTF_LIKE(2, 3);
// Sets the value and marks the finding as neither right nor wrong.
void finding_unclear(struct finding *f, const char *format, ...) PRINTF_LIKE(2, 3);

// Severity of a finding for the device of `p`. Advice that does not affect this device is a hint.
enum severity { SEVERITY_OK, SEVERITY_UNCLEAR, SEVERITY_HINT, SEVERITY_ADVICE };
enum severity doctor_severity(const struct doctor_check *c, const struct finding *f,
                              const struct probe *p);

#endif
