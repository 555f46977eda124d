// The order of events in a sweep. Its workers are this program, started again, which play a part by
// the name of their matrix.
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sweep/slot.h"
#include "test.h"

static char folder[] = P_tmpdir "/test_sweep_run.XXXXXX";

static void say_case(const char *name, const char *status)
{
    dprintf(WORKER_CHANNEL,
            "{\"schema\":\"spbench/1\",\"kind\":\"result\",\"status\":\"%s\",\"reason\":null,"
            "\"case\":\"op alg 1x1:1 %s\"}\n",
            status, name);
}

static void await(enum protocol_word word)
{
    char letter;
    if (read(WORKER_WORDS, &letter, 1) != 1 || letter != (char)word) _exit(99);
}

static void say_result(const char *name, const char *duration_ms)
{
    dprintf(WORKER_CHANNEL, "case\n");
    say_case(name, "crashed");
    dprintf(WORKER_CHANNEL, "result ok 1 2 %s alg\n", duration_ms);
    say_case(name, "ok");
}

// Notes in files who is at work beside whom.
static void be_slow(void)
{
    char own[64], other[32] = "";
    snprintf(own, sizeof own, "busy.%d", (int)getpid());
    mkdir(own, 0777);
    usleep(150000);
    FILE *f = popen("ls -d busy.* | wc -l", "r");
    bool alone = f && fgets(other, sizeof other, f) && atoi(other) == 1;
    if (f) pclose(f);
    mkdir(alone ? "alone" : "beside", 0777);
    rmdir(own);
}

// The last order; *name: of its matrix, "" where that is not known yet.
static const char *read_order(char name[64])
{
    static char order[1 << 16];
    rewind(stdin);
    order[fread(order, 1, sizeof order - 1, stdin)] = 0;
    const char *matrix = strstr(order, "\"matrix\":\"");
    name[0] = 0;
    if (matrix) sscanf(matrix, "\"matrix\":\"%63[^\"]", name);
    const char *last = strstr(order, "\n{");
    return last ? last : order;
}

// Plays the part of a worker by the protocol.
static int act(void)
{
    char name[64];
    const char *order = read_order(name), *place = getenv("PLACE");
    dprintf(WORKER_CHANNEL, "ready\n");
    if (!name[0]) await(WORD_BEGIN), order = read_order(name);
    bool lost = !strstr(order, "\"lost\":null");
    dprintf(WORKER_CHANNEL, "read\n");
    await(WORD_GO);
    dprintf(WORKER_CHANNEL, "device cuda:0 2 A device\n");
    if (!strncmp(name, "place", 5) && place && !strcmp(place, "1")) {
        dprintf(WORKER_CHANNEL, "error %d it is gone\n", ERR_DEVICE);
        return 1;
    }
    if (!strncmp(name, "nowhere", 7)) {
        dprintf(WORKER_CHANNEL, "error %d no device at all\n", ERR_DEVICE);
        return 1;
    }
    dprintf(WORKER_CHANNEL, "environment\n{\"kind\":\"environment\",\"place\":\"%s\"}\n",
            place ? place : "");
    if (!strcmp(name, "garbage")) dprintf(WORKER_CHANNEL, "result nonsense\n");
    if (!strcmp(name, "mute") && !lost) return 0;
    if (!strcmp(name, "idle") && !lost) {
        mkdir(access("idle.1", F_OK) ? "idle.1" : "idle.2", 0777);
        dprintf(WORKER_CHANNEL, "loaded 1\n");
        fprintf(stderr, "idle says why\n");
        return 5;
    }
    if (lost) {
        dprintf(WORKER_CHANNEL, "unread gone\nresult crashed 0 0 0 alg\n");
        say_case(name, "crashed");
        dprintf(WORKER_CHANNEL, "done\n");
        return 0;
    }
    if (!strncmp(name, "slow", 4)) be_slow();
    dprintf(WORKER_CHANNEL, "loaded 1\n");
    if (!strncmp(name, "timed", 5)) {
        dprintf(WORKER_CHANNEL, "quiet\n");
        await(WORD_GO);
        be_slow();
        dprintf(WORKER_CHANNEL, "loud\n");
    }
    if (strcmp(name, "clock")) {
        say_result(name, "0");
    } else if (!strstr(order, "op alg 1x1:1 clock")) { // the case has no record
        say_result(name, "900000");
        say_result("behind", "0");
    }
    dprintf(WORKER_CHANNEL, "done\n");
    return !strcmp(name, "late") ? 9 : 0; // it ends badly after its last word
}

