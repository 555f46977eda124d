#include "cli/matrices/matrix_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"

static int add_owner(struct matrix_folder *f, const char *file, size_t length, const char *matrix)
{
    int err = mem_grow((void **)&f->owners, &f->room, f->count, sizeof *f->owners);
    if (err) return err;
    struct folder_owner *x = &f->owners[f->count++];
    x->file = mem_copy_text(file, length);
    x->matrix = mem_copy_text(matrix, strlen(matrix));
    return x->file && x->matrix ? OK : ERR_MEMORY;
}

// Parses a line "SHA256 BYTES Group/Name FILE". Skips comments and empty lines.
static int take_line(struct matrix_folder *f, char *line, const char *path, long long number)
{
    char *rest = NULL, *word[4];
    if (line[strspn(line, BLANKS)] == '#' || !line[strspn(line, BLANKS)]) return OK;
    for (int i = 0; i < 4; i++) word[i] = strtok_r(i ? NULL : line, BLANKS, &rest);
    size_t length = word[3] ? strlen(word[3]) : 0;
    if (length < 5 || strcmp(word[3] + length - 4, ".mtx") || strtok_r(NULL, BLANKS, &rest))
        return fail(ERR_INPUT, "%s:%lld: expected 'SHA256 BYTES Group/Name FILE.mtx'", path,
                    number);
    return add_owner(f, word[3], length - 4, word[2]);
}

int matrix_folder_open(struct matrix_folder *f, const char *path)
{
    char lock[PATH_MAX + 16], *line = NULL;
    size_t size = 0;
    int err = OK;
    *f = (struct matrix_folder){0};
    snprintf(f->path, sizeof f->path, "%s", path);
    snprintf(lock, sizeof lock, "%s/fetch.lock", path);
    FILE *in = fopen(lock, "re");
    if (!in && (errno == ENOENT || errno == ENOTDIR)) return OK;
    if (!in) return fail(ERR_INPUT, "%s: %s", lock, strerror(errno));
    for (long long number = 1; !err && getline(&line, &size, in) > 0; number++)
        err = take_line(f, line, lock, number);
    if (!err && ferror(in)) err = fail(ERR_INPUT, "%s: %s", lock, strerror(errno));
    free(line);
    fclose(in);
    if (err) matrix_folder_close(f);
    return err;
}

void matrix_folder_close(struct matrix_folder *f)
{
    for (int64_t i = 0; i < f->count; i++) {
        mem_free(f->owners[i].file);
        mem_free(f->owners[i].matrix);
    }
    mem_free(f->owners);
    *f = (struct matrix_folder){0};
}

static bool is_of_another(const struct matrix_folder *f, const char *file, const char *matrix)
{
    for (int64_t i = 0; i < f->count; i++)
        if (!strcmp(f->owners[i].file, file)) return strcmp(f->owners[i].matrix, matrix) != 0;
    return false;
}

// Returns true if the folder has FILE.mtx, compressed or not.
static bool is_there(const struct matrix_folder *f, const char *file, char path[PATH_MAX],
                     struct stat *facts)
{
    static const char *const ends[] = {".mtx", ".mtx.gz", ".tar.gz"};
    for (int i = 0; i < COUNT(ends); i++) {
        int length = snprintf(path, PATH_MAX, "%s/%s%s", f->path, file, ends[i]);
        if (length < PATH_MAX && !stat(path, facts)) return true;
    }
    return false;
}

bool matrix_folder_find(const struct matrix_folder *f, const char *word, char path[PATH_MAX],
                        struct stat *facts)
{
    char file[PATH_MAX];
    const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;
    int group = slash ? (int)(slash - word) : 0;
    if (slash) {
        snprintf(file, sizeof file, "%.*s-%s", group, word, name);
        if (!is_of_another(f, file, word) && is_there(f, file, path, facts)) return true;
    }
    // A name without a group matches any group.
    if ((!slash || !is_of_another(f, name, word)) && is_there(f, name, path, facts)) return true;
    if (slash) {
        snprintf(file, sizeof file, "%s/%s", word, name);
        if (is_there(f, file, path, facts) || is_there(f, word, path, facts)) return true;
    }
    snprintf(file, sizeof file, "%s/%s", name, name);
    return is_there(f, file, path, facts);
}
