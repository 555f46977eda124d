// Instances of graded for values in f32.
#include "forms.cuh"

typedef float T;

template <> struct forms forms_of<float>()
{
    static const struct form list[] = {FORMS_BY_1,        FORMS_BY_16_BYTES(4), NARROW(2, 1),
                                       WIDE(2, 2, 8),     WIDE(2, 2, 16),       WIDE(2, 4, 16),
                                       WIDE(1, 4, 32),    BUNDLED(1, 4, 8),     BUNDLED(4, 1, 0),
                                       BUNDLED(4, 1, 32), BY_COLUMNS(8)};
    return {list, COUNT(list)};
}
