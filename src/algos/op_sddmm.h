// Formulas of the algorithms of SDDMM.
#ifndef OP_SDDMM_H
#define OP_SDDMM_H

enum {
    SDDMM_SCALED,   // A .* (X * Y^T)
    SDDMM_UNSCALED, // X * Y^T on the pattern of A
};

#endif
