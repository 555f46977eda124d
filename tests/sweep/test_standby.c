// Workers that follow each other in a slot of a sweep: when a standby gets ready and begins, and how
// the sweep replaces a standby that dies. The workers are this program, started again. They write
// their steps into a file, in the order of events.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sweep/standby.h"
#include "sweep/sweep.h"
#include "test.h"

static char folder[] = P_tmpdir "/test_standby.XXXXXX";

static void note(const char *what, const char *name)
{
    int fd = open("log", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    dprintf(fd, "%d %s %s\n", (int)getpid(), what, name);
    close(fd);
}

static void await(enum protocol_word word)
{
    char letter;
    if (read(WORKER_WORDS, &letter, 1) != 1 || letter != (char)word) _exit(99);
}

// The text of this name in the order that is on stdin; "" if there is none.
static void request_text_of(const char *key, char value[64])
{
    static char order[1 << 16];
    char begin[32];
    rewind(stdin);
    order[fread(order, 1, sizeof order - 1, stdin)] = 0;
    snprintf(begin, sizeof begin, "\"%s\":\"", key);
    const char *at = strstr(order, begin);
    snprintf(value, 64, "%.*s", at ? (int)strcspn(at + strlen(begin), "\"") : 0,
             at ? at + strlen(begin) : "");
}

static bool has(const char *flag) { return !access(flag, F_OK); }

static void rest(int ms)
{
    if (!has("quick")) usleep((useconds_t)ms * 1000);
}

static void say_case(const char *name, const char *status)
{
    dprintf(WORKER_CHANNEL,
            "{\"schema\":\"spbench/1\",\"kind\":\"result\",\"status\":\"%s\",\"reason\":null,"
            "\"case\":\"op alg 1x1:1 %s\"}\n",
            status, name);
}

static int lines_with(const char *path, const char *text)
{
    static char line[1 << 16];
    int count = 0;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) count += strstr(line, text) != NULL;
    if (f) fclose(f);
    return count;
}

// One that stands by, up to its beginning; the folder says how it fails.
static void stand_by(char name[64])
{
    if (has("eats")) {
        char *p = malloc(128 << 20);
        if (p) memset(p, 1, 128 << 20);
    }
    for (int i = 0; i < 20; i++) rest(5), note("tick", "");
    if (has("dies.starting")) _exit(3);
    note("ready", "");
    dprintf(WORKER_CHANNEL, "ready\n");
    if (has("dies.waiting")) _exit(3);
    await(WORD_BEGIN);
    if (has("dies.beginning")) _exit(3);
    if (has("fails")) {
        dprintf(WORKER_CHANNEL, "error %d the device is taken\n", ERR_DEVICE);
        _exit(1);
    }
    request_text_of("matrix", name);
}

static int act(void)
{
    char name[64], library[64], lost[64], cpus[64];
    request_text_of("matrix", name);
    dprintf(WORKER_CHANNEL, "tied\n");
    note("start", name[0] ? "plain" : "ahead");
    if (name[0])
        dprintf(WORKER_CHANNEL, "ready\n");
    else
        stand_by(name);
    request_text_of("cpus", cpus);
    note("cpus", cpus);
    request_text_of("lost", lost);
    if (lost[0]) note("lost", name);
    request_text_of("library", library);
    const char *loaded = getenv("LD_PRELOAD");
    if (strcmp(loaded ? loaded : "", library)) note("mismatch", name);
    note("begin", name);
    dprintf(WORKER_CHANNEL, "opened\nread\n");
    await(WORD_GO);
    note("alone", name);
    dprintf(WORKER_CHANNEL, "device cpu 1 A device\nenvironment\n{\"kind\":\"environment\"}\n"
                            "loaded 1\n");
    note("measure", name);
    dprintf(WORKER_CHANNEL, "case\n");
    say_case(name, "crashed");
    dprintf(WORKER_CHANNEL, "quiet\n");
    await(WORD_GO);
    note("quiet", name);
    rest(50);
    note("loud", name);
    dprintf(WORKER_CHANNEL, "loud\n");
    rest(has("eats") ? 1000 : 150);
    // Waits until the standby behind it is ready; the last of three matrices has none.
    for (int i = 0; i < 2000 && *name < 'c' && has("patient"); i++)
        if (lines_with("log", "ready") <= *name - 'a') usleep(5000);
    dprintf(WORKER_CHANNEL, "result ok 1 2 -1 alg\n");
    say_case(name, "ok");
    note("done", name);
    dprintf(WORKER_CHANNEL, "done\n");
    rest(has("patient") ? 400 : 60);
    note("gone", name);
    return 0;
}

static int told_cases, interrupt_at;
static void tell(const struct sweep_news *news, void *arg)
{
    (void)arg;
    told_cases += news->kind == NEWS_CASE;
    if (interrupt_at && told_cases == interrupt_at) interrupted = 1;
}

