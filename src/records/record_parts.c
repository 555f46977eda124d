#include "records/record_parts.h"

#include <stdio.h>
#include <sys/utsname.h>

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

void record_add_build(struct json *j)
{
    json_text(j, j->root, "compiler", COMPILER);
    json_text(j, j->root, "flags", SPBENCH_FLAGS);
}

void record_add_run(struct json *j, const struct record_file *out)
{
    json_text(j, j->root, "run", out->run);
    json_whole(j, j->root, "seed", out->seed);
    json_number(j, j->root, "threads", out->threads);
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
