#include "sweep/worker_talk.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int worker_say(const char *format, ...)
{
    char line[FAIL_TEXT_MAX + CASE_KEY_MAX];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    if (length > (int)sizeof line - 2) length = (int)sizeof line - 2;
    line[length] = '\n';
    for (int used = 0; used <= length;) {
        ssize_t n = write(WORKER_CHANNEL, line + used, (size_t)(length + 1 - used));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return fail(ERR_OUTPUT, "the sweep does not listen: %s", strerror(errno));
        used += (int)n;
    }
    return OK;
}

int worker_await(enum worker_word word, enum worker_word other, enum worker_word *told)
{
    char letter = 0;
    ssize_t n;
    do n = read(WORKER_WORDS, &letter, 1);
    while (n < 0 && errno == EINTR && !interrupted);
    *told = (enum worker_word)letter;
    if (interrupted) return fail(ERR_INTERRUPTED, "interrupted");
    if (n < 0) return fail(ERR_USAGE, "no sweep speaks: %s", strerror(errno));
    if (!n) return fail(ERR_INTERRUPTED, "the sweep is gone");
    if (*told == word || *told == other) return OK;
    return fail(ERR_INPUT, "the sweep says '%c', not '%c'", letter, word);
}

int worker_read_order(int64_t *at, struct order *order)
{
    int64_t room = 1 << 16, used = 0;
    char *text = mem_alloc(room, 1), *end = NULL;
    int err = text ? OK : ERR_MEMORY;
    for (ssize_t n = 1; !err && n && !end;) {
        if (room - used < 2) {
            char *more = mem_resize(text, room, 2 * room, 1);
            if (!more) err = ERR_MEMORY;
            if (more) text = more, room *= 2;
        }
        if (err) break;
        n = pread(STDIN_FILENO, text + used, (size_t)(room - used - 1), *at + used);
        if (n < 0 && errno != EINTR) err = fail(ERR_INPUT, "stdin: %s", strerror(errno));
        if (n > 0) end = memchr(text + used, '\n', (size_t)n);
        used += max64(n, 0);
    }
    if (!err) {
        if (!end) end = text + used;
        *end = 0;
        *at += end + 1 - text;
        err = order_read(text, order);
    }
    mem_free(text);
    return err;
}
