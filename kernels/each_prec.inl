// Includes BODY, a file by its path in kernels/, once per type: with T the type of the values, and
// PREC its name for NAME() of cpu.h.
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
