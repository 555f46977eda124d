#include "bench/same_kernel.h"

#include <math.h>
#include <string.h>

// Times are equal if they differ by at most EQUAL_SHARE, or by OVERLAP_SHARE with intervals that
// overlap. H100: one kernel measured twice differs by up to 2 %.
#define EQUAL_SHARE   0.03
#define OVERLAP_SHARE 0.1

struct same_kernel_case {
    struct bench_case c;
    struct output_bits digest;
    double ms, ci_lo, ci_hi;
};

static bool equal_times(const struct same_kernel_case *x, const struct same_kernel_case *y)
{
    const bool overlap = x->ci_lo <= y->ci_hi && y->ci_lo <= x->ci_hi; // false if NaN
    const double share = overlap ? OVERLAP_SHARE : EQUAL_SHARE;
    return fmax(x->ms, y->ms) <= (1 + share) * fmin(x->ms, y->ms);
}

// Returns true if both are cases of one library that were measured in the same way.
static bool comparable(const struct bench_case *a, const struct bench_case *b)
{
    return a->entry != b->entry && !strcmp(a->entry->algo->vendor, b->entry->algo->vendor) &&
           !strcmp(a->device, b->device) && a->cold == b->cold && a->stream == b->stream;
}

static void keep(struct same_kernel *s, const struct same_kernel_case *x)
{
    if (s->count == s->room) {
        const int room = s->room ? 2 * s->room : 16;
        struct same_kernel_case *list = mem_alloc(room, sizeof *list);
        if (!list) {
            fail_drop(); // only a remark is lost
            return;
        }
        if (s->count) memcpy(list, s->list, (size_t)s->count * sizeof *list);
        mem_free(s->list);
        s->list = list;
        s->room = room;
    }
    s->list[s->count++] = *x;
}

const char *same_kernel_find(struct same_kernel *s, const struct result *r)
{
    const struct same_kernel_case x = {r->c, r->check.digest, r->timing.median, r->timing.ci_lo,
                                       r->timing.ci_hi};
    const char *found = NULL;
    if (r->status != STATUS_OK || !r->timed || !r->checked || !r->c.entry->algo->vendor)
        return NULL;
    for (int i = 0; i < s->count && !found; i++) {
        const struct same_kernel_case *y = &s->list[i];
        if (comparable(&x.c, &y->c) && output_same(&x.digest, &y->digest) && equal_times(&x, y))
            found = y->c.entry->name;
    }
    keep(s, &x);
    return found;
}

void same_kernel_free(struct same_kernel *s)
{
    mem_free(s->list);
    *s = (struct same_kernel){0};
}
