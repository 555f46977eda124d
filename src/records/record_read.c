#define _GNU_SOURCE // strptime, timegm
#include "records/record_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/words.h"
#include "data/lines.h"
#include "records/json.h"
#include "records/record.h"

static int missing(const char *name)
{
    return fail(ERR_INPUT, "a record without a usable '%s'", name);
}

static int get_text(const cJSON *o, const char *name, char **out)
{
    const char *text = json_get_text(o, name);
    if (!text) return missing(name);
    *out = mem_copy_text(text, strlen(text));
    return *out ? OK : ERR_MEMORY;
}

// Reads a text that may be missing.
static int get_known(const cJSON *o, const char *name, char **out)
{
    return cJSON_IsString(json_get(o, name)) ? get_text(o, name, out) : OK;
}

// Reads the samples of a time, numbers from 0 on; none without a time.
static int get_samples(const cJSON *time, struct record *r)
{
    const cJSON *list = json_get(time, "samples"), *x;
    if (!time || cJSON_IsNull(time)) return OK;
    if (!cJSON_IsArray(list) || !cJSON_GetArraySize(list)) return missing("samples");
    r->samples = mem_alloc(cJSON_GetArraySize(list), sizeof *r->samples);
    if (!r->samples) return ERR_MEMORY;
    cJSON_ArrayForEach(x, list)
    {
        if (!cJSON_IsNumber(x) || !isfinite(x->valuedouble) || x->valuedouble < 0)
            return missing("samples");
        r->samples[r->sample_count++] = x->valuedouble;
    }
    return OK;
}

// Returns the algorithm of a result; NULL: this build does not have it.
static const struct algo_entry *get_entry(const struct record *r)
{
    const struct op *op = op_find(r->op);
    const size_t length = strcspn(r->device, ":");
    for (int kind = 0; op && kind < DEVICE_KINDS; kind++)
        if (strlen(device_list[kind].name) == length &&
            !strncmp(device_list[kind].name, r->device, length))
            return algo_find(op, r->alg, (enum device_kind)kind);
    return NULL;
}

// Returns true if an option of the record differs from the default of the algorithm.
static bool get_own_values(const cJSON *options, const struct algo_entry *entry)
{
    const struct algo_option *p;
    for (int i = 0; entry && (p = algo_option_at(entry->algo, i)); i++) {
        double value = json_get_number(options, p->name);
        if (!isnan(value) && value != p->value) return true;
    }
    return false;
}

static int get_status(const cJSON *o, struct record *r)
{
    const char *text = json_get_text(o, "status");
    int status = text ? status_find(text) : -1;
    if (status < 0) return missing("status");
    r->status = (enum status)status;
    return get_known(o, "reason", &r->reason);
}

// Returns the date in seconds since 1970; 0: no date, or another form.
static int64_t get_when(const cJSON *o)
{
    const char *text = json_get_text(o, "date");
    struct tm utc = {0};
    const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%SZ", &utc) : NULL;
    return end && !*end ? (int64_t)timegm(&utc) : 0;
}

#define CHANGED "-dirty" // behind a revision: the code is not that of the revision

static int get_algo(const cJSON *o, struct record_algo *a)
{
    int err = get_known(o, "name", &a->name);
    if (!err) err = get_known(o, "device", &a->device);
    if (!err) err = get_known(o, "vendor", &a->vendor);
    if (!err) err = get_known(o, "call", &a->call);
    if (!err) err = get_known(o, "partial", &a->partial);
    a->reference = cJSON_IsTrue(json_get(o, "reference"));
    a->dense = cJSON_IsTrue(json_get(o, "dense"));
    return err;
}

static int get_device(const cJSON *o, struct record_device *d)
{
    int err = get_known(o, "id", &d->id);
    return err ? err : get_known(o, "name", &d->name);
}

