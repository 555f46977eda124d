#include "measure/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WARMUP_RUNS      3
#define WARMUP_MS        50.0
#define BATCH_BELOW_MS   0.2 // shorter runs are timed several at a time,
#define BATCH_TARGET_MS  1.0 // until one sample takes so long that its launch does not matter
#define BATCH_MAX        1000
#define WANTED_PRECISION 0.005 // half-width of the confidence interval over the median
#define NOISE_SHRINKS    0.9   // twice the samples shrink the half-width to 0.71 if noise is random
#define SAMPLES_MAX      100000

// The quantile q in [0, 1] of n sorted numbers, interpolated.
static double quantile(const double *sorted, int n, double q)
{
    double x = q * (n - 1);
    int i = (int)x;
    return i + 1 < n ? sorted[i] + (x - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

// The number of samples under the median is binomial(n, 1/2); lo is the largest rank below which at
// most 2.5 % of it lies. Exact for small n; the normal approximation beyond, where 2^-n underflows.
void timing_median_ranks(int n, int *lo, int *hi)
{
    int rank = 0;
    if (n <= 1000) {
        double term = pow(0.5, n), below = term; // P(X <= 0)
        while (rank < n / 2 && below <= 0.025) {
            rank++;
            term *= (double)(n - rank + 1) / rank;
            below += term;
        }
        rank = rank > 0 ? rank - 1 : 0;
    } else {
        rank = (int)(n / 2.0 - 0.98 * sqrt(n)) - 1;
    }
    *lo = rank;
    *hi = n - 1 - rank;
}

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

int timing_summarise(struct timing *t)
{
    double *s = mem_alloc(t->count, sizeof *s);
    if (!s) return ERR_MEMORY;
    memcpy(s, t->samples, (size_t)t->count * sizeof *s);
    qsort(s, (size_t)t->count, sizeof *s, ascending);
    int lo, hi;
    timing_median_ranks(t->count, &lo, &hi);
    double sum = 0;
    for (int i = 0; i < t->count; i++) sum += s[i];
    t->min = s[0];
    t->mean = sum / t->count;
    t->median = quantile(s, t->count, 0.5);
    t->p5 = quantile(s, t->count, 0.05);
    t->p95 = quantile(s, t->count, 0.95);
    t->ci_lo = s[lo];
    t->ci_hi = s[hi];
    mem_free(s);
    return OK;
}

void timing_free(struct timing *t)
{
    mem_free(t->samples);
    *t = (struct timing){0};
}

// What is timed; see timing_measure().
struct work {
    int (*run)(void *arg);
    void (*after)(void *arg);
    void *arg;
};

// One sample: `batch` runs between two marks in the stream.
static int sample(struct device *dev, const struct work *w, int batch, bool cold, double *ms)
{
    int err = cold ? dev->ops->flush_cache(dev) : OK;
    if (!err) err = dev->ops->timer_start(dev);
    for (int i = 0; i < batch && !err; i++) err = w->run(w->arg);
    if (!err) err = dev->ops->timer_stop(dev, ms);
    if (!err) *ms /= batch;
    if (w->after) w->after(w->arg);
    return err;
}

// Runs until the clocks are up; `ms` becomes the shortest run seen.
static int warm_up(struct device *dev, const struct work *w, struct timing *out, double *ms)
{
    double start = clock_ms();
    *ms = INFINITY;
    while (out->warmup < WARMUP_RUNS || clock_ms() - start < WARMUP_MS) {
        double once;
        int err = sample(dev, w, 1, false, &once);
        if (err) return err;
        if (interrupted) return fail(ERR_INTERRUPTED, "interrupted");
        *ms = fmin(*ms, once);
        out->warmup++;
    }
    return OK;
}

static double half_width(const struct timing *t) { return (t->ci_hi - t->ci_lo) / 2 / t->median; }

// Which rule says that the samples are enough, or NULL. The confidence interval is looked at each
// time the count has doubled: 10, 20, 40, ...
static int stop_rule(struct timing *t, const struct timing_rule *rule, double elapsed_ms,
                     double *last_width, const char **stop)
{
    *stop = NULL;
    if (rule->reps) {
        if (t->count >= rule->reps) *stop = "reps";
        return OK;
    }
    int rounds = t->count / TIMING_MIN_SAMPLES;
    if (t->count % TIMING_MIN_SAMPLES == 0 && (rounds & (rounds - 1)) == 0) {
        int err = timing_summarise(t);
        if (err) return err;
        double width = half_width(t);
        if (width <= WANTED_PRECISION)
            *stop = "precision";
        else if (width > NOISE_SHRINKS * *last_width)
            *stop = "noise";
        *last_width = width;
    }
    if (!*stop && t->count >= TIMING_MIN_SAMPLES &&
        (elapsed_ms >= rule->limit_ms || t->count >= SAMPLES_MAX))
        *stop = "time";
    return OK;
}

int timing_measure(struct device *dev, int (*run)(void *arg), void (*after)(void *arg), void *arg,
                   const struct timing_rule *rule, struct timing *out)
{
    const struct work w = {run, after, arg};
    *out = (struct timing){.batch = 1};
    int room = 0, max_mhz;
    double shortest, last_width = INFINITY;
    int err = warm_up(dev, &w, out, &shortest);
    if (err) goto done;
    // What happens between runs and a batch of them exclude each other.
    if (shortest < BATCH_BELOW_MS && !rule->cold && !after)
        out->batch = (int)fmin(ceil(BATCH_TARGET_MS / fmax(shortest, 1e-6)), BATCH_MAX);

    out->throttled = dev->ops->throttled(dev);
    dev->ops->clock_mhz(dev, &out->clock_mhz[0], &max_mhz);
    double start = clock_ms();
    while (!out->stop) {
        if (out->count == room) {
            int more = room ? 2 * room : 64;
            double *p = mem_resize(out->samples, room, more, sizeof *p);
            err = p ? OK : ERR_MEMORY;
            if (err) goto done;
            out->samples = p;
            room = more;
        }
        err = sample(dev, &w, out->batch, rule->cold, &out->samples[out->count]);
        if (!err && interrupted) err = fail(ERR_INTERRUPTED, "interrupted");
        if (err) goto done;
        out->count++;
        err = stop_rule(out, rule, clock_ms() - start, &last_width, &out->stop);
        if (err) goto done;
    }
    dev->ops->clock_mhz(dev, &out->clock_mhz[1], &max_mhz);
    out->throttled |= dev->ops->throttled(dev);
    err = timing_summarise(out);
done:
    if (err) timing_free(out);
    return err;
}
