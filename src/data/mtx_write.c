// The writer of Matrix Market files.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/whole_file.h"
#include "data/mtx.h"

// Writes x with the fewest digits that read back to x. Most values of real matrices need 15.
static int value_print(char *text, size_t size, double x)
{
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(text, size, "%.*g", digits, x);
        if (digits == 17 || strtod(text, NULL) == x) break;
    }
    // In some locales the decimal point is a comma.
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

static void matrix_print(FILE *file, const struct csr *A, const char *comment)
{
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
}

static int interrupted_at(const char *name)
{
    return interrupted ? fail(ERR_INTERRUPTED, "%s: interrupted", name) : OK;
}

int mtx_write(const char *path, const struct csr *A, const char *comment)
{
    struct whole_file file;
    if (!strcmp(path, "-")) {
        matrix_print(stdout, A, comment);
        // fflush() shows an error of earlier writes to the buffer.
        if (ferror(stdout) || fflush(stdout))
            return fail(ERR_OUTPUT, "stdout: %s", strerror(errno));
        return interrupted_at("stdout");
    }
    int err = whole_file_open(&file, path);
    if (err) return err;
    matrix_print(file.stream, A, comment);
    return whole_file_close(&file, interrupted_at(path));
}
