// What a program must not do here though a GPU would let it pass: use the NULL stream, break the
// rules of an algorithm's run() between RUN_BEGIN and RUN_END, leave a launch unchecked there.
#include "emu_internal.h"

#include <stdarg.h>

namespace emu
{
namespace
{

bool under_way, closed; // a run(), and one that may do nothing but launch
bool unchecked;         // it has launched since somebody called cudaGetLastError()
launch last;            // what it launched last

} // namespace

void host_fault(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fflush(stdout);
    fprintf(stderr, "emulator: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
#if EMU_ASAN
    __sanitizer_print_stack_trace();
#endif
    abort();
}

static bool is_null_stream(const void *s)
{
    return !s || s == cudaStreamLegacy || s == cudaStreamPerThread;
}

void rule_stream(const char *call, cudaStream_t s)
{
    if (is_null_stream(s)) host_fault("%s: on the NULL stream; use t->dev->stream", call);
    stream_touch(s);
}

void rule_no_stream(const char *call)
{
    if (under_way)
        host_fault("%s: in a run(), on the NULL stream, which does not wait for t->dev->stream, "
                   "nor that for it; use %sAsync and t->dev->stream",
                   call, call);
}

void rule_closed(const char *call, const char *deed)
{
    if (closed) host_fault("%s: a run() of a result that is there before %s", call, deed);
}

void rule_launch(const launch &l)
{
    char text[512];
    if (is_null_stream(l.stream)) {
        kernel_text(l, text, sizeof text);
        host_fault("%s: launched on the NULL stream; use t->dev->stream", text);
    }
    stream_touch((cudaStream_t)l.stream);
    if (under_way) last = l;
    unchecked = under_way;
}

void rule_checked() { unchecked = false; }

void run_begin(bool is_closed)
{
    if (under_way) host_fault("RUN_BEGIN: in a run() that has not ended; RUN_END comes first");
    under_way = true;
    closed = is_closed;
    unchecked = false;
}

void run_end()
{
    char text[512];
    if (!under_way) host_fault("RUN_END: no run() has begun; RUN_BEGIN comes first");
    under_way = closed = false;
    if (!unchecked) return;
    unchecked = false;
    kernel_text(last, text, sizeof text);
    host_fault("run() ended without launch_check(); the last launch was %s", text);
}

} // namespace emu
