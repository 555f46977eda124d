#include "measure/verify.h"

#include <math.h>

#include "measure/tolerance.h"

// Returns true if the sum of x agrees with that of the checked result. Both results may have the
// rounding errors that the check allows. Each sum adds a few roundings of its own, in double.
#define OWN_ROUNDINGS 16
static bool is_near(const struct verify *w, const struct digest *x)
{
    const struct digest *first = &w->first->digest.array[0];
    double rounding = ELEMENT_SIZES * 2 * w->first->spread;
    double own = OWN_ROUNDINGS * prec_unit_roundoff(F64) * (x->size + first->size);
    return isfinite(rounding + own) && fabs(x->sum - first->sum) <= rounding + own;
}

// Verifies the present result. Returns ERR_WRONG if the result is wrong.
static int look(struct verify *w, bool last)
{
    struct output_sums now;
    struct check again;
    int err = output_digest(w->task, &now);
    if (err) return err;
    w->counts.verified++;
    if (output_same(&now, &w->first->digest)) return OK;
    w->counts.varied++;
    if (!last && output_same_structure(&now, &w->first->digest) && is_near(w, &now.array[0]))
        return OK;
    w->counts.rechecked++;
    err = check_result(w->task, w->ref, w->mode, &again);
    if (err || again.ok) return err;
    return fail(ERR_WRONG, "the result of sample %lld, after the check: %s", (long long)w->samples,
                again.reason);
}

// A random quarter of the samples is verified beside 1, 2, 4, 8, ...: a fault in every 20th run
// never meets these numbers.
#define LOOK_ONE_IN 4
#define LOOK_STREAM ((uint64_t)1 << 40) // random numbers that the rows of the check do not use

bool verify_is_due(void *verify, int64_t sample)
{
    const struct verify *w = verify;
    const uint64_t n = (uint64_t)sample + 1;
    return w->counts.varied || (n & (n - 1)) == 0 ||
           random_at(w->ref->p->seed, LOOK_STREAM + n) % LOOK_ONE_IN == 0;
}

// The next run may get the memory of this result.
int verify_release(void *verify)
{
    struct verify *w = verify;
    int err = output_spoil(w->task, (uint64_t)w->samples);
    task_release_result(w->task);
    return err;
}

int verify_before(void *verify, bool last)
{
    struct verify *w = verify;
    struct task *t = w->task;
    w->samples++;
    if (w->ref->p->op->result == RESULT_SPARSE) {
        t->dev->poison = last; // fill allocated memory with NaN
        return OK;
    }
    return last ? output_poison(t) : output_spoil(t, (uint64_t)w->samples);
}

int verify_after(void *verify, bool last)
{
    struct verify *w = verify;
    struct task *t = w->task;
    struct device *d = t->dev;
    int64_t peak = d->peak_bytes; // the memory of the verification is not the algorithm's
    d->poison = false;
    int err = t->algo->finish ? unchecked(t->algo->finish(t)) : OK;
    if (!err) err = look(w, last);
    if (!err && w->ref->p->op->result == RESULT_SPARSE)
        err = verify_release(w);
    else
        task_release_result(t);
    d->peak_bytes = peak;
    return err;
}
