#include "cli/matrix_list.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/utf8.h"
#include "base/words.h"
#include "cli/first_look.h"
#include "cli/list_file.h"
#include "cli/matrix_folder.h"
#include "cli/matrix_names.h"
#include "data/gen.h"

#define ENTRY_BYTES 20 // estimated bytes of a nonzero in a file
#define NAMED       4  // missing files named in a message
#define INFLATED    4  // estimated ratio of compression

// State while the list is being made.
struct maker {
    struct matrix_list *m;
    const struct options *o;
    int64_t missing, lists;
    char names[256];             // names of some missing files
    struct matrix_folder folder; // folder of the current list
};

static bool is_packed(const char *path) { return ends_with(path, ".gz"); }

static bool is_matrix_name(const char *path)
{
    static const char *const ends[] = {".mtx", ".mtx.gz", ".tar.gz", ".tar"};
    for (int i = 0; i < COUNT(ends); i++)
        if (ends_with(path, ends[i])) return true;
    return false;
}

static void free_one(struct sweep_matrix *x)
{
    mem_free(x->path);
    mem_free(x->name);
}

void matrix_list_free(struct matrix_list *m)
{
    for (int64_t i = 0; i < m->count; i++) free_one(&m->all[i]);
    mem_free(m->all);
    *m = (struct matrix_list){0};
}

// Adds a matrix. `facts` are those of its file; NULL: a generated matrix.
static int add(struct maker *k, const char *path, int64_t bytes, const struct stat *facts)
{
    struct matrix_list *m = k->m;
    struct matrix M;
    int err = matrix_name(path, &M);
    if (err) return err;
    if (m->count == m->room) {
        int64_t room = m->room ? 2 * m->room : 64;
        struct sweep_matrix *all = mem_resize(m->all, m->room, room, sizeof *all);
        if (!all) {
            matrix_free(&M);
            return ERR_MEMORY;
        }
        m->all = all;
        m->room = room;
    }
    utf8_clean(M.name); // names are equal if their records are
    struct sweep_matrix *x = &m->all[m->count];
    *x = (struct sweep_matrix){.path = M.path,
                               .name = M.name,
                               .bytes = bytes,
                               .changed = facts ? facts->st_mtime : INT64_MIN,
                               .place = m->count};
    if (facts) x->file = file_mark_of(facts);
    m->count++;
    return OK;
}

static int note_missing(struct maker *k, const char *name)
{
    k->missing++;
    if (k->missing <= NAMED) words_add(k->names, sizeof k->names, ", ", name);
    if (k->missing == NAMED + 1) words_add(k->names, sizeof k->names, ", ", "...");
    return OK;
}

static int add_file(struct maker *k, const char *path, const struct stat *facts)
{
    int64_t bytes = facts->st_size;
    return add(k, path, is_packed(path) ? INFLATED * bytes : bytes, facts);
}

static int add_generated(struct maker *k, const char *spec)
{
    int64_t nnz;
    int err = gen_look(spec, &nnz);
    return err ? err : add(k, spec, min64(nnz, INT64_MAX / ENTRY_BYTES) * ENTRY_BYTES, NULL);
}

static int is_matrix_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && is_matrix_name(entry->d_name);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_folder(struct maker *k, const char *folder)
{
    struct dirent **list;
    int count = scandir(folder, &list, is_matrix_file, by_name), err = OK;
    if (count < 0) return fail(ERR_INPUT, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        struct stat facts;
        int length = snprintf(path, sizeof path, "%s%s%s", folder,
                              ends_with(folder, "/") ? "" : "/", list[i]->d_name);
        if (!err && length < PATH_MAX && !stat(path, &facts) && S_ISREG(facts.st_mode))
            err = add_file(k, path, &facts);
        free(list[i]);
    }
    free(list);
    if (!err && !count)
        err = fail(ERR_INPUT, "%s: no matrix is in this folder (.mtx, .mtx.gz, .tar.gz)", folder);
    return err;
}

// Adds an entry of a list: gen:SPEC, a file, or Group/Name, which is searched in the folder of the
// list.
static int add_entry(void *arg, const char *word)
{
    struct maker *k = arg;
    char path[PATH_MAX];
    struct stat facts;
    if (!strncmp(word, "gen:", 4)) return add_generated(k, word);
    if (is_matrix_name(word))
        return stat(word, &facts) ? note_missing(k, word) : add_file(k, word, &facts);
    return matrix_folder_find(&k->folder, word, path, &facts) ? add_file(k, path, &facts)
                                                              : note_missing(k, word);
}

