// spbench doctor: runs the checks of doctor.h and prints a line for each: "ok", "-" (neither good
// nor bad) or ADVICE, then name, value and advice.
#include "cli/commands/request.h"

#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "doctor/doctor.h"
#include "records/record_parts.h"

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

enum severity doctor_severity(const struct doctor_check *c, const struct finding *f,
                              const struct probe *p)
{
    bool counts = c->spoils & (p->gpu ? SPOILS_GPU : SPOILS_CPU);
    if (f->advice[0]) return counts ? SEVERITY_ADVICE : SEVERITY_HINT;
    return f->unclear ? SEVERITY_UNCLEAR : SEVERITY_OK;
}

// Outputs of the command: text and record.
struct checkup {
    struct probe p;
    FILE *text;
    bool quiet;
    struct json j; // the record
    cJSON *findings;
    int spoils; // number of findings that spoil a measurement
};

static void print_finding(const struct checkup *v, const struct doctor_check *c,
                          const struct finding *f, enum severity verdict)
{
    static const char *const marks[] = {[SEVERITY_OK] = "ok",
                                        [SEVERITY_UNCLEAR] = "-",
                                        [SEVERITY_HINT] = "-",
                                        [SEVERITY_ADVICE] = "ADVICE"};
    if (!v->quiet)
        fprintf(v->text, "  %-6s  %-*s  %s%s%s\n", marks[verdict], NAME_WIDTH, c->name, f->value,
                f->advice[0] ? ": " : "", f->advice);
    else if (verdict == SEVERITY_ADVICE)
        fprintf(v->text, "%s: %s: %s\n", c->name, f->value, f->advice);
    fflush(v->text); // the next check may take a while
}

// Adds the devices that were preferred but are unavailable.
static void add_missing(struct json *j, const struct probe *p)
{
    cJSON *all = json_array(j, j->root, "missing");
    for (int k = 0; k < DEVICE_KINDS; k++) {
        const char *missing = device_missing((enum device_kind)k);
        if (!missing || p->gpu) continue;
        cJSON *x = json_object(j, all, NULL);
        json_text(j, x, "kind", device_list[k].name);
        json_text(j, x, "reason", missing);
    }
}

static void start_record(struct checkup *v)
{
    struct json *j = &v->j;
    json_start(j);
    json_text(j, j->root, "schema", RECORD_SCHEMA);
    json_text(j, j->root, "kind", "doctor");
    record_add_origin(j);
    json_number(j, j->root, "threads", v->p.threads);
    json_text(j, j->root, "device", v->p.id);
    json_text(j, j->root, "name", v->p.name[0] ? v->p.name : NULL);
    add_missing(j, &v->p);
    v->findings = json_array(j, j->root, "findings");
}

// Adds a finding to the record. `of` names the subject: device, machine or program.
static void add_finding(struct checkup *v, const char *of, const struct doctor_check *c,
                        const struct finding *f, enum severity verdict)
{
    static const char *const words[] = {[SEVERITY_OK] = "ok",
                                        [SEVERITY_UNCLEAR] = "unclear",
                                        [SEVERITY_HINT] = "hint",
                                        [SEVERITY_ADVICE] = "advice"};
    cJSON *x = json_object(&v->j, v->findings, NULL);
    json_text(&v->j, x, "of", of);
    json_text(&v->j, x, "check", c->name);
    json_text(&v->j, x, "verdict", words[verdict]);
    json_text(&v->j, x, "value", f->value);
    json_text(&v->j, x, "advice", f->advice[0] ? f->advice : NULL);
}

// Runs the checks of a table.
static void run_checks(struct checkup *v, const struct doctor_check *checks, const char *of,
                       const char *title)
{
    if (!v->quiet) fprintf(v->text, "%s\n", title);
    for (const struct doctor_check *c = checks; c->name && !interrupted; c++) {
        struct finding f = {0};
        c->check(&v->p, &f);
        if (!f.value[0] && checks == gpu_checks) finding_unclear(&f, "unknown");
        if (!f.value[0]) continue;
        enum severity verdict = doctor_severity(c, &f, &v->p);
        v->spoils += verdict == SEVERITY_ADVICE;
        print_finding(v, c, &f, verdict);
        add_finding(v, of, c, &f, verdict);
    }
}

// Prints the devices that were preferred but are unavailable.
static void print_missing(const struct checkup *v)
{
    for (int k = 0; k < DEVICE_KINDS; k++) {
        const char *missing = device_missing((enum device_kind)k);
        if (missing && !v->p.gpu && !v->quiet)
            fprintf(v->text, "%s: none: %s\n", device_list[k].name, missing);
    }
}

static int open_gpu(struct probe *p, int index, char bus_id[DEVICE_BUS_ID_MAX])
{
    int err = device_list[p->kind].ops->bus_id(index, bus_id);
    if (err) return err;
    if (nvml_open(&p->nvml, bus_id))
        snprintf(p->no_nvml, sizeof p->no_nvml, "%s", fail_text());
    else if (NVML_ASK(&p->nvml, nvmlDeviceGetName, p->name, sizeof p->name))
        p->name[0] = 0;
    return OK;
}

// Titles the section with the GPU's name if NVML reports a name.
static void run_gpu_checks(struct checkup *v, const char *bus_id)
{
    struct probe *p = &v->p;
    char title[160];
    snprintf(title, sizeof title, "%s%s%s at %s", p->id, p->name[0] ? ": " : "", p->name, bus_id);
    run_checks(v, gpu_checks, "device", title);
    nvml_close(&p->nvml);
}

static int write_record(struct checkup *v, const struct options *o)
{
    struct record_file out;
    if (!o->output) return OK;
    int err = record_open(&out, o->output, o->run.append, o->seed);
    if (err) return err;
    cli_print_replaced(&out, o);
    json_number(&v->j, v->j.root, "spoils", v->spoils);
    err = record_document(&out, &v->j);
    int close_err = record_close(&out);
    return err ? err : close_err;
}

int cli_doctor(const struct request *q)
{
    const struct options *o = q->o;
    struct checkup v = {.p = {.threads = omp_get_max_threads(), .root = geteuid() == 0},
                        .quiet = o->quiet,
                        .text = o->output && !strcmp(o->output, "-") ? stderr : stdout};
    struct probe *p = &v.p;
    char bus_id[DEVICE_BUS_ID_MAX];
    int index;
    if (o->run.append && !o->output) return fail(ERR_USAGE, "-append: needs -o FILE");
    int err = device_find(o->device, &p->kind, &index);
    if (err) return err;
    device_id(p->kind, index, p->id);
    p->gpu = device_list[p->kind].ops->bus_id != NULL;
    if (p->gpu) err = open_gpu(p, index, bus_id);
    if (err) return err;
    start_record(&v);
    if (p->gpu) run_gpu_checks(&v, bus_id);
    print_missing(&v);
    run_checks(&v, host_checks, "machine", "the machine");
    run_checks(&v, tool_checks, "program", "the program");
    err = interrupted ? fail(ERR_INTERRUPTED, "interrupted") : write_record(&v, o);
    json_free(&v.j);
    if (err) return err;
    q->outcome->bad_result = v.spoils > 0;
    if (!v.quiet && v.spoils)
        fprintf(v.text, "%d finding%s may spoil measurements on %s\n", v.spoils,
                v.spoils == 1 ? "" : "s", p->id);
    else if (!v.quiet)
        fprintf(v.text, "no finding spoils measurements on %s\n", p->id);
    return OK;
}
