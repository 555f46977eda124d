#include "report/details.h"

#include <math.h>
#include <string.h>

#include "base/words.h"
#include "device/roof.h"
#include "measure/tiled_model.h"
#include "records/record.h"
#include "report/cell.h"

// Returns the text, "-" if there is none.
static const char *text_of(const cJSON *o, const char *name)
{
    const char *text = json_get_text(o, name);
    return text ? text : "-";
}

static const char *bytes(const cJSON *o, const char *name, char text[32])
{
    double x = json_get_number(o, name);
    return isnan(x) ? strcpy(text, "-") : size_text((int64_t)x, text);
}

void details_matrix(FILE *out, const struct table_row *row)
{
    const cJSON *m = table_row_field(row, "matrix");
    const char *values = text_of(m, "values");
    if (!(json_get_number(m, "load_ms") > 0)) return;
    fprintf(out, "  read in %.3g ms, ", json_get_number(m, "load_ms"));
    if (cJSON_IsTrue(json_get(m, "cached")))
        fprintf(out, "from the cache");
    else
        fprintf(out, "%.3g MB/s", json_get_number(m, "load_mb_s"));
    fprintf(out, "; %s, %s%s\n", text_of(m, "field"), text_of(m, "symmetry"),
            !strcmp(values, "drawn")       ? ", values drawn from the seed"
            : !strcmp(values, "real part") ? ", real parts"
                                           : "");
}

static void put_samples(FILE *out, const struct table_row *row)
{
    const cJSON *t = table_row_field(row, "time_ms");
    const struct record *r = &row->x->r;
    double batch = json_get_number(t, "batch"), back = json_get_number(t, "back_to_back");
    fprintf(out, "%d sample%s of %.0f run%s after %.0f, stopped by %s; ", r->sample_count,
            r->sample_count > 1 ? "s" : "", batch, batch > 1 ? "s" : "",
            json_get_number(t, "warmup"), text_of(t, "stop"));
    if (!isnan(back)) {
        fprintf(out, "launched as a %s, separator %.3g ms, subtracted; back to back %.6g ms",
                text_of(t, "launch"), json_get_number(t, "separator"), back);
        if (!isnan(r->back_ci_lo))
            fprintf(out, " +-%.2f %%", 100 * (r->back_ci_hi - r->back_ci_lo) / 2 / back);
        fprintf(out, "; ");
    }
    fprintf(out, "fastest %.6g ms\n", json_get_number(t, "min"));
}

static void put_setup(FILE *out, const struct table_row *row)
{
    const cJSON *s = table_row_field(row, "setup_ms"), *f;
    char size[32];
    fprintf(out, "    convert %.3f ms (again %.3f), upload %.3f ms, analyse %.3f ms; peak %s",
            json_get_number(s, "convert"), json_get_number(s, "convert_warm"),
            json_get_number(s, "upload"), json_get_number(s, "analyse"),
            bytes(table_row_field(row, "memory"), "peak_bytes", size));
    cJSON_ArrayForEach(f, table_row_field(row, "formats"))
    {
        fprintf(out, ", %s as %s %s", text_of(f, "of"), text_of(f, "format"),
                bytes(f, "bytes", size));
    }
    fputc('\n', out);
}

// Prints the GFLOPS that the algorithm's model predicts.
static void put_model(FILE *out, const struct table_row *row)
{
    const cJSON *g = json_get(table_row_field(row, "model"), "gflops");
    if (isnan(json_get_number(g, prediction_names[PREDICTION_ALL_MISS]))) return;
    fprintf(out, "    predicted GFLOPS: %.4g, all miss %.4g, cold miss %.4g\n",
            json_get_number(g, prediction_names[PREDICTION_ALGORITHMIC]),
            json_get_number(g, prediction_names[PREDICTION_ALL_MISS]),
            json_get_number(g, prediction_names[PREDICTION_COLD_MISS]));
}

static void put_counters(FILE *out, const struct table_row *row)
{
    const cJSON *c = table_row_field(row, "counters");
    char memory[32], l2[32], l1[32];
    if (isnan(json_get_number(c, "memory_bytes"))) return;
    fprintf(out, "    moved by a run: memory %s, L2 %s, L1 %s, %.0f kernels (%s)\n",
            bytes(c, "memory_bytes", memory), bytes(c, "l2_bytes", l2), bytes(c, "l1_bytes", l1),
            json_get_number(c, "kernels"), text_of(c, "tool"));
}

static void put_phases(FILE *out, const struct table_row *row)
{
    const struct op *op = op_find(row->x->r.op);
    const cJSON *phases = table_row_field(row, "phases_ms"), *x;
    if (!cJSON_GetArraySize(phases)) return;
    fprintf(out, "    ");
    for (int i = 0; op && i < op_number_count(op); i++)
        if (op->numbers[i].whole)
            fprintf(out, "%s%s %.0f", i ? ", " : "", op->numbers[i].name,
                    table_row_number(row, NULL, op->numbers[i].name));
    cJSON_ArrayForEach(x, phases)
    {
        fprintf(out, "%s %s %.3f ms", x->prev && x != phases->child ? "," : "; phases:", x->string,
                x->valuedouble);
    }
    fputc('\n', out);
}

