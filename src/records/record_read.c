#define _GNU_SOURCE // strptime, timegm
#include "records/record_read.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "data/lines.h"
#include "records/json.h"
#include "records/record.h"

static const cJSON *get(const cJSON *o, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(o, name);
}

static int missing(const char *name)
{
    return fail(ERR_INPUT, "a record without a usable '%s'", name);
}

static int get_text(const cJSON *o, const char *name, char **out)
{
    const char *text = cJSON_GetStringValue(get(o, name));
    if (!text) return missing(name);
    *out = mem_copy_text(text, strlen(text));
    return *out ? OK : ERR_MEMORY;
}

// Reads a text that may be missing.
static int get_known(const cJSON *o, const char *name, char **out)
{
    return cJSON_IsString(get(o, name)) ? get_text(o, name, out) : OK;
}

static double get_number(const cJSON *o, const char *name)
{
    const cJSON *x = get(o, name);
    return cJSON_IsNumber(x) ? x->valuedouble : NAN;
}

// Reads the samples of a time, numbers from 0 on; none without a time.
static int get_samples(const cJSON *time, struct record *r)
{
    const cJSON *list = get(time, "samples"), *x;
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
        double value = get_number(options, p->name);
        if (!isnan(value) && value != p->value) return true;
    }
    return false;
}

static int get_status(const cJSON *o, struct record *r)
{
    const char *text = cJSON_GetStringValue(get(o, "status"));
    int status = text ? status_find(text) : -1;
    if (status < 0) return missing("status");
    r->status = (enum status)status;
    return get_known(o, "reason", &r->reason);
}

// Returns the date in seconds since 1970; 0: no date, or another form.
static int64_t get_when(const cJSON *o)
{
    const char *text = cJSON_GetStringValue(get(o, "date"));
    struct tm utc = {0};
    const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%SZ", &utc) : NULL;
    return end && !*end ? (int64_t)timegm(&utc) : 0;
}

static int get_environment(const cJSON *o, struct record *r)
{
    r->when = get_when(o);
    int err = get_known(o, "revision", &r->revision);
    if (!err) err = get_known(o, "device", &r->device);
    return err ? err : record_facts_read(o, &r->facts);
}

// Returns what setup_prep_ms() returns for a result.
static double get_prep(const cJSON *o)
{
    double ms = get_number(get(o, "setup_ms"), "analyse");
    const cJSON *x;
    cJSON_ArrayForEach(x, get(o, "formats")) ms += get_number(x, "convert_ms");
    return ms;
}

// "off", or no method: the result was not checked.
static int get_check(const cJSON *check, struct record *r)
{
    const char *method = cJSON_GetStringValue(get(check, "method"));
    r->overtakes = cJSON_IsFalse(get(check, "in_order"));
    r->error_ratio = get_number(check, "error_ratio");
    return method && strcmp(method, "off") ? get_text(check, "method", &r->method) : OK;
}

static int get_result(const cJSON *o, struct record *r)
{
    const cJSON *matrix = get(o, "matrix"), *time = get(o, "time_ms");
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
    if (!err) err = get_check(get(o, "check"), r);
    if (!err) err = get_known(get(o, "stats"), "picked", &r->picked);
    if (err) return err;
    r->file_bytes = get_number(matrix, "file_bytes");
    r->file_changed_ns = get_number(matrix, "file_changed_ns");
    r->gflops = get_number(o, "gflops");
    r->median = get_number(time, "median");
    r->min_ms = get_number(time, "min");
    r->prep_ms = get_prep(o);
    r->ci_lo = get_number(time, "ci_lo");
    r->ci_hi = get_number(time, "ci_hi");
    r->back_to_back = get_number(time, "back_to_back");
    r->back_ci_lo = get_number(time, "back_to_back_ci_lo");
    r->back_ci_hi = get_number(time, "back_to_back_ci_hi");
    r->throttled = cJSON_IsTrue(get(time, "throttled"));
    r->busy = cJSON_IsTrue(get(time, "busy"));
    r->bytes = get_number(get(o, "bytes"), "compulsory");
    r->efficiency = get_number(o, "efficiency");
    r->gather_efficiency = get_number(o, "gather_efficiency");
    r->entry = get_entry(r);
    r->own_values = get_own_values(get(o, "options"), r->entry);
    return OK;
}

int record_read(const char *line, struct record *out)
{
    *out = (struct record){0};
    cJSON *o;
    int err = json_parse(line, &o);
    if (err == ERR_INPUT) return fail(err, "no record: %s", fail_text());
    if (err) return err;
    const char *schema = cJSON_GetStringValue(get(o, "schema"));
    const char *kind = cJSON_GetStringValue(get(o, "kind"));
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
    record_facts_free(&r->facts);
    *r = (struct record){0};
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
