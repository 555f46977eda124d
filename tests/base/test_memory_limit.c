// How much memory there is: control groups from a planted /proc and /sys, ulimit in a child.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plant.h"

#define MB ((int64_t)1000000)

static void expect(const char *what, int64_t bytes, const char *limit)
{
    memory_limit_root(plant_folder); // the groups are looked for anew
    struct memory_limit r = memory_limit_find(0);
    CHECK(r.bytes == bytes, "%s: %lld bytes, not %lld", what, (long long)r.bytes, (long long)bytes);
    CHECK_TEXT(r.limit ? r.limit : "machine", limit ? limit : "machine");
}

// Of a limit, a part is kept back.
static int64_t of(int64_t limit, int64_t used) { return limit - limit / 64 - used; }

static void test_machine(void)
{
    replant(8000000);
    expect("no groups", 8000000 * (int64_t)1024, NULL);
    CHECK(memory_limit_find(1000 * MB).bytes == 8000000 * (int64_t)1024 - 1000 * MB, "promised");
    plant("/proc/self/status", "RssAnon: 900000 kB\n");
    CHECK(memory_limit_find(1000 * MB).bytes == 8000000 * (int64_t)1024 - 1000 * MB + 900000 * 1024,
          "promised, and in part touched");
}

#define V2_MOUNT                                                                                   \
    "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"

static void test_v2(void)
{
    replant(8000000);
    plant("/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/vda rw\n" V2_MOUNT);
    plant("/proc/self/cgroup", "0::/user/job\n");
    expect("groups without limits", 8000000 * (int64_t)1024, NULL);
    plant("/sys/fs/cgroup/user/job/memory.max", "max\n");
    plant("/sys/fs/cgroup/user/job/memory.high", "max\n");
    plant("/sys/fs/cgroup/user/job/memory.current", "5000000\n");
    expect("max", 8000000 * (int64_t)1024, NULL);
    plant("/sys/fs/cgroup/user/job/memory.max", "1000000000\n");
    expect("a limit", of(1000 * MB, 5 * MB), "control group");
    plant("/sys/fs/cgroup/user/job/memory.current", "900000000\n");
    plant("/sys/fs/cgroup/user/job/memory.stat",
          "anon 3\nfile 700000000\ninactive_file_x 5\ninactive_file 600000000\nactive_file 1000\n");
    expect("page cache", of(1000 * MB, 900 * MB - 600 * MB - 1000), "control group");
    plant("/sys/fs/cgroup/user/job/memory.high", "500000000\n");
    expect("a soft limit", of(500 * MB, 900 * MB - 600 * MB - 1000), "control group");
    plant("/sys/fs/cgroup/user/memory.max", "400000000\n");
    plant("/sys/fs/cgroup/user/memory.current", "390000000\n");
    expect("the group above", of(400 * MB, 390 * MB), "control group");
    plant("/sys/fs/cgroup/user/memory.current", "400000000\n");
    expect("nothing left", 0, "control group");
}