static const char *const names[] = {"a", "b", "c", "d"};
static int64_t memory_bytes;
static double spent_ms[SLOT_TIME_COUNT];

static int run(int count, int slot_count, int passes)
{
    static const char *prefix = "op alg";
    struct sweep_matrix matrices[COUNT(names)];
    struct sweep_pass pass[2] = {{.prefixes = {&prefix, 1}},
                                 {.prefixes = {&prefix, 1}, .library = "/no/such/library.so"}};
    struct slot_config slots[2] = {{.name = "first"}, {.name = "second", .cpus = "0-2,7"}};
    struct worker_config crew = {.device = "cpu", .memory_bytes = memory_bytes};
    struct resume resume = {0};
    struct record_file out;
    for (int i = 0; i < count; i++)
        matrices[i] = (struct sweep_matrix){.path = (char *)names[i],
                                            .name = (char *)names[i],
                                            .bytes = 1000 - i,
                                            .changed = INT64_MIN,
                                            .place = i};
    unlink("log");
    told_cases = 0;
    int err = record_open(&out, "out.jsonl", false, 1);
    struct sweep s = {.config = &crew,
                      .matrices = matrices,
                      .matrix_count = count,
                      .passes = pass,
                      .pass_count = passes,
                      .rounds = 1,
                      .slot_configs = slots,
                      .slot_count = slot_count,
                      .timeout_ms = 20000,
                      .resume = &resume,
                      .out = &out,
                      .tell = tell};
    if (!err) err = sweep_run(&s);
    memcpy(spent_ms, s.spent_ms, sizeof spent_ms);
    record_close(&out);
    return err;
}

// The line of the log that has this, from 1; 0: none has.
static int line_of(const char *text)
{
    char line[128];
    int number = 0, found = 0;
    FILE *f = fopen("log", "r");
    for (; f && !found && fgets(line, sizeof line, f);) {
        number++;
        line[strcspn(line, "\n")] = 0;
        char *what = strchr(line, ' ');
        if (what && !strcmp(what + 1, text)) found = number;
    }
    if (f) fclose(f);
    return found;
}

static int lines_between(const char *first, const char *second)
{
    return line_of(second) - line_of(first) - 1;
}

static bool is_in_order(const char *first, const char *second)
{
    int a = line_of(first), b = line_of(second);
    return a && b && a < b;
}

// Every case has one record.
static void check_whole(const char *what, int count, int passes)
{
    CHECK(told_cases == count * passes && lines_with("out.jsonl", "\"ok\"") == told_cases,
          "%s: %d cases, %d records", what, told_cases, lines_with("out.jsonl", "\"ok\""));
    for (int i = 0; i < count; i++) {
        char key[32];
        snprintf(key, sizeof key, "1x1:1 %s\"", names[i]);
        CHECK(lines_with("out.jsonl", key) == passes, "%s: %s", what, key);
    }
}

static void test_follow(void)
{
    mkdir("patient", 0777);
    CHECK(!run(3, 1, 1), "%s", fail_text());
    rmdir("patient");
    check_whole("in a row", 3, 1);
    CHECK(lines_with("log", "start plain") == 1 && lines_with("log", "start ahead") == 2,
          "%d started in the plain way, %d ahead", lines_with("log", "start plain"),
          lines_with("log", "start ahead"));
    CHECK(is_in_order("quiet a", "loud a") && is_in_order("loud a", "ready "),
          "nobody got ready beside a");
    CHECK(lines_between("quiet a", "loud a") == 0, "%d lines while a was timed",
          lines_between("quiet a", "loud a"));
    static const char *const orders[][2] = {{"done a", "begin b"},
                                            {"gone a", "alone b"},
                                            {"gone a", "measure b"},
                                            {"done b", "begin c"},
                                            {"gone b", "alone c"}};
    for (int i = 0; i < COUNT(orders); i++)
        CHECK(is_in_order(orders[i][0], orders[i][1]), "'%s' not before '%s'", orders[i][0],
              orders[i][1]);
    CHECK(is_in_order("begin b", "gone a"), "b has not begun while a ended");
    CHECK(spent_ms[SLOT_TIME_WAITING] > 0 && spent_ms[SLOT_TIME_LEAVING] > 20, "waiting %g ms, leaving %g",
          spent_ms[SLOT_TIME_WAITING], spent_ms[SLOT_TIME_LEAVING]);
    CHECK(spent_ms[SLOT_TIME_TIMING] > 5.9 && spent_ms[SLOT_TIME_TIMING] < 6.1 &&
              spent_ms[SLOT_TIME_CHECKING] > 2.9 && spent_ms[SLOT_TIME_PREPARING] > 250,
          "timing %g ms, checking %g, preparing %g", spent_ms[SLOT_TIME_TIMING],
          spent_ms[SLOT_TIME_CHECKING], spent_ms[SLOT_TIME_PREPARING]);
}

