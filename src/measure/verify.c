#include "measure/verify.h"

#include <math.h>

#include "measure/tolerance.h"

// The sums of two right results differ by what rounding did in each, of which they may have as much
// as the check allows an element; and each sum has a few roundings of its own, in double.
#define OWN_ROUNDINGS 16
static bool is_near(const struct verify *w, const struct digest *x)
{
    const struct digest *first = &w->first->digest.array[0];
    double rounding = ELEMENT_SIZES * 2 * w->first->spread;
    double own = OWN_ROUNDINGS * prec_unit_roundoff(F64) * (x->size + first->size);
    return isfinite(rounding + own) && fabs(x->sum - first->sum) <= rounding + own;
}

// What is wrong with the result that is there, if anything.
static int look(struct verify *w, bool last)
{
    struct output_sums now;
    struct check again;
    int err = output_digest(w->task, &now);
    if (err) return err;
    w->looks.looked++;
    if (output_same(&now, &w->first->digest)) return OK;
    w->looks.varied++;
    if (!last && output_same_structure(&now, &w->first->digest) && is_near(w, &now.array[0]))
        return OK;
    w->looks.rechecked++;
    err = check_result(w->task, w->ref, w->mode, &again);
    if (err || again.ok) return err;
    return fail(ERR_WRONG, "the result of sample %lld, after the check: %s", (long long)w->samples,
                again.reason);
}

// Beside samples 1, 2, 4, 8, ...: a fault in every 20th run has no sample number in common with
// those.
#define LOOK_ONE_IN 4
#define LOOK_STREAM ((uint64_t)1 << 40) // apart from the rows of the check

bool verify_is_due(void *watch, int64_t sample)
{
    const struct verify *w = watch;
    const uint64_t n = (uint64_t)sample + 1;
    return w->looks.varied || (n & (n - 1)) == 0 ||
           random_at(w->ref->p->seed, LOOK_STREAM + n) % LOOK_ONE_IN == 0;
}

// The next run may get the memory of this result.
int verify_release(void *watch)
{
    struct verify *w = watch;
    int err = output_spoil(w->task, (uint64_t)w->samples);
    task_release_result(w->task);
    return err;
}

int verify_before(void *watch, bool last)
{
    struct verify *w = watch;
    struct task *t = w->task;
    w->samples++;
    if (w->ref->p->op->result == RESULT_SPARSE) {
        t->dev->poison = last; // what is allocated holds NaN
        return OK;
    }
    return last ? output_poison(t) : output_spoil(t, (uint64_t)w->samples);
}

int verify_after(void *watch, bool last)
{
    struct verify *w = watch;
    struct task *t = w->task;
    struct device *d = t->dev;
    int64_t peak = d->peak_bytes; // what looking takes is not the algorithm's
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