static void test_v1(void)
{
    replant(8000000);
    // The unified groups of a machine that has the memory in version 1 say nothing of it.
    plant("/proc/self/mountinfo",
          V2_MOUNT "35 31 0:32 / /sys/fs/cgroup/mem\\040ory rw - cgroup cgroup rw,cpu,memory\n"
                   "36 31 0:33 / /sys/fs/cgroup/devices rw - cgroup cgroup rw,devices\n");
    plant("/proc/self/cgroup", "5:devices:/else\n4:cpu,memory:/job\n0::/\n");
    plant("/sys/fs/cgroup/mem ory/memory.limit_in_bytes", "9223372036854771712\n");
    plant("/sys/fs/cgroup/mem ory/memory.usage_in_bytes", "1\n");
    plant("/sys/fs/cgroup/mem ory/job/memory.limit_in_bytes", "300000000\n");
    plant("/sys/fs/cgroup/mem ory/job/memory.usage_in_bytes", "200000000\n");
    plant("/sys/fs/cgroup/mem ory/job/memory.stat",
          "inactive_file 7\ntotal_inactive_file 50000000\ntotal_active_file 10000000\n");
    expect("version 1", of(300 * MB, 140 * MB), "control group");

    // Where mounts cannot be read, the usual place.
    replant(8000000);
    plant("/proc/self/cgroup", "4:memory:/job\n0::/\n");
    plant("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "300000000\n");
    expect("the usual place", of(300 * MB, 0), "control group");
}

// In a container the mount's root is the group itself, by the name that it has outside; or that
// name is out of sight.
static void test_container(void)
{
    static const char *const paths[] = {"0::/docker/abc\n", "0::/\n", "0::/../other\n"};
    static const char *const mounts[] = {"/docker/abc", "/", "/docker"};
    for (int p = 0; p < 3; p++)
        for (int m = 0; m < 3; m++) {
            char mount[200];
            bool below = p == 0 && m != 0;
            replant(8000000);
            snprintf(mount, sizeof mount, "31 23 0:28 %s /sys/fs/cgroup rw - cgroup2 c rw\n",
                     mounts[m]);
            plant("/proc/self/mountinfo", mount);
            plant("/proc/self/cgroup", paths[p]);
            plant("/sys/fs/cgroup/memory.max", "600000000\n");
            plant("/sys/fs/cgroup/memory.current", "0\n");
            plant("/sys/fs/cgroup/docker/abc/memory.max", "200000000\n");
            plant("/sys/fs/cgroup/abc/memory.max", "300000000\n");
            expect(mount, of(below ? (m == 1 ? 200 : 300) * MB : 600 * MB, 0), "control group");
        }
}

// Lines that no kernel writes break nothing.
static void test_nonsense(void)
{
    static const char *const lines[] = {"",
                                        "\n",
                                        ":\n",
                                        "0:\n",
                                        "0::\n",
                                        " - \n",
                                        "a - b\n",
                                        "1 2 3 - cgroup2 c rw\n",
                                        "- - - - - - -\n",
                                        "1 2 3 / /x\\0 rw - cgroup2 c\n",
                                        "4:memory:\n"};
    for (int i = 0; i < COUNT(lines); i++)
        for (int j = 0; j < COUNT(lines); j++) {
            replant(8000000);
            plant("/proc/self/mountinfo", lines[i]);
            plant("/proc/self/cgroup", lines[j]);
            expect(lines[i], 8000000 * (int64_t)1024, NULL);
        }
    plant("/proc/meminfo", "no such line\n");
    CHECK(memory_limit_find(0).bytes > 0 && memory_limit_find(INT64_MAX).bytes == 0, "half of the real memory");
}

// Requests are refused before a group is full: one that is too large, and many small ones that
// nobody touches.
static void test_requests(void)
{
    enum { MOST = 1000 };
    static void *block[MOST];
    int count = 0;
    char want[200];
    replant(8000000);
    plant("/proc/self/mountinfo", V2_MOUNT);
    plant("/proc/self/cgroup", "0::/\n");
    plant("/sys/fs/cgroup/memory.max", "640000000\n");
    plant("/sys/fs/cgroup/memory.current", "530000000\n");
    memory_limit_root(plant_folder);
    CHECK(!mem_alloc(300, MB), "300 MB of 100");
    CHECK_TEXT(fail_text(), "out of host memory: 300 MB wanted, 100 MB free (control group)");
    while (count < MOST && (block[count] = mem_alloc(1, MB))) count++;
    CHECK(count >= 85 && count <= 100, "%d requests of 1 MB", count);
    snprintf(want, sizeof want, "out of host memory: 1.0 MB wanted, ");
    CHECK(!strncmp(fail_text(), want, strlen(want)) && strstr(fail_text(), "(control group)"), "%s",
          fail_text());
    for (int i = 0; i < count; i++) mem_free(block[i]);
    // What was given back can be had again.
    void *again = mem_alloc(80, MB);
    CHECK(again, "%s", fail_text());
    mem_free(again);
}

// In a child with 200 MB of address space left.
static int little_space(int resource)
{
    int64_t used = 0;
    long long kib;
    char line[200];
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, resource == RLIMIT_AS ? "VmSize: %lld" : "VmData: %lld", &kib) == 1)
            used = kib * 1024;
    if (f) fclose(f);
    struct rlimit limit = {(rlim_t)(used + 200 * MB), (rlim_t)(used + 200 * MB)};
    if (!used || setrlimit(resource, &limit)) return 1;
    if (mem_alloc(300, MB)) return 2;
    char told[64];
    snprintf(told, sizeof told, "MB free (ulimit -%s)", resource == RLIMIT_AS ? "v" : "d");
    if (!strstr(fail_text(), "300 MB wanted, ") || !strstr(fail_text(), told)) return 3;
    if (mem_available() > 200 * MB || mem_available() < 150 * MB) return 4;
    void *there = mem_alloc(100, MB);
    return there ? 0 : 5;
}

static void test_ulimit(void)
{
    static const int resources[] = {RLIMIT_AS, RLIMIT_DATA};
    for (int i = 0; i < 2; i++) {
        int status = -1;
        fflush(stdout);
        pid_t child = fork();
        if (!child) _exit(little_space(resources[i]));
        CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status), "%x", status);
        CHECK(WEXITSTATUS(status) == 0, "limit %d: step %d failed", i, WEXITSTATUS(status));
    }
}

int main(void)
{
    RUN_ALL(test_machine, test_v2, test_v1, test_container, test_nonsense, test_requests);
    uproot();
    test_ulimit();
    return TEST_END();
}
