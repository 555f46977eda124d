// A place where kernels run: the CPU, or one CUDA device. All memory of a case is allocated through
// here, so that its peak is measured, and all waiting and event timing happens here.
#ifndef DEVICE_H
#define DEVICE_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum device_kind {
#define DEVICE(symbol, name, numbering, build) DEVICE_##symbol,
#include "device/devices.def"
#undef DEVICE
    DEVICE_KINDS
};

// A block of so many bytes, read again and again by all, at this rate.
struct roof_step {
    int64_t bytes;
    double gb_s;
};
#define ROOF_STEPS_MAX 24

// Whole rows at random places of a block of so many bytes, fetched by all: at this rate of the
// bytes that were asked for, by the length of a row as in roof_row_bytes.
#define ROOF_ROWS 5
struct roof_gather {
    int64_t bytes;
    double gb_s[ROOF_ROWS];
};
#define ROOF_GATHERS_MAX 8

// What the device can do at most, as measured; 0 where it is not known.
struct roof {
    double memory_gb_s;       // memory bandwidth: the better of the next two, or what a case did
    double copy_gb_s;         // of a large copy, bytes read and written
    double read_gb_s;         // of reading the last step of the ladder
    double cache_gb_s;        // of reading out of the last cache above memory; 0: none was seen
    int64_t cache_seen_bytes; // what of a block that cache holds; 0: none was seen
    double near_gb_s;         // of reads that stay next to the cores: no bytes come faster
    double fma_gflops[2];     // multiply-add rate by `enum prec`, 2 flops each
    double fma_measured[2];   // the same without what cases have added
    double probe_gb_s;        // of a probe, to be held against one at another time
    int64_t measured;         // when it was measured last, in seconds since 1970
    int step_count;
    struct roof_step steps[ROOF_STEPS_MAX]; // the ladder: larger and larger blocks
    int gather_count;
    struct roof_gather gathers[ROOF_GATHERS_MAX]; // likewise
};

struct device_block {
    void *p;
    int64_t bytes;
};

// What was allocated when, over one run: at each allocation and release.
struct device_moment {
    double ms;     // since `start`
    int64_t bytes; // allocated from then on
};
struct device_trace {
    double start; // clock_ms() of the first moment
    int64_t count, room;
    struct device_moment *moments; // size room; owned
    bool lost;                     // there was no memory for some of them
};
void device_trace_free(struct device_trace *t);

struct device {
    enum device_kind kind;
    int index;                   // its number among those of its kind
    char id[16];                 // "cpu", "cuda:0"
    char name[128];              // as the vendor calls it
    char detail[128];            // compute capability and driver, or the instruction set
    char address[32];            // on its bus, where it is one of several: which one it is; or ""
    int units;                   // of ops->units: multiprocessors, threads
    int64_t memory_bytes;        // total
    int64_t cache_bytes;         // last-level cache, as the system says
    int64_t cache_block_bytes;   // of it, what one core reaches
    int64_t cache_part_bytes;    // of it, the threads' part if all processors have as much
    int64_t cache_least_bytes;   // what is cached for sure: the cores' own, on a GPU all of it
    int64_t cache_seen_bytes;    // of the last-level cache, by its roof; 0: not known
    void *stream;                // cudaStream_t that everything runs on; NULL on the CPU
    int64_t used_bytes;          // allocated now
    int64_t peak_bytes;          // the most since device_peak_reset()
    int64_t foreign_bytes;       // of what is allocated, what a library allocated by itself
    struct device_block *blocks; // what is allocated, size block_count
    int block_count, block_room;
    struct device_trace *trace; // NULL: allocations are not traced
    bool poison;   // new blocks are filled with NaN, so that nothing old passes for a result
    bool closed;   // between device_run_begin(closed) and device_run_end()
    void *backend; // the backend's own state
    const struct device_ops *ops;
};

// Numbers in a device's memory: `lines` of `length` elements, `step` elements apart.
struct device_view {
    void *p;
    int64_t lines, length, step;
    int width; // bytes of an element: 1, 2, 4 or 8
    bool real; // float or double, by its width; else only the bits count
};

// Digest of such a block. Blocks that differ in one 32-bit word differ in `bits`; blocks that
// differ in more words have the same `bits` with a probability under 2^-31. `sum` and `size` are of
// real values: the sum of all elements by random weights between 1/2 and 1 of either sign, and of
// its absolute values; NaN if an element is.
struct digest {
    uint64_t bits;
    double sum, size;
};

#define DEVICE_FLIPS_MAX  4
#define DEVICE_BUS_ID_MAX 32 // letters of the place of a device on its bus, the end included

struct product; // device/product.h
struct product_segment;
struct product_part;

