// Instances of balanced for values in f16.
#include "multiply.cuh"

template void balanced_start<f16>(const struct task *t, int *resident);
