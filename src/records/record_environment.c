// Writes the first record of a run: program, machine, devices, operation and algorithms.
#include "records/record.h"

#include <stdlib.h>

#include "base/variables.h"
#include "device/roof.h"
#include "records/record_parts.h"

static void add_roof(struct json *j, cJSON *o, const struct roof *roof)
{
    char date[32];
    cJSON *r = json_object(j, o, "roof");
    json_text(j, r, "measured", roof->measured ? record_date((time_t)roof->measured, date) : NULL);
    record_add_known(j, r, "memory_gb_s", roof->memory_gb_s);
    record_add_known(j, r, "memory_low_gb_s", roof->memory_low_gb_s);
    json_bool(j, r, "busy", roof->busy);
    record_add_known(j, r, "copy_gb_s", roof->copy_gb_s);
    record_add_known(j, r, "read_gb_s", roof->read_gb_s);
    record_add_known(j, r, "cache_gb_s", roof->cache_gb_s);
    if (roof->cache_seen_bytes)
        json_number(j, r, "cache_seen_bytes", (double)roof->cache_seen_bytes);
    else
        json_null(j, r, "cache_seen_bytes");
    record_add_known(j, r, "near_gb_s", roof->near_gb_s);
    cJSON *fma = json_object(j, r, "fma_gflops");
    record_add_known(j, fma, prec_name(F32), roof->fma_gflops[F32]);
    record_add_known(j, fma, prec_name(F64), roof->fma_gflops[F64]);
    cJSON *ladder = json_array(j, r, "ladder");
    for (int i = 0; i < roof->step_count; i++) {
        cJSON *step = json_object(j, ladder, NULL);
        json_number(j, step, "bytes", (double)roof->steps[i].bytes);
        json_measure(j, step, "gb_s", roof->steps[i].gb_s);
    }
    cJSON *gathers = json_array(j, r, "gathers");
    for (int i = 0; i < roof->gather_count * ROOF_ROWS; i++) {
        const struct roof_gather *g = &roof->gathers[i / ROOF_ROWS];
        cJSON *x = json_object(j, gathers, NULL);
        json_number(j, x, "bytes", (double)g->bytes);
        json_number(j, x, "row_bytes", roof_row_bytes[i % ROOF_ROWS]);
        json_measure(j, x, "gb_s", g->gb_s[i % ROOF_ROWS]);
    }
}

static void add_device(struct json *j, cJSON *array, const struct bench_device *bd)
{
    cJSON *o = json_object(j, array, NULL);
    json_text(j, o, "id", bd->id);
    if (!bd->dev) {
        json_text(j, o, "missing", bd->missing);
        return;
    }
    struct device *d = bd->dev;
    int now = 0, max = 0;
    if (d->ops->clock_mhz(d, &now, &max)) now = max = 0; // unknown
    json_text(j, o, "kind", device_list[d->kind].name);
    json_text(j, o, "name", d->name);
    json_text(j, o, "detail", d->detail);
    if (d->address[0]) json_text(j, o, "address", d->address);
    json_text(j, o, "units_of", d->ops->units);
    json_number(j, o, "units", d->units);
    json_number(j, o, "memory_bytes", (double)d->memory_bytes);
    json_number(j, o, "cache_bytes", (double)d->cache_bytes);
    record_add_known(j, o, "clock_mhz", now);
    record_add_known(j, o, "clock_max_mhz", max);
    add_roof(j, o, &bd->roof);
}

// Adds the facts that a reader needs to compare cases of this operation; scripts have no such
// facts.
static void add_operation(struct json *j, const struct op *op)
{
    cJSON *o = json_object(j, j->root, "operation");
    json_text(j, o, "name", op->name);
    json_text(j, o, "formula", op->formula);
    json_text(j, o, "result", result_name(op->result));
    cJSON *axes = json_array(j, o, "axes");
    for (int i = 0; op->axes[i]; i++) {
        const struct axis *axis = op->axes[i];
        cJSON *x = json_object(j, axes, NULL);
        json_text(j, x, "name", axis->name);
        json_text(j, x, "about", axis->about);
        if (!axis->words) continue;
        if (axis->optional) json_text(j, x, "standard", axis->words[axis->standard]);
        cJSON *words = json_array(j, x, "words");
        for (int w = 0; axis->words[w]; w++) json_text(j, words, NULL, axis->words[w]);
    }
    cJSON *stats = json_array(j, o, "figures");
    for (int i = 0; i < op_number_count(op); i++) {
        cJSON *x = json_object(j, stats, NULL);
        json_text(j, x, "name", op->numbers[i].name);
        json_text(j, x, "about", op->numbers[i].about);
    }
}

// Adds an algorithm, without fields that have their usual value.
static void add_algorithm(struct json *j, cJSON *array, const struct algo_entry *e)
{
    const struct algo *a = e->algo;
    cJSON *o = json_object(j, array, NULL);
    json_text(j, o, "name", e->name);
    json_text(j, o, "device", device_list[e->device].name);
    const char *missing = algo_missing(e), *library = !missing && a->library ? a->library() : NULL;
    if (missing) json_text(j, o, "missing", missing);
    if (a->vendor) json_text(j, o, "vendor", a->vendor);
    if (a->call) json_text(j, o, "call", a->call);
    if (library) json_text(j, o, "library", library);
    if (a->partial) json_text(j, o, "partial", a->partial);
    if (a->reference) json_bool(j, o, "reference", true);
    if (a->dense) json_bool(j, o, "dense", true);
    if (a->drops_zeros) json_bool(j, o, "drops_zeros", true);
    if (a->tuned_of) json_text(j, o, "tuned_of", a->tuned_of);
    if (a->variant) json_text(j, o, "computes", e->op->variants[a->variant]);
    if (!a->picks[0]) return;
    cJSON *picks = json_array(j, o, "picks");
    for (int i = 0; i < COUNT(a->picks) && a->picks[i]; i++) json_text(j, picks, NULL, a->picks[i]);
}

// Adds the variables that are set and change times.
static void add_variables(struct json *j)
{
    cJSON *o = json_object(j, j->root, "variables");
    for (const struct variable *v = variables; v->name; v++) {
        const char *value = getenv(v->name);
        if (v->matters && value && *value) json_text(j, o, v->name, value);
    }
}

int record_environment(struct record_file *out, const struct bench_devices *devices,
                       const char *main_device, const struct op *op, int argc, char **argv)
{
    struct json j;
    json_start(&j);
    json_text(&j, j.root, "schema", RECORD_SCHEMA);
    json_text(&j, j.root, "kind", "environment");
    record_add_run(&j, out);
    record_add_origin(&j);
    cJSON *command = json_array(&j, j.root, "command");
    for (int i = 0; i < argc; i++) json_text(&j, command, NULL, argv[i]);
    record_add_build(&j);
    add_variables(&j);

    const struct bench_device *bd = bench_device_find(devices, main_device);
    json_text(&j, j.root, "device", bd && bd->dev ? bd->dev->name : NULL);
    add_roof(&j, j.root, bd ? &bd->roof : &(struct roof){0});
    cJSON *all = json_array(&j, j.root, "devices");
    for (int i = 0; i < devices->count; i++) add_device(&j, all, &devices->list[i]);
    add_operation(&j, op);
    cJSON *algorithms = json_array(&j, j.root, "algorithms");
    for (int i = 0; i < algo_count; i++)
        if (algos[i].op == op) add_algorithm(&j, algorithms, &algos[i]);
    return record_document(out, &j);
}
