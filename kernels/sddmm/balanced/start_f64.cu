// Instances of balanced for values in f64.
#include "multiply.cuh"

template void balanced_start<double>(const struct task *t, int *resident);
