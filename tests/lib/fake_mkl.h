// Arguments of the last calls of tests/device/fake_mkl.c, for test_mkl.c.
#ifndef FAKE_MKL_H
#define FAKE_MKL_H

struct fake_told {
    int layer, threads, fewer;
    int operation, layout, cols, calls; // by the hint
    const void *optimized;
};

#endif
