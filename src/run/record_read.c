#include "run/record_read.h"

#include <math.h>
#include <string.h>

#include "run/json.h"
#include "run/record.h"

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
    size_t size = strlen(text) + 1;
    *out = mem_alloc((int64_t)size, 1);
    if (!*out) return ERR_MEMORY;
    memcpy(*out, text, size);
    return OK;
}

static double get_number(const cJSON *o, const char *name)
{
    const cJSON *x = get(o, name);
    return cJSON_IsNumber(x) ? x->valuedouble : NAN;
}

static int get_samples(const cJSON *time, struct record *r)
{
    const cJSON *list = get(time, "samples"), *x;
    r->samples = mem_alloc(cJSON_GetArraySize(list), sizeof *r->samples);
    if (!r->samples) return ERR_MEMORY;
    cJSON_ArrayForEach(x, list) r->samples[r->sample_count++] = x->valuedouble;
    return OK;
}

static bool get_axis(const cJSON *x, const struct axis *axis, int64_t *value)
{
    if (axis->words) {
        *value = cJSON_IsString(x) ? axis_word(axis, x->valuestring) : -1;
        return *value >= 0;
    }
    if (!cJSON_IsNumber(x)) return false;
    if (!(x->valuedouble >= (double)axis->min && x->valuedouble <= (double)axis->max)) return false;
    *value = (int64_t)x->valuedouble;
    return (double)*value == x->valuedouble;
}

// The values of the axes; false where the record has one that this operation does not know.
static bool get_axes(const cJSON *o, const struct op *op, int64_t axis[AXES_MAX])
{
    for (int i = 0; op->axes[i]; i++)
        if (!get_axis(get(o, op->axes[i]->name), op->axes[i], &axis[i])) return false;
    return true;
}

static const struct algo_entry *find_entry(const struct op *op, const struct record *r)
{
    for (int kind = 0; op && kind < DEVICE_KINDS; kind++) {
        size_t length = strlen(device_list[kind].name);
        if (!strncmp(r->device, device_list[kind].name, length) &&
            (!r->device[length] || r->device[length] == ':'))
            return algo_find(op, r->alg, (enum device_kind)kind);
    }
    return NULL;
}

static void get_case(const cJSON *o, struct record *r)
{
    struct bench_case *c = &r->c;
    const struct op *op = op_find(r->op);
    const cJSON *x, *cold = get(o, "cache");
    c->entry = find_entry(op, r);
    if (!c->entry || strlen(r->device) >= sizeof c->device || !get_axes(o, op, c->axis)) {
        c->entry = NULL;
        return;
    }
    strcpy(c->device, r->device);
    c->prec = r->prec;
    c->cold = cJSON_IsString(cold) && !strcmp(cold->valuestring, "cold");
    if (!c->entry->algo) return;
    algo_defaults(c->entry->algo, c->opt);
    cJSON_ArrayForEach(x, get(o, "options"))
    {
        int place = x->string ? algo_param_find(c->entry->algo, x->string) : -1;
        if (place >= 0) c->opt[place] = x->valuedouble;
    }
}

static int get_prec(const cJSON *o, enum prec *prec)
{
    const char *text = cJSON_GetStringValue(get(o, "prec"));
    for (int p = F32; text && p <= F64; p++)
        if (!strcmp(text, prec_name((enum prec)p))) return *prec = (enum prec)p, OK;
    return missing("prec");
}

static int get_status(const cJSON *o, struct record *r)
{
    const char *text = cJSON_GetStringValue(get(o, "status"));
    int status = text ? status_find(text) : -1;
    if (status < 0) return missing("status");
    r->status = (enum status)status;
    return cJSON_IsString(get(o, "reason")) ? get_text(o, "reason", &r->reason) : OK;
}

static int get_result(const cJSON *o, struct record *r)
{
    const cJSON *matrix = get(o, "matrix"), *time = get(o, "time_ms");
    int err = get_status(o, r);
    if (!err) err = get_text(o, "case", &r->key);
    if (!err) err = get_text(o, "op", &r->op);
    if (!err) err = get_text(o, "alg", &r->alg);
    if (!err) err = get_text(o, "device", &r->device);
    if (!err) err = get_prec(o, &r->prec);
    if (!err) err = get_text(matrix, "name", &r->matrix);
    if (!err) err = get_text(matrix, "path", &r->path);
    if (!err) err = get_samples(time, r);
    if (err) return err;
    r->gflops = get_number(o, "gflops");
    r->median = get_number(time, "median");
    r->ci_lo = get_number(time, "ci_lo");
    r->ci_hi = get_number(time, "ci_hi");
    r->throttled = cJSON_IsTrue(get(time, "throttled"));
    get_case(o, r);
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
        out->kind = RECORD_ENVIRONMENT;
    else if (kind && !strcmp(kind, "result"))
        out->kind = RECORD_RESULT, err = get_result(o, out);
    else
        err = missing("kind");
    cJSON_Delete(o);
    if (err) record_free(out);
    return err;
}

void record_free(struct record *r)
{
    mem_free(r->reason);
    mem_free(r->key);
    mem_free(r->op);
    mem_free(r->alg);
    mem_free(r->device);
    mem_free(r->matrix);
    mem_free(r->path);
    mem_free(r->samples);
    *r = (struct record){0};
}