// Sets *program to a text that is equal in all environments of a program.
static int get_program(const cJSON *o, char **program)
{
    static const char *const names[] = {"revision", "compiler", "flags", "host"};
    const char *part[COUNT(names)];
    int64_t size = 1;
    for (int i = 0; i < COUNT(names); i++) {
        const char *text = json_get_text(o, names[i]);
        part[i] = text ? text : "";
        size += (int64_t)strlen(part[i]) + 1;
    }
    if (!*part[0] || ends_with(part[0], CHANGED)) return OK;
    *program = mem_alloc(size, 1);
    if (!*program) return ERR_MEMORY;
    char *end = *program;
    for (int i = 0; i < COUNT(names); i++)
        end += snprintf(end, (size_t)size, "%s\n", part[i]), size -= (int64_t)strlen(part[i]) + 1;
    return OK;
}

static void facts_free(struct record_facts *f)
{
    for (int i = 0; i < f->algo_count; i++) {
        mem_free(f->algos[i].name);
        mem_free(f->algos[i].device);
        mem_free(f->algos[i].vendor);
        mem_free(f->algos[i].call);
        mem_free(f->algos[i].partial);
    }
    for (int i = 0; i < f->device_count; i++) {
        mem_free(f->devices[i].id);
        mem_free(f->devices[i].name);
    }
    mem_free(f->program);
    mem_free(f->algos);
    mem_free(f->devices);
    *f = (struct record_facts){0};
}

static int facts_read(const cJSON *o, struct record_facts *f)
{
    const cJSON *list = json_get(o, "algorithms"), *x;
    const cJSON *devices = json_get(o, "devices");
    *f = (struct record_facts){0};
    int err = get_program(o, &f->program);
    f->algos = mem_zero_alloc(cJSON_GetArraySize(list), sizeof *f->algos);
    f->devices = mem_zero_alloc(cJSON_GetArraySize(devices), sizeof *f->devices);
    if (!f->algos || !f->devices) err = ERR_MEMORY;
    cJSON_ArrayForEach(x, list) if (!err) err = get_algo(x, &f->algos[f->algo_count++]);
    cJSON_ArrayForEach(x, devices) if (!err) err = get_device(x, &f->devices[f->device_count++]);
    if (err) facts_free(f);
    return err;
}

static int get_environment(const cJSON *o, struct record *r)
{
    r->when = get_when(o);
    int err = get_known(o, "revision", &r->revision);
    if (!err) err = get_known(o, "device", &r->device);
    return err ? err : facts_read(o, &r->facts);
}

// Returns prep_ms of a record, as setup_prep_ms() does for a result.
static double get_prep(const cJSON *o)
{
    double ms = json_get_number(json_get(o, "setup_ms"), "analyse");
    const cJSON *x;
    cJSON_ArrayForEach(x, json_get(o, "formats")) ms += json_get_number(x, "convert_ms");
    return ms;
}

// "off", or no method: the result was not checked.
static int get_check(const cJSON *check, struct record *r)
{
    const char *method = json_get_text(check, "method");
    r->overtakes = cJSON_IsFalse(json_get(check, "in_order"));
    r->error_ratio = json_get_number(check, "error_ratio");
    return method && strcmp(method, "off") ? get_text(check, "method", &r->method) : OK;
}

static int get_result(const cJSON *o, struct record *r)
{
    const cJSON *matrix = json_get(o, "matrix"), *time = json_get(o, "time_ms");
    int err = get_status(o, r);
    if (!err) err = get_text(o, "case", &r->key);
    if (!err) err = get_text(o, "op", &r->op);
    if (!err) err = get_text(o, "alg", &r->alg);
    if (!err) err = get_text(o, "device", &r->device);
    if (!err) err = get_known(o, "library", &r->library);
    if (!err) err = get_text(matrix, "name", &r->matrix);
    if (!err) err = get_text(matrix, "path", &r->path);
    if (!err) err = get_known(matrix, "content", &r->content);
    if (!err) err = get_samples(time, r);
    if (!err) err = get_check(json_get(o, "check"), r);
    if (!err) err = get_known(json_get(o, "stats"), "picked", &r->picked);
    if (err) return err;
    r->file_bytes = json_get_number(matrix, "file_bytes");
    r->file_changed_ns = json_get_number(matrix, "file_changed_ns");
    r->gflops = json_get_number(o, "gflops");
    r->median = json_get_number(time, "median");
    r->min_ms = json_get_number(time, "min");
    r->prep_ms = get_prep(o);
    r->ci_lo = json_get_number(time, "ci_lo");
    r->ci_hi = json_get_number(time, "ci_hi");
    r->back_to_back = json_get_number(time, "back_to_back");
    r->back_ci_lo = json_get_number(time, "back_to_back_ci_lo");
    r->back_ci_hi = json_get_number(time, "back_to_back_ci_hi");
    r->throttled = cJSON_IsTrue(json_get(time, "throttled"));
    r->dropped = cJSON_IsTrue(json_get(time, "dropped"));
    r->busy = cJSON_IsTrue(json_get(time, "busy"));
    r->bytes = json_get_number(json_get(o, "bytes"), "compulsory");
    r->efficiency = json_get_number(o, "efficiency");
    r->gather_efficiency = json_get_number(o, "gather_efficiency");
    r->entry = get_entry(r);
    r->own_values = get_own_values(json_get(o, "options"), r->entry);
    return OK;
}