void details_row(FILE *out, const struct table_row *row)
{
    char inputs[INPUT_MAX * 4] = "", name[INPUT_MAX], value[INPUT_MAX];
    if (!cJSON_IsObject(table_row_field(row, "setup_ms"))) return;
    for (const char *p = row->cell->inputs; input_next(&p, name, value);)
        if (strcmp(name, "cache")) words_add(inputs, sizeof inputs, " ", value);
    fprintf(out, "  %s %s: ", row->table->lines[row->line].name, inputs);
    if (table_row_is_timed(row))
        put_samples(out, row);
    else
        fprintf(out, "%s\n", status_name(row->x->r.status));
    put_setup(out, row);
    put_model(out, row);
    put_counters(out, row);
    if (table_row_is_timed(row)) put_phases(out, row);
}

// Returns word `i` of a key, from 0; "": there are fewer.
static const char *word_of(const char *key, int i, char word[32])
{
    for (; i > 0 && *key; i--) key += strcspn(key, " "), key += *key == ' ';
    snprintf(word, 32, "%.*s", (int)strcspn(key, " "), key);
    return word;
}

static bool runs_on(const char *const *prefixes, int64_t count, const char *id)
{
    char word[32];
    for (int64_t i = 0; i < count; i++)
        if (!strcmp(word_of(prefixes[i], 2, word), id)) return true;
    return false;
}

// Returns the value of an input of a key that starts with `start`, such as " cache="; "": none.
static const char *input_of(const char *key, const char *start, char word[32])
{
    const char *at = strstr(key, start);
    return word_of(at ? at + strlen(start) : "", 0, word);
}

// Adds the inputs that are the same in all keys to `text`: the precision, and a cache and a launch
// that are not the default.
static void add_common(char text[128], const char *const *prefixes, int64_t count)
{
    char prec[32], cache[32], launch[32], other[32];
    bool one = true, cold = true, stream = true;
    word_of(prefixes[0], 3, prec);
    input_of(prefixes[0], " cache=", cache);
    input_of(prefixes[0], " launch=", launch);
    for (int64_t i = 0; i < count; i++) {
        one &= !strcmp(word_of(prefixes[i], 3, other), prec);
        cold &= !strcmp(input_of(prefixes[i], " cache=", other), cache);
        stream &= !strcmp(input_of(prefixes[i], " launch=", other), launch);
    }
    if (one) words_print(text, 128, ", %s", prec);
    if (cold && strcmp(cache, "warm")) words_print(text, 128, ", cache %s", cache);
    if (stream && launch[0]) words_print(text, 128, ", launch %s", launch);
}

static void put_roof(FILE *out, const cJSON *o)
{
    char rate[32];
    struct roof roof = {.busy = cJSON_IsTrue(json_get(o, "busy"))};
    const cJSON *fma = json_get(o, "fma_gflops");
    double memory = json_get_number(o, "memory_gb_s"), low = json_get_number(o, "memory_low_gb_s");
    if (!(json_get_number(fma, "f32") > 0)) return;
    fprintf(out, "  at most");
    if (memory > 0) {
        roof.memory_gb_s = memory;
        roof.memory_low_gb_s = isnan(low) ? 0 : low;
        fprintf(out, " %s GB/s from memory", cell_number(memory, rate));
        if (roof_is_unsteady(&roof))
            fprintf(out, " (tries from %s%s)", cell_number(low, rate),
                    roof.busy ? ", busy machine" : "");
        fputc(',', out);
    }
    if (json_get_number(o, "cache_seen_bytes") > 0) {
        fprintf(out, " %s GB/s from ", cell_number(json_get_number(o, "cache_gb_s"), rate));
        fprintf(out, "%s of cache,", bytes(o, "cache_seen_bytes", rate));
    }
    fprintf(out, " %s GFLOPS in f32,", cell_number(json_get_number(fma, "f32"), rate));
    fprintf(out, " %s in f64\n", cell_number(json_get_number(fma, "f64"), rate));
}

int details_head(FILE *out, const char *environment, const char *const *prefixes, int64_t count)
{
    char common[128] = "";
    cJSON *o;
    const cJSON *d;
    bool any = false;
    int err = json_parse(environment, &o);
    if (err) return err;
    if (count) add_common(common, prefixes, count);
    cJSON_ArrayForEach(d, json_get(o, "devices"))
    {
        const char *id = text_of(d, "id");
        if (json_get(d, "missing") || !runs_on(prefixes, count, id)) continue;
        fprintf(out, "spbench %s on %s%s: %s; %s\n", record_version(), id, common,
                text_of(d, "name"), text_of(d, "detail"));
        put_roof(out, json_get(d, "roof"));
        any = true;
    }
    if (!any) fprintf(out, "spbench %s\n", record_version());
    cJSON_Delete(o);
    return OK;
}
