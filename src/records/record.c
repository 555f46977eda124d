// Writes the record of a case, in one line.
#include "records/record.h"

#include "records/record_parts.h"

static void add_options(struct json *j, const struct bench_case *c)
{
    cJSON *o = json_object(j, j->root, "options");
    const struct algo *algo = c->entry->algo;
    for (int i = 0; algo_option_at(algo, i); i++)
        json_number(j, o, algo_option_at(algo, i)->name, c->opt[i]);
}

static void add_file(struct json *j, cJSON *o, const struct algo_file *f)
{
    json_text(j, o, "file", f->file);
    json_text(j, o, "sha256", f->sha256);
}

// Adds the plug-in of the algorithm, if there is one.
static void add_plugin(struct json *j, const struct bench_case *c)
{
    const struct algo *algo = c->entry->algo;
    if (!algo->plugin) return;
    const struct algo_plugin *p = algo->plugin;
    cJSON *o = json_object(j, j->root, "plugin");
    add_file(j, o, &p->own);
    json_text(j, o, "version", p->version);
    cJSON *libraries = json_array(j, o, "libraries");
    for (int i = 0; i < p->library_count; i++)
        add_file(j, json_object(j, libraries, NULL), &p->libraries[i]);
}

static void add_matrix(struct json *j, const struct matrix *m)
{
    cJSON *o = json_object(j, j->root, "matrix");
    json_text(j, o, "name", m->name);
    json_text(j, o, "path", m->path);
    // The other fields of a matrix that could not be loaded are null.
    bool known = m->field != NULL;
    const char *values = m->values_drawn ? "drawn" : m->real_part ? "real part" : "given";
    json_number(j, o, "rows", known_or_nan(known, m->A.m));
    json_number(j, o, "cols", known_or_nan(known, m->A.n));
    json_number(j, o, "nnz", known_or_nan(known, m->A.nnz));
    json_text(j, o, "field", m->field);
    json_text(j, o, "symmetry", m->symmetry);
    json_text(j, o, "values", known ? values : NULL);
    json_number(j, o, "duplicates", known_or_nan(known, m->duplicates));
    json_measure(j, o, "row_mean", known ? m->facts.row_mean : NAN);
    json_number(j, o, "row_max", known_or_nan(known, m->facts.row_max));
    json_measure(j, o, "row_cv", known ? m->facts.row_cv : NAN);
    json_measure(j, o, "load_ms", known ? m->load_ms : NAN);
    record_add_known(j, o, "load_mb_s", m->load_mb_s);
    if (known)
        json_bool(j, o, "cached", m->cached);
    else
        json_null(j, o, "cached");
    json_text(j, o, "content", m->content[0] ? m->content : NULL);
    if (m->file.bytes) {
        json_number(j, o, "file_bytes", (double)m->file.bytes);
        json_whole(j, o, "file_changed_ns", (uint64_t)m->file.changed_ns);
    } else {
        json_null(j, o, "file_bytes");
        json_null(j, o, "file_changed_ns");
    }
}

static void add_check(struct json *j, const struct result *r)
{
    if (!r->check.method) {
        json_null(j, j->root, "check");
        return;
    }
    cJSON *o = json_object(j, j->root, "check");
    json_text(j, o, "method", r->check.method);
    json_number(j, o, "elements", (double)r->check.elements);
    json_measure(j, o, "seen_share", r->checked ? r->check.seen_share : NAN);
    json_measure(j, o, "error_ratio", r->checked ? r->check.error_ratio : NAN);
    json_measure(j, o, "tolerance_share", r->checked ? r->check.tolerance_share : NAN);
    json_measure(j, o, "value_error", r->checked ? r->check.value_error : NAN);
    json_measure(j, o, "input_error", r->input_error);
    if (r->in_order == ORDER_NOT_LOOKED)
        json_null(j, o, "in_order");
    else
        json_bool(j, o, "in_order", r->in_order == ORDER_KEPT);
    json_text(j, o, "same_as", r->same_as);
    cJSON *timed = json_object(j, o, "timed");
    json_number(j, timed, "looked", (double)r->verified.looked);
    json_number(j, timed, "varied", (double)r->verified.varied);
    json_number(j, timed, "changed", (double)r->verified.changed);
}

// Adds the other work of the host.
static void add_machine(struct json *j, cJSON *time, const struct machine_load *load)
{
    cJSON *o = json_object(j, time, "machine");
    json_number(j, o, "switches", known_or_nan(load->switches >= 0, load->switches));
    json_measure(j, o, "steal", load->steal);
    json_measure(j, o, "others", load->others);
    json_measure(j, o, "delay", load->delay);
}

static void add_back_samples(struct json *j, cJSON *time, const struct timing *t)
{
    if (!t->back_samples) {
        json_null(j, time, "back_to_back_samples");
        return;
    }
    cJSON *samples = json_array(j, time, "back_to_back_samples");
    for (int i = 0; i < t->count; i++) json_measure(j, samples, NULL, t->back_samples[i]);
}

