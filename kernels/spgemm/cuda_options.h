// Options that algorithms of SpGEMM for CUDA share.
#ifndef SPGEMM_CUDA_OPTIONS_H
#define SPGEMM_CUDA_OPTIONS_H

#define STREAMS_OPTION                                                                             \
    {                                                                                              \
        "streams", 1, 0, 1, true, "1: a stream for each bin; 0: one for all"                       \
    }

#define POOL_OPTION                                                                                \
    {                                                                                              \
        "pool", 256, 0, 1 << 20, false, "MB of tables in global memory, at least one table"        \
    }

#endif
