// Student's t distribution: how far a mean may be off whose spread is itself only estimated.
#ifndef STUDENT_H
#define STUDENT_H

// The probability of being further from 0 than t, to either side. `dof`: degrees of freedom, more
// than 0; INFINITY is the normal distribution.
double student_p(double t, double dof);
// The t of which that probability is p, 0 < p < 1.
double student_quantile(double p, double dof);

#endif