static void add_time(struct json *j, const struct result *r)
{
    const struct timing *t = &r->timing;
    if (!r->timed) {
        json_null(j, j->root, "time_ms");
        return;
    }
    cJSON *o = json_object(j, j->root, "time_ms");
    json_measure(j, o, "median", t->median);
    json_measure(j, o, "min", t->min);
    json_measure(j, o, "mean", t->mean);
    json_measure(j, o, "p5", t->p5);
    json_measure(j, o, "p95", t->p95);
    json_measure(j, o, "ci_lo", t->ci_lo);
    json_measure(j, o, "ci_hi", t->ci_hi);
    cJSON *samples = json_array(j, o, "samples");
    for (int i = 0; i < t->count; i++) json_measure(j, samples, NULL, t->samples[i]);
    json_number(j, o, "batch", t->batch);
    json_text(j, o, "launch", t->launch);
    json_measure(j, o, "separator", t->separator_ms);
    json_measure(j, o, "back_to_back", t->back_to_back);
    json_measure(j, o, "back_to_back_ci_lo", t->back_ci_lo);
    json_measure(j, o, "back_to_back_ci_hi", t->back_ci_hi);
    add_back_samples(j, o, t);
    json_number(j, o, "warmup", t->warmup);
    json_text(j, o, "stop", t->stop);
    json_bool(j, o, "dropped", r->dropped);
    json_bool(j, o, "busy", t->busy);
    add_machine(j, o, &t->machine);
    json_bool(j, o, "throttled", t->throttled);
    cJSON *clocks = json_array(j, o, "clock_mhz");
    for (int i = 0; i < 2; i++)
        if (t->clock_mhz[i])
            json_number(j, clocks, NULL, t->clock_mhz[i]);
        else
            json_null(j, clocks, NULL);
}

static void add_setup(struct json *j, const struct result *r)
{
    const struct setup *s = &r->setup;
    if (!r->prepared) { // the case was refused before the preparation
        json_null(j, j->root, "setup_ms");
        json_array(j, j->root, "formats");
        return;
    }
    double convert = setup_convert_ms(s), upload = setup_upload_ms(s);
    cJSON *o = json_object(j, j->root, "setup_ms");
    json_measure(j, o, "convert", convert);
    json_measure(j, o, "convert_warm", setup_warm_ms(s));
    json_measure(j, o, "upload", upload);
    json_measure(j, o, "analyse", s->analyse_ms);
    json_measure(j, o, "total", convert + upload + s->analyse_ms);
    cJSON *all = json_array(j, j->root, "formats");
    for (int i = 0; i < s->count; i++) {
        const struct format_use *f = &s->formats[i];
        cJSON *x = json_object(j, all, NULL);
        json_text(j, x, "of", f->of);
        json_text(j, x, "format", f->format->name);
        json_number(j, x, "bytes", (double)f->bytes);
        json_number(j, x, "csr_bytes", (double)f->csr_bytes);
        json_measure(j, x, "convert_ms", f->cost.convert_ms);
        json_measure(j, x, "convert_warm_ms", f->cost.warm_ms);
        json_measure(j, x, "upload_ms", f->cost.upload_ms);
    }
}

static void add_phases(struct json *j, const struct result *r)
{
    cJSON *o = json_object(j, j->root, "phases_ms");
    for (int i = 0; i < r->phases.count; i++)
        json_measure(j, o, r->phases.list[i].name, r->phases.list[i].ms);
}

// Adds the extra fields of this operation.
static void add_numbers(struct json *j, const struct result *r)
{
    const struct op *op = r->c.entry->op;
    for (int i = 0; i < op_number_count(op); i++)
        if (op->numbers[i].whole)
            json_number(j, j->root, op->numbers[i].name, r->numbers[i]);
        else
            json_measure(j, j->root, op->numbers[i].name, r->numbers[i]);
}

static void add_rates(struct json *j, const struct result *r)
{
    double none = NAN;
    bool bounded = r->timed && r->bound_ms > 0, gathers = r->timed && r->gather_ms > 0;
    json_number(j, j->root, "flops", known_or_nan(r->flops >= 0, r->flops));
    json_measure(j, j->root, "gflops", r->timed ? r->gflops : none);
    cJSON *bytes = json_object(j, j->root, "bytes");
    json_number(j, bytes, "compulsory",
                known_or_nan(r->compulsory_bytes >= 0, r->compulsory_bytes));
    json_number(j, bytes, "gather", known_or_nan(r->gather_bytes >= 0, r->gather_bytes));
    json_measure(j, j->root, "bound_ms", bounded ? r->bound_ms : none);
    json_measure(j, j->root, "efficiency", bounded ? r->efficiency : none);
    json_measure(j, j->root, "gather_ms", gathers ? r->gather_ms : none);
    json_measure(j, j->root, "gather_efficiency", gathers ? r->gather_efficiency : none);
    if (bounded)
        json_bool(j, j->root, "cache_resident", r->cache_resident);
    else
        json_null(j, j->root, "cache_resident");
}