// One backend. Every function returns 0 or an error; backends do no bookkeeping.
struct device_ops {
    const char *units;   // what its work is spread over: "multiprocessors"
    const char *visible; // variable of the environment that says which of its kind there are, or NULL
    int row_start_bytes; // of the CSR that its kernels take: 8 (int64_t) or 4 (int32_t)
    int (*count)(void);  // devices of this kind in the machine; where there are none, why is failed
    // NULL where they lie on no bus that a driver knows them by. Opens nothing.
    int (*bus_id)(int index, char id[DEVICE_BUS_ID_MAX]);
    int (*open)(struct device *d); // fills name, detail, sizes, stream; index is set
    void (*close)(struct device *d);
    int (*alloc)(struct device *d, int64_t bytes, void **p);
    void (*release)(struct device *d, void *p);
    int (*upload)(struct device *d, void *to, const void *from, int64_t bytes);   // waits
    int (*download)(struct device *d, void *to, const void *from, int64_t bytes); // waits
    int (*fill)(struct device *d, void *p, int byte, int64_t bytes);
    int (*digest)(struct device *d, const struct device_view *v, struct digest *out); // waits
    int (*spoil)(struct device *d, const struct device_view *v, uint64_t seed);
    // NULL where the host checks sparse products. Starts a comparison of `count` segments of C with
    // the sums of their products; writes a part for each. `segments` and `parts` lie on the device.
    int (*check_product)(struct device *d, const struct product *p,
                         const struct product_segment *segments, int64_t count,
                         struct product_part *parts);
    int (*sync)(struct device *d); // waits, and reports what went wrong asynchronously
    // Around the run() of an algorithm; see device_run_begin().
    void (*run_begin)(struct device *d, bool closed);
    int (*run_end)(struct device *d);
    // Two marks in the stream and the time between them; timer_stop waits.
    int (*timer_start)(struct device *d);
    int (*timer_stop)(struct device *d, double *ms);
    // NULL where what follows in the stream never overlaps: starts a kernel that does nothing, and
    // that neither begins before what is ahead of it has ended nor lets what is behind begin
    // sooner.
    int (*separate)(struct device *d);
    // NULL where what follows in the stream never overlaps. Inverts all bits of up to
    // DEVICE_FLIPS_MAX blocks, each of which begins at a multiple of 8 bytes; twice leaves them as
    // they were. A `late` one lets what is behind it begin at once and inverts 50 us later: what
    // does not wait for it finds them inverted. ERR_UNSUPPORTED where that cannot be done; nothing
    // is changed then.
    int (*flip)(struct device *d, const struct device_block *blocks, int count, bool late);
    // NULL where there are none. What launch(arg) starts in the stream is kept instead, as a graph
    // that starts all of it at once. ERR_UNSUPPORTED with the reason where that cannot be done;
    // nothing is then left of it, and the stream is as it was.
    int (*graph_make)(struct device *d, int (*launch)(void *arg), void *arg, void **graph);
    int (*graph_launch)(struct device *d, void *graph);
    void (*graph_free)(struct device *d, void *graph);
    int (*flush_cache)(struct device *d);                   // everything cached is evicted
    int (*clock_mhz)(struct device *d, int *now, int *max); // 0, 0 where it cannot be read
    int (*throttled)(struct device *d); // 1 if the clocks are held down now, 0 if not or not known
    // NULL where no profiler asks. What is started from on to off is what one looks at that was
    // told to wait for it.
    int (*profile)(struct device *d, bool on);
    int (*measure_roof)(struct device *d, struct roof *roof);
    // Copies or reads for some milliseconds, which other work slows down as it does the measurement,
    // and as a tool does that watches each access.
    int (*probe_roof)(struct device *d, double *gb_s);
};

// A kind of device, by `enum device_kind`, whether this build has it or not.
struct device_entry {
    const char *name;             // as in -device
    bool many;                    // a machine may have several: name:0, name:1, ...
    const struct device_ops *ops; // NULL: not in this build, `missing` says why
    const char *missing;
};
extern const struct device_entry device_list[DEVICE_KINDS];

// "auto, cpu, cuda, cuda:N": what -device takes.
const char *device_names(void);
// What `spec` means, "auto" included: the kind, and the number among its kind. ERR_USAGE if it is
// no device's name. Opens nothing.
int device_parse(const char *spec, enum device_kind *kind, int *index);
// The same of one that must be there.
int device_find(const char *spec, enum device_kind *kind, int *index);
// "cpu", "cuda:0".
void device_id(enum device_kind kind, int index, char id[16]);
// NULL if a device of this kind can be opened here, else why not, in one line.
const char *device_missing(enum device_kind kind);
// How many there are.
int device_count(enum device_kind kind);

int device_open(const char *spec, struct device *d);
void device_close(struct device *d);
// A place in host memory for what is made on the host and then copied to `d`: nothing is measured
// of it, and it need not be closed.
struct device device_host(void);
// Whether the device's memory is the host's.
bool device_is_host(const struct device *d);

// The most that may lie in the caches: a flush reads twice as much.
int64_t device_cached_bytes(const struct device *d);

int device_alloc(struct device *d, int64_t count, size_t size, void **p);
void device_free(struct device *d, void *p); // NULL is legal
// Whether so many bytes can be read from p on, which device_alloc() gave; none can from anywhere.
bool device_holds(const struct device *d, const void *p, int64_t bytes);
void device_peak_reset(struct device *d);
// A library holds so many bytes that did not come from device_alloc(): in place of what was told
// before, they count as allocated.
void device_count_foreign(struct device *d, int64_t bytes);
int device_upload(struct device *d, void *to, const void *from, int64_t bytes);
// Allocates `count` elements and copies them there; on failure *to is NULL.
int device_place(struct device *d, const void *from, int64_t count, size_t size, void **to);
int device_download(struct device *d, void *to, const void *from, int64_t bytes);
int device_fill(struct device *d, void *p, int byte, int64_t bytes);
// Looks at every element. Of nothing it is all zero.
int device_digest(struct device *d, const struct device_view *v, struct digest *out);
// Sets DEVICE_SPOTS elements at random places, or all if there are no more, to bytes of ones, which
// is NaN or -1. It hardly touches the caches, unlike a fill.
int device_spoil(struct device *d, const struct device_view *v, uint64_t seed);
#define DEVICE_SPOTS 1024
int device_sync(struct device *d);

// From the first to the second the run() of an algorithm is under way. In a `closed` one nothing
// may be allocated, released, copied from or to the host, or waited for: that is a bug(). The
// second returns the error of a launch that run() has not looked at; the emulator also sees the
// launch that nobody checked and that went well.
void device_run_begin(struct device *d, bool closed);
int device_run_end(struct device *d);

#ifdef __cplusplus
}
#endif
#endif
