// Includes BODY, a path in kernels/, once per type: T is the type of the values, T_BYTES its size,
// and PREC its name for NAME() of cpu.h.
#define PREC    f32
#define T       float
#define T_BYTES 4
#include BODY
#undef PREC
#undef T
#undef T_BYTES
#define PREC    f64
#define T       double
#define T_BYTES 8
#include BODY
#undef PREC
#undef T
#undef T_BYTES
