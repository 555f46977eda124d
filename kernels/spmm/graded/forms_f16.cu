// Instances of graded for values in f16.
#include "forms.cuh"

typedef f16 T;

template <> struct forms forms_of<f16>()
{
    static const struct form list[] = {FORMS_OF_HALVES};
    return {list, COUNT(list)};
}
