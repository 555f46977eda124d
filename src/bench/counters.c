#include "bench/counters.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/utf8.h"

#define DEFAULT_PATH "/usr/local/cuda/bin/ncu"
#define VERSION_MS   30000.0  // for telling its version
#define LIMIT_MS     120000.0 // for a case: loading, and each kernel several times
#define WORDS_MAX    64
#define WORD_ROOM    64 // bytes of a word in made[]

// The words of a command line.
struct command {
    char *argv[WORDS_MAX + 1]; // NULL at the end
    char made[WORDS_MAX][WORD_ROOM];
    int count;
};

static void add(struct command *c, const char *word)
{
    if (c->count == WORDS_MAX) bug("a command of more than %d words", WORDS_MAX);
    c->argv[c->count++] = (char *)word; // never written to
}

static void add_made(struct command *c, const char *format, ...) PRINTF_LIKE(2, 3);
static void add_made(struct command *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *word = c->made[c->count < WORDS_MAX ? c->count : 0];
    if (vsnprintf(word, WORD_ROOM, format, args) >= WORD_ROOM) bug("a word too long: %s", word);
    va_end(args);
    add(c, word);
}

// Adds ncu and its options: caches as in the case, clocks unchanged, only the marked range.
static void add_ncu(struct command *c, const struct counter_tool *tool, bool cold)
{
    static const char *const settings[][2] = {
        {"--page", "raw"},
        {"--print-units", "base"},
        {"--profile-from-start", "off"},
        {"--clock-control", "none"},
    };
    add(c, tool->path);
    add(c, "--csv");
    for (int i = 0; i < COUNT(settings); i++) add(c, settings[i][0]), add(c, settings[i][1]);
    add(c, "--metrics");
    add_made(c, "%s,%s,%s", counter_metrics[0], counter_metrics[1], counter_metrics[2]);
    add(c, "--cache-control");
    add(c, cold ? "all" : "none");
}

// Adds this program and the case, by every field of its key but the launch: one run is no batch.
static void add_case(struct command *c, const struct counter_tool *tool,
                     const struct bench_case *bc, const char *path)
{
    const struct op *op = bc->entry->op;
    char value[32];
    add(c, tool->self);
    add(c, "run");
    add(c, "-profile");
    add(c, "-q");
    add_made(c, "-op=%s", op->name);
    add_made(c, "-alg=%s", bc->entry->name);
    add_made(c, "-device=%s", bc->device);
    add_made(c, "-prec=%s", prec_name(bc->prec));
    for (int a = 0; op->axes[a]; a++)
        if (axis_is_written(op->axes[a], bc->axis[a]))
            add_made(c, "-%s=%s", op->axes[a]->name, axis_text(op->axes[a], bc->axis[a], value));
    add_made(c, "-cache=%s", bc->cold ? "cold" : "warm");
    for (int i = 0; algo_option_at(bc->entry->algo, i); i++)
        add_made(c, "-opt=%s=%.17g", algo_option_at(bc->entry->algo, i)->name, bc->opt[i]);
    add_made(c, "-threads=%d", tool->threads);
    add_made(c, "-seed=%llu", (unsigned long long)tool->seed);
    if (tool->no_cache) add(c, "-no-cache");
    add(c, "--");
    add(c, path);
}

// Runs "ncu --version". Returns false if `path` is not an executable.
static bool find_version(struct counter_tool *tool, const char *path)
{
    char *argv[] = {(char *)path, (char *)"--version", NULL}, *text;
    int status;
    if (child_run(argv, VERSION_MS, &text, &status)) {
        snprintf(tool->missing, sizeof tool->missing, "%s", fail_text());
        return false;
    }
    const char *version = strstr(text, "Version ");
    snprintf(tool->path, sizeof tool->path, "%s", path);
    if (version) {
        char name[sizeof tool->name];
        snprintf(name, sizeof name, "ncu %.*s", (int)strcspn(version + 8, " \r\n"), version + 8);
        utf8_visible(name, tool->name, sizeof tool->name);
        tool->missing[0] = 0;
    } else {
        fail(ERR_UNSUPPORTED, "%s: is not ncu: --version prints no version", path);
        snprintf(tool->missing, sizeof tool->missing, "%s", fail_text());
    }
    mem_free(text);
    return true;
}

bool counters_possible(enum device_kind kind)
{
    return device_list[kind].ops && device_list[kind].ops->profile;
}

static const char impossible[] = "the CPU has no counters that ncu reads";

void counters_open(struct counter_tool *tool, enum device_kind kind, uint64_t seed, int threads)
{
    const char *named = getenv("NCU");
    *tool = (struct counter_tool){.seed = seed, .threads = threads};
    if (!counters_possible(kind)) {
        snprintf(tool->missing, sizeof tool->missing, "%s", impossible);
        return;
    }
    if (child_self(tool->self)) {
        snprintf(tool->missing, sizeof tool->missing, "%s", fail_text());
        return;
    }
    if (named && *named) {
        find_version(tool, named);
        return;
    }
    if (find_version(tool, "ncu") || find_version(tool, DEFAULT_PATH) || interrupted) return;
    snprintf(tool->missing, sizeof tool->missing,
             "ncu (Nsight Compute) is not on the PATH, and NCU does not name it");
}

// Returns the reason why the matrix cannot be read again from this path; NULL: it can.
static const char *unreadable(const char *path)
{
    struct stat facts;
    if (!strncmp(path, "gen:", 4)) return NULL;
    if (strcmp(path, "-") && !stat(path, &facts) && S_ISREG(facts.st_mode)) return NULL;
    return "the matrix is in no file that can be read again";
}

static int run(struct counter_tool *tool, const struct bench_case *c, const char *path,
               struct counters *out)
{
    struct command command = {.count = 0};
    char *text;
    int status;
    add_ncu(&command, tool, c->cold);
    add_case(&command, tool, c, path);
    int err = child_run(command.argv, LIMIT_MS, &text, &status);
    if (err) return err;
    counters_read(text, status, out);
    // The same error would end each case.
    if (strstr(text, "ERR_NVGPUCTRPERM"))
        snprintf(tool->missing, sizeof tool->missing, "%s", out->reason);
    mem_free(text);
    return OK;
}

int counters_measure(struct counter_tool *tool, const struct bench_case *c, const char *path,
                     struct counters *out)
{
    const char *why = tool->missing[0] ? tool->missing : unreadable(path);
    if (!counters_possible(c->entry->device)) why = impossible;
    if (!why && c->entry->algo->plugin) why = "an algorithm of a plug-in has no counters";
    *out = (struct counters){.asked = true};
    snprintf(out->tool, sizeof out->tool, "%s", tool->name);
    int err = OK;
    if (!why) err = run(tool, c, path, out);
    if (why || err) snprintf(out->reason, sizeof out->reason, "%s", why ? why : fail_text());
    return err == ERR_INTERRUPTED ? err : OK;
}
