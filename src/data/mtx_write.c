#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data/mtx.h"

// The fewest digits that read back to x; most values of real matrices need 15 or less.
static int value_print(char *text, size_t size, double x)
{
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(text, size, "%.*g", digits, x);
        if (digits == 17 || strtod(text, NULL) == x) break;
    }
    // A locale may have put a comma there.
    for (char *c = text; *c; c++)
        if (*c == ',') *c = '.';
    return n;
}

static void comment_print(FILE *file, const char *comment)
{
    while (comment && *comment) {
        int length = (int)strcspn(comment, "\n");
        fprintf(file, "%%%s%.*s\n", length ? " " : "", length, comment);
        comment += length + (comment[length] == '\n');
    }
}

// What was begun and not finished is no matrix. Devices and pipes stay.
static void remove_rest(const char *path)
{
    struct stat facts;
    if (!stat(path, &facts) && S_ISREG(facts.st_mode)) remove(path);
}

int mtx_write(const char *path, const struct csr *A, const char *comment)
{
    bool is_stdout = !strcmp(path, "-");
    const char *name = is_stdout ? "stdout" : path;
    FILE *file = is_stdout ? stdout : fopen(path, "w");
    if (!file && interrupted) return fail(ERR_INTERRUPTED, "%s: interrupted", name); // a FIFO
    if (!file) return fail(ERR_OUTPUT, "%s: %s", name, strerror(errno));

    fputs("%%MatrixMarket matrix coordinate real general\n", file);
    comment_print(file, comment);
    fprintf(file, "%d %d %lld\n", A->m, A->n, (long long)A->nnz);
    for (int32_t i = 0; i < A->m && !ferror(file) && !interrupted; i++)
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
            char line[64];
            int n = snprintf(line, sizeof line, "%d %d ", i + 1, A->idx[p] + 1);
            n += value_print(line + n, sizeof line - (size_t)n, A->val[p]);
            line[n++] = '\n';
            fwrite(line, 1, (size_t)n, file);
        }
    // What the buffer held may fail to reach the disk only now.
    bool failed = ferror(file) || fflush(file);
    int reason = errno;
    if (!is_stdout && fclose(file) && !failed) failed = true, reason = errno;
    if (!is_stdout && (failed || interrupted)) remove_rest(path);
    if (failed) return fail(ERR_OUTPUT, "%s: %s", name, strerror(reason));
    return interrupted ? fail(ERR_INTERRUPTED, "%s: interrupted", name) : OK;
}
