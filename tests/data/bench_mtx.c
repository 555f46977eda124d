// Speed of the Matrix Market reader: writes large files into a temporary folder, reads each back
// with one thread and with all, and prints MB of text per second from the mapped file to the csr.
// Usage: bench_mtx [MB of text per file]
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "data/mtx.h"

struct sample {
    const char *name, *banner; // field and symmetry
    bool by_columns;           // the order of the entries: down the columns, or along the rows
    int values;                // 0 pattern, 1 "2.5", 2 17 digits, 3 the same with an exponent
    bool gzip;
};

static const struct sample samples[] = {
    {"pattern, row by row", "pattern general", false, 0, false},
    {"pattern, column by column", "pattern general", true, 0, false},
    {"pattern symmetric", "pattern symmetric", true, 0, false},
    {"real, short values", "real general", true, 1, false},
    {"real, 17 digits, by row", "real general", false, 2, false},
    {"real, 17 digits, by column", "real general", true, 2, false},
    {"real, exponents", "real general", true, 3, false},
    {"real symmetric", "real symmetric", true, 2, false},
    {"real, gzip", "real general", true, 2, true},
};

// A line of the matrix, cheap to make: n lines of `degree` entries, scattered and ascending.
static int entry_print(char *text, size_t size, const struct sample *s, int64_t n, int64_t line,
                       int64_t at)
{
    int64_t a = s->by_columns ? at : line, b = s->by_columns ? line : at;
    int used = snprintf(text, size, "%lld %lld", (long long)a + 1, (long long)b + 1);
    double x = random_value(7, (uint64_t)(line * n + at)) * (1 + 0x1p-40);
    if (s->values == 1) used += snprintf(text + used, size - (size_t)used, " %.1f", x * 10);
    if (s->values == 2) used += snprintf(text + used, size - (size_t)used, " %.17g", x);
    if (s->values == 3)
        used += snprintf(text + used, size - (size_t)used, " %.16e", x * exp2(at % 128 - 64.));
    text[used++] = '\n';
    return used;
}

// Writes about `bytes` of text; the file is written twice, as the size line comes first.
static int sample_write(const char *path, const struct sample *s, int64_t bytes)
{
    enum { DEGREE = 12 };
    int64_t n = bytes / DEGREE / (s->values > 1 ? 36 : s->values ? 19 : 14) + DEGREE + 1;
    bool symmetric = strstr(s->banner, "symmetric") != NULL;
    gzFile file = gzopen(path, s->gzip ? "wb6" : "wbT");
    if (!file) return fail(ERR_OUTPUT, "%s: cannot be written", path);
    gzbuffer(file, 1 << 20);
    for (int pass = 0; pass < 2; pass++) {
        static int64_t entries;
        char line[128];
        if (pass)
            gzprintf(file, "%%%%MatrixMarket matrix coordinate %s\n%lld %lld %lld\n", s->banner,
                     (long long)n, (long long)n, (long long)entries);
        entries = 0;
        for (int64_t i = 0; i < n; i++) {
            int64_t low = symmetric ? i : 0, step = (n - low) / DEGREE;
            for (int64_t d = 0; d < DEGREE && (step || !d); d++, entries++) {
                int64_t offset =
                    step ? (int64_t)(random_at(3, (uint64_t)(i * DEGREE + d)) % (uint64_t)step) : 0;
                if (!pass) continue;
                int used = entry_print(line, sizeof line, s, n, i, low + d * step + offset);
                if (gzwrite(file, line, (unsigned)used) != used) {
                    gzclose(file);
                    return fail(ERR_OUTPUT, "%s: cannot be written", path);
                }
            }
        }
    }
    return gzclose(file) == Z_OK ? OK : fail(ERR_OUTPUT, "%s: cannot be written", path);
}

// MB/s, the best of five; 0 on failure.
static double speed(const char *path, int threads, struct mtx_info *info, int64_t *nnz)
{
    double best = 0;
    omp_set_num_threads(threads);
    for (int run = 0; run < 5; run++) {
        struct csr A;
        if (mtx_read(path, 1, &A, info)) {
            printf("%s\n", fail_text());
            return 0;
        }
        *nnz = A.nnz;
        csr_free(&A);
        best = fmax(best, (double)info->bytes / info->load_ms / 1e3);
    }
    return best;
}

int main(int count, char **arg)
{
    int64_t bytes = (count > 1 ? atoll(arg[1]) : 64) * 1000000;
    char folder[256], path[300];
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/spbench-mtx-XXXXXX",
             base && strlen(base) < 200 ? base : "/tmp");
    if (!mkdtemp(folder)) return perror(folder), 1;
    snprintf(path, sizeof path, "%s/a.mtx", folder);
    int threads = omp_get_max_threads(), failed = 0;
    printf("%-28s %8s %10s %12s %14s %10s\n", "file", "MB", "nonzeros", "1 core MB/s",
           "all cores MB/s", "per core");
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct mtx_info info;
        int64_t nnz = 0;
        if (sample_write(path, &samples[i], bytes)) {
            printf("%s\n", fail_text());
            failed = 1;
            break;
        }
        double one = speed(path, 1, &info, &nnz), all = speed(path, threads, &info, &nnz);
        if (!(one > 0 && all > 0)) failed = 1;
        printf("%-28s %8.0f %10lld %12.0f %14.0f %10.0f\n", samples[i].name,
               (double)info.bytes / 1e6, (long long)nnz, one, all, all / threads);
        fflush(stdout);
    }
    unlink(path);
    rmdir(folder);
    return failed;
}
