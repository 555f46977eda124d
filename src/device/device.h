// A device that runs kernels: the CPU or a CUDA device. All memory of a case is allocated by these
// functions, which measure its peak. Waiting and event timing are here, too.
#ifndef DEVICE_H
#define DEVICE_H

#include "base/base.h"
#include "base/prec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum device_kind { // KIND_cuda is DEVICE_CUDA, for lists that have the name
#define DEVICE(symbol, name, numbering, missing) DEVICE_##symbol, KIND_##name = DEVICE_##symbol,
#include "device/devices.def"
#undef DEVICE
    DEVICE_KINDS
};

// Rate at which all threads read a block of `bytes` again and again.
struct roof_step {
    int64_t bytes;
    double gb_s;
};
#define ROOF_STEPS_MAX 24

// Rates at which all threads read rows at random places of a block of `bytes`. gb_s[w] is for rows
// of roof_row_bytes[w]. Only the bytes of the rows count.
#define ROOF_ROWS 5
struct roof_gather {
    int64_t bytes;
    double gb_s[ROOF_ROWS];
};
#define ROOF_GATHERS_MAX 8

// Measured ceilings of a device; 0: unknown.
struct roof {
    double memory_gb_s;       // memory bandwidth: the best of copy, read and all cases
    double memory_low_gb_s;   // memory bandwidth by the slowest round of tries; 0: unknown
    bool busy;                // other work held up the measurement of memory_gb_s
    double copy_gb_s;         // copy of a large block, bytes read and written
    double read_gb_s;         // reads of the largest block of the ladder
    double cache_gb_s;        // reads from the last-level cache; 0: no cache was seen
    int64_t cache_seen_bytes; // bytes of a block that this cache holds; 0: no cache was seen
    double near_gb_s;         // reads from the caches next to the cores: the highest rate
    double fma_gflops[2];     // multiply-adds by type, F32 or F64, 2 flops each, or the best case
    double fma_measured[2];   // multiply-adds as measured, without cases
    double probe_gb_s;        // rate of a probe, for comparison with later probes
    int64_t measured;         // time of the last measurement, in seconds since 1970
    int step_count;
    struct roof_step steps[ROOF_STEPS_MAX]; // the ladder: reads of blocks of growing size
    int gather_count;
    struct roof_gather gathers[ROOF_GATHERS_MAX]; // by growing size
};

struct device_block {
    void *p;
    int64_t bytes;
    int guard; // known bytes behind the block; device_overrun() finds writes to these
};
// Bytes of the guard of a block on the CPU. A block of a run that may be timed has no guard: page
// faults take time.
#define DEVICE_GUARD 64

// Memory in use over the time of a run: a moment for each allocation and release.
struct device_moment {
    double ms;     // time since `start`
    int64_t bytes; // allocated bytes from then on
};
struct device_trace {
    double start; // clock_ms() at the begin of the run
    int64_t count, capacity;
    struct device_moment *moments; // size capacity; owned
    bool lost;                     // moments are missing, for lack of memory
};
void device_trace_free(struct device_trace *t);

struct device {
    enum device_kind kind;
    int index;                   // number among the devices of this kind
    char id[16];                 // "cpu", "cuda:0"
    char name[128];              // product name
    char detail[128];            // compute capability and driver, or the instruction set
    char address[32];            // PCI bus address of a GPU; "": none
    int units;                   // number of ops->units: multiprocessors, threads
    int64_t memory_bytes;        // total
    int64_t cache_bytes;         // last-level cache, as the system reports
    int64_t cache_block_bytes;   // part of the last-level cache that a core reaches
    int64_t cache_part_bytes;    // part for the threads, if all processors share the cache equally
    int64_t cache_least_bytes;   // caches of the cores alone; on a GPU the whole L2
    int64_t cache_seen_bytes;    // last-level cache, as measured by the roof; 0: unknown
    void *stream;                // cudaStream_t of all work; NULL on the CPU
    int64_t used_bytes;          // allocated bytes
    int64_t peak_bytes;          // most allocated bytes since device_peak_reset()
    int64_t foreign_bytes;       // part of used_bytes that a library has allocated
    struct device_block *blocks; // allocated blocks, size block_count
    int block_count, block_capacity;
    struct device_block overrun; // freed block that was written behind its end; p NULL: none
    struct device_trace *trace;  // NULL: allocations are not traced
    bool poison;   // new blocks are filled with NaN, so that old data cannot pass for a result
    bool running;  // between device_run_begin() and device_run_end()
    bool closed;   // between device_run_begin(closed) and device_run_end()
    void *backend; // state of the backend
    const struct device_ops *ops;
};

