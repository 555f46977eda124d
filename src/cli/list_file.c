#include "cli/list_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"

#define BLANKS   " \t\r\n"
#define SETS_MAX 64

// Sets named by -sets.
struct wanted {
    char names[SETS_MAX][WORD_MAX];
    bool found[SETS_MAX];
    int count;
};

static int wanted_parse(struct wanted *w, const char *sets)
{
    const char *rest = sets;
    char item[WORD_MAX];
    int more;
    *w = (struct wanted){0};
    while (sets && (more = words_next(&rest, item)) != 0) {
        if (more < 0) return words_bad("set", sets);
        if (w->count == SETS_MAX)
            return fail(ERR_USAGE, "-set %s: more than %d sets", sets, SETS_MAX);
        snprintf(w->names[w->count++], WORD_MAX, "%s", item);
    }
    return OK;
}

// Returns true if one of the remaining words is a wanted set. Marks each set found.
static bool in_wanted(struct wanted *w, char **rest)
{
    bool hit = !w->count;
    for (char *set; (set = strtok_r(NULL, BLANKS, rest));)
        for (int i = 0; i < w->count; i++)
            if (!strcmp(w->names[i], set)) hit = w->found[i] = true;
    return hit;
}

static int all_found(const struct wanted *w, const char *path)
{
    for (int i = 0; i < w->count; i++)
        if (!w->found[i])
            return fail(ERR_USAGE, "-set %s: no matrix of %s is in such a set", w->names[i], path);
    return OK;
}

int list_file_read(const char *path, const char *sets, int (*take)(void *arg, const char *word),
                   void *arg)
{
    struct wanted wanted;
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    int err = wanted_parse(&wanted, sets);
    if (err) return err;
    FILE *f = fopen(path, "re");
    if (!f) return fail(ERR_INPUT, "%s: %s", path, strerror(errno));
    for (long long number = 1; !err && (length = getline(&line, &size, f)) > 0; number++) {
        char *rest = NULL;
        if (strlen(line) != (size_t)length) {
            err = fail(ERR_INPUT, "%s:%lld: is neither a matrix nor a list of matrices", path,
                       number);
            break;
        }
        line[strcspn(line, "#")] = 0;
        char *word = strtok_r(line, BLANKS, &rest);
        if (word && word[0] != '@' && in_wanted(&wanted, &rest)) err = take(arg, word);
    }
    if (!err && ferror(f)) err = fail(ERR_INPUT, "%s: %s", path, strerror(errno));
    free(line);
    fclose(f);
    return err ? err : all_found(&wanted, path);
}

bool list_file_is_matrix(const char *path)
{
    unsigned char head[15] = "";
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(head, 1, 14, f) : 0;
    if (f) fclose(f);
    return !strncmp((char *)head, "%%MatrixMarket", 14) ||
           (n > 1 && head[0] == 31 && head[1] == 139);
}

void list_file_folder(const char *path, const char *given, char folder[])
{
    const char *slash = strrchr(path, '/');
    if (given)
        snprintf(folder, PATH_MAX, "%s", given);
    else
        snprintf(folder, PATH_MAX, "%.*smatrices", slash ? (int)(slash + 1 - path) : 0, path);
}
