// The decisions and allocations of prepare(), and the instances of the kernel.
#ifndef GRADED_PLAN_STRUCT_H
#define GRADED_PLAN_STRUCT_H

#include "pieces.cuh"

#define LENGTHS 8 // bounds of row lengths: 0, then 8 to 512 nonzeros by doubling

struct facts {
    int64_t longer[LENGTHS]; // rows of more nonzeros than each bound
    int64_t used;            // rows that are not empty
    double typical; // mean nonzeros of used rows of up to TYPICAL nonzeros; else of all used rows
    // Shares of nonzeros whose column is new among NEAR and FAR neighbouring nonzeros; 0: unknown.
    double near, far;
    double sectors; // share of nonzeros whose sector is new among NEAR neighbouring nonzeros
};

// An instance of the kernel; see struct shape.
struct form {
    int vec, packs;
    int lanes; // 0: by quads, any power of two up to 4, 2 with several packs, 1 by columns
    enum layout layout;
    bool bundles;
    int blocks; // least blocks on a multiprocessor
    void (*start)(const struct task *t);
};

struct forms {
    const struct form *list;
    int count;
};

struct choice {
    const struct form *form; // NULL: no form fits
    int lanes;
};

// B and C as the kernel sees them.
struct view {
    enum layout layout;
    int64_t k;          // columns
    int64_t B_ld, C_ld; // elements from a row to the next, or from a column to the next
};

// Bounds of a choice; 0: no bound.
struct bounds {
    int64_t slab; // most bytes of a slab
    int lanes;    // exactly
};

struct graded_plan {
    struct facts facts;
    struct choice choice;
    double share; // group_share() of the choice for rows
    struct view view;
    struct bounds wanted; // by options
    void *B, *C;          // row-major copies of column-major B and C; NULL: the task's own
    uint32_t B_step;      // bytes from a row of B to the next
    int32_t slabs;
    struct lists lists;
    struct bundles bundles;
    void *partial;
    int32_t *arrived;
};

// Returns the instances for values of type T.
template <typename T> struct forms forms_of();

#endif