#define ONLY_BITS     0
#define REAL_OF(type) ((int)(type) + 1)
// An array in the memory of a device: `lines` lines of `length` elements, `step` elements apart.
struct device_view {
    void *p;
    int64_t lines, length, step;
    int width; // bytes of an element: 1, 2, 4 or 8
    int real;  // REAL_OF(type) of real elements, or ONLY_BITS
};

#define DEVICE_FLIPS_MAX  4
#define DEVICE_BUS_ID_MAX 32 // bytes of a bus address, with the final zero

struct device_signs_dense; // device/signs.h
struct device_signs_sparse;
struct product;      // device/product.h
struct product_segment;
struct product_part;

// A backend: the functions of a kind of device. Functions return 0 or an `enum err`. Allocations
// are counted by the caller, device.c.
struct device_ops {
    const char *units;   // units of parallel work: "multiprocessors", "threads"
    const char *visible; // environment variable that selects devices, or NULL
    int toolkit;         // version of the toolkit of the build, 12090 for 12.9; 0: none
    int row_start_bytes; // size of a row start in CSR for kernels: 8 (int64_t) or 4 (int32_t)
    int (*count)(const char **missing); // returns the number of devices; 0: sets the reason
    // Sets the bus address of a device, without opening the device. NULL: devices have no address.
    int (*bus_id)(int index, char id[DEVICE_BUS_ID_MAX]);
    int (*open)(struct device *d); // sets name, detail, sizes, stream; needs d->index
    void (*close)(struct device *d);
    int (*alloc)(struct device *d, int64_t bytes, void **p);
    void (*release)(struct device *d, void *p);
    int (*upload)(struct device *d, void *to, const void *from, int64_t bytes);   // waits
    int (*download)(struct device *d, void *to, const void *from, int64_t bytes); // waits
    int (*copy)(struct device *d, void *to, const void *from, int64_t bytes);     // on the device
    int (*fill)(struct device *d, void *p, int byte, int64_t bytes);
    int (*digest)(struct device *d, const struct device_view *v, uint64_t *bits); // waits
    int (*spoil)(struct device *d, const struct device_view *v, uint64_t seed);
    // Change signs of the elements of a dense matrix; of a matrix in CSR. Start kernels and do not
    // wait.
    int (*sign_dense)(struct device *d, const struct device_signs_dense *s);
    int (*sign_sparse)(struct device *d, const struct device_signs_sparse *s);
    // Copies the elements that spoil() sets for this seed, in the order of the spots. Waits.
    int (*fetch)(struct device *d, const struct device_view *v, uint64_t seed, void *to);
    // Starts a comparison of `count` segments of C with the sums of their products. Writes a part
    // for each segment. `segments` and `parts` are on the device. NULL: the host checks sparse
    // products.
    int (*check_product)(struct device *d, const struct product *p,
                         const struct product_segment *segments, int64_t count,
                         struct product_part *parts);
    int (*sync)(struct device *d); // waits, and returns asynchronous errors
    // Waits for the work of all streams. sync() of a CUDA stream takes 10 us less.
    int (*sync_all)(struct device *d);
    // Called before and after the run() of an algorithm; see device_run_begin().
    void (*run_begin)(struct device *d, bool closed);
    int (*run_end)(struct device *d);
    // Record events in the stream. timer_stop() waits and sets *ms to the time between the events.
    int (*timer_start)(struct device *d);
    int (*timer_stop)(struct device *d, double *ms);
    // Launches an empty kernel, which keeps its neighbours in the stream from overlapping. NULL:
    // consecutive work of the stream never overlaps.
    int (*separate)(struct device *d);
    // Inverts all bits of up to DEVICE_FLIPS_MAX blocks, which begin at multiples of 8 bytes. A
    // second call restores the blocks. With `late` the next kernel may begin at once, and the
    // blocks are inverted 50 us later: a kernel that does not wait sees the inverted data.
    // ERR_UNSUPPORTED: nothing was changed. NULL: consecutive work of the stream never overlaps.
    int (*flip)(struct device *d, const struct device_block *blocks, int count, bool late);
    // Captures the launches of launch(arg) as a graph. ERR_UNSUPPORTED: the launches cannot be
    // captured; the stream is unchanged. NULL: there are no graphs.
    int (*graph_make)(struct device *d, int (*launch)(void *arg), void *arg, void **graph);
    int (*graph_launch)(struct device *d, void *graph);
    void (*graph_free)(struct device *d, void *graph);
    int (*flush_cache)(struct device *d);                   // evicts all cached data
    int (*clock_mhz)(struct device *d, int *now, int *max); // sets 0, 0 if the clock is unknown
    int (*throttled)(
        struct device *d); // returns 1 if the clocks are throttled, 0 if not or unknown
    // Turns the collection of an attached profiler on or off. NULL: there is no profiler.
    int (*profile)(struct device *d, bool on);
    int (*measure_roof)(struct device *d, struct roof *roof);
    // Copies or reads for some milliseconds, and sets the rate. Other work on the device, and tools
    // that instrument memory accesses, lower the rate as they do in measure_roof().
    int (*probe_roof)(struct device *d, double *gb_s);
};

