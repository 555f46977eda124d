#include "cli/matrices/matrix_list.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/utf8.h"
#include "base/words.h"
#include "cli/matrices/matrix_check.h"
#include "cli/matrices/matrix_folder.h"
#include "data/gen.h"

#define ENTRY_BYTES    20 // estimated bytes of a nonzero in a file
#define NAMES_SHOWN    4  // missing files named in a message
#define NAME_SHOWN_MAX 60 // bytes of such a name
#define INFLATED       4  // estimated ratio of compression
#define BLANKS         " \t\r\n"
#define SETS_MAX       64
// Some editors write this character, U+FEFF, at the start of a text in UTF-8.
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

// Sets named by -set, and the sets found in the list.
struct wanted_sets {
    char names[SETS_MAX][WORD_MAX];
    bool found[SETS_MAX];
    int count;
};

static int wanted_parse(struct wanted_sets *w, const char *sets)
{
    const char *rest = sets;
    char item[WORD_MAX];
    int more;
    *w = (struct wanted_sets){0};
    while (sets && (more = words_next(&rest, item)) != 0) {
        if (more < 0) return words_bad("set", sets);
        if (w->count == SETS_MAX)
            return fail(ERR_USAGE, "-set %s: more than %d sets", sets, SETS_MAX);
        snprintf(w->names[w->count++], WORD_MAX, "%s", item);
    }
    return OK;
}

// Returns true if one of the remaining words is a wanted set. Marks each set found.
static bool in_wanted(struct wanted_sets *w, char **rest)
{
    bool wanted = !w->count;
    for (char *set; (set = strtok_r(NULL, BLANKS, rest));)
        for (int i = 0; i < w->count; i++)
            if (!strcmp(w->names[i], set)) wanted = w->found[i] = true;
    return wanted;
}

static int all_found(const struct wanted_sets *w, const char *path)
{
    for (int i = 0; i < w->count; i++)
        if (!w->found[i])
            return fail(ERR_USAGE, "-set %s: no matrix of %s is in such a set", w->names[i], path);
    return OK;
}

// Sets *word to the first word of a line, or to a text between quotes, which can have blanks and #.
// In a line without a matrix sets *word to NULL. Sets *rest to the sets. Returns false if a quote
// is not closed, or is empty.
static bool split_line(char *line, char **word, char **rest)
{
    char *start = line + strspn(line, BLANKS);
    if (*start != '"') {
        line[strcspn(line, "#")] = 0;
        *word = strtok_r(line, BLANKS, rest);
        return true;
    }
    char *end = strchr(++start, '"');
    if (!end || end == start) return false;
    *end = 0;
    end[1 + strcspn(end + 1, "#")] = 0;
    *word = start;
    *rest = end + 1;
    return true;
}

// Calls `take` with each matrix of a list that is in one of the sets (comma-separated; NULL: all).
// Returns the error of `take`, or an error in the list or in `sets`.
static int read_list(const char *path, const char *sets, int (*take)(void *arg, const char *word),
                     void *arg)
{
    struct wanted_sets wanted;
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    int err = wanted_parse(&wanted, sets);
    if (err) return err;
    FILE *f = fopen(path, "re");
    if (!f) return fail(ERR_INPUT, "%s: %s", path, strerror(errno));
    for (long long number = 1; !err && (length = getline(&line, &size, f)) > 0; number++) {
        char *rest = NULL, *word;
        bool marked = number == 1 && !strncmp(line, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK));
        if (strlen(line) != (size_t)length)
            err = fail(ERR_INPUT, "%s:%lld: is neither a matrix nor a list of matrices", path,
                       number);
        else if (!split_line(line + (marked ? strlen(BYTE_ORDER_MARK) : 0), &word, &rest))
            err = fail(ERR_INPUT, "%s:%lld: a quote is not closed, or is empty", path, number);
        else if (word && word[0] != '@' && in_wanted(&wanted, &rest))
            err = take(arg, word);
    }
    if (!err && ferror(f)) err = fail(ERR_INPUT, "%s: %s", path, strerror(errno));
    free(line);
    fclose(f);
    return err ? err : all_found(&wanted, path);
}

