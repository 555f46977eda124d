// Host memory, 64-byte aligned. A request larger than the free memory is refused: Linux would grant
// the request and kill the process when the process uses the memory.
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Returns memory for `count` elements of `size` bytes. NULL means that fail(ERR_MEMORY) was called.
// A count of 0 gives a valid pointer.
void *mem_alloc(int64_t count, size_t size);
// mem_alloc(), with every byte set to 0.
void *mem_zero_alloc(int64_t count, size_t size);
// Returns memory, or NULL without an error text. mem_fail_at() does not count this call.
void *mem_try_alloc(int64_t bytes);
// Grows or shrinks a block. On failure returns NULL, and the old block stays valid.
void *mem_resize(void *old, int64_t old_count, int64_t count, size_t size);
// Makes space for one more element in *list, which has `count` elements and space for *capacity.
int mem_grow(void **list, int64_t *capacity, int64_t count, size_t size);
// Returns a copy of the first `length` letters of a text, with a final zero.
char *mem_copy_text(const char *text, size_t length);
// Frees p, which may be NULL.
void mem_free(void *p);

// Returns the bytes of host memory that the process can still get: the least of what the machine,
// the control groups and ulimit leave.
int64_t mem_available(void);
// Writes "1.5 GB free" or "12 MB free (control group)" into `text` and returns `text`.
const char *mem_free_text(char text[64]);

// For tests: lets the n-th of the following allocations fail (n = 1, 2, ...); 0: none.
void mem_fail_at(int64_t n);

#ifdef __cplusplus
}
#endif
#endif
