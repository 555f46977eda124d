// spbench doctor: goes through the checks of doctor.h, and tells of each what it found: "ok",
// "-" where that is neither good nor bad, or ADVICE; its name, its value, and what to do about it.
#include "program/cli.h"

#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "program/doctor.h"

#define NAME_WIDTH 12

static void write_field(char *field, size_t size, const char *format, va_list args)
{
    char text[FAIL_TEXT_MAX];
    vsnprintf(text, sizeof text, format, args);
    utf8_visible(text, field, size);
}

#define WRITE_FIELD(field, size)                                                                   \
    do {                                                                                           \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        write_field(field, size, format, args);                                                    \
        va_end(args);                                                                              \
    } while (0)

void finding_value(struct finding *f, const char *format, ...)
{
    WRITE_FIELD(f->value, sizeof f->value);
}

void finding_advise(struct finding *f, const char *format, ...)
{
    WRITE_FIELD(f->advice, sizeof f->advice);
}

void finding_unclear(struct finding *f, const char *format, ...)
{
    WRITE_FIELD(f->value, sizeof f->value);
    f->unclear = true;
}

bool doctor_counts(const struct doctor_check *c, const struct patient *p)
{
    return c->spoils & (p->gpu ? SPOILS_GPU : SPOILS_CPU);
}

// One line: what counts for this device as advice, the rest as a hint.
static void print_finding(const struct doctor_check *c, const struct finding *f, bool counts)
{
    const char *mark = counts ? "ADVICE" : f->advice[0] || f->unclear ? "-" : "ok";
    printf("  %-6s  %-*s  %s%s%s\n", mark, NAME_WIDTH, c->name, f->value, f->advice[0] ? ": " : "",
           f->advice);
}

// Goes through a table; how many of its findings would spoil a measurement.
static int examine(const struct doctor_check *checks, const char *title, const struct patient *p,
                   bool quiet)
{
    int count = 0;
    if (!quiet) printf("%s\n", title);
    for (const struct doctor_check *c = checks; c->name && !interrupted; c++) {
        struct finding f = {0};
        c->look(p, &f);
        if (!f.value[0]) continue;
        bool bad = f.advice[0] && doctor_counts(c, p);
        count += bad;
        if (!quiet)
            print_finding(c, &f, bad);
        else if (bad)
            printf("%s: %s: %s\n", c->name, f.value, f.advice);
        fflush(stdout); // some take a while
    }
    return count;
}

// The devices that this one was chosen for lack of.
static void tell_missing(const struct patient *p)
{
    for (int k = 0; k < DEVICE_KINDS; k++) {
        const char *missing = device_missing((enum device_kind)k);
        if (missing && !p->gpu) printf("%s: none: %s\n", device_list[k].name, missing);
    }
}

// The GPU's title is its name, if NVML tells it.
static int examine_gpu(struct patient *p, int index, bool quiet)
{
    char bus_id[DEVICE_BUS_ID_MAX], name[96] = "", title[160];
    if (device_list[p->kind].ops->bus_id(index, bus_id)) return -1;
    if (nvml_open(&p->nvml, bus_id))
        snprintf(p->no_nvml, sizeof p->no_nvml, "%s", fail_text());
    else if (NVML_ASK(&p->nvml, nvmlDeviceGetName, name, sizeof name))
        name[0] = 0;
    snprintf(title, sizeof title, "%s%s%s at %s", p->id, name[0] ? ": " : "", name, bus_id);
    int count = examine(gpu_checks, title, p, quiet);
    nvml_close(&p->nvml);
    return count;
}

int cli_doctor(const struct request *q)
{
    struct patient p = {.threads = omp_get_max_threads(), .root = geteuid() == 0};
    bool quiet = q->o->quiet;
    int index, of_gpu = 0;
    int err = device_find(q->o->device, &p.kind, &index);
    if (err) return err;
    device_id(p.kind, index, p.id);
    p.gpu = device_list[p.kind].ops->bus_id != NULL;
    if (p.gpu) of_gpu = examine_gpu(&p, index, quiet);
    if (of_gpu < 0) return ERR_DEVICE;
    if (!quiet) tell_missing(&p);
    int count = of_gpu + examine(host_checks, "the machine", &p, quiet) +
                examine(tool_checks, "the program", &p, quiet);
    if (interrupted) return fail(ERR_INTERRUPTED, "interrupted");
    q->outcome->bad_machine = count > 0;
    if (!quiet && count)
        printf("%d thing%s would spoil a measurement on %s\n", count, count == 1 ? "" : "s", p.id);
    else if (!quiet)
        printf("nothing seen that would spoil a measurement on %s\n", p.id);
    return OK;
}