// A kind of device, also if this build does not have the kind.
struct device_entry {
    const char *name;             // as in -device
    bool numbered;                // a machine may have several: name:0, name:1, ...
    const char *missing;          // what a build without the kind lacks; NULL: every build has it
    const struct device_ops *ops; // NULL: not in this build
};
extern const struct device_entry device_list[DEVICE_KINDS];

// Returns the values of -device: "auto, cpu, cuda, cuda:N".
const char *device_names(void);
// Sets the kind and the number that `spec`, a value of -device, means. ERR_USAGE: `spec` is no
// device.
int device_parse(const char *spec, enum device_kind *kind, int *index);
// device_parse(), and ERR_USAGE if this machine does not have the device.
int device_find(const char *spec, enum device_kind *kind, int *index);
// Sets `id` to "cpu" or "cuda:0".
void device_id(enum device_kind kind, int index, char id[16]);
// Returns NULL if this machine has a device of this kind, else the reason why not.
const char *device_missing(enum device_kind kind);
// Returns the number of devices of this kind.
int device_count(enum device_kind kind);

int device_open(const char *spec, struct device *d);
void device_close(struct device *d);
// Returns a device for host memory, for data that is made on the host and then copied. Need not be
// closed.
struct device device_host(void);
// Returns true if the device's memory is host memory.
bool device_is_host(const struct device *d);

// Returns the most bytes that the caches may hold. A flush reads twice as many.
int64_t device_cached_bytes(const struct device *d);

int device_alloc(struct device *d, int64_t count, size_t size, void **p);
void device_free(struct device *d, void *p); // p may be NULL
// Returns true if the block p of device_alloc() has at least `bytes` bytes, or `bytes` is 0.
bool device_holds(const struct device *d, const void *p, int64_t bytes);
// Returns a block that was written behind its end since the last call; p NULL: none is known. Looks
// at all blocks, and at those that were freed. Only on the CPU.
struct device_block device_overrun(struct device *d);
void device_peak_reset(struct device *d);
// Sets the bytes that a library has allocated without device_alloc(). These count as allocated.
void device_count_foreign(struct device *d, int64_t bytes);
int device_upload(struct device *d, void *to, const void *from, int64_t bytes);
// Allocates `count` elements and copies `from` into them. On failure *to is NULL.
int device_place(struct device *d, const void *from, int64_t count, size_t size, void **to);
// The same with memory for `room` elements, at least `count`. The others are not set.
int device_place_in(struct device *d, const void *from, int64_t count, int64_t room, size_t size,
                    void **to);
int device_download(struct device *d, void *to, const void *from, int64_t bytes);
int device_fill(struct device *d, void *p, int byte, int64_t bytes);
// Sets *bits to a digest of all elements; 0 if there are none. Arrays that differ in a 32-bit word
// differ in *bits. Arrays that differ in more words have equal *bits with a probability under
// 2^-31. Real zeros of either sign are equal.
int device_digest(struct device *d, const struct device_view *v, uint64_t *bits);
// Sets DEVICE_SPOTS elements at random places, or all elements if there are fewer, to bytes of
// ones: NaN or -1. Unlike a fill, leaves the caches almost unchanged.
int device_spoil(struct device *d, const struct device_view *v, uint64_t seed);
#define DEVICE_SPOTS 1024
// Copies the elements at these places to `to`.
int device_fetch(struct device *d, const struct device_view *v, uint64_t seed, void *to);
int device_sync(struct device *d);

// Mark the begin and the end of an algorithm's run(). Allocating, freeing, copying from or to the
// host, and waiting in a `closed` run are a bug(). device_run_end() returns the error of a launch
// that run() has not checked. The emulator also reports unchecked launches without an error.
void device_run_begin(struct device *d, bool closed);
int device_run_end(struct device *d);

#ifdef __cplusplus
}
#endif
#endif
