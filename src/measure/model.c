#include "measure/model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The cache has a line for each device: its key, then the four ceilings, with tabs between.
#define CACHE_LINES_MAX 64
#define CACHE_LINE_ROOM 512

// False where the user has no place for a cache. Not one in /tmp, where others could have put
// theirs.
static bool cache_path(char path[512], const char *suffix)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache) return snprintf(path, 512, "%s/spbench%s", cache, suffix) < 512;
    return home && *home && snprintf(path, 512, "%s/.cache/spbench%s", home, suffix) < 512;
}

static void device_key(const struct device *d, char key[320])
{
    snprintf(key, 320, "%s, %s, %d", d->name, d->detail, d->units);
    for (char *c = key; *c; c++)
        if (*c == '\t' || *c == '\n') *c = ' ';
}

// The line of this key without the key, or NULL.
static const char *line_of(const char *line, const char *key)
{
    size_t length = strlen(key);
    return !strncmp(line, key, length) && line[length] == '\t' ? line + length + 1 : NULL;
}

static bool is_rate(double x) { return x > 0 && x < HUGE_VAL; }

static bool is_roof(const struct roof *r)
{
    return is_rate(r->copy_gb_s) && is_rate(r->cache_gb_s) && is_rate(r->fma_gflops[F32]) &&
           is_rate(r->fma_gflops[F64]);
}

static bool cache_read(const struct device *d, struct roof *r)
{
    char path[512], key[320], line[CACHE_LINE_ROOM];
    bool found = false;
    if (!cache_path(path, "/roof.tsv")) return false;
    device_key(d, key);
    FILE *f = fopen(path, "r");
    while (f && !found && fgets(line, sizeof line, f)) {
        const char *rest = line_of(line, key);
        found = rest &&
                sscanf(rest, "%lf\t%lf\t%lf\t%lf", &r->copy_gb_s, &r->cache_gb_s,
                       &r->fma_gflops[F32], &r->fma_gflops[F64]) == 4 &&
                is_roof(r);
    }
    if (f) fclose(f);
    return found;
}

// Rewrites the file with this device's line replaced; readers see the old file or the new one.
static void cache_write(const struct device *d, const struct roof *r)
{
    char path[512], folder[512], part[600], key[320], line[CACHE_LINE_ROOM];
    if (!cache_path(path, "/roof.tsv") || !cache_path(folder, "")) return;
    device_key(d, key);
    char *last = strrchr(folder, '/');
    *last = 0;
    mkdir(folder, 0777); // the parent; both may exist already
    *last = '/';
    mkdir(folder, 0777);
    snprintf(part, sizeof part, "%s.%ld", path, (long)getpid());
    FILE *out = fopen(part, "w");
    if (!out) return;
    FILE *old = fopen(path, "r");
    for (int n = 0; old && n < CACHE_LINES_MAX && fgets(line, sizeof line, old); n++)
        if (!line_of(line, key)) fputs(line, out);
    if (old) fclose(old);
    fprintf(out, "%s\t%.6g\t%.6g\t%.6g\t%.6g\n", key, r->copy_gb_s, r->cache_gb_s,
            r->fma_gflops[F32], r->fma_gflops[F64]);
    if (fclose(out) || rename(part, path)) remove(part);
}

int model_roof(struct device *d, bool fresh, struct roof *roof)
{
    *roof = (struct roof){0};
    if (!fresh && cache_read(d, roof)) return OK;
    int err = d->ops->measure_roof(d, roof);
    // A cache that seems slower than memory was measured while something else was running: use it
    // this once, but do not keep it.
    if (!err && is_roof(roof) && roof->cache_gb_s >= roof->copy_gb_s) cache_write(d, roof);
    if (err) *roof = (struct roof){0};
    return err;
}

double model_bound_ms(const struct roof *roof, enum prec prec, int64_t flops, int64_t bytes)
{
    double memory = roof->copy_gb_s > 0 ? (double)bytes / roof->copy_gb_s * 1e-6 : 0;
    double rate = roof->fma_gflops[prec];
    double arithmetic = rate > 0 ? (double)flops / rate * 1e-6 : 0;
    return memory > arithmetic ? memory : arithmetic;
}
