// A place where kernels run: the CPU, or one CUDA device. All memory of a case is allocated through
// here, so that its peak is measured, and all waiting and event timing happens here.
#ifndef DEVICE_H
#define DEVICE_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum device_kind { DEVICE_CPU, DEVICE_CUDA };
const char *device_kind_name(enum device_kind kind);

// What the device can do at most, as measured by `spbench roof`; 0 where it is not known yet.
struct roof {
    double copy_gb_s;     // memory bandwidth of a large copy, bytes read and written
    double cache_gb_s;    // read bandwidth of a block that stays in the last-level cache
    double fma_gflops[2]; // multiply-add rate by `enum prec`, 2 flops each
};

struct device_block {
    void *p;
    int64_t bytes;
};

// What was allocated when, over one run.
#define TRACE_MAX 128
struct device_trace {
    double start; // clock_ms() of the first moment
    int count;
    double ms[TRACE_MAX];     // since start
    int64_t bytes[TRACE_MAX]; // allocated from then on
};

struct device {
    enum device_kind kind;
    int index;                   // number of the CUDA device, 0 for the CPU
    char id[16];                 // "cpu", "cuda:0"
    char name[128];              // as the vendor calls it
    char detail[128];            // compute capability and driver, or the instruction set
    int units;                   // multiprocessors, or threads
    int64_t memory_bytes;        // total
    int64_t cache_bytes;         // last-level cache
    void *stream;                // cudaStream_t that everything runs on; NULL on the CPU
    int64_t used_bytes;          // allocated now
    int64_t peak_bytes;          // the most since device_peak_reset()
    struct device_block *blocks; // what is allocated, size block_count
    int block_count, block_room;
    struct device_trace *trace; // NULL: allocations are not traced
    bool poison;   // new blocks are filled with NaN, so that nothing old passes for a result
    void *backend; // the backend's own state
    const struct device_ops *ops;
};

// One backend. Every function returns 0 or an error; backends do no bookkeeping.
struct device_ops {
    enum device_kind kind;
    int (*count)(void);            // devices of this kind in the machine, 0 where there are none
    int (*open)(struct device *d); // fills name, detail, sizes, stream; index is set
    void (*close)(struct device *d);
    int (*alloc)(struct device *d, int64_t bytes, void **p);
    void (*release)(struct device *d, void *p);
    int (*upload)(struct device *d, void *to, const void *from, int64_t bytes);   // waits
    int (*download)(struct device *d, void *to, const void *from, int64_t bytes); // waits
    int (*fill)(struct device *d, void *p, int byte, int64_t bytes);
    int (*sync)(struct device *d); // waits, and reports what went wrong asynchronously
    // Two marks in the stream and the time between them; timer_stop waits.
    int (*timer_start)(struct device *d);
    int (*timer_stop)(struct device *d, double *ms);
    int (*flush_cache)(struct device *d);                   // everything cached is evicted
    int (*clock_mhz)(struct device *d, int *now, int *max); // 0, 0 where it cannot be read
    int (*throttled)(struct device *d); // 1 if the clocks are held down now, 0 if not or not known
    int (*measure_roof)(struct device *d, struct roof *roof);
};

extern const struct device_ops device_cpu;
extern const struct device_ops device_cuda; // in builds with CUDA or the emulator

// `spec` is auto, cpu, cuda or cuda:N. auto is the first CUDA device, else the CPU.
int device_open(const char *spec, struct device *d);
void device_close(struct device *d);
// NULL if a device of this kind can be opened here, else why not, in one line.
const char *device_missing(enum device_kind kind);
int device_count(enum device_kind kind);

int device_alloc(struct device *d, int64_t count, size_t size, void **p);
void device_free(struct device *d, void *p); // NULL is legal
void device_peak_reset(struct device *d);
int device_upload(struct device *d, void *to, const void *from, int64_t bytes);
// Allocates `count` elements and copies them there; on failure *to is NULL.
int device_place(struct device *d, const void *from, int64_t count, size_t size, void **to);
int device_download(struct device *d, void *to, const void *from, int64_t bytes);
int device_fill(struct device *d, void *p, int byte, int64_t bytes);
int device_sync(struct device *d);

#ifdef __cplusplus
}
#endif
#endif
