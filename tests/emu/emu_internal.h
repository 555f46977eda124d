// What the parts of the emulator know of each other: the engine (emu.cpp), the runtime API
// (emu_runtime.cpp) and the program's own symbols (emu_symbols.cpp).
#ifndef EMU_INTERNAL_H
#define EMU_INTERNAL_H

#include "emu.h"
#include "emu_engine.h"
#include "emu_runtime.h"

#include <string>
#include <vector>

namespace emu {

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
};
settings &set();
// Keeps an error for cudaGetLastError, and returns it.
cudaError_t done(cudaError_t e);
// True when this call is the one that is to fail.
bool must_fail();
#define MAY_FAIL(e)                                                                                \
    do {                                                                                           \
        if (must_fail()) return done(e);                                                           \
    } while (0)
bool stream_ok(cudaStream_t s);
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

} // namespace emu

#endif
