#include "compare/compare_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/student.h"

#define TRIM        5      // 1 / share of the values trimmed at either end
#define POOL_MIN    8      // least cases of a class; smaller classes use all cases
#define FIT_MIN     3      // least cases for fitting a spread
#define UNIT_LEAST  1e-10  // resolution of clocks: 0.001 % of a run
#define GUESS_CASES 10     // weight of `assumed`, in cases
#define GUESS_DOF   2.0    // see the header
#define T2_MEDIAN   0.8165 // median of |t| with 2 degrees of freedom
#define POWER_95    1.645  // standard errors between the mean and the 5 % quantile
#define FIRST_LOOK  8      // number of pairs

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

double stats_median(double *x, int64_t n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

double stats_location(double *x, int n, double *variance, double *dof)
{
    int cut = n / TRIM, left = n - 2 * cut;
    double sum = 0, winsorized = 0, squares = 0;
    qsort(x, (size_t)n, sizeof *x, ascending);
    for (int i = cut; i < n - cut; i++) sum += x[i];
    // A trimmed value counts as the nearest value kept.
    winsorized = (sum + cut * (x[cut] + x[n - 1 - cut])) / n;
    for (int i = 0; i < n; i++) {
        double at = x[i < cut ? cut : i >= n - cut ? n - 1 - cut : i];
        squares += (at - winsorized) * (at - winsorized);
    }
    *dof = left - 1;
    *variance = left > 1 ? squares / left / (left - 1) : 0;
    return sum / left;
}

int stats_class(double ms) { return ms < 0.02 ? 0 : ms < 0.2 ? 1 : ms < 2 ? 2 : 3; }

const char *stats_class_name(int size_class)
{
    static const char *const names[STATS_CLASSES] = {"under 20 us", "20 to 200 us", "0.2 to 2 ms",
                                                     "over 2 ms"};
    return names[size_class];
}

int stats_runs_needed(double unit, double percent, double threshold)
{
    double room = log1p(percent / 100) - log1p(threshold / 100);
    double pairs = ceil(unit * POWER_95 * POWER_95 / (room * room));
    return pairs > 3 ? pairs < 1e6 ? (int)pairs : 1000000 : 3;
}

// The number of pairs grows by half from look to look. Smaller steps need a stricter level. Larger
// steps measure more than needed.
int stats_look_pairs(int look)
{
    double pairs = FIRST_LOOK;
    for (int i = 0; i < look; i++) pairs *= 1.5;
    return (int)pairs;
}

int stats_look_factor(int pairs) { return pairs < FIRST_LOOK ? 1 : STATS_LOOKS; }

static void estimate_paired(struct estimate *e, const double *y_old, const double *y_new, int n,
                            double *d)
{
    double variance;
    for (int i = 0; i < n; i++) d[i] = y_new[i] - y_old[i];
    e->shift = stats_location(d, n, &variance, &e->dof);
    e->weight = n;
    e->unit = variance * n;
}

static void estimate_apart(struct estimate *e, const double *y_old, int n_old, const double *y_new,
                           int n_new, double *x)
{
    double variance[2], dof[2];
    memcpy(x, y_old, (size_t)n_old * sizeof *x);
    e->shift = -stats_location(x, n_old, &variance[0], &dof[0]);
    memcpy(x, y_new, (size_t)n_new * sizeof *x);
    e->shift += stats_location(x, n_new, &variance[1], &dof[1]);
    e->weight = 2 / (1.0 / n_old + 1.0 / n_new);
    e->dof = dof[0] + dof[1];
    e->unit =
        e->dof > 0 ? 2 * (dof[0] * variance[0] * n_old + dof[1] * variance[1] * n_new) / e->dof : 0;
}

int estimate_case(struct estimate *e, const double *y_old, int n_old, const double *y_new,
                  int n_new, bool paired)
{
    double *x = mem_alloc(n_old > n_new ? n_old : n_new, sizeof *x);
    if (!x) return ERR_MEMORY;
    if (paired)
        estimate_paired(e, y_old, y_new, n_old, x);
    else
        estimate_apart(e, y_old, n_old, y_new, n_new, x);
    mem_free(x);
    return OK;
}

static double digamma(double x)
{
    double sum = 0;
    for (; x < 10; x++) sum -= 1 / x;
    double s = 1 / (x * x);
    return sum + log(x) - 1 / (2 * x) - s * (1. / 12 - s * (1. / 120 - s / 252));
}

static double trigamma(double x)
{
    double sum = 0;
    for (; x < 10; x++) sum += 1 / (x * x);
    double s = 1 / (x * x);
    return sum + 1 / x + s / 2 + s / x * (1. / 6 - s * (1. / 30 - s / 42));
}

// Returns x with trigamma(x) = y. trigamma falls from infinity to 0.
static double trigamma_inverse(double y)
{
    double low = 1e-8, high = 1e8;
    for (int i = 0; i < 200; i++) {
        double middle = sqrt(low * high);
        if (trigamma(middle) > y)
            low = middle;
        else
            high = middle;
    }
    return sqrt(low * high);
}

// Distribution of units: s0^2 with d0 degrees of freedom. d0 = 0: unknown.
struct prior {
    double unit, dof;
};

static bool in_pool(const struct estimate *e, int size_class)
{
    return size_class < 0 || e->size_class == size_class;
}

// Returns ln(unit) of a case, less the bias from its degrees of freedom.
static double ln_unit(const struct estimate *e)
{
    double half = e->dof / 2;
    return log(fmax(e->unit, UNIT_LEAST)) - digamma(half) + log(half);
}

// Fits the prior of a size class, or of all cases if size_class is -1.
static struct prior fit_prior(const struct estimate *list, int64_t count, int size_class)
{
    double sum = 0, squares = 0, noise = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++)
        if (list[i].dof > 0 && in_pool(&list[i], size_class)) sum += ln_unit(&list[i]), n++;
    if (n < (size_class < 0 ? FIT_MIN : POOL_MIN)) return (struct prior){0};
    double mean = sum / (double)n;
    for (int64_t i = 0; i < count; i++) {
        const struct estimate *e = &list[i];
        if (e->dof <= 0 || !in_pool(e, size_class)) continue;
        squares += (ln_unit(e) - mean) * (ln_unit(e) - mean);
        noise += trigamma(e->dof / 2);
    }
    double excess = squares / (double)(n - 1) - noise / (double)n;
    if (excess <= 1e-6) return (struct prior){exp(mean), INFINITY};
    double half = trigamma_inverse(excess);
    return (struct prior){exp(mean + digamma(half) - log(half)), 2 * half};
}

