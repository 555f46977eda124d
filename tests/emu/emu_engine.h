// What the intrinsics of emu_device.h and the macros LAUNCH, LAUNCH_EARLY, SHARED_DYNAMIC,
// RUN_BEGIN and RUN_END need from the engine (emu.cpp) and from the rules (emu_rules.cpp).
#ifndef EMU_ENGINE_H
#define EMU_ENGINE_H

#include "emu_types.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define EMU_ASAN 1
// The emulator's own work on its own data, which need not be watched.
#define EMU_BARE __attribute__((no_sanitize("address", "undefined")))
#else
#define EMU_ASAN 0
#define EMU_BARE
#endif

constexpr int warpSize = 32;

// Of the thread that runs now; the engine sets them whenever it switches.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

// Where an intrinsic was called, as its last parameters.
#define EMU_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

namespace emu
{

// Prints one line that names the kernel, the block and the thread, and aborts.
[[noreturn]] void fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The last part of a path.
static inline const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// One meeting of lanes of a warp: each brings a value, all see all values.
struct meeting {
    const char *what; // the intrinsic
    int line;
    unsigned mask;    // lanes that take part
    unsigned arrived; // lanes that are here
    unsigned left;    // lanes that have what they came for
    unsigned voted;   // lanes whose value is not 0
    uint64_t value[32];
};

// Waits until every lane of `mask` is at the same intrinsic. Ends with part().
meeting *meet(const char *what, unsigned mask, uint64_t value, const char *file, int line);
void part(meeting *m);

// Returns the value of the lane that a shuffle reads, after all lanes of `mask` have arrived. All
// bits are 1 if that lane is outside the mask.
enum shuffle { INDEX, UP, DOWN, XOR };
uint64_t exchange(const char *what, enum shuffle kind, unsigned mask, uint64_t value, int by,
                  int width, const char *file, int line);
// Returns the lanes whose `p` is not 0, after all lanes of `mask` have arrived.
unsigned ballot(const char *what, unsigned mask, int p, const char *file, int line);

// Waits for every thread of the block.
struct votes {
    int count; // threads that brought a non-zero predicate
    int total; // threads
};
votes barrier(const char *what, int predicate, const char *file, int line);

unsigned lane();
// Lets other threads of the block run: where a thread may spin on memory.
void yield();
// In the shuffled order, yields now and then: between two threads' atomics anything may happen.
void maybe_yield();
// Dynamic shared memory of the block that runs now.
void *shared_dynamic();

struct launch {
    const char *name; // as written in LAUNCH
    const char *file;
    int line;
    const void *kernel;
    dim3 grid, block;
    size_t shared_bytes;
    const void *stream;
    bool early;               // may start before the kernel ahead of it has ended
    void (*body)(void *args); // one thread of the kernel
    void *args;
    size_t args_bytes; // may be copied as bytes
};
// Sets the last error of the runtime if the launch is refused. All of it has happened when this
// returns, unless the stream captures.
void run(const launch &l);

// Around the run() of an algorithm, a closed one where its result is there before: what it then
// must not do stops the program, and so does a launch after which nobody called cudaGetLastError().
void run_begin(bool closed);
void run_end();

// Static, and without library templates: .cu files may have different types of the same name.
template <typename F> static void call(void *f) { (*static_cast<F *>(f))(); }

template <typename... P>
static void launch_kernel(bool early, const char *name, const char *file, int line,
                          void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes,
                          const void *stream, std::common_type_t<P>... args)
{
    auto body = [=] { kernel(args...); };
    static_assert(std::is_trivially_copyable<decltype(body)>::value, "arguments of a kernel");
    run({name, file, line, (const void *)kernel, grid, block, shared_bytes, stream, early,
         call<decltype(body)>, &body, sizeof body});
}

template <typename F> static bool can_launch_early(F *) { return true; }

} // namespace emu

#define LAUNCH(kernel, ...)                                                                        \
    emu::launch_kernel(false, #kernel, __FILE__, __LINE__, kernel, __VA_ARGS__)
// All the same, a kernel has always ended before the next one starts.
#define LAUNCH_EARLY(kernel, ...)                                                                  \
    emu::launch_kernel(true, #kernel, __FILE__, __LINE__, kernel, __VA_ARGS__)
using emu::can_launch_early;
#define SHARED_DYNAMIC(T, name) T *name = static_cast<T *>(emu::shared_dynamic())
#define RUN_BEGIN(closed)       emu::run_begin(closed)
#define RUN_END()               emu::run_end()

#endif
