// Includes BODY, a path in kernels/, once per type: T is the type of the values, and PREC its name
// for NAME() of cpu.h.
#define PREC f32
#define T    float
#include BODY
#undef PREC
#undef T
#define PREC f64
#define T    double
#include BODY
#undef PREC
#undef T
#undef BODY
