// Instances of graded for values in f64.
#include "forms.cuh"

typedef double T;

template <> struct forms forms_of<double>()
{
    static const struct form list[] = {BUNDLED(1, 1, 8), FORMS_BY_1, FORMS_BY_16_BYTES(2),
                                       BUNDLED(2, 2, 16)};
    return {list, COUNT(list)};
}
