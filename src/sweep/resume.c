#define _GNU_SOURCE // F_OFD_SETLKW
#include "sweep/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "records/record.h"
#include "records/record_read.h"
#include "records/record_tail.h"

#define LOCK_MS      3000.0 // to wait for a sweep that may be ending
#define LOCK_LOOK_US 50000

// The runs of a file, by the dates of their environments.
struct run {
    char id[17];
    int64_t made;
};
struct runs {
    struct run *list; // size count
    int64_t count, room;
};

// Adds the run of an environment.
static int add_run(struct runs *runs, const struct record *x)
{
    int err = mem_grow((void **)&runs->list, &runs->room, runs->count, sizeof *runs->list);
    if (err) return err;
    struct run *run = &runs->list[runs->count++];
    snprintf(run->id, sizeof run->id, "%s", x->run);
    run->made = x->when ? x->when : INT64_MIN;
    return OK;
}

static int64_t made_of(const struct runs *runs, const char *id)
{
    for (int64_t i = runs->count - 1; i >= 0; i--)
        if (!strcmp(runs->list[i].id, id)) return runs->list[i].made;
    return INT64_MIN;
}

// Adds a case, and takes the texts of its record.
static int add_case(struct resume *r, struct record *x, const struct runs *runs)
{
    int err = mem_grow((void **)&r->cases, &r->room, r->count, sizeof *r->cases);
    if (err) return err;
    r->cases[r->count] = (struct resume_case){.key = x->key,
                                              .name = x->matrix,
                                              .path = x->path,
                                              .prefix = case_key_prefix(x->key, x->matrix),
                                              .status = x->status,
                                              .dropped = x->dropped,
                                              .made = made_of(runs, x->run),
                                              .content = x->content,
                                              .file_bytes = x->file_bytes,
                                              .file_changed_ns = x->file_changed_ns,
                                              .place = r->count};
    r->count++;
    x->key = x->matrix = x->path = x->content = NULL;
    return OK;
}

static int add_line(struct resume *r, struct runs *runs, const char *line)
{
    struct record x;
    int err = record_read(line, &x);
    if (err) return err;
    if (x.kind == RECORD_ENVIRONMENT) err = add_run(runs, &x);
    if (x.kind == RECORD_RESULT) err = add_case(r, &x, runs);
    record_free(&x);
    return err;
}

static int by_case(const void *x, const void *y)
{
    const struct resume_case *a = x, *b = y;
    int order = strcmp(a->name, b->name);
    if (!order) order = strcmp(a->key, b->key);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static void free_case(struct resume_case *c)
{
    mem_free(c->key);
    mem_free(c->name);
    mem_free(c->path);
    mem_free(c->content);
}

// Takes a line. Ignores the part of a record that a crash left at the end: record_open() cuts it
// off.
static int take_line(struct resume *r, struct runs *runs, char *line, int64_t length)
{
    bool ended = line[length - 1] == '\n', part = false;
    if (ended) line[--length] = 0;
    int err = (int64_t)strlen(line) == length ? add_line(r, runs, line)
                                              : fail(ERR_INPUT, "no record: a zero byte");
    if (err == ERR_INPUT && !ended) {
        int own = record_tail_judge(line, length, &part);
        if (own || part) return own;
    }
    r->lines++;
    return err;
}

static int read_lines(struct resume *r, FILE *f, const char *path)
{
    struct runs runs = {0};
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    int err = OK;
    while (!err && (length = getline(&line, &size, f)) > 0) {
        err = interrupted ? fail(ERR_INTERRUPTED, "%s: interrupted", path)
                          : take_line(r, &runs, line, length);
        if (err == ERR_INPUT)
            err = fail(ERR_USAGE, "-o %s:%lld: %s; the file is left as it is", path,
                       (long long)r->lines, fail_text());
    }
    if (!err && ferror(f)) err = fail(ERR_USAGE, "-o %s: %s", path, strerror(errno));
    free(line);
    mem_free(runs.list);
    return err;
}

int resume_read(struct resume *r, const char *path)
{
    struct stat facts;
    *r = (struct resume){0};
    int err = record_check_name(path);
    if (err) return err;
    if (!stat(path, &facts) && !S_ISREG(facts.st_mode)) return OK; // a pipe keeps nothing
    FILE *f = fopen(path, "re");
    if (!f && errno == ENOENT) return OK;
    if (!f) return fail(ERR_OUTPUT, "%s: cannot be read: %s", path, strerror(errno));
    r->exists = true;
    err = read_lines(r, f, path);
    fclose(f);
    if (err) resume_free(r);
    if (r->count) qsort(r->cases, (size_t)r->count, sizeof *r->cases, by_case);
    return err;
}

int resume_lock(const char *path, int *fd)
{
    struct flock mark = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = RECORD_LOCK_END, .l_len = 1};
    double begin = clock_ms();
    *fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    // A sweep that was killed while it started a worker leaves the lock to that process for a
    // moment.
    for (; *fd >= 0 && !interrupted && clock_ms() - begin < LOCK_MS; usleep(LOCK_LOOK_US)) {
        if (!fcntl(*fd, F_OFD_SETLK, &mark)) return OK;
        if (errno != EAGAIN && errno != EACCES) return OK; // a file system without locks
    }
    if (*fd < 0) return OK; // record_open() fails with the reason
    close(*fd);
    *fd = -1;
    return fail(ERR_OUTPUT, "-o %s: another sweep is writing to it", path);
}