// What was told of a sweep.
struct told {
    int cases, matrices, notes;
    char unread[FAIL_TEXT_MAX], note[FAIL_TEXT_MAX];
};

static void tell(const struct sweep_news *news, void *arg)
{
    struct told *t = arg;
    t->cases += news->kind == NEWS_CASE;
    t->matrices += news->kind == NEWS_MATRIX;
    t->notes += news->kind == NEWS_NOTE;
    if (news->kind == NEWS_NOTE) snprintf(t->note, sizeof t->note, "%s", news->text);
    if (news->kind == NEWS_MATRIX && news->text)
        snprintf(t->unread, sizeof t->unread, "%s", news->text);
}

#define MATRICES_MAX 8
static int rounds = 1;
static bool host_bound;
// Runs a sweep over these matrices, each of so many bytes (0: the first is the smallest), on so
// many slots.
static int run(const char *const *names, int count, int slot_count, int64_t bytes,
               struct told *told)
{
    static const char *prefix = "op alg";
    struct sweep_matrix matrices[MATRICES_MAX];
    struct sweep_pass pass = {.prefixes = {&prefix, 1}};
    struct slot_config slots[2] = {{"PLACE=0", "cuda:0", NULL}, {"PLACE=1", "cuda:1", NULL}};
    struct worker_config crew = {.device = "cuda"};
    struct resume resume = {0};
    struct record_file out;
    for (int i = 0; i < count; i++)
        matrices[i] = (struct sweep_matrix){.path = (char *)names[i],
                                            .name = (char *)names[i],
                                            .bytes = bytes ? bytes : 1 + i,
                                            .changed = INT64_MIN,
                                            .place = i};
    *told = (struct told){0};
    int err = record_open(&out, "out.jsonl", false, 1);
    struct sweep s = {.config = &crew,
                      .matrices = matrices,
                      .matrix_count = count,
                      .passes = &pass,
                      .pass_count = 1,
                      .rounds = rounds,
                      .host_bound = host_bound,
                      .slot_configs = slots,
                      .slot_count = slot_count,
                      .timeout_ms = 20000,
                      .resume = &resume,
                      .out = &out,
                      .tell = tell,
                      .arg = told};
    if (!err) err = sweep_run(&s);
    record_close(&out);
    return err;
}

static int lines_with(const char *text)
{
    static char line[1 << 16];
    int count = 0;
    FILE *f = fopen("out.jsonl", "r");
    while (f && fgets(line, sizeof line, f)) count += strstr(line, text) != NULL;
    if (f) fclose(f);
    return count;
}

static void test_memory(void)
{
    static const char *const slow[] = {"slow1", "slow2", "slow3", "slow4"};
    struct told told;
    CHECK(!run(slow, 4, 2, 1, &told) && told.cases == 4, "%s", fail_text());
    CHECK(!rmdir("beside"), "small ones are not side by side");
    CHECK(lines_with("environment") == 2, "%d environments", lines_with("environment"));
    rmdir("alone");
    CHECK(!run(slow, 4, 2, INT64_MAX / 8, &told) && told.cases == 4, "%s", fail_text());
    CHECK(!rmdir("alone") && access("beside", F_OK), "large ones are side by side");
}

// Cases whose times depend on the host are measured one at a time, others side by side.
static void test_host_bound(void)
{
    static const char *const names[] = {"timed1", "timed2"};
    struct told told;
    for (int bound = 0; bound < 2; bound++) {
        host_bound = bound;
        CHECK(!run(names, 2, 2, 1, &told) && told.cases == 2, "%s", fail_text());
        CHECK(rmdir("beside") == (bound ? -1 : 0), "host-bound %d: side by side", bound);
        rmdir("alone");
    }
    host_bound = false;
}

// Round after round, in runs of their own; what came to nothing is not tried again.
static void test_rounds(void)
{
    static const char *const names[] = {"good", "idle"};
    struct told told;
    rounds = 3;
    CHECK(!run(names, 2, 1, 1, &told), "%s", fail_text());
    rounds = 1;
    CHECK(lines_with("environment") == 3 && lines_with("\"ok\"") == 3, "%d runs, %d records",
          lines_with("environment"), lines_with("\"ok\""));
    rmdir("idle.1"), rmdir("idle.2");
}

