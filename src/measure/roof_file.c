#include "measure/roof_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/user_cache.h"
#include "base/variables.h"

// The file has a line for each device: its key, when it was measured, 1 if the machine was busy,
// the rates that are in no ladder, the steps of the ladder as bytes:rate, the word rows, and the
// blocks that rows are gathered from as bytes:rate:rate:..., with tabs between.
#define FILE_NAME "roof.tsv"
#define VERSION   4 // changes with the measurement of ceilings and with the file format
#define ROWS      "\trows"
#define LINES_MAX 64
#define LINE_ROOM 2048
#define KEY_ROOM  400

// Sets `key` to all that ceilings depend on. `detail` has the driver, or threads and processors.
// Compilers differ in the code of the measured loops.
static void device_key(struct device *d, char key[KEY_ROOM])
{
    int now, max;
    if (d->ops->clock_mhz(d, &now, &max)) max = 0; // not known
    snprintf(key, KEY_ROOM, "%d, %s, %s, %d, %d MHz, %lld, " COMPILER, VERSION, d->name, d->detail,
             d->units, max, (long long)d->cache_bytes);
    for (char *c = key; *c; c++)
        if (*c == '\t' || *c == '\n') *c = ' ';
}

// Returns the rest of the line behind this key; NULL: the line has another key.
static const char *line_of(const char *line, const char *key)
{
    size_t length = strlen(key);
    return !strncmp(line, key, length) && line[length] == '\t' ? line + length : NULL;
}

// Returns the i-th rate of a line; NULL after the last.
#define RATES 9
static double *rate_of(struct roof *r, int i)
{
    double *rates[RATES] = {&r->memory_gb_s,   &r->memory_low_gb_s, &r->copy_gb_s,
                            &r->near_gb_s,     &r->probe_gb_s,      &r->fma_gflops[0],
                            &r->fma_gflops[1], &r->fma_measured[0], &r->fma_measured[1]};
    return rates[i];
}

// Reads a rate after `sep` and moves *p past it; a missing rate is 0. Returns false on a syntax
// error.
static bool get_rate(const char **p, char sep, double *x)
{
    char *end;
    if (**p != sep) return false;
    *x = strtod(*p + 1, &end);
    bool is_rate = end > *p + 1 && isfinite(*x) && (*x >= ROOF_LEAST || *x == 0);
    *p = end;
    return is_rate;
}

static bool get_whole(const char **p, int64_t *x)
{
    char *end;
    if (**p != '\t') return false;
    errno = 0;
    *x = strtoll(*p + 1, &end, 10);
    bool is_whole = end > *p + 1 && !errno;
    *p = end;
    return is_whole;
}

// Reads the word rows and the blocks behind it.
static bool get_gathers(const char **p, struct roof *r)
{
    bool good = !strncmp(*p, ROWS, strlen(ROWS));
    if (good) *p += strlen(ROWS);
    while (good && **p == '\t' && r->gather_count < ROOF_GATHERS_MAX) {
        struct roof_gather *g = &r->gathers[r->gather_count++];
        good = get_whole(p, &g->bytes);
        for (int w = 0; w < ROOF_ROWS && good; w++) good = get_rate(p, ':', &g->gb_s[w]);
    }
    return good;
}

static bool get_roof(const char *p, struct roof *r)
{
    *r = (struct roof){0};
    int64_t busy;
    bool good = get_whole(&p, &r->measured) && get_whole(&p, &busy) && (busy == 0 || busy == 1);
    r->busy = good && busy;
    for (int i = 0; i < RATES && good; i++) good = get_rate(&p, '\t', rate_of(r, i));
    while (good && *p == '\t' && strncmp(p, ROWS, strlen(ROWS)) && r->step_count < ROOF_STEPS_MAX) {
        struct roof_step *step = &r->steps[r->step_count++];
        good = get_whole(&p, &step->bytes) && get_rate(&p, ':', &step->gb_s);
    }
    good = good && get_gathers(&p, r);
    if (!good || *p != '\n' || r->step_count < 3) return false;
    roof_derive(r);
    return roof_is_sane(r);
}

static FILE *open_file(const char *path)
{
    int fd = user_cache_open(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
    if (fd >= 0 && !f) close(fd);
    return f;
}

bool roof_file_read(struct device *d, struct roof *r)
{
    char path[USER_CACHE_PATH_MAX], key[KEY_ROOM], line[LINE_ROOM];
    bool found = false;
    if (!user_cache_path(path, FILE_NAME)) return false;
    device_key(d, key);
    FILE *f = open_file(path);
    while (f && !found && fgets(line, sizeof line, f)) {
        const char *rest = line_of(line, key);
        found = rest && get_roof(rest, r);
    }
    if (f) fclose(f);
    return found;
}

static void put_roof(FILE *out, const char *key, const struct roof *r)
{
    struct roof copy = *r;
    fprintf(out, "%s\t%lld\t%d", key, (long long)r->measured, r->busy);
    for (int i = 0; i < RATES; i++) fprintf(out, "\t%.6g", *rate_of(&copy, i));
    for (int i = 0; i < r->step_count; i++)
        fprintf(out, "\t%lld:%.6g", (long long)r->steps[i].bytes, r->steps[i].gb_s);
    fputs(ROWS, out);
    for (int i = 0; i < r->gather_count; i++) {
        fprintf(out, "\t%lld", (long long)r->gathers[i].bytes);
        for (int w = 0; w < ROOF_ROWS; w++) fprintf(out, ":%.6g", r->gathers[i].gb_s[w]);
    }
    fputc('\n', out);
}

static bool closed;
void roof_file_close(void) { closed = true; }

// Writes a new file with the line of this device first, and renames it: readers see the old file or
// the new one.
void roof_file_replace(struct device *d, const struct roof *r)
{
    char path[USER_CACHE_PATH_MAX], key[KEY_ROOM], line[LINE_ROOM];
    struct whole_file file;
    if (closed || variable_preload() || !user_cache_path(path, FILE_NAME)) return;
    device_key(d, key);
    if (!user_cache_make("") || !roof_is_sane(r)) return;
    if (user_cache_replace(&file, path)) {
        fail_drop(); // the next run measures again
        return;
    }
    put_roof(file.stream, key, r);
    FILE *old = open_file(path);
    for (int n = 1; old && n < LINES_MAX && fgets(line, sizeof line, old);)
        if (strchr(line, '\n') && !line_of(line, key)) fputs(line, file.stream), n++;
    if (old) fclose(old);
    if (whole_file_close(&file, OK)) fail_drop();
}

void roof_file_keep(struct device *d, struct roof *r)
{
    struct roof other;
    if (roof_file_read(d, &other)) {
        int64_t measured = max64(r->measured, other.measured);
        roof_merge(r, &other);
        r->measured = measured;
    }
    roof_file_replace(d, r);
}
