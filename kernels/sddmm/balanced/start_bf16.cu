// Instances of balanced for values in bf16.
#include "multiply.cuh"

template void balanced_start<bf16>(const struct task *t, int *resident);
