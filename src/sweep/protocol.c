#define _GNU_SOURCE // getline
#include "sweep/protocol.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[LINES] = {
    [LINE_TIED] = "tied",
    [LINE_READY] = "ready",
    [LINE_OPENED] = "opened",
    [LINE_READ] = "read",
    [LINE_DEVICE] = "device",
    [LINE_NEAR] = "near",
    [LINE_NOTE] = "note",
    [LINE_SKIPPED] = "skipped",
    [LINE_LIBRARY] = "library",
    [LINE_TESTING] = "testing",
    [LINE_TESTED] = "tested",
    [LINE_PLAN] = "plan",
    [LINE_PLUGIN] = "plugin",
    [LINE_ENVIRONMENT] = "environment",
    [LINE_LOADED] = "loaded",
    [LINE_UNREAD] = "unread",
    [LINE_QUIET] = "quiet",
    [LINE_LOUD] = "loud",
    [LINE_CASE] = "case",
    [LINE_RESULT] = "result",
    [LINE_AGAIN] = "again",
    [LINE_DONE] = "done",
    [LINE_ERROR] = "error",
};

enum protocol_line protocol_parse(const char *line, const char **rest)
{
    size_t length = strcspn(line, " ");
    *rest = line + length + (line[length] == ' ');
    for (int i = 0; i < LINES; i++)
        if (strlen(names[i]) == length && !strncmp(names[i], line, length))
            return (enum protocol_line)i;
    return LINES;
}

enum err protocol_error(const char *rest, const char **text)
{
    int code, used = 0;
    if (sscanf(rest, "%d %n", &code, &used) != 1 || code <= OK || code > ERR_INTERRUPTED)
        code = ERR_DEVICE;
    *text = rest + used;
    return (enum err)code;
}

// Writes a line of `length` letters with its newline, for which `line` has room.
static int write_line(char *line, int length)
{
    line[length] = '\n';
    for (int used = 0; used <= length;) {
        ssize_t n = write(WORKER_CHANNEL, line + used, (size_t)(length + 1 - used));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return fail(ERR_OUTPUT, "the channel to the sweep cannot be written: %s",
                        strerror(errno));
        used += (int)n;
    }
    return OK;
}

int protocol_say(enum protocol_line kind)
{
    char line[32];
    return write_line(line, snprintf(line, sizeof line - 1, "%s", names[kind]));
}

int protocol_say_text(enum protocol_line kind, const char *format, ...)
{
    char line[FAIL_TEXT_MAX + CASE_KEY_MAX];
    const int most = (int)sizeof line - 2;
    int length = snprintf(line, sizeof line, "%s ", names[kind]);
    va_list args;
    va_start(args, format);
    length += vsnprintf(line + length, sizeof line - (size_t)length - 1, format, args);
    va_end(args);
    return write_line(line, length < most ? length : most);
}

int protocol_await(enum protocol_word word)
{
    char letter = 0;
    ssize_t n;
    do n = read(WORKER_WORDS, &letter, 1);
    while (n < 0 && errno == EINTR && !interrupted);
    if (interrupted) return fail(ERR_INTERRUPTED, "interrupted");
    if (n < 0) return fail(ERR_USAGE, "the sweep cannot be read: %s", strerror(errno));
    if (!n) return fail(ERR_INTERRUPTED, "the sweep has ended");
    if (letter == (char)word) return OK;
    return fail(ERR_INPUT, "the sweep writes '%c', not '%c'", letter, word);
}

int protocol_read_request(struct worker_request *request)
{
    char *text = NULL;
    size_t size = 0;
    clearerr(stdin); // the second request was added behind the end of the first
    int err = getline(&text, &size, stdin) > 0 ? worker_request_read(text, request)
                                               : fail(ERR_INPUT, "stdin: no request");
    free(text);
    return err;
}