// Returns true if a file begins like a matrix, not like a list.
static bool begins_as_matrix(const char *path)
{
    unsigned char head[15] = "";
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(head, 1, 14, f) : 0;
    if (f) fclose(f);
    return !strncmp((char *)head, "%%MatrixMarket", 14) ||
           (n > 1 && head[0] == 31 && head[1] == 139);
}

// Sets `folder` to the folder of a list's matrices: `given`, or matrices/ beside the list.
static void list_folder(const char *path, const char *given, char folder[])
{
    const char *slash = strrchr(path, '/');
    if (given)
        snprintf(folder, PATH_MAX, "%s", given);
    else
        snprintf(folder, PATH_MAX, "%.*smatrices", slash ? (int)(slash + 1 - path) : 0, path);
}

// State while the list is being made.
struct list_state {
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
static int add(struct list_state *s, const char *path, int64_t bytes, const struct stat *facts)
{
    struct matrix_list *m = s->m;
    struct matrix M;
    int err = matrix_name(path, &M);
    if (err) return err;
    err = mem_grow((void **)&m->all, &m->room, m->count, sizeof *m->all);
    if (err) {
        matrix_free(&M);
        return err;
    }
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

static int note_missing(struct list_state *s, const char *name)
{
    char shown[NAME_SHOWN_MAX];
    s->missing++;
    if (s->missing <= NAMES_SHOWN)
        words_add(s->names, sizeof s->names, ", ", utf8_visible(name, shown, sizeof shown));
    if (s->missing == NAMES_SHOWN + 1) words_add(s->names, sizeof s->names, ", ", "...");
    return OK;
}

static int add_file(struct list_state *s, const char *path, const struct stat *facts)
{
    int64_t bytes = facts->st_size;
    return add(s, path, is_packed(path) ? INFLATED * bytes : bytes, facts);
}

static int add_generated(struct list_state *s, const char *spec)
{
    int64_t nnz;
    int err = gen_look(spec, &nnz);
    return err ? err : add(s, spec, min64(nnz, INT64_MAX / ENTRY_BYTES) * ENTRY_BYTES, NULL);
}

static int is_matrix_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && is_matrix_name(entry->d_name);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

// Adds a file of a folder. Notes an entry that is no file, such as a link to nothing, as missing.
static int add_folder_entry(struct list_state *s, const char *folder, const char *name)
{
    char path[PATH_MAX + NAME_MAX + 2];
    struct stat facts;
    snprintf(path, sizeof path, "%s%s%s", folder, ends_with(folder, "/") ? "" : "/", name);
    if (!stat(path, &facts) && S_ISREG(facts.st_mode)) return add_file(s, path, &facts);
    bool is_link = !lstat(path, &facts) && S_ISLNK(facts.st_mode);
    words_print(path, sizeof path, " (%s)", is_link ? "a link to no file" : "no regular file");
    return note_missing(s, path);
}

static int add_folder(struct list_state *s, const char *folder)
{
    struct dirent **list;
    int count = scandir(folder, &list, is_matrix_file, by_name), err = OK;
    if (count < 0) return fail(ERR_INPUT, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        if (!err) err = add_folder_entry(s, folder, list[i]->d_name);
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
    struct list_state *s = arg;
    char path[PATH_MAX];
    struct stat facts;
    if (!strncmp(word, "gen:", 4)) return add_generated(s, word);
    if (is_matrix_name(word))
        return stat(word, &facts) ? note_missing(s, word) : add_file(s, word, &facts);
    return matrix_folder_find(&s->folder, word, path, &facts) ? add_file(s, path, &facts)
                                                              : note_missing(s, word);
}

static int add_list(struct list_state *s, const char *path)
{
    char folder[PATH_MAX];
    s->lists++;
    list_folder(path, s->o->sweep.folder, folder);
    int err = matrix_folder_open(&s->folder, folder);
    if (!err) err = read_list(path, s->o->sweep.sets, add_entry, s);
    matrix_folder_close(&s->folder);
    return err;
}

// Adds a matrix of `run`, which takes neither folders nor lists.
static int add_matrix(struct list_state *s, const char *word)
{
    struct stat facts;
    bool file = strcmp(word, "-") && !stat(word, &facts) && S_ISREG(facts.st_mode);
    return file ? add_file(s, word, &facts) : add(s, word, 0, NULL);
}

static int add_word(struct list_state *s, const char *word)
{
    struct stat facts;
    if (!strcmp(word, "-")) return fail(ERR_USAGE, "-: stdin can be read only once: give a file");
    if (!strncmp(word, "gen:", 4)) return add_generated(s, word);
    if (stat(word, &facts)) {
        if (s->o->sweep.missing == MISSING_SKIP && errno == ENOENT) return note_missing(s, word);
        return add(s, word, 0, NULL); // look_at_all() reports the error
    }
    if (S_ISDIR(facts.st_mode)) return add_folder(s, word);
    if (!is_matrix_name(word) && !S_ISREG(facts.st_mode))
        return fail(ERR_INPUT, "%s: is neither a matrix nor a list of matrices", word);
    if (is_matrix_name(word) || begins_as_matrix(word)) return add_file(s, word, &facts);
    return add_list(s, word);
}

static int check_missing(struct list_state *s)
{
    struct matrix_list *m = s->m;
    if (!s->missing) return OK;
    if (s->o->sweep.missing == MISSING_SKIP) {
        m->left_out = s->missing;
        memcpy(m->left_out_text, s->names, sizeof m->left_out_text);
        return OK;
    }
    return fail(ERR_INPUT,
                "%lld of the matrices %s missing: %s; fetch_suitesparse.sh downloads matrices, "
                "-dir sets their folder, -missing skip omits them",
                (long long)s->missing, s->missing == 1 ? "is" : "are", s->names);
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

// Removes files given twice, which are neighbours.
static void remove_duplicates(struct matrix_list *m)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < m->count; i++)
        if (kept && !strcmp(m->all[kept - 1].path, m->all[i].path))
            free_one(&m->all[i]);
        else
            m->all[kept++] = m->all[i];
    m->count = kept;
}

// Returns ERR_USAGE if two different files have the same name in records. They are neighbours.
static int check_names(const struct matrix_list *m, const char *command)
{
    for (int64_t i = 1; i < m->count; i++) {
        const struct sweep_matrix *a = &m->all[i - 1], *b = &m->all[i];
        if (!strcmp(a->name, b->name) && strcmp(a->path, b->path))
            return fail(ERR_USAGE,
                        "%s and %s: two matrices with the same name in records; use a separate %s "
                        "for each",
                        a->path, b->path, command);
    }
    return OK;
}

static int look_at_all(const struct matrix_list *m, const struct options *o)
{
    const char **paths = mem_alloc(m->count, sizeof *paths);
    if (!paths) return ERR_MEMORY;
    for (int64_t i = 0; i < m->count; i++) paths[i] = m->all[i].path;
    int err = matrix_check_files(o, paths, m->count);
    mem_free(paths);
    return err;
}

int matrix_list_make(struct matrix_list *m, const struct options *o)
{
    struct list_state k = {.m = m, .o = o};
    const bool run = o->command == COMMAND_RUN;
    int err = OK;
    *m = (struct matrix_list){0};
    if (run) err = matrix_check_files(o, (const char *const *)o->operands, o->operand_count);
    for (int i = 0; i < o->operand_count && !err; i++)
        err = run ? add_matrix(&k, o->operands[i]) : add_word(&k, o->operands[i]);
    if (!err && o->sweep.sets && !k.lists)
        err = fail(ERR_USAGE, "-set %s: no list with sets is given", o->sweep.sets);
    if (!err) err = check_missing(&k);
    sort(m, compare_names);
    if (!err && !run) remove_duplicates(m);
    if (!err) err = check_names(m, run ? "run" : "sweep");
    sort(m, compare_places);
    if (!err && !m->count) err = fail(ERR_INPUT, "no matrix is left to measure");
    if (!err && !run) err = look_at_all(m, o);
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
