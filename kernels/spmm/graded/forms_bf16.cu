// Instances of graded for values in bf16.
#include "forms.cuh"

typedef bf16 T;

template <> struct forms forms_of<bf16>()
{
    static const struct form list[] = {FORMS_OF_HALVES};
    return {list, COUNT(list)};
}
