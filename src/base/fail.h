// Error codes, the text of the last error, and the flag of an interrupt.
//
// A function that can fail returns 0 or an `enum err`. The function that finds the error sets its
// text with fail(). Its callers only return the code. The first text is kept while they clean up.
// The function that handles the error ends it: with fail_text(), which takes the text for a message
// or a record, or with fail_drop() if the work goes on without the text.
#ifndef FAIL_H
#define FAIL_H

#include <signal.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum err {
    OK = 0,
    ERR_USAGE,       // the command line is wrong
    ERR_INPUT,       // a matrix or a file cannot be read
    ERR_OUTPUT,      // a result cannot be written
    ERR_MEMORY,      // not enough memory, on the host or on the device
    ERR_DEVICE,      // a call of the device or of a library on the device failed
    ERR_UNSUPPORTED, // the algorithm does not support this case
    ERR_UNCHECKED,   // a result cannot be checked, for lack of host memory
    ERR_WRONG,       // a result that was timed is wrong
    ERR_STATE,       // an algorithm left the process or the device in another state
    ERR_INTERRUPTED, // Ctrl-C
};

#ifdef __GNUC__
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define NO_RETURN         __attribute__((noreturn))
#else
#define PRINTF_LIKE(f, a)
#define NO_RETURN
#endif

#define FAIL_TEXT_MAX 1024 // bytes of an error text, with its final zero

// Sets the error text of the calling thread, unless an earlier error has not ended. Returns `code`:
// return fail(ERR_INPUT, "..."). utf8_visible() escapes control characters in the text. A long text
// loses its middle, because its end has the cause.
int fail(enum err code, const char *format, ...) PRINTF_LIKE(2, 3);
// Ends the error of the calling thread and returns its text, which the next fail() replaces. The
// text may be an argument of that fail(): return fail(err, "%s: %s", path, fail_text()).
const char *fail_text(void);
// Ends the error of the calling thread, which then needs no message. Returns OK.
int fail_drop(void);
// Returns true if the calling thread has an error that has not ended.
bool fail_is_open(void);
// Ends an error that no function has ended, and reports a mistake in the program on stderr. Called
// between cases and at the end of the program, where no error can be open.
void fail_check_ended(void);
// Prints a programming error on stderr and aborts.
void bug(const char *format, ...) PRINTF_LIKE(1, 2) NO_RETURN;

// Set by the handler of SIGINT, SIGTERM and SIGHUP. Long loops test the flag and return
// ERR_INTERRUPTED.
extern volatile sig_atomic_t interrupted;

#ifdef __cplusplus
}
#endif
#endif