void resume_free(struct resume *r)
{
    for (int64_t i = 0; i < r->count; i++) free_case(&r->cases[i]);
    mem_free(r->cases);
    *r = (struct resume){0};
}

// Returns the index of the first case whose matrix has this name, or a later one.
static int64_t first_of(const struct resume *r, const char *name)
{
    int64_t low = 0, high = r->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (strcmp(r->cases[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Returns the number of cases of a name, and sets *first to the index of the first.
static int64_t find(const struct resume *r, const char *name, int64_t *first)
{
    *first = first_of(r, name);
    int64_t end = *first;
    while (end < r->count && !strcmp(r->cases[end].name, name)) end++;
    return end - *first;
}

// Returns how many cases from this one on, at most `count`, have the same key.
static int64_t same_key(const struct resume_case *c, int64_t count)
{
    int64_t n = 1;
    while (n < count && !strcmp(c[0].key, c[n].key)) n++;
    return n;
}

// Relation of a record to the requested matrix. UNVERIFIED: the content decides.
enum same { OTHER, SAME, UNVERIFIED };

static enum same same_matrix(const struct resume_case *c, const struct resume_ask *ask)
{
    if (isnan(c->file_bytes) || !c->content) return c->made >= ask->changed ? SAME : OTHER;
    return c->file_bytes == (double)ask->file.bytes &&
                   c->file_changed_ns == (double)ask->file.changed_ns && !strcmp(c->path, ask->path)
               ? SAME
               : UNVERIFIED;
}

// Returns true if two records of a case are of the same matrix.
static bool same_content(const struct resume_case *a, const struct resume_case *b,
                         const struct resume_ask *ask)
{
    if (a->content && b->content) return !strcmp(a->content, b->content);
    return same_matrix(a, ask) == SAME && same_matrix(b, ask) == SAME;
}

// Returns true if a case with these records is finished.
static bool is_done(const struct resume_case *c, int64_t count, const struct resume_ask *ask)
{
    const struct resume_case *last = &c[count - 1];
    int64_t good = 0;
    if (same_matrix(last, ask) == OTHER) return false;
    if (!status_is_good(last->status)) return !ask->retry;
    if (last->dropped) return ask->race;
    for (int64_t i = 0; i < count; i++)
        good += status_is_good(c[i].status) && !c[i].dropped && same_content(&c[i], last, ask);
    return good >= ask->rounds;
}

void endings_add(struct endings *t, enum status status, const char *key, const char *name)
{
    t->by_status[status]++;
    t->unread += !status_is_good(status) && case_key_unread(key, name);
}

static bool begins_with(const struct resume_case *c, const char *prefix)
{
    return (int64_t)strlen(prefix) == c->prefix && !strncmp(c->key, prefix, (size_t)c->prefix);
}

static bool is_among(const struct resume_case *c, const struct texts *prefixes)
{
    for (int64_t p = 0; p < prefixes->count; p++)
        if (begins_with(c, prefixes->list[p])) return true;
    return false;
}

// Name and path of a matrix as records have them.
struct names {
    char name[CASE_KEY_MAX], path[CASE_KEY_MAX];
};

static struct resume_ask clean(const struct resume_ask *ask, struct names *n)
{
    struct resume_ask own = *ask;
    snprintf(n->name, sizeof n->name, "%s", ask->name);
    snprintf(n->path, sizeof n->path, "%s", ask->path);
    utf8_clean(n->name);
    utf8_clean(n->path);
    own.name = n->name;
    own.path = n->path;
    return own;
}

int resume_done(const struct resume *r, const struct resume_ask *asked,
                const struct texts *prefixes, struct resume_list *out)
{
    struct names names;
    const struct resume_ask ask = clean(asked, &names);
    int64_t first, count = find(r, ask.name, &first);
    *out = (struct resume_list){.list = mem_alloc(count, sizeof *out->list)};
    if (!out->list) return ERR_MEMORY;
    for (int64_t i = first, n; i < first + count; i += n) {
        n = same_key(&r->cases[i], first + count - i);
        const struct resume_case *last = &r->cases[i + n - 1];
        if (!is_done(&r->cases[i], n, &ask) || !is_among(last, prefixes)) continue;
        out->list[out->count++] =
            (struct resume_found){last->key, last->name, last->path, last->status,
                                  same_matrix(last, &ask) == UNVERIFIED ? last->content : NULL};
    }
    return OK;
}

bool resume_has_all(const struct resume *r, const struct resume_ask *asked,
                    const struct texts *prefixes)
{
    struct names names;
    const struct resume_ask ask = clean(asked, &names);
    int64_t first, count = find(r, ask.name, &first);
    for (int64_t p = 0; p < prefixes->count; p++) {
        bool found = false;
        for (int64_t i = first, n; i < first + count && !found; i += n) {
            n = same_key(&r->cases[i], first + count - i);
            const struct resume_case *last = &r->cases[i + n - 1];
            found = begins_with(last, prefixes->list[p]) && !strcmp(last->path, ask.path) &&
                    same_matrix(last, &ask) == SAME && is_done(&r->cases[i], n, &ask);
        }
        if (!found) return false;
    }
    return true;
}
