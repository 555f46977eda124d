// Instances of balanced for values in f32.
#include "multiply.cuh"

template void balanced_start<float>(const struct task *t, int *resident);

bool balanced_can_start_early(void)
{
    return can_launch_early(multiply<form<WIDE_GROUP, 1, 1, 8, PARTLY>, float>);
}
