// What the OpenMP kernels share: names for the bodies that are included once per type.
#ifndef CPU_H
#define CPU_H

#include "algos/algo.h"

#define CPU_INLINE static inline __attribute__((always_inline))

// NAME(rows) is rows_f32 or rows_f64 in a body included with PREC defined as f32 or f64.
#define NAME_JOIN(name, prec) name##_##prec
#define NAME_PREC(name, prec) NAME_JOIN(name, prec)
#define NAME(name)            NAME_PREC(name, PREC)

// function_f32(...) or function_f64(...), by the precision of the task.
#define BY_PREC(t, function, ...)                                                                  \
    ((t)->prec == F32 ? function##_f32(__VA_ARGS__) : function##_f64(__VA_ARGS__))

#endif
