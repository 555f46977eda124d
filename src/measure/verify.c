#include "measure/verify.h"

#include <math.h>

#include "base/secret.h"
#include "measure/tolerance.h"

// Returns true if the sum of x agrees with that of the checked result. Both results may have the
// rounding errors that the check allows. Each sum adds a few roundings of its own, in double.
#define OWN_ROUNDINGS 16
static bool is_near(const struct verify *w, const struct digest *x)
{
    const struct digest *first = &w->first->digest.array[0];
    double rounding = ELEMENT_SIZES * 2 * w->first->spread;
    double own = OWN_ROUNDINGS * type_list[F64].unit * (x->size + first->size);
    return isfinite(rounding + own) && fabs(x->sum - first->sum) <= rounding + own;
}

// Checks the present result like the first one. Returns ERR_WRONG if the result is wrong.
static int check_again(struct verify *w, struct reference *ref, enum check_mode mode,
                       const char *inputs)
{
    struct check again;
    w->counts.rechecked++;
    int err = check_result(w->task, ref, mode, &again);
    if (err || again.ok || again.blind) return err;
    return fail(ERR_WRONG, "the result of sample %lld, after the check%s: %s",
                (long long)w->samples, inputs, again.reason);
}

// Verifies the present result. Returns ERR_WRONG if the result is wrong.
static int look(struct verify *w, bool anew)
{
    struct output_sums now;
    w->counts.verified++;
    // A combination of all elements shows a row that was kept. Its reference is cheap.
    const enum check_mode anew_mode = w->mode == CHECK_FULL ? CHECK_FULL : CHECK_SAMPLE;
    if (w->fresh && w->fresh->drawn)
        return check_again(w, w->fresh->anew, anew_mode, ", with other inputs");
    int err = w->fresh ? fresh_undo(w->fresh) : OK;
    if (!err) err = output_digest(w->task, &now);
    if (err || output_same(&now, &w->first->digest)) return err;
    if (w->counts.varied++ && !anew && output_same_structure(&now, &w->first->digest) &&
        is_near(w, &now.array[0]))
        return OK;
    return check_again(w, w->ref, w->mode, "");
}

// A random quarter of the samples is verified beside 1, 2, 4, 8, ...: a fault in every 20th run
// never meets these numbers.
#define LOOK_ONE_IN 4

bool verify_is_due(void *verify, int64_t sample)
{
    const struct verify *w = verify;
    const uint64_t n = (uint64_t)sample + 1;
    return w->counts.varied || (n & (n - 1)) == 0 || secret_one_in(LOOK_ONE_IN);
}

int verify_change(void *verify, bool really)
{
    const struct verify *w = verify;
    return fresh_change(w->fresh, really);
}

void verify_lose(void *verify) { ((const struct verify *)verify)->fresh->lost = true; }

// The next run may get the memory of this result.
int verify_release(void *verify)
{
    struct verify *w = verify;
    int err = output_spoil(w->task, secret());
    task_release_result(w->task);
    return err;
}

// Draws dense inputs anew. Sparse inputs get other signs.
static int renew_inputs(struct fresh *f)
{
    return f->anew ? fresh_draw(f, true) : fresh_change(f, true);
}

int verify_before(void *verify, bool anew)
{
    struct verify *w = verify;
    struct task *t = w->task;
    w->samples++;
    int err = anew && w->fresh ? renew_inputs(w->fresh) : OK;
    if (err) return err;
    if (w->ref->p->op->result == RESULT_SPARSE) {
        t->dev->poison = anew; // fill allocated memory with NaN
        return OK;
    }
    return anew ? output_poison(t) : output_spoil(t, secret());
}

int verify_after(void *verify, bool anew)
{
    struct verify *w = verify;
    struct task *t = w->task;
    struct device *d = t->dev;
    int64_t peak = d->peak_bytes; // the memory of the verification is not the algorithm's
    d->poison = false;
    int err = t->algo->finish ? unchecked(t->algo->finish(t)) : OK;
    if (!err) err = look(w, anew);
    if (!err && anew && w->fresh) err = fresh_draw(w->fresh, false);
    if (!err && w->ref->p->op->result == RESULT_SPARSE)
        err = verify_release(w);
    else
        task_release_result(t);
    d->peak_bytes = peak;
    return err;
}
