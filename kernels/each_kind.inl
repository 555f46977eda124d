// Includes BODY, a path in kernels/, once per type and kind of processor. T, T_BYTES, PREC: see
// each_prec.inl. KIND, VECTOR: see base/each_kind.inl. BY_KIND() of cpu.h calls the body for the
// processor that runs.
#undef KIND
#define KIND_BODY "each_prec.inl"
#include "base/each_kind.inl"
#define KIND
