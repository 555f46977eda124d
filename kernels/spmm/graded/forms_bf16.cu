// Instances of graded for values in bf16.
#include "forms.cuh"

typedef bf16 T;

struct forms forms_bf16(void)
{
    static const struct form list[] = {FORMS_OF_HALVES};
    return {list, COUNT(list)};
}