static int add_list(struct maker *k, const char *path)
{
    char folder[PATH_MAX];
    k->lists++;
    list_file_folder(path, k->o->sweep.folder, folder);
    int err = matrix_folder_open(&k->folder, folder);
    if (!err) err = list_file_read(path, k->o->sweep.sets, add_entry, k);
    matrix_folder_close(&k->folder);
    return err;
}

static int add_word(struct maker *k, const char *word)
{
    struct stat facts;
    if (!strcmp(word, "-")) return fail(ERR_USAGE, "-: stdin can be read only once: give a file");
    if (!strncmp(word, "gen:", 4)) return add_generated(k, word);
    if (stat(word, &facts)) {
        if (k->o->sweep.skip_missing && errno == ENOENT) return note_missing(k, word);
        return add(k, word, 0, NULL); // look_at_all() reports the error
    }
    if (S_ISDIR(facts.st_mode)) return add_folder(k, word);
    if (!is_matrix_name(word) && !S_ISREG(facts.st_mode))
        return fail(ERR_INPUT, "%s: is neither a matrix nor a list of matrices", word);
    if (is_matrix_name(word) || list_file_is_matrix(word)) return add_file(k, word, &facts);
    return add_list(k, word);
}

static int check_missing(struct maker *k)
{
    struct matrix_list *m = k->m;
    if (!k->missing) return OK;
    if (k->o->sweep.skip_missing) {
        m->left_out = k->missing;
        memcpy(m->left_out_text, k->names, sizeof m->left_out_text);
        return OK;
    }
    return fail(ERR_INPUT,
                "%lld of the matrices %s missing: %s; fetch_suitesparse.sh downloads matrices, "
                "-dir sets their folder, -missing skip omits them",
                (long long)k->missing, k->missing == 1 ? "is" : "are", k->names);
}

static int compare_names(const void *x, const void *y)
{
    const struct sweep_matrix *a = x, *b = y;
    int order = strcmp(a->name, b->name);
    if (!order) order = strcmp(a->path, b->path);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static int compare_places(const void *x, const void *y)
{
    const struct sweep_matrix *a = x, *b = y;
    return (a->place > b->place) - (a->place < b->place);
}

static void sort(struct matrix_list *m, int (*compare)(const void *, const void *))
{
    if (m->count) qsort(m->all, (size_t)m->count, sizeof *m->all, compare);
}

// Removes files given twice.
static void keep_once(struct matrix_list *m)
{
    int64_t kept = 0;
    sort(m, compare_names);
    for (int64_t i = 0; i < m->count; i++)
        if (kept && !strcmp(m->all[kept - 1].path, m->all[i].path))
            free_one(&m->all[i]);
        else
            m->all[kept++] = m->all[i];
    m->count = kept;
    sort(m, compare_places);
}

static int look_at_all(const struct matrix_list *m, const struct options *o)
{
    const char **paths = mem_alloc(m->count, sizeof *paths);
    if (!paths) return ERR_MEMORY;
    for (int64_t i = 0; i < m->count; i++) paths[i] = m->all[i].path;
    int err = matrix_names_check(paths, m->count, "sweep");
    if (!err) err = first_look(o, paths, m->count);
    mem_free(paths);
    return err;
}

int matrix_list_make(struct matrix_list *m, const struct options *o)
{
    struct maker k = {.m = m, .o = o};
    int err = OK;
    *m = (struct matrix_list){0};
    for (int i = 0; i < o->operand_count && !err; i++) err = add_word(&k, o->operands[i]);
    if (!err && o->sweep.sets && !k.lists)
        err = fail(ERR_USAGE, "-set %s: no list with sets is given", o->sweep.sets);
    if (!err) err = check_missing(&k);
    if (!err) keep_once(m);
    if (!err && !m->count) err = fail(ERR_INPUT, "no matrix is left to measure");
    if (!err) err = look_at_all(m, o);
    if (err) matrix_list_free(m);
    return err;
}

int matrix_list_shard(struct matrix_list *m, int i, int n)
{
    int64_t kept = 0;
    sort(m, compare_names);
    for (int64_t a = 0; a < m->count; a++)
        if (a % n == i - 1)
            m->all[kept++] = m->all[a];
        else
            free_one(&m->all[a]);
    m->count = kept;
    sort(m, compare_places);
    return OK;
}
