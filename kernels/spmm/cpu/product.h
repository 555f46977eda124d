// The operands of a range of rows of C = A * B, for cpu/rows.inl.
#ifndef CPU_PRODUCT_H
#define CPU_PRODUCT_H

#include "cpu.h"

// Values are float or double, by the precision of the task.
struct product {
    const struct csr_dev *A;
    const void *B;
    int64_t B_ld, C_ld; // elements between rows, or columns for column-major B and C
    int64_t k;          // columns of B and C
    int64_t prefetch;   // prefetch distance in nonzeros, 0: none
    bool stream;        // streaming stores of C
};

// Returns the operands of a task.
static inline struct product product_of(const struct task *t, int64_t prefetch, bool stream)
{
    return (struct product){.A = csr_of(t->A[0]),
                            .B = t->in[0].val,
                            .B_ld = t->in[0].ld,
                            .C_ld = t->C.ld,
                            .k = t->C.cols,
                            .prefetch = prefetch,
                            .stream = stream};
}

#endif
