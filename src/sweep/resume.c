#define _GNU_SOURCE // strptime, timegm, F_OFD_SETLKW
#include "sweep/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "records/json.h"
#include "records/record.h"
#include "records/record_read.h"
#include "records/record_tail.h"

#define LOCK_MS      3000.0 // to wait for a sweep that may be ending
#define LOCK_LOOK_US 50000

// When the runs of the file began.
struct run {
    char id[17];
    int64_t made;
};
struct runs {
    struct run *list; // size count
    int64_t count, room;
};

static int64_t seconds_of(const char *date)
{
    struct tm utc = {0};
    const char *end = date ? strptime(date, "%Y-%m-%dT%H:%M:%SZ", &utc) : NULL;
    return end && !*end ? (int64_t)timegm(&utc) : INT64_MIN;
}

// Takes the date of an environment.
static int add_run(struct runs *runs, const char *line, const struct record *x)
{
    cJSON *o;
    int err = json_parse(line, &o);
    if (!err) err = mem_grow((void **)&runs->list, &runs->room, runs->count, sizeof *runs->list);
    if (!err) {
        struct run *run = &runs->list[runs->count++];
        const char *date = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "date"));
        snprintf(run->id, sizeof run->id, "%s", x->run ? x->run : "");
        run->made = seconds_of(date);
    }
    cJSON_Delete(o);
    return err;
}

static int64_t made_of(const struct runs *runs, const char *id)
{
    for (int64_t i = runs->count - 1; i >= 0; i--)
        if (!strcmp(runs->list[i].id, id ? id : "")) return runs->list[i].made;
    return INT64_MIN;
}

// Takes over the texts.
static int add_case(struct resume *r, struct record *x, const struct runs *runs)
{
    int err = mem_grow((void **)&r->cases, &r->room, r->count, sizeof *r->cases);
    if (err) return err;
    r->cases[r->count] = (struct resume_case){.key = x->key,
                                              .name = x->matrix,
                                              .path = x->path,
                                              .prefix = case_key_prefix(x->key, x->matrix),
                                              .status = x->status,
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
    if (x.kind == RECORD_ENVIRONMENT) err = add_run(runs, line, &x);
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

// The next line. The beginning of a record, which a crash has left at the end of the file, counts
// for nothing: who opens the file to write cuts it off.
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
    if (!stat(path, &facts) && !S_ISREG(facts.st_mode)) return OK; // a pipe: nothing is kept there
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
    // A sweep that was killed as it started a worker leaves it the lock for a moment.
    for (; *fd >= 0 && !interrupted && clock_ms() - begin < LOCK_MS; usleep(LOCK_LOOK_US)) {
        if (!fcntl(*fd, F_OFD_SETLK, &mark)) return OK;
        if (errno != EAGAIN && errno != EACCES) return OK; // some file systems have no locks
    }
    if (*fd < 0) return OK; // who writes to it tells why
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