// Adds a number for each assumption about the caches.
static void add_predicted(struct json *j, cJSON *o, const char *name, const double *values)
{
    cJSON *x = json_object(j, o, name);
    for (int i = 0; i < PREDICTION_KINDS; i++) json_measure(j, x, prediction_names[i], values[i]);
}

// Adds the prediction, if the algorithm has a model and the model has a prediction.
static void add_model(struct json *j, const struct tiled_prediction *p)
{
    if (!p->equation) return;
    cJSON *o = json_object(j, j->root, "model");
    json_number(j, o, "equation", p->equation);
    json_measure(j, o, "mu", p->mu);
    json_measure(j, o, "mu_segment", p->mu_segment);
    json_measure(j, o, "rho", p->rho);
    json_measure(j, o, "Z", p->Z);
    json_measure(j, o, "R", p->R);
    json_measure(j, o, "C", p->C);
    json_measure(j, o, "L", p->L);
    json_number(j, o, "delta", p->delta);
    add_predicted(j, o, "intensity", p->intensity);
    add_predicted(j, o, "gflops", p->gflops);
    json_measure(j, o, "whole_gflops", p->whole_gflops);
}

// Adds [[ms, bytes], ...]: bytes allocated from then on, with a resolution of microseconds.
static void add_timeline(struct json *j, cJSON *memory, const struct device_trace *trace)
{
    cJSON *all = json_array(j, memory, "timeline");
    for (int64_t i = 0; i < trace->count; i++) {
        cJSON *moment = json_array(j, all, NULL);
        json_number(j, moment, NULL, floor(trace->moments[i].ms * 1e3 + 0.5) / 1e3);
        json_number(j, moment, NULL, (double)trace->moments[i].bytes);
    }
}

static void add_memory(struct json *j, const struct result *r)
{
    cJSON *o = json_object(j, j->root, "memory");
    int64_t format_bytes = r->setup.format_bytes;
    json_number(j, o, "peak_bytes", known_or_nan(r->peak_bytes > 0, r->peak_bytes));
    json_number(j, o, "format_bytes", known_or_nan(r->prepared, format_bytes));
    if (r->trace.count) add_timeline(j, o, &r->trace);
}

static void add_counters(struct json *j, const struct result *r)
{
    const struct counters *c = &r->counters;
    double none = NAN;
    if (!c->asked) {
        json_null(j, j->root, "counters");
        return;
    }
    cJSON *o = json_object(j, j->root, "counters");
    json_number(j, o, "memory_bytes", c->known ? c->memory_bytes : none);
    json_number(j, o, "l2_bytes", c->known ? c->l2_bytes : none);
    json_number(j, o, "l1_bytes", c->known ? c->l1_bytes : none);
    json_number(j, o, "kernels", known_or_nan(c->known, c->kernels));
    json_text(j, o, "tool", c->tool[0] ? c->tool : NULL);
    json_text(j, o, "reason", c->known ? NULL : c->reason);
}

static void add_stats(struct json *j, const struct result *r)
{
    cJSON *o = json_object(j, j->root, "stats");
    for (int i = 0; i < r->stats.count; i++) {
        const struct algo_stat *f = &r->stats.list[i];
        if (f->text[0])
            json_text(j, o, f->name, f->text);
        else
            json_number(j, o, f->name, f->number);
    }
}

int record_result(struct record_file *out, const struct result *r)
{
    const struct bench_case *c = &r->c;
    char key[CASE_KEY_MAX];
    struct json j;
    json_start(&j);
    json_text(&j, j.root, "schema", RECORD_SCHEMA);
    json_text(&j, j.root, "kind", "result");
    json_text(&j, j.root, "status", status_name(r->status));
    json_text(&j, j.root, "reason", r->reason[0] ? r->reason : NULL);
    json_text(&j, j.root, "case", case_key(c, r->matrix, key));
    json_text(&j, j.root, "op", c->entry->op->name);
    json_text(&j, j.root, "alg", c->entry->name);
    json_text(&j, j.root, "device", c->device);
    json_text(&j, j.root, "prec", prec_name(c->prec));
    json_axes(&j, j.root, c->entry->op, c->axis, false);
    json_text(&j, j.root, "cache", c->cold ? "cold" : "warm");
    json_text(&j, j.root, "launch", c->stream ? "stream" : NULL);
    add_options(&j, c);
    json_text(&j, j.root, "library", case_library(c));
    add_plugin(&j, c);
    record_add_run(&j, out);
    add_matrix(&j, r->matrix);
    add_check(&j, r);
    add_time(&j, r);
    add_setup(&j, r);
    add_phases(&j, r);
    add_numbers(&j, r);
    add_rates(&j, r);
    add_model(&j, &r->model);
    add_counters(&j, r);
    add_memory(&j, r);
    add_stats(&j, r);
    return record_document(out, &j);
}
