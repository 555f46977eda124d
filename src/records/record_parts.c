#include "records/record_parts.h"

#include <stdio.h>
#include <sys/utsname.h>

#include "algos/algo.h"
#include "base/compiler.h"

// Set by the Makefile.
#ifndef SPBENCH_VERSION
#define SPBENCH_VERSION "unknown"
#endif
#ifndef SPBENCH_REVISION
#define SPBENCH_REVISION "unknown"
#endif
#ifndef SPBENCH_FLAGS
#define SPBENCH_FLAGS "unknown"
#endif

const char *record_version(void) { return SPBENCH_VERSION " (" SPBENCH_REVISION ")"; }

const char *record_date(time_t when, char date[32])
{
    struct tm utc;
    strftime(date, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&when, &utc));
    return date;
}

void record_add_origin(struct json *j)
{
    char date[32], system[256] = "unknown";
    struct utsname host;
    bool named = !uname(&host);
    if (named)
        snprintf(system, sizeof system, "%s %s %s", host.sysname, host.release, host.machine);
    json_text(j, j->root, "version", SPBENCH_VERSION);
    json_text(j, j->root, "revision", SPBENCH_REVISION);
    json_text(j, j->root, "date", record_date(time(NULL), date));
    json_text(j, j->root, "host", named ? host.nodename : "unknown");
    json_text(j, j->root, "os", system);
}

// Returns the version of the CUDA toolkit of this build, "12.9"; NULL: none.
static const char *toolkit(void)
{
    static _Thread_local char text[24];
    int version = 0;
    for (int k = 0; k < DEVICE_KINDS; k++)
        if (device_list[k].ops && device_list[k].ops->toolkit)
            version = device_list[k].ops->toolkit;
    snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
    return version ? text : NULL;
}

// Returns the version of the headers of cuSPARSE, the only library of a vendor that a build needs;
// NULL: none.
static const char *cusparse_headers(void)
{
    for (int i = 0; i < algo_count; i++)
        if (algos[i].algo->built) return algos[i].algo->built;
    return NULL;
}

void record_build(struct build_fact facts[BUILD_FACTS])
{
    facts[0] = (struct build_fact){"compiler", "compiler", COMPILER};
    facts[1] = (struct build_fact){"flags", "flags", SPBENCH_FLAGS};
    facts[2] = (struct build_fact){"cuda", "CUDA", toolkit()};
    facts[3] = (struct build_fact){"cusparse", "cuSPARSE", cusparse_headers()};
    facts[4] = (struct build_fact){"openmp", "OpenMP", OPENMP};
}

void record_add_build(struct json *j)
{
    struct build_fact facts[BUILD_FACTS];
    record_build(facts);
    for (int i = 0; i < BUILD_FACTS; i++) json_text(j, j->root, facts[i].field, facts[i].value);
}

void record_add_run(struct json *j, const struct record_file *out)
{
    json_text(j, j->root, "run", out->run);
    json_whole(j, j->root, "seed", out->seed);
    json_number(j, j->root, "threads", out->threads);
}

void json_axes(struct json *j, cJSON *o, const struct op *op, const int64_t *axis, bool products)
{
    char word[32], values[AXIS_PRODUCT_TEXT];
    for (int i = 0; op->axes[i]; i++) {
        const struct axis *x = op->axes[i];
        if (!axis_is_written(x, axis[i])) continue;
        if (x->words)
            json_text(j, o, x->name,
                      products ? axis_product_text(x, axis[i], values)
                               : axis_text(x, axis[i], word));
        else
            json_number(j, o, x->name, (double)axis[i]);
    }
}

void json_prep(struct json *j, cJSON *o, double prep_ms, double pays_after)
{
    json_measure(j, o, "prep_ms", prep_ms);
    json_number(j, o, "pays_after", pays_after);
    if (isnan(pays_after))
        json_null(j, o, "pays");
    else
        json_bool(j, o, "pays", !isinf(pays_after));
}

void record_add_known(struct json *j, cJSON *o, const char *name, double x)
{
    if (x != 0)
        json_measure(j, o, name, x);
    else
        json_null(j, o, name);
}

int record_document(struct record_file *out, struct json *j)
{
    char *line = json_line(j);
    int err = line ? record_line(out, line) : ERR_MEMORY;
    mem_free(line);
    json_free(j);
    return err;
}
