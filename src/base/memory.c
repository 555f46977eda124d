#include "base/memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fail.h"
#include "base/memory_limit.h"
#include "base/size.h"

#define FIRST_CAPACITY 64 // elements of a list that grows

// Reading the free memory from /proc takes as long as many allocations. Every larger allocation
// reads the files. Smaller ones do after this many bytes, or an eighth of the free memory.
#define LARGE_ALLOCATION ((int64_t)64 << 20)
#define HUGE_PAGE        ((int64_t)2 << 20)

static atomic_llong allocated;      // bytes allocated and not freed
static atomic_llong next_check;     // value of `allocated` at which to read the free memory again
static atomic_llong fail_countdown; // allocations until one fails; 0: none will

int64_t mem_available(void) { return memory_limit_find(atomic_load(&allocated)).bytes; }

const char *mem_free_text(char text[64])
{
    struct memory_limit r = memory_limit_find(atomic_load(&allocated));
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
    char wanted[32], available[64];
    fail(ERR_MEMORY, "out of host memory: %s wanted, %s", size_text(bytes, wanted),
         mem_free_text(available));
    return NULL;
}

// Returns true if `bytes` more would be over the free memory.
static bool is_over_limit(int64_t bytes)
{
    int64_t now = atomic_load(&allocated);
    if (bytes <= LARGE_ALLOCATION && now + bytes <= atomic_load(&next_check)) return false;
    int64_t available = memory_limit_find(now).bytes;
    if (bytes > available) return true;
    atomic_store(&next_check, now + bytes + min64(LARGE_ALLOCATION, (available - bytes) / 8));
    return false;
}

void *mem_try_alloc(int64_t bytes)
{
    if (is_over_limit(bytes)) return NULL;
    // posix_memalign() takes any size, so that AddressSanitizer sees the first byte past the end.
    void *p;
    bool huge = bytes >= 2 * HUGE_PAGE;
    if (posix_memalign(&p, huge ? HUGE_PAGE : 64, bytes ? (size_t)bytes : 1)) return NULL;
    // Page faults every 4 kB take longer than reading a matrix. The kernel may ignore the hint.
    if (huge) madvise(p, (size_t)bytes, MADV_HUGEPAGE);
    atomic_fetch_add(&allocated, (long long)malloc_usable_size(p));
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

int mem_grow(void **list, int64_t *capacity, int64_t count, size_t size)
{
    if (count < *capacity) return OK;
    int64_t larger = *capacity ? 2 * *capacity : FIRST_CAPACITY;
    void *grown = mem_resize(*list, *capacity, larger, size);
    if (!grown) return ERR_MEMORY;
    *list = grown;
    *capacity = larger;
    return OK;
}

char *mem_copy_text(const char *text, size_t length)
{
    char *copy = mem_alloc((int64_t)length + 1, 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

void mem_free(void *p)
{
    if (p) atomic_fetch_sub(&allocated, (long long)malloc_usable_size(p));
    free(p);
}
