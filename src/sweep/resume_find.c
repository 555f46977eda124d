#include "sweep/resume.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

// The first case whose matrix has this name, or a later one.
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

// The cases of a name: from *first on, so many.
static int64_t find(const struct resume *r, const char *name, int64_t *first)
{
    *first = first_of(r, name);
    int64_t end = *first;
    while (end < r->count && !strcmp(r->cases[end].name, name)) end++;
    return end - *first;
}

// How many of the cases from this one on have the same key, of `count` at most.
static int64_t same_key(const struct resume_case *c, int64_t count)
{
    int64_t n = 1;
    while (n < count && !strcmp(c[0].key, c[n].key)) n++;
    return n;
}

// Whether a record is of the matrix that is asked for.
enum same { OTHER, SAME, PERHAPS }; // PERHAPS: if its content is

static enum same same_matrix(const struct resume_case *c, const struct resume_ask *ask)
{
    if (isnan(c->file_bytes) || !c->content) return c->made >= ask->changed ? SAME : OTHER;
    return c->file_bytes == (double)ask->file.bytes &&
                   c->file_changed_ns == (double)ask->file.changed_ns && !strcmp(c->path, ask->path)
               ? SAME
               : PERHAPS;
}

// Whether two records of a case are of one matrix, the second of which may be that.
static bool same_content(const struct resume_case *a, const struct resume_case *b,
                         const struct resume_ask *ask)
{
    if (a->content && b->content) return !strcmp(a->content, b->content);
    return same_matrix(a, ask) == SAME && same_matrix(b, ask) == SAME;
}

// Whether a case is finished of which these are the records.
static bool is_done(const struct resume_case *c, int64_t count, const struct resume_ask *ask)
{
    const struct resume_case *last = &c[count - 1];
    int64_t good = 0;
    if (same_matrix(last, ask) == OTHER) return false;
    if (!status_is_good(last->status)) return !ask->retry;
    for (int64_t i = 0; i < count; i++)
        good += status_is_good(c[i].status) && same_content(&c[i], last, ask);
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

// The names of the matrix as records have them.
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
                                  same_matrix(last, &ask) == PERHAPS ? last->content : NULL};
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
