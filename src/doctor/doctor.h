// What would spoil a measurement here. A check is a row of one of the tables below: its name, what
// work it matters to, and the function that looks. cli_doctor.c goes through them.
//
//   doctor_host.c   the machine: its processors, what else it does, how much this process may have
//   doctor_gpu.c    one GPU, as NVML tells
//   doctor_tools.c  this program, the libraries and tools that it finds, the environment
//
// doctor_record.c makes a record of what they found.
#ifndef DOCTOR_H
#define DOCTOR_H

#include "device/device.h"
#include "device/nvml.h"

// What a check looks at.
struct probe {
    char id[16];      // of the device that would be measured: "cuda:0"
    char name[96];    // of it, as NVML tells; "": not told
    bool gpu;         // whether that is a GPU
    struct nvml nvml; // of it; all zero where there is none, and why in the next one
    char no_nvml[FAIL_TEXT_MAX];
    enum device_kind kind;
    int threads; // of OpenMP
    bool root;   // whether the user is
};

struct finding {
    char value[256];  // how it is; "": the check does not apply, and no line is shown
    char advice[256]; // what to do about it; "": nothing is wrong
    bool unclear;     // it could not be found out, or can be neither right nor wrong
};

// What a check that has advice would spoil; 0: nothing, the advice is but a hint.
#define SPOILS_CPU  1u
#define SPOILS_GPU  2u
#define SPOILS_BOTH (SPOILS_CPU | SPOILS_GPU)

// To add a check: a function, and a row in the table of its file. The tables end with a NULL.
struct doctor_check {
    const char *name;
    unsigned spoils;
    void (*look)(const struct probe *p, struct finding *f);
};
extern const struct doctor_check host_checks[], gpu_checks[], tool_checks[];

// For the functions of checks: each writes one of the fields.
void finding_value(struct finding *f, const char *format, ...) PRINTF_LIKE(2, 3);
void finding_advise(struct finding *f, const char *format, ...) PRINTF_LIKE(2, 3);
// The value, and that there is nothing to be judged by it.
void finding_unclear(struct finding *f, const char *format, ...) PRINTF_LIKE(2, 3);

// What a finding comes to for the device of this patient: only advice that counts for it would
// spoil a measurement, any other is a hint.
enum verdict { VERDICT_OK, VERDICT_UNCLEAR, VERDICT_HINT, VERDICT_ADVICE };
enum verdict doctor_verdict(const struct doctor_check *c, const struct finding *f,
                            const struct probe *p);

#endif
