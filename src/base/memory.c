// Memory of the host: nothing is given that the system could not make good on.
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory_limit.h"

#define FIRST_ROOM 64 // elements of a list that grows

// Above this the system is asked each time how much is free; below, when so much was given since
// the last time, or an eighth of what was free then: the question takes as long as many answers.
#define LARGE_ALLOCATION ((int64_t)64 << 20)
#define HUGE_PAGE        ((int64_t)2 << 20)

static atomic_llong given;          // bytes that mem_free() has not had back
static atomic_llong next_ask;       // ask when `given` comes to this
static atomic_llong fail_countdown; // allocations until one fails; 0: none will

int64_t mem_available(void) { return memory_limit_find(atomic_load(&given)).bytes; }

const char *mem_free_text(char text[64])
{
    struct memory_limit r = memory_limit_find(atomic_load(&given));
    char bytes[32];
    size_text(r.bytes, bytes);
    snprintf(text, 64, r.limit ? "%s free (%s)" : "%s free", bytes, r.limit);
    return text;
}

void mem_fail_at(int64_t n) { atomic_store(&fail_countdown, n); }

static bool planned_failure(void)
{
    return atomic_load(&fail_countdown) > 0 && atomic_fetch_sub(&fail_countdown, 1) == 1;
}

static void *refuse(int64_t bytes)
{
    char wanted[32], there[64];
    fail(ERR_MEMORY, "out of host memory: %s wanted, %s", size_text(bytes, wanted),
         mem_free_text(there));
    return NULL;
}

// Whether there is no room for so many bytes more.
static bool too_many(int64_t bytes)
{
    int64_t now = atomic_load(&given);
    if (bytes <= LARGE_ALLOCATION && now + bytes <= atomic_load(&next_ask)) return false;
    int64_t room = memory_limit_find(now).bytes;
    if (bytes > room) return true;
    atomic_store(&next_ask, now + bytes + min64(LARGE_ALLOCATION, (room - bytes) / 8));
    return false;
}

void *mem_try_alloc(int64_t bytes)
{
    if (too_many(bytes)) return NULL;
    // posix_memalign takes any size, so that AddressSanitizer sees the first byte past the end.
    void *p;
    bool huge = bytes >= 2 * HUGE_PAGE;
    if (posix_memalign(&p, huge ? HUGE_PAGE : 64, bytes ? (size_t)bytes : 1)) return NULL;
    // A page fault every 4 kB takes longer than reading a matrix; refusing this hint does no harm.
    if (huge) madvise(p, (size_t)bytes, MADV_HUGEPAGE);
    atomic_fetch_add(&given, (long long)malloc_usable_size(p));
    return p;
}

void *mem_alloc(int64_t count, size_t size)
{
    int64_t bytes = 0;
    if (size_mul(count, (int64_t)size, &bytes)) return NULL;
    void *p = planned_failure() ? NULL : mem_try_alloc(bytes);
    return p ? p : refuse(bytes);
}

void *mem_zero_alloc(int64_t count, size_t size)
{
    void *p = mem_alloc(count, size);
    if (p) memset(p, 0, (size_t)count * size);
    return p;
}

void *mem_resize(void *old, int64_t old_count, int64_t count, size_t size)
{
    void *p = mem_alloc(count, size);
    if (!p) return NULL;
    if (old) memcpy(p, old, (size_t)min64(old_count, count) * size);
    mem_free(old);
    return p;
}

int mem_grow(void **list, int64_t *room, int64_t count, size_t size)
{
    if (count < *room) return OK;
    int64_t more = *room ? 2 * *room : FIRST_ROOM;
    void *grown = mem_resize(*list, *room, more, size);
    if (!grown) return ERR_MEMORY;
    *list = grown;
    *room = more;
    return OK;
}

void mem_free(void *p)
{
    if (p) atomic_fetch_sub(&given, (long long)malloc_usable_size(p));
    free(p);
}
