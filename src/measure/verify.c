#include "measure/verify.h"

#include "base/secret.h"

struct verify verify_start(struct task *t, struct reference *ref, enum check_mode mode,
                           const struct check *check, struct change *change)
{
    return (struct verify){
        .task = t, .ref = ref, .mode = mode, .change = change, .digest = check->digest};
}

static int judge(const struct verify *w, const struct check *found)
{
    // A wide tolerance is that of the check. Infinite elements could hide anything.
    if (check_overflows(found)) return fail(ERR_UNCHECKED, "not checked: %.130s", found->reason);
    if (found->ok || found->blind) return OK;
    return fail(
        ERR_WRONG, "the result of sample %lld, after the check%s: %s", (long long)w->samples,
        w->change && (w->change->dense_key || w->change->sparse_key) ? ", other operands" : "",
        found->reason);
}

// Compares all of the present result with the definition.
static int compare_whole(const struct verify *w, const struct problem *now)
{
    const enum check_mode once = w->mode == CHECK_FULL ? CHECK_FULL : CHECK_SAMPLE;
    struct check found;
    // A reference that serves once: a sample of rows, and a combination of all elements.
    int err = now->dense_key || now->sparse_key ? check_once(w->task, now, once, &found)
                                                : check_result(w->task, w->ref, w->mode, &found);
    return err ? err : judge(w, &found);
}

// Verifies the present result. Returns ERR_WRONG if the result is wrong.
static int look(struct verify *w)
{
    struct output_bits now;
    struct check found;
    const struct problem p = w->change ? change_problem(w->change) : *w->ref->p;
    const bool stale = w->stale;
    w->counts.looked++;
    int err = output_digest(w->task, &now);
    if (!err && !stale && output_same(&now, &w->digest)) return w->whole = 0, OK;
    if (err) return err;
    err = check_places(w->task, &p, w->seed, &w->tally, &found);
    if (!err) err = judge(w, &found);
    const bool whole = !stale && w->whole++ < VERIFY_WHOLE;
    w->counts.varied += !stale;
    if (!err && whole) err = compare_whole(w, &p);
    if (!err && (stale || whole)) w->digest = now;
    if (!err) w->stale = false;
    return err;
}

// A random quarter of the samples is verified beside 1, 2, 4, 8, ...: a fault in every 20th run
// never meets these numbers. Late samples: few are verified, and each can be.
#define LOOK_ONE_IN 4

bool verify_is_due(void *verify, int64_t sample, bool late)
{
    const uint64_t n = (uint64_t)sample + 1;
    (void)verify;
    return n == 1 || (!late && (n & (n - 1)) == 0) || secret_one_in(LOOK_ONE_IN);
}

int verify_change(void *verify, bool really)
{
    struct verify *w = verify;
    w->stale |= really;
    w->counts.changed += really;
    return change_operands(w->change, really);
}

void verify_lose(void *verify) { ((const struct verify *)verify)->change->lost = true; }

void verify_touch(void *verify) { output_touch(((const struct verify *)verify)->task); }

// The next run may get the memory of this result.
int verify_release(void *verify)
{
    struct verify *w = verify;
    int err = output_spoil(w->task, secret());
    task_release_result(w->task);
    return err;
}

int verify_before(void *verify)
{
    struct verify *w = verify;
    w->samples++;
    if (w->ref->p->op->result == RESULT_SPARSE) return OK;
    w->seed = secret();
    return output_spoil(w->task, w->seed);
}

int verify_after(void *verify)
{
    struct verify *w = verify;
    struct task *t = w->task;
    struct device *d = t->dev;
    int64_t peak = d->peak_bytes; // the memory of the verification is not the algorithm's
    int err = t->algo->finish ? unchecked(t->algo->finish(t)) : OK;
    if (!err) err = look(w);
    if (!err && w->ref->p->op->result == RESULT_SPARSE)
        err = verify_release(w);
    else
        task_release_result(t);
    d->peak_bytes = peak;
    return err;
}