// No more stand by than there is work for.
static void test_few(void)
{
    CHECK(!run(1, 1, 1) && lines_with("log", "start") == 1, "one matrix, %d processes",
          lines_with("log", "start"));
    CHECK(!run(2, 2, 1) && lines_with("log", "start") == 2, "two at two slots, %d processes",
          lines_with("log", "start"));
    // Who is free first has the third one, whether somebody stands by there or not.
    CHECK(!run(3, 2, 1) && lines_with("log", "start") <= 4 && lines_with("log", "ahead") == 1,
          "three at two slots, %d processes", lines_with("log", "start"));
    check_whole("three at two slots", 3, 1);
    CHECK(line_of("cpus ") && line_of("cpus 0-2,7"), "the slots have the same processors");
}

// One that dies, or fails, before it has measured anything: others do its work.
static void test_dead(void)
{
    static const struct {
        const char *flag;
        int plain; // workers that are started in the plain way
    } table[] = {{"dies.starting", 3}, {"dies.waiting", 3}, {"dies.beginning", 3}, {"fails", 3}};
    for (int i = 0; i < COUNT(table); i++) {
        const char *flag = table[i].flag;
        mkdir(flag, 0777);
        CHECK(!run(3, 1, 1), "%s: %s", flag, fail_text());
        rmdir(flag);
        check_whole(flag, 3, 1);
        CHECK(lines_with("log", "start plain") == table[i].plain, "%s: %d in the plain way", flag,
              lines_with("log", "start plain"));
        CHECK(is_in_order("gone a", "begin b"), "%s: b has begun beside a", flag);
    }
}

// -mem-limit holds for one that stands by, too.
static void test_memory(void)
{
    memory_bytes = 64 << 20;
    mkdir("eats", 0777);
    CHECK(!run(2, 1, 1), "%s", fail_text());
    rmdir("eats");
    memory_bytes = 0;
    check_whole("one that eats", 2, 1);
    CHECK(lines_with("log", "start plain") == 2 && !lines_with("log", "lost"),
          "it was left to stand by");
}

// One that stands by has the library of the pass that it gets.
static void test_passes(void)
{
    struct standby r;
    struct worker_config crew = {.device = "cpu"};
    struct worker_args args = {.standby = true, .run = ""};
    standby_init(&r);
    CHECK(!standby_has(&r, 0) && !standby_is_starting(&r), "nobody was started");
    CHECK(!standby_start(&r, &crew, &args, 1), "%s", fail_text());
    CHECK(standby_has(&r, 1) && !standby_has(&r, 0) && standby_is_starting(&r), "it is of another pass");
    standby_free(&r);
    CHECK(!standby_has(&r, 1), "it stands by, and is ended");
    mkdir("quick", 0777);
    for (int slots = 1; slots <= 2; slots++) {
        CHECK(!run(4, slots, 2), "%s", fail_text());
        check_whole("two passes", 4, 2);
        CHECK(!lines_with("log", "mismatch"), "another library than the pass has");
        CHECK(lines_with("log", "start ahead") >= 1, "%d stood by",
              lines_with("log", "start ahead"));
    }
    rmdir("quick");
    CHECK(!run(3, 1, 2) && lines_with("log", "start plain") == 1, "the wrong ones stood by");
}

// After Ctrl-C nobody is left.
static void test_interrupted(void)
{
    char line[128];
    interrupt_at = 1;
    int err = run(3, 1, 1), pid, left = 0, seen = 0;
    interrupt_at = interrupted = 0;
    CHECK(err == ERR_INTERRUPTED, "error %d", err);
    FILE *f = fopen("log", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%d start", &pid) == 1) seen++, left += !kill(pid, 0) || errno != ESRCH;
    if (f) fclose(f);
    CHECK(lines_with("log", "start ahead") == 1 && seen && !left, "%d of %d are left", left, seen);
}

static void test_no_memory(void)
{
    int err = ERR_MEMORY;
    mkdir("quick", 0777);
    for (int n = 2; err && n < 300; n++) { // the first is of the file
        mem_fail_at(n);
        err = run(2, 1, 1);
        mem_fail_at(0);
        CHECK(!err || err == ERR_MEMORY || err == ERR_INPUT, "allocation %d: error %d: %s", n, err,
              fail_text());
    }
    rmdir("quick");
    CHECK(!err && told_cases == 2, "it never ends well");
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "worker")) return act();
    signal(SIGPIPE, SIG_IGN); // as the program has it
    CHECK(mkdtemp(folder) && !chdir(folder), "%s", folder);
    RUN_ALL(test_follow, test_few, test_dead, test_memory, test_passes, test_interrupted,
            test_no_memory);
    unlink("out.jsonl");
    unlink("log");
    CHECK(!chdir("/") && !rmdir(folder), "something is left in %s", folder);
    return TEST_END();
}
