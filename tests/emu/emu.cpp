// The engine: runs the threads of a block as fibers on the host's one thread. A thread runs until
// it waits, at a barrier of its block or at a meeting of its warp, and then the next one that can
// run does. When none can and some have not returned, what they wait for can never come.
#include "emu_engine.h"
#include "emu_fiber.h"
#include "emu_internal.h"

#include <stdarg.h>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emu
{
namespace
{

constexpr int MAX_THREADS = 1024, MAX_WARPS = MAX_THREADS / 32;

// A thread in a complete meeting is AT_MEETING until it runs, although its bit of `ready` is set.
enum state { READY, AT_BARRIER, AT_MEETING, RETURNED };

struct warp;

struct thread {
    fiber f;
    uint3 index;
    warp *w;
    int lane;
    enum state state;
    const char *what; // while it waits: the intrinsic, its line, and the meeting
    int line;
    meeting *at;
};

struct warp {
    int first;      // number of its first thread
    int place;      // in the order of warps
    unsigned ready; // bit p: the lane in place p can run
    unsigned open;  // meetings that wait for lanes
    unsigned used;  // meetings that are open, or still being read
    meeting meetings[32];
};

// Everything about the block that runs.
struct {
    const launch *l; // NULL: no kernel runs
    int threads, warps;
    int returned;                  // threads
    unsigned ready;                // bit p: a lane of the warp in place p can run
    int warp_at[MAX_WARPS];        // place -> warp
    int lane_at[32], place_of[32]; // place -> lane, lane -> place
    int waiting;                   // threads at the barrier
    int barrier_line;              // where the first of them waits
    const char *barrier_what;
    votes arriving, result;
    void *shared;   // dynamic shared memory
    int64_t yields; // in a row, with nothing else happening
    bool shuffled;  // the order of this block
} block;

thread threads[MAX_THREADS];
warp warps[MAX_WARPS];
int fibers; // made so far
fiber host;
thread *self; // who runs; NULL on the host's own stack
int64_t blocks_run;

EMU_BARE void switch_to(thread *t)
{
    thread *from = self;
    self = t;
    if (t) threadIdx = t->index;
    if (!from)
        fiber_enter(&host, &t->f);
    else if (!t)
        fiber_leave(&from->f, &host);
    else
        fiber_switch(&from->f, &t->f);
}

EMU_BARE void set_ready(thread *t)
{
    t->state = READY;
    t->w->ready |= 1u << block.place_of[t->lane];
    block.ready |= 1u << t->w->place;
}

// Takes the next thread that can run: the next lane of the same warp, else of the next warp.
EMU_BARE thread *next_ready()
{
    warp *w = self ? self->w : NULL;
    int place = self ? block.place_of[self->lane] : -1;
    if (!w || !w->ready) {
        if (!block.ready) return NULL;
        unsigned later = w ? block.ready & ~((2u << w->place) - 1) : block.ready;
        w = &warps[block.warp_at[__builtin_ctz(later ? later : block.ready)]];
        place = -1;
    }
    unsigned later = place < 0 ? w->ready : w->ready & ~((2u << place) - 1);
    place = __builtin_ctz(later ? later : w->ready);
    w->ready &= ~(1u << place);
    if (!w->ready) block.ready &= ~(1u << w->place);
    return &threads[w->first + block.lane_at[place]];
}

// What a thread that something waits for does instead, for a message.
const char *whereabouts(int number, char text[200])
{
    if (number >= block.threads) {
        snprintf(text, 200, "does not exist: the block has %d threads", block.threads);
        return text;
    }
    const thread *t = &threads[number];
    switch (t->state) {
    case AT_BARRIER: snprintf(text, 200, "waits in %s at line %d", t->what, t->line); break;
    case AT_MEETING:
        snprintf(text, 200, "waits in %s at line %d with mask 0x%08x", t->what, t->line,
                 t->at->mask);
        break;
    default: snprintf(text, 200, "has returned");
    }
    return text;
}

// Nobody can run and some have not returned.
[[noreturn]] EMU_BARE void fault_stuck()
{
    char text[200];
    thread *in_meeting = NULL, *in_barrier = NULL;
    int missing = 0;
    for (int i = 0; i < block.threads; i++) {
        thread *t = &threads[i];
        if (t->state == AT_BARRIER && !in_barrier) in_barrier = t;
        if (t->state != AT_MEETING) continue;
        int lane = t->w->first + __builtin_ctz(t->at->mask & ~t->at->arrived);
        bool gone = lane >= block.threads || threads[lane].state != AT_MEETING;
        if (in_meeting && !gone) continue; // rather one whose lane is not at a meeting itself
        in_meeting = t;
        missing = lane;
        if (gone) break;
    }
    threadIdx = (in_meeting ? in_meeting : in_barrier)->index;
    if (in_meeting)
        fault("%s at line %d with mask 0x%08x waits for lane %d, which %s", in_meeting->what,
              in_meeting->line, in_meeting->at->mask, missing % 32, whereabouts(missing, text));
    fault("divergent barrier: %d threads wait in %s at line %d, %d threads have returned",
          block.waiting, block.barrier_what, block.barrier_line, block.returned);
}

// Until somebody makes this thread ready again.
EMU_BARE void wait_ready()
{
    thread *t = next_ready();
    if (!t) fault_stuck();
    if (t != self) switch_to(t);
}

// One fiber runs one thread of every block, with the same number each time.
EMU_BARE void fiber_body()
{
    fiber_arrived();
    for (;;) {
        block.l->body(block.l->args);
        self->state = RETURNED;
        block.returned++;
        block.yields = 0;
        thread *next = next_ready();
        if (!next && block.returned < block.threads) fault_stuck();
        switch_to(next);
    }
}

EMU_BARE void block_start(const launch &l, uint3 index, enum emu_order how)
{
    blockIdx = index;
    block.returned = block.waiting = 0;
    block.arriving = {};
    block.yields = 0;
    block.shuffled = how == EMU_SHUFFLE;
    order_fill(block.warp_at, block.warps, how);
    order_fill(block.lane_at, 32, how);
    for (int p = 0; p < 32; p++) block.place_of[block.lane_at[p]] = p;
    block.ready = 0;
    for (int p = 0; p < block.warps; p++) {
        warp *w = &warps[block.warp_at[p]];
        w->first = block.warp_at[p] * 32;
        w->place = p;
        w->ready = w->open = w->used = 0;
    }
    uint3 at = {0, 0, 0};
    for (int i = 0; i < block.threads; i++) {
        thread *t = &threads[i];
        t->index = at;
        t->w = &warps[i / 32];
        t->lane = i % 32;
        set_ready(t);
        if (++at.x == l.block.x) {
            at.x = 0;
            if (++at.y == l.block.y) {
                at.y = 0;
                at.z++;
            }
        }
    }
}

} // namespace

void kernel_text(const launch &l, char *text, size_t size)
{
    const symbols &s = symbols_find(l.kernel);
    bool same = s.name.empty() || s.name == l.name;
    snprintf(text, size, "kernel %s%s%s (%s:%d)", l.name, same ? "" : " = ",
             same ? "" : s.name.c_str(), file_name(l.file), l.line);
}

void context_print()
{
    if (!block.l) {
        fprintf(stderr, "emulator: outside a kernel (only kernels and copies may use device "
                        "memory): ");
        return;
    }
    char text[512];
    kernel_text(*block.l, text, sizeof text);
    fprintf(stderr, "emulator: %s, block (%u,%u,%u), thread (%u,%u,%u): ", text, blockIdx.x,
            blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
}

EMU_BARE void fault(const char *format, ...)
{
    va_list args;
    if (self) fiber_end(&self->f);
    va_start(args, format);
    fflush(stdout);
    context_print();
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    abort();
}

EMU_BARE unsigned lane() { return (unsigned)self->lane; }

void *shared_dynamic() { return block.shared; }

EMU_BARE void yield()
{
    if (++block.yields > 20000000)
        fault("threads spin without progress: on a lock, or on what another block writes");
    set_ready(self);
    wait_ready();
}

EMU_BARE void maybe_yield()
{
    if (!block.shuffled || random_now() % 4) return;
    set_ready(self);
    wait_ready();
}

EMU_BARE meeting *meet(const char *what, unsigned mask, uint64_t value, const char *file, int line)
{
    unsigned bit = 1u << self->lane;
    warp *w = self->w;
    if (!(mask & bit))
        fault("%s (%s:%d): lane %d is not in its own mask 0x%08x", what, file_name(file), line,
              self->lane, mask);
    meeting *m = NULL;
    for (unsigned open = w->open; open && !m; open &= open - 1) {
        meeting *o = &w->meetings[__builtin_ctz(open)];
        if (o->mask == mask && o->line == line && (o->what == what || !strcmp(o->what, what)))
            m = o;
    }
    if (!m) { // a lane is in one meeting at a time, so one of the 32 is free
        int i = __builtin_ctz(~w->used);
        m = &w->meetings[i];
        m->what = what;
        m->line = line;
        m->mask = mask;
        m->arrived = m->left = m->voted = 0;
        w->used |= 1u << i;
        w->open |= 1u << i;
    }
    m->value[self->lane] = value;
    m->arrived |= bit;
    if (value) m->voted |= bit;
    block.yields = 0;
    if (m->arrived == mask) {
        w->open &= ~(1u << (m - w->meetings));
        if (mask != bit) block.ready |= 1u << w->place;
        for (unsigned others = mask & ~bit; others; others &= others - 1)
            w->ready |= 1u << block.place_of[__builtin_ctz(others)];
    } else {
        self->state = AT_MEETING;
        self->what = what;
        self->line = line;
        self->at = m;
        wait_ready();
        self->state = READY;
    }
    return m;
}

EMU_BARE void part(meeting *m)
{
    m->left |= 1u << self->lane;
    if (m->left == m->mask) self->w->used &= ~(1u << (m - self->w->meetings));
}

EMU_BARE uint64_t exchange(const char *what, enum shuffle kind, unsigned mask, uint64_t value,
                           int by, int width, const char *file, int line)
{
    if (width < 1 || width > 32 || (width & (width - 1)))
        fault("%s (%s:%d): width %d is not 1, 2, 4, 8, 16 or 32", what, file_name(file), line,
              width);
    meeting *m = meet(what, mask, value, file, line);
    int me = self->lane, first = me & ~(width - 1), last = first + width - 1, from = me;
    switch (kind) {
    case UP: from = (int64_t)me - by < first ? me : me - by; break;
    case DOWN: from = (int64_t)me + by > last ? me : me + by; break;
    case XOR: from = (me ^ by) > last ? me : me ^ by; break;
    case INDEX: from = first + (by & (width - 1)); break;
    }
    from &= 31;
    uint64_t result = mask >> from & 1 ? m->value[from] : ~(uint64_t)0;
    part(m);
    return result;
}

EMU_BARE unsigned ballot(const char *what, unsigned mask, int p, const char *file, int line)
{
    meeting *m = meet(what, mask, p != 0, file, line);
    unsigned voted = m->voted;
    part(m);
    return voted;
}

EMU_BARE votes barrier(const char *what, int predicate, const char *file, int line)
{
    if (!block.waiting) {
        block.barrier_what = what;
        block.barrier_line = line;
    } else if (block.barrier_line != line ||
               (block.barrier_what != what && strcmp(block.barrier_what, what))) {
        fault("divergent barrier: in %s (%s:%d), where %d threads wait in %s at line %d", what,
              file_name(file), line, block.waiting, block.barrier_what, block.barrier_line);
    }
    block.arriving.total++;
    block.arriving.count += predicate != 0;
    block.yields = 0;
    if (++block.waiting < block.threads) {
        self->state = AT_BARRIER;
        self->what = what;
        self->line = line;
        wait_ready();
    } else {
        block.result = block.arriving;
        block.arriving = {};
        block.waiting = 0;
        for (int i = 0; i < block.threads; i++)
            if (&threads[i] != self) set_ready(&threads[i]);
    }
    return block.result;
}

// All blocks of a launch that the runtime has accepted.
void run_blocks(const launch &l, void *shared)
{
    const symbols &s = symbols_find(l.kernel);
    uint64_t count = (uint64_t)l.grid.x * l.grid.y * l.grid.z;
    enum emu_order how = order_now();
    if (block.l) fault("a launch by a second host thread, or by a kernel");
    block.l = &l;
    block.threads = (int)(l.block.x * l.block.y * l.block.z);
    block.warps = (block.threads + 31) / 32;
    block.shared = shared;
    blockDim = l.block;
    gridDim = l.grid;
    for (; fibers < block.threads; fibers++)
        if (!fiber_make(&threads[fibers].f, fibers, MAX_THREADS, fiber_body))
            fault("no memory for stacks");
    enum emu_order turn = (enum emu_order)(EMU_FORWARD + blocks_run % 3);
    const block_order blocks(count, how == EMU_MIXED ? turn : how);
    for (uint64_t i = 0; i < count; i++, blocks_run++) {
        uint64_t b = blocks.at(i);
        uint3 index = {(unsigned)(b % l.grid.x), (unsigned)(b / l.grid.x % l.grid.y),
                       (unsigned)(b / l.grid.x / l.grid.y)};
        // What the block before left in shared memory is not for this one.
        if (l.shared_bytes) memset(shared, 0xff, l.shared_bytes);
        for (const shared_array &a : s.arrays) memset(a.start, 0xff, a.bytes);
        turn = (enum emu_order)(EMU_FORWARD + blocks_run % 3);
        block_start(l, index, how == EMU_MIXED ? turn : how);
        switch_to(next_ready());
    }
    block.l = NULL;
}

} // namespace emu

// The sanitizers call these before they print their reports.
extern "C" void __asan_on_error()
{
    fflush(stdout);
    emu::context_print();
    fprintf(stderr, "memory fault, as reported below\n");
}

extern "C" void __ubsan_on_report()
{
    fflush(stdout);
    emu::context_print();
    fprintf(stderr, "undefined behaviour, as reported around here\n");
}
