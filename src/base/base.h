// What every other file needs: errors, memory, time, random numbers.
//
// A function that can fail returns 0 or an `enum err`. The line that tells the user what is wrong
// is written where the fault is found, with fail(); everyone above only passes the code on.
#ifndef BASE_H
#define BASE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define restrict __restrict__
#endif

enum err {
    OK = 0,
    ERR_USAGE,       // the command line is wrong
    ERR_INPUT,       // a matrix or a file cannot be read
    ERR_OUTPUT,      // a result cannot be written
    ERR_MEMORY,      // not enough memory, on the host or on the device
    ERR_DEVICE,      // a call of the device or of a library on it failed
    ERR_UNSUPPORTED, // the algorithm says that it does not do this case
    ERR_UNCHECKED,   // a result cannot be checked, for lack of host memory
    ERR_WRONG,       // a result that was timed is wrong
    ERR_INTERRUPTED, // Ctrl-C
};

#ifdef __GNUC__
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define NO_RETURN         __attribute__((noreturn))
#else
#define PRINTF_LIKE(f, a)
#define NO_RETURN
#endif

#define FAIL_TEXT_MAX 1024 // bytes of a message of fail(), its end included

#define BIT(x)   (1u << (x))
#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

// Compiles a function for AVX-512, AVX2 and the plain machine; the loader picks one. Not under a
// sanitizer: its start-up code runs after the loader's choice and would be called too early.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&   \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CPU_CLONES    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define CPU_CLONES_V3 __attribute__((target_clones("arch=x86-64-v3", "default"))) // not for AVX-512
#else
#define CPU_CLONES
#define CPU_CLONES_V3
#endif

// Keeps one line of text for the caller's thread and returns `code`: return fail(ERR_INPUT, "...").
// It is kept as utf8_visible() makes it: names of files in it do no harm where it is printed, and a
// long one loses its middle, not the cause at its end.
int fail(enum err code, const char *format, ...) PRINTF_LIKE(2, 3);
// The line that the last fail() of this thread kept.
const char *fail_text(void);
// A mistake of the program's own, not of its user: tells it on stderr and aborts.
void bug(const char *format, ...) PRINTF_LIKE(1, 2) NO_RETURN;

// Memory is 64-byte aligned. NULL means that fail(ERR_MEMORY) was called; a count of 0 gives a
// valid pointer. mem_free(NULL) is legal. A request larger than the free memory is refused before
// the system overcommits it, and ends the program when it is used.
void *mem_alloc(int64_t count, size_t size);
// The same for what can be done without: NULL leaves fail_text() as it is, and mem_fail_at() does
// not count it.
void *mem_try_alloc(int64_t bytes);
void *mem_zero_alloc(int64_t count, size_t size);
// Grows or shrinks; on failure the old block stays valid and NULL is returned.
void *mem_resize(void *old, int64_t old_count, int64_t count, size_t size);
// Makes room for one element more in *list, of which `count` of *room elements are in use.
int mem_grow(void **list, int64_t *room, int64_t count, size_t size);
void mem_free(void *p);
// Bytes of host memory that can still be had: of the machine, of the control groups, of ulimit.
int64_t mem_available(void);
// The same for messages: "1.5 GB free", "12 MB free (control group)". Writes into `text`.
const char *mem_free_text(char text[64]);
// For tests: the n-th allocation from now fails (n = 1, 2, ...); 0 switches that off.
void mem_fail_at(int64_t n);

// a * b, a + b, or ERR_MEMORY where the result does not fit in 63 bits.
int size_mul(int64_t a, int64_t b, int64_t *product);
int size_add(int64_t a, int64_t b, int64_t *sum);

// Monotonic clock in milliseconds.
double clock_ms(void);

// Set by the handler of SIGINT, SIGTERM and SIGHUP; long loops look at it and return
// ERR_INTERRUPTED.
extern volatile sig_atomic_t interrupted;

// The i-th random number of a stream: a pure function of both, so it is the same on every machine
// and in every order.
uint64_t random_at(uint64_t seed, uint64_t i);
// The same, uniform in [-1, 1), exact in f32.
double random_value(uint64_t seed, uint64_t i);

// "1.5 GB", for messages. Writes into `text` and returns it.
const char *size_text(int64_t bytes, char text[32]);

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

#ifdef __cplusplus
}
#endif
#endif