int record_read(const char *line, struct record *out)
{
    *out = (struct record){0};
    cJSON *o;
    int err = json_parse(line, &o);
    if (err == ERR_INPUT) return fail(err, "no record: %s", fail_text());
    if (err) return err;
    const char *schema = json_get_text(o, "schema");
    const char *kind = json_get_text(o, "kind");
    if (!schema || strcmp(schema, RECORD_SCHEMA))
        err = fail(ERR_INPUT, "no record of schema " RECORD_SCHEMA);
    else if (kind && !strcmp(kind, "environment"))
        out->kind = RECORD_ENVIRONMENT, err = get_environment(o, out);
    else if (kind && !strcmp(kind, "result"))
        out->kind = RECORD_RESULT, err = get_result(o, out);
    else if (kind && !strcmp(kind, "doctor"))
        out->kind = RECORD_DOCTOR;
    else
        err = missing("kind");
    if (!err && out->kind != RECORD_DOCTOR) err = get_text(o, "run", &out->run);
    cJSON_Delete(o);
    if (err) record_free(out);
    return err;
}

void record_free(struct record *r)
{
    mem_free(r->run);
    mem_free(r->revision);
    mem_free(r->reason);
    mem_free(r->key);
    mem_free(r->op);
    mem_free(r->alg);
    mem_free(r->device);
    mem_free(r->library);
    mem_free(r->matrix);
    mem_free(r->path);
    mem_free(r->content);
    mem_free(r->samples);
    mem_free(r->method);
    mem_free(r->picked);
    facts_free(&r->facts);
    *r = (struct record){0};
}

const struct record_algo *record_facts_algo(const struct record_facts *f, const char *name,
                                            const char *id)
{
    size_t kind = strcspn(id, ":");
    for (int i = 0; i < f->algo_count; i++) {
        const struct record_algo *a = &f->algos[i];
        if (a->name && a->device && !strcmp(a->name, name) && strlen(a->device) == kind &&
            !memcmp(a->device, id, kind))
            return a;
    }
    return NULL;
}

const char *record_facts_device(const struct record_facts *f, const char *id)
{
    for (int i = 0; i < f->device_count; i++)
        if (f->devices[i].id && !strcmp(f->devices[i].id, id)) return f->devices[i].name;
    return NULL;
}

bool record_is_timed(const struct record *r)
{
    return r->status == STATUS_OK && r->median > 0 && isfinite(r->median);
}

int record_each_line(const char *path,
                     int (*take)(void *arg, const char *path, const char *line, long long number),
                     void *arg)
{
    struct lines lines;
    char *line = NULL;
    int err = lines_open(&lines, path);
    for (long long number = 1; !err && !(err = lines_next(&lines, &line)) && line; number++) {
        if (interrupted) err = fail(ERR_INTERRUPTED, "interrupted");
        if (!err && number == 1 && line[0] != '{')
            err = fail(ERR_INPUT, "%s: is not a record file: its first line is not a record", path);
        if (!err && line[0]) err = take(arg, path, line, number);
    }
    lines_close(&lines);
    return err < 0 ? OK : err;
}