// Returns the scale of the shifts of cases with one process per side, in a class or in all. Returns
// 0 if there are too few cases.
static double scatter_scale(const struct estimate *list, int64_t count, int size_class, double *x,
                            int64_t *m)
{
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++)
        if (list[i].dof <= 0 && in_pool(&list[i], size_class)) x[n++] = list[i].shift;
    *m = n;
    if (n < (size_class < 0 ? 1 : POOL_MIN)) return 0;
    double middle = stats_median(x, n);
    for (int64_t i = 0; i < n; i++) x[i] = fabs(x[i] - middle);
    double scale = stats_median(x, n) / T2_MEDIAN;
    return fmax(scale, 1e-9);
}

static void finish(struct estimate *e, double variance, double dof)
{
    e->t_dof = dof;
    e->error = sqrt(fmax(variance, fmax(e->within, UNIT_LEAST)));
    double looks = e->looks ? e->looks : 1;
    double far = student_quantile(STATS_ALPHA / looks, dof) * e->error;
    e->lo = e->shift - far;
    e->hi = e->shift + far;
    e->p = fmin(1, looks * student_p(e->shift / e->error, dof));
}

static void estimate_moderated(struct estimate *e, const struct prior *prior)
{
    double dof = prior->dof + e->dof;
    if (isinf(prior->dof))
        e->spread = prior->unit;
    else
        e->spread = (prior->dof * prior->unit + e->dof * e->unit) / dof;
    e->guessed = e->dof <= 0;
    finish(e, e->spread / e->weight, dof);
}

static void estimate_guessed(struct estimate *e, double scale, int64_t m)
{
    e->spread = (GUESS_CASES * e->assumed * e->assumed + (double)m * scale * scale) /
                (double)(GUESS_CASES + m);
    e->guessed = true;
    finish(e, e->spread + e->within, GUESS_DOF);
}

static int by_p(const void *x, const void *y)
{
    const struct estimate *a = *(const struct estimate *const *)x;
    const struct estimate *b = *(const struct estimate *const *)y;
    return (a->p > b->p) - (a->p < b->p);
}

// Sets p_of_all: the k-th smallest of n is the minimum of n / j * p over all j >= k.
static int correct(struct estimate *list, int64_t count)
{
    struct estimate **sorted = mem_alloc(count, sizeof *sorted);
    if (!sorted) return ERR_MEMORY;
    for (int64_t i = 0; i < count; i++) sorted[i] = &list[i];
    qsort(sorted, (size_t)count, sizeof *sorted, by_p);
    double least = 1;
    for (int64_t i = count - 1; i >= 0; i--) {
        least = fmin(least, sorted[i]->p * (double)count / (double)(i + 1));
        sorted[i]->p_of_all = least;
    }
    mem_free(sorted);
    return OK;
}

int estimate_all(struct estimate *list, int64_t count)
{
    struct prior prior[STATS_CLASSES], all = fit_prior(list, count, -1);
    double scale[STATS_CLASSES];
    int64_t m[STATS_CLASSES], m_all;
    double *x = mem_alloc(count, sizeof *x);
    if (!x) return ERR_MEMORY;
    double scale_all = scatter_scale(list, count, -1, x, &m_all);
    for (int c = 0; c < STATS_CLASSES; c++) {
        prior[c] = fit_prior(list, count, c);
        if (prior[c].dof <= 0) prior[c] = all;
        scale[c] = scatter_scale(list, count, c, x, &m[c]);
        if (scale[c] <= 0) scale[c] = scale_all, m[c] = m_all;
    }
    mem_free(x);
    for (int64_t i = 0; i < count; i++) {
        struct estimate *e = &list[i];
        const struct prior *p = &prior[e->size_class];
        if (e->dof > 0 || p->dof > 0)
            estimate_moderated(e, p);
        else
            estimate_guessed(e, scale[e->size_class], m[e->size_class]);
    }
    return correct(list, count);
}
