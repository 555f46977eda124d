// What the parts of the emulator know of each other: the engine (emu.cpp), the runtime API
// (emu_runtime.cpp) and the program's own symbols (emu_symbols.cpp).
#ifndef EMU_INTERNAL_H
#define EMU_INTERNAL_H

#include "emu.h"
#include "emu_engine.h"

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
// What emu_set_order() or the environment says; sets the random state when it is new.
enum emu_order order_now(uint64_t *random_state);

} // namespace emu

#endif
