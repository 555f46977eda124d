// What the parts of the emulator know of each other: the engine (emu.cpp), the runtime API
// (emu_runtime.cpp, ...), its rules (emu_rules.cpp) and the program's symbols (emu_symbols.cpp).
#ifndef EMU_INTERNAL_H
#define EMU_INTERNAL_H

#include "emu.h"
#include "emu_engine.h"
#include "emu_runtime.h"

#include <string>
#include <vector>

namespace emu
{

// A __shared__ array that is declared inside a kernel.
struct shared_array {
    char *start;
    size_t bytes;
};

// What the symbol table says about a kernel.
struct symbols {
    std::string name; // without its parameters; empty: the program has no symbols
    std::vector<shared_array> arrays;
    size_t shared_bytes; // of all the arrays
    // The arrays of a template that is not static may be merged between files, so
    // AddressSanitizer leaves them alone.
    bool unwatched;
};
const symbols &symbols_find(const void *kernel);

void run_blocks(const launch &l, void *shared);
// Starts a line on stderr: which kernel, block and thread.
void context_print();
// "kernel NAME (file:line)", with the name that the symbol table has if there is one.
void kernel_text(const launch &l, char *text, size_t size);

// What emu_set_order() or the environment says; seeds the random numbers when that is new.
enum emu_order order_now();
void random_seed(uint64_t seed);
uint64_t random_now();
// order[0..n) = the numbers 0 .. n-1 as the order says; mixed is for the caller to resolve.
void order_fill(int *order, int n, enum emu_order how);
// The same for blocks, of which there may be too many for a list.
struct block_order {
    uint64_t n, step, start;
    bool reverse;
    block_order(uint64_t count, enum emu_order how);
    uint64_t at(uint64_t i) const;
};

// Between the files of the runtime API.

struct settings {
    int64_t memory, fail_at; // bytes of the device; calls until one fails, 0: none
    int devices, failed;     // whether that call has been reached
    enum emu_order order;
    bool reseed;
    uint64_t seed;
    int64_t launches;
    bool profiling;
    int64_t profiled; // launches between the profiler's marks
    int64_t early;    // launches by LAUNCH_EARLY
};
settings &set();
// One that is done now, and not captured.
void count_launch(const launch &l);
// Keeps an error for cudaGetLastError, and returns it.
cudaError_t done(cudaError_t e);
// True when this call is the one that is to fail.
bool must_fail();
#define MAY_FAIL(e)                                                                                \
    do {                                                                                           \
        if (must_fail()) return done(e);                                                           \
    } while (0)
// Of a launch that has been accepted: runs it.
void run_now(const launch &l);
// While a stream captures, launches and fills, and copies within the device, are kept for the graph
// instead of being done. Whatever else is asked of the runtime that would wait, allocate, free or
// copy spoils the capture.
bool is_capturing(cudaStream_t s);
void capture_launch(const launch &l);
cudaError_t capture_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height);
cudaError_t capture_fill(void *p, int byte, size_t bytes);
// True where a capture is under way; it is spoilt then.
bool capture_spoil();
#define NOT_CAPTURED()                                                                             \
    do {                                                                                           \
        if (capture_spoil()) return done(cudaErrorStreamCaptureUnsupported);                       \
    } while (0)
// The copy and the fill of a graph.
cudaError_t copy_now(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                     size_t height, cudaMemcpyKind kind);
cudaError_t fill_now(void *p, int byte, size_t bytes);
// For AddressSanitizer, which knows that a stream has been destroyed.
void stream_touch(cudaStream_t s);
// Aborts if a launch was refused and nobody has asked about it: that is a fault of the program.
void refused_check();
double now_ms();

constexpr size_t KIB = 1024;
size_t memory_used();
void memory_reset();
// Device memory is open to the program while one of these lives.
struct opened {
    opened();
    ~opened();
};

// The rules, each asked by the call that it is about. They return, or tell the fault and abort.

// Prints "emulator: ", the text, and from where it was called, and aborts.
[[noreturn]] void host_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
// A call that takes a stream: not the NULL stream, nor one that has been destroyed.
void rule_stream(const char *call, cudaStream_t s);
// A call on the NULL stream that takes none, and has a form that does: not in a run().
void rule_no_stream(const char *call);
// Not in a closed run(); `deed` is one of the following.
void rule_closed(const char *call, const char *deed);
#define ALLOCATES  "allocates; that is for prepare()"
#define FREES      "frees; that is for teardown()"
#define COPIES     "copies from or to the host; that is for prepare()"
#define CONFIGURES "changes settings; that is for prepare()"
#define WAITS      "waits; it starts the work, and the harness waits"
// A launch: not on the NULL stream. The next two are for the check that a run() must end with.
void rule_launch(const launch &l);
void rule_checked();

} // namespace emu

#endif
