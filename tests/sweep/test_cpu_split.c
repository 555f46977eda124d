// Processors shared out to workers side by side: disjoint, whole cores, next to the device; and
// what a thread may run on.
#include "sweep/cpu_split.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sysfs.h"
#include "test.h"

static char root[] = P_tmpdir "/test_shares.XXXXXX";

// Processors i and i + cores are the same core, as on most machines.
static void plant_cores(int cores)
{
    char command[512];
    snprintf(
        command, sizeof command,
        "cd %s && rm -rf sys && for i in $(seq 0 %d); do d=sys/devices/system/cpu/cpu$i/topology;"
        " mkdir -p $d && echo $((i %% %d)),$((i %% %d + %d)) >$d/thread_siblings_list; done",
        root, 2 * cores - 1, cores, cores, cores);
    CHECK(!system(command), "%s", command);
}

#define WORKERS 4
static void test_shares(void)
{
    static const struct {
        const char *all;
        int cores; // with two processors each; 0: nobody tells
        int count;
        const char *near[WORKERS], *shares[WORKERS];
    } table[] = {
        {"0-7", 0, 4, {"", "", "", ""}, {"0-1", "2-3", "4-5", "6-7"}},
        {"0-7", 4, 2, {"", ""}, {"0-1,4-5", "2-3,6-7"}},
        {"0-15", 8, 4, {"", "", "", ""}, {"0-1,8-9", "2-3,10-11", "4-5,12-13", "6-7,14-15"}},
        // Two devices at each of two sockets, not in the order of these.
        {"0-15",
         8,
         4,
         {"4-7,12-15", "0-3,8-11", "4-7,12-15", "0-3,8-11"},
         {"4-5,12-13", "0-1,8-9", "6-7,14-15", "2-3,10-11"}},
        // Three at one socket: one has to go to the other.
        {"0-15",
         8,
         4,
         {"0-3,8-11", "0-3,8-11", "0-3,8-11", "4-7,12-15"},
         {"0-1,8-9", "2-3,10-11", "6-7,14-15", "4-5,12-13"}},
        // Only what this process may have.
        {"2-5,10-13", 8, 2, {"0-3,8-11", ""}, {"2-3,10-11", "4-5,12-13"}},
        {"1,3,5", 8, 2, {"5", ""}, {"5", "1"}},
        // Whole cores, if there are enough.
        {"0-11", 6, 4, {"", "", "", ""}, {"0,6", "1,7", "2,8", "3,9"}},
        {"0-1", 1, 2, {"", ""}, {"0", "1"}},
        {"0-2", 0, 4, {"", "", "", ""}, {"", "", "", ""}},
        {"", 0, 2, {"", ""}, {"", ""}},
    };
    for (int i = 0; i < COUNT(table); i++) {
        struct cpus all, near[WORKERS], shares[WORKERS];
        char text[CPUS_TEXT];
        sysfs_root(root);
        plant_cores(table[i].cores);
        cpus_parse(table[i].all, &all);
        for (int w = 0; w < table[i].count; w++) cpus_parse(table[i].near[w], &near[w]);
        cpu_split_make(&all, table[i].count, near, shares);
        sysfs_root("");
        for (int w = 0; w < table[i].count; w++)
            CHECK(!strcmp(cpus_text(&shares[w], text), table[i].shares[w]),
                  "row %d, worker %d: %s, not %s", i, w, text, table[i].shares[w]);
    }
}

static void test_threads(void)
{
    CHECK(cpu_split_threads(4, 16, 0) == 16, "no limit");
    CHECK(cpu_split_threads(4, 16, 32) == 8, "a control group of 32: %d", cpu_split_threads(4, 16, 32));
    CHECK(cpu_split_threads(4, 16, 10.5) == 2, "of 10.5: %d", cpu_split_threads(4, 16, 10.5));
    CHECK(cpu_split_threads(4, 16, 3) == 1 && cpu_split_threads(4, 0, 0) == 1, "one there is always");
    CHECK(cpu_split_threads(4, 16, 500) == 16, "a control group that allows more");
}

static void test_text(void)
{
    static const char *const lists[] = {"", "0", "0-3", "1,3,5-7", "0-1023", "1023"};
    for (int i = 0; i < COUNT(lists); i++) {
        struct cpus c;
        char text[CPUS_TEXT];
        cpus_parse(lists[i], &c);
        CHECK_TEXT(cpus_text(&c, text), lists[i]);
    }
    struct cpus odd = {.count = 0};
    char text[CPUS_TEXT];
    for (int i = 1; i < CPUS_MOST; i += 2) cpus_add(&odd, i), cpus_add(&odd, i);
    CHECK(odd.count == CPUS_MOST / 2 && strlen(cpus_text(&odd, text)) < CPUS_TEXT, "%d", odd.count);
}

static void test_pin(void)
{
    struct cpus mine, one = {.count = 0}, now;
    char text[CPUS_TEXT];
    cpus_mine(&mine);
    CHECK(mine.count > 0, "it runs nowhere");
    for (int i = 0; i < CPUS_MOST && !one.count; i++)
        if (mine.has[i]) cpus_add(&one, i);
    CHECK(cpus_pin(&one), "%s is not allowed", cpus_text(&one, text));
    cpus_mine(&now);
    CHECK(now.count == 1 && !memcmp(now.has, one.has, sizeof now.has), "it may run on %s",
          cpus_text(&now, text));
    CHECK(cpus_pin(&mine) && (cpus_mine(&now), now.count) == mine.count, "it does not come back");
    struct cpus none = {.count = 0};
    CHECK(!cpus_pin(&none), "on none");
}

int main(void)
{
    CHECK(mkdtemp(root) != NULL, "%s", root);
    RUN_ALL(test_shares, test_threads, test_text, test_pin);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK(!system(command), "%s", command);
    return TEST_END();
}
