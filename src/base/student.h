// Student's t distribution, for confidence intervals of a mean.
#ifndef STUDENT_H
#define STUDENT_H

// Returns the two-sided probability of a value further from 0 than t. `dof`: degrees of freedom,
// more than 0; INFINITY is the normal distribution.
double student_p(double t, double dof);
// Returns the t for which student_p() is p, 0 < p < 1.
double student_quantile(double p, double dof);

#endif
