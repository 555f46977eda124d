#include "base/student.h"

#include <math.h>

#define STEPS_MOST 300    // steps of the continued fraction; tens are enough
#define TINY       1e-300 // replaces 0 as a divisor
#define CLOSE      1e-15  // the fraction ends with a factor this near to 1
#define NORMAL_DOF 1e8    // from here on equal to the normal distribution in double precision

// Lentz's evaluation of the continued fraction of the incomplete beta function.
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < TINY ? TINY : d);
    double product = d;
    for (int m = 1; m <= STEPS_MOST; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step = 1;
        for (int half = 0; half < 2; half++) {
            double term = half ? odd : even;
            d = 1 + term * d, c = 1 + term / c;
            if (fabs(d) < TINY) d = TINY;
            if (fabs(c) < TINY) c = TINY;
            d = 1 / d;
            step = d * c;
            product *= step;
        }
        if (fabs(step - 1) < CLOSE) break;
    }
    return product;
}

// Returns the cumulative beta distribution (a, b) at x.
static double beta_cumulative(double a, double b, double x)
{
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    // The fraction converges fast below the mean.
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_p(double t, double dof)
{
    if (dof > NORMAL_DOF) return erfc(fabs(t) / sqrt(2));
    return beta_cumulative(dof / 2, 0.5, dof / (dof + t * t));
}

double student_quantile(double p, double dof)
{
    double low = 0, high = 1;
    while (student_p(high, dof) > p && high < 1e300) high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
        double middle = (low + high) / 2;
        if (student_p(middle, dof) > p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}