// The names in the order in which their records came.
static const char *request_of(char text[256])
{
    static char line[1 << 16];
    text[0] = 0;
    FILE *f = fopen("out.jsonl", "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *name = strstr(line, "1x1:1 ");
        if (name) strncat(text, name + 6, strcspn(name + 6, "\""));
    }
    if (f) fclose(f);
    return text;
}

// A place whose device is gone leaves its matrix to the others; without any the sweep ends.
static void test_lost_device(void)
{
    static const char *const names[] = {"place1", "place2", "place3"};
    static const char *const nowhere[] = {"nowhere"};
    struct told told;
    CHECK(!run(names, 3, 2, 1, &told), "%s", fail_text());
    CHECK(told.cases == 3 && told.matrices == 3, "%d cases", told.cases);
    CHECK_TEXT(told.note, "cuda:1 is not used any more: it is gone");
    CHECK(lines_with("\"place\":\"1\"") == 0 && lines_with("\"ok\"") == 3, "it was used");
    char order[256];
    CHECK(!run(names, 3, 2, 0, &told), "%s", fail_text());
    CHECK(!strncmp(request_of(order), "place3", 6), "the largest is not first: %s", order);
    CHECK(!run(names, 3, 1, 0, &told), "%s", fail_text());
    CHECK_TEXT(request_of(order), "place1place2place3");
    int err = run(nowhere, 1, 2, 1, &told);
    CHECK(err == ERR_DEVICE && strstr(fail_text(), "no device at all"), "%d: %s", err, fail_text());
}

// One that dies between its cases gets another worker, and no third: the rest is lost.
static void test_idle(void)
{
    static const char *const names[] = {"idle", "good"};
    struct told told;
    CHECK(!run(names, 2, 1, 1, &told), "%s", fail_text());
    CHECK(!rmdir("idle.1") && !rmdir("idle.2"), "it was not tried twice");
    CHECK(told.cases == 2 && lines_with("crashed") == 1 && lines_with("\"ok\"") == 1, "%d cases",
          told.cases);
    CHECK(strstr(told.unread, "idle: the process ended with exit status 5; it said: idle says why"),
          "%s", told.unread);
}

static void test_words(void)
{
    static const char *const garbage[] = {"garbage"}, *const mute[] = {"mute"},
                             *const late[] = {"late"}, *const clock[] = {"clock"};
    struct told told;
    int err = run(garbage, 1, 1, 1, &told);
    CHECK(err == ERR_INPUT && strstr(fail_text(), "nonsense"), "error %d: %s", err, fail_text());
    CHECK(!run(mute, 1, 1, 1, &told) && lines_with("crashed") == 1, "one that says nothing");
    CHECK(!run(clock, 1, 1, 1, &told) && told.cases == 1 && lines_with("its clock is wrong") == 1,
          "a worker whose clock is ahead: %d cases", told.cases);
    CHECK(!lines_with("behind"), "lines behind a wrong clock are taken");
    CHECK(!run(late, 1, 1, 1, &told) && lines_with("\"ok\"") == 1 && told.notes == 1,
          "one that ends badly: %d notes", told.notes);
    CHECK(strstr(told.note, "exit status 9"), "%s", told.note);
}

static void test_interrupted(void)
{
    static const char *const names[] = {"good"};
    struct told told;
    interrupted = 1;
    int err = run(names, 1, 1, 1, &told);
    interrupted = 0;
    CHECK(err == ERR_INTERRUPTED && !told.cases, "error %d", err);
}

// Whatever allocation fails, the sweep says so, and nothing is left of it.
static void test_no_memory(void)
{
    static const char *const names[] = {"good"};
    struct told told;
    int err = ERR_MEMORY;
    for (int n = 2; err && n < 300; n++) { // the first is of the file
        mem_fail_at(n);
        err = run(names, 1, 1, 1, &told);
        mem_fail_at(0);
        CHECK(!err || err == ERR_MEMORY || err == ERR_INPUT, "allocation %d: error %d: %s", n, err,
              fail_text());
    }
    CHECK(!err && told.cases == 1, "it never ends well");
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "worker")) return act();
    signal(SIGPIPE, SIG_IGN); // as the program has it
    CHECK(mkdtemp(folder) && !chdir(folder), "%s", folder);
    RUN_ALL(test_memory, test_host_bound, test_lost_device, test_rounds, test_idle, test_words,
            test_interrupted, test_no_memory);
    unlink("out.jsonl");
    CHECK(!chdir("/") && !rmdir(folder), "something is left in %s", folder);
    return TEST_END();
}
