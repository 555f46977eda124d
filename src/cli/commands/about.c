#include "cli/commands/about.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define STATUS_MAX 255

static const struct about_exit about_exits[] = {
    {"run", 0, "every case is ok or unsupported, and at least one is ok"},
    {"run", 1, "a case is wrong or failed, all are unsupported, or records cannot be written"},
    {"doctor", 0, "no finding spoils measurements"},
    {"doctor", 1, "a finding spoils measurements"},
    {"sweep", 0, "every case of the file of -o is ok or unsupported, and at least one is ok"},
    {"sweep", 1, "a case is wrong or failed, all are unsupported, or records cannot be written"},
    {"sweep", 3, "a matrix could not be read"},
    {"sweep", 130, "interrupted: the same command resumes the sweep"},
    {"compare", 0, "no regression"},
    {"compare", 1, "a case is slower, newly failing or newly wrong"},
    {"compare", 3, "no answer: cases are missing, noisy or drifted, or a file cannot be read"},
    {"conform", 0, "nothing is wrong"},
    {"conform", 1, "something is wrong, failed, crashed or hung, or nothing was run"},
    {NULL, 0, "done"},
    {NULL, 1, "a device failed, or the output cannot be written"},
    {NULL, 2, "wrong usage"},
    {"run", 3, "a matrix could not be read"},
    {"info", 3, "a matrix could not be read"},
    {"report", 3, "a file of records cannot be read"},
    {NULL, 130, "interrupted"},
    {NULL, 0, NULL},
};

static const struct about_exit *find_exit(const char *command, int status)
{
    const struct about_exit *of_all = NULL;
    for (const struct about_exit *e = about_exits; e->about; e++) {
        if (e->status != status) continue;
        if (!e->command) of_all = e;
        if (e->command && command && !strcmp(e->command, command)) return e;
    }
    return of_all;
}

const struct about_exit *about_exit_of(const char *command, int i)
{
    bool own = !command;
    for (const struct about_exit *e = about_exits; command && e->about; e++)
        own |= e->command && !strcmp(e->command, command);
    for (int status = 0; own && status <= STATUS_MAX; status++) {
        const struct about_exit *e = find_exit(command, status);
        if (e && !i--) return e;
    }
    return NULL;
}
