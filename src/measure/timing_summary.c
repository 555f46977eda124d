// Statistics of samples: quantiles, and the confidence interval of the median.
#include "measure/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Returns the quantile q in [0, 1] of n sorted numbers, interpolated.
static double quantile(const double *sorted, int n, double q)
{
    double x = q * (n - 1);
    int i = (int)x;
    return i + 1 < n ? sorted[i] + (x - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

// The number of samples below the median is binomial(n, 1/2); lo is the largest rank below which
// lie at most 2.5 % of that distribution. Exact for small n; normal approximation where 2^-n
// underflows.
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

double timing_median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    return quantile(x, n, 0.5);
}

// Returns the median of sorted samples and its interval.
static struct timed_median median_of(const double *sorted, int n)
{
    bool bounded = n >= TIMING_INTERVAL_SAMPLES;
    int lo, hi;
    timing_median_ranks(n, &lo, &hi);
    return (struct timed_median){quantile(sorted, n, 0.5), bounded ? sorted[lo] : NAN,
                                 bounded ? sorted[hi] : NAN};
}

static void sort_copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
    qsort(to, (size_t)n, sizeof *to, ascending);
}

const char *const timing_kind_words[] = {
    [TIMING_SEPARATE] = "separate", [TIMING_BACK_TO_BACK] = "back-to-back", NULL};

struct timed_median timing_of_kind(const struct timing *t, enum timing_kind kind)
{
    if (kind == TIMING_BACK_TO_BACK && !isnan(t->back_to_back))
        return (struct timed_median){t->back_to_back, t->back_ci_lo, t->back_ci_hi};
    return (struct timed_median){t->median, t->ci_lo, t->ci_hi};
}

int timing_summarise(struct timing *t)
{
    double *s = mem_alloc(t->count, sizeof *s);
    if (!s) return ERR_MEMORY;
    if (t->back_samples) {
        sort_copy(s, t->back_samples, t->count);
        struct timed_median back = median_of(s, t->count);
        t->back_to_back = back.ms;
        t->back_ci_lo = back.ci_lo;
        t->back_ci_hi = back.ci_hi;
    }
    sort_copy(s, t->samples, t->count);
    struct timed_median m = median_of(s, t->count);
    double sum = 0;
    for (int i = 0; i < t->count; i++) sum += s[i];
    t->min = s[0];
    t->mean = sum / t->count;
    t->median = m.ms;
    t->p5 = quantile(s, t->count, 0.05);
    t->p95 = quantile(s, t->count, 0.95);
    t->ci_lo = m.ci_lo;
    t->ci_hi = m.ci_hi;
    mem_free(s);
    return OK;
}
