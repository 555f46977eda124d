// Stacks that threads of a block run on, and the switch between them. A fiber is made once and
// never ends: its body loops, so a pooled stack carries nothing over from one thread to the next.
// Only the engine includes this.
#ifndef EMU_FIBER_H
#define EMU_FIBER_H

#include "emu_internal.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

// EMU_UCONTEXT takes the portable way everywhere, to test it.
#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(EMU_UCONTEXT)
#define EMU_SWITCH 1
#else
#define EMU_SWITCH 0
#include <ucontext.h>
#endif

namespace emu
{

struct fiber {
    void *sp;          // saved stack pointer while it does not run
    const void *stack; // lowest address
    size_t stack_bytes;
#if !EMU_SWITCH
    ucontext_t context;
#endif
};

// Enough for a kernel's frames under AddressSanitizer, and for its report.
constexpr size_t FIBER_STACK = 256 * 1024, FIBER_GUARD = 64 * 1024;

#if EMU_SWITCH
// Saves what the callee must save, stores sp in *from, continues where `to` was stored.
extern "C" void emu_fiber_switch(void **from, void *to);
#endif

#if EMU_SWITCH && defined(__x86_64__)
asm(".text\n"
    ".globl emu_fiber_switch\n"
    ".hidden emu_fiber_switch\n"
    ".type emu_fiber_switch, @function\n"
    "emu_fiber_switch:\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n"
    "    popq %r14\n"
    "    popq %r13\n"
    "    popq %r12\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    "    ret\n"
    ".size emu_fiber_switch, . - emu_fiber_switch\n");
#elif EMU_SWITCH && defined(__aarch64__)
asm(".text\n"
    ".globl emu_fiber_switch\n"
    ".hidden emu_fiber_switch\n"
    ".type emu_fiber_switch, %function\n"
    "emu_fiber_switch:\n"
    "    stp x29, x30, [sp, #-160]!\n"
    "    stp x19, x20, [sp, #16]\n"
    "    stp x21, x22, [sp, #32]\n"
    "    stp x23, x24, [sp, #48]\n"
    "    stp x25, x26, [sp, #64]\n"
    "    stp x27, x28, [sp, #80]\n"
    "    stp d8, d9, [sp, #96]\n"
    "    stp d10, d11, [sp, #112]\n"
    "    stp d12, d13, [sp, #128]\n"
    "    stp d14, d15, [sp, #144]\n"
    "    mov x9, sp\n"
    "    str x9, [x0]\n"
    "    mov sp, x1\n"
    "    ldp x19, x20, [sp, #16]\n"
    "    ldp x21, x22, [sp, #32]\n"
    "    ldp x23, x24, [sp, #48]\n"
    "    ldp x25, x26, [sp, #64]\n"
    "    ldp x27, x28, [sp, #80]\n"
    "    ldp d8, d9, [sp, #96]\n"
    "    ldp d10, d11, [sp, #112]\n"
    "    ldp d12, d13, [sp, #128]\n"
    "    ldp d14, d15, [sp, #144]\n"
    "    ldp x29, x30, [sp], #160\n"
    "    ret\n"
    ".size emu_fiber_switch, . - emu_fiber_switch\n");
#endif

// Stacks of all fibers, in one mapping. start NULL: no stack exists.
static struct {
    char *start;
    size_t bytes;
} fiber_stacks;

// Makes fiber *f, number i of `count`. Returns false if memory is lacking. The fiber starts at
// `entry`, which must call fiber_arrived() first and never return. Frames of fiber i begin lower
// than those of fiber i - 1, so that they use different cache lines.
static inline bool fiber_make(fiber *f, int i, int count, void (*entry)(void))
{
    const size_t bytes = FIBER_STACK + FIBER_GUARD;
    if (!fiber_stacks.start) {
        void *all = mmap(NULL, bytes * (size_t)count, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED) return false;
        fiber_stacks.start = (char *)all;
        fiber_stacks.bytes = bytes * (size_t)count;
    }
    char *map = fiber_stacks.start + bytes * (size_t)i;
    mprotect(map, FIBER_GUARD, PROT_NONE); // an overflow faults
    f->stack = map + FIBER_GUARD;
    f->stack_bytes = FIBER_STACK - (size_t)(i % 31) * 576;
#if EMU_SWITCH && defined(__x86_64__)
    void **sp = (void **)(map + FIBER_GUARD + f->stack_bytes);
    *--sp = NULL;          // the return address of entry
    *--sp = (void *)entry; // where the first switch returns to
    sp -= 6;               // the saved registers, zero
    f->sp = sp;
#elif EMU_SWITCH && defined(__aarch64__)
    void **sp = (void **)(map + FIBER_GUARD + f->stack_bytes) - 20;
    sp[1] = (void *)entry; // x30
    f->sp = sp;
#else
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = (void *)f->stack;
    f->context.uc_stack.ss_size = f->stack_bytes;
    f->context.uc_link = NULL;
    makecontext(&f->context, entry, 0);
#endif
    return true;
}

// AddressSanitizer is told of a switch from the host's stack to a fiber and back. Telling takes
// longer than the switch, so all stacks of fibers are one stack to AddressSanitizer. If a function
// that does not return is called on a fiber, AddressSanitizer forgets the frames of later fibers.
// For fault(), fiber_end() prevents this.
static struct {
    const void *host; // lowest address of the host's stack
    size_t host_bytes;
    void *host_fake, *fibers_fake; // AddressSanitizer's fake stacks, kept while the other runs
    bool entered;                  // the current switch comes from the host's stack
} fiber_told;

// Tells AddressSanitizer the end of a switch from the host's stack. Called after each switch. A new
// fiber calls this first.
static inline EMU_BARE void fiber_arrived()
{
    if (!fiber_told.entered) return;
    fiber_told.entered = false;
#if EMU_ASAN
    __sanitizer_finish_switch_fiber(fiber_told.fibers_fake, &fiber_told.host,
                                    &fiber_told.host_bytes);
#endif
}

static inline EMU_BARE void fiber_jump(fiber *from, fiber *to)
{
#if EMU_SWITCH
    emu_fiber_switch(&from->sp, to->sp);
#else
    swapcontext(&from->context, &to->context);
#endif
}

// Switches from fiber `from` to fiber `to`.
static inline EMU_BARE void fiber_switch(fiber *from, fiber *to)
{
    fiber_jump(from, to);
    fiber_arrived();
}

// Switches from the host's stack to fiber `to`. Returns after fiber_leave().
static inline EMU_BARE void fiber_enter(fiber *host, fiber *to)
{
    fiber_told.entered = true;
#if EMU_ASAN
    __sanitizer_start_switch_fiber(&fiber_told.host_fake, fiber_stacks.start, fiber_stacks.bytes);
#endif
    fiber_jump(host, to);
#if EMU_ASAN
    __sanitizer_finish_switch_fiber(fiber_told.host_fake, NULL, NULL);
#endif
}

// Switches from fiber `from` to the host's stack.
static inline EMU_BARE void fiber_leave(fiber *from, fiber *host)
{
#if EMU_ASAN
    __sanitizer_start_switch_fiber(&fiber_told.fibers_fake, fiber_told.host, fiber_told.host_bytes);
#endif
    fiber_jump(from, host);
    fiber_arrived();
}

// Tells AddressSanitizer the stack of fiber f, which runs, before the program ends on this stack.
// At the end AddressSanitizer cleans the current stack, and must not clean all stacks.
static inline EMU_BARE void fiber_end(const fiber *f)
{
#if EMU_ASAN
    void *fake;
    __sanitizer_start_switch_fiber(&fake, f->stack, f->stack_bytes);
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#else
    (void)f;
#endif
}

} // namespace emu

#endif
