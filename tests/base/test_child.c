// Other programs run to their end: what they print, how they end, and those that do not.
#include "base/child.h"
#include "base/process_tree.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static char *shell(const char *script, double limit_ms, int *err, int *status)
{
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL}, *text = NULL;
    *status = -1;
    *err = child_run(argv, limit_ms, &text, status);
    CHECK(!text == !!*err, "error %d and %s", *err, text ? text : "no text");
    return text;
}

static void test_ends(void)
{
    static const struct {
        const char *script, *text;
        int status;
    } table[] = {{"echo a; echo b >&2; exit 0", "a\nb\n", 0},
                 {"exit 3", "", 3},
                 {"printf x; kill -9 $$", "x", 128 + 9},
                 {"cat", "", 0},                              // there is nothing to read
                 {"kill -PIPE $$; echo on", "", 128 + 13},    // as the program itself does not end
                 {"exec >&- 2>&-; sleep 0.1; exit 4", "", 4}, // the pipe ends before it does
                 {"sleep 20 & echo on", "on\n", 0}};          // what it has left is not waited for
    for (int i = 0; i < COUNT(table); i++) {
        int err, status;
        double start = clock_ms();
        char *text = shell(table[i].script, 20000, &err, &status);
        CHECK(!err && status == table[i].status, "row %d: error %d, status %d", i, err, status);
        CHECK_TEXT(text ? text : "(none)", table[i].text);
        CHECK(clock_ms() - start < 15000, "row %d: %g ms", i, clock_ms() - start);
        mem_free(text);
    }
}

// Text of any length comes whole, unless there is no end of it.
static void test_long(void)
{
    int err, status;
    char *text = shell("yes 0123456789abcde | head -n 100000", 60000, &err, &status);
    CHECK(!err && strlen(text) == 1600000, "error %d, %zu letters", err, text ? strlen(text) : 0);
    mem_free(text);
    shell("yes", 60000, &err, &status);
    CHECK(err == ERR_UNSUPPORTED && strstr(fail_text(), "prints more than 64 MiB"), "%s", fail_text());
}

// Whether the process with the number in this file is there.
static bool is_there(const char *path)
{
    char number[32] = "";
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && read(fd, number, sizeof number - 1) > 0, "no number in %s", path);
    close(fd);
    for (int i = 0; i < 100 && !kill(atoi(number), 0); i++) usleep(50000); // it may take a moment
    return !kill(atoi(number), 0);
}

// One that goes on is ended, and so is what it has started.
static void test_late(void)
{
    char path[] = P_tmpdir "/test_child.XXXXXX", script[256];
    int err, status, fd = mkstemp(path);
    CHECK(fd >= 0 && !close(fd), "no file");
    snprintf(script, sizeof script, "sleep 300 & echo $! >%s; wait", path);
    double start = clock_ms();
    shell(script, 500, &err, &status);
    CHECK(err == ERR_UNSUPPORTED && strstr(fail_text(), "did not end within 0.5 s"), "%s",
          fail_text());
    CHECK(clock_ms() - start < 15000, "%g ms", clock_ms() - start);
    CHECK(!is_there(path), "what it has started goes on");
    interrupted = 1;
    shell(script, 60000, &err, &status);
    interrupted = 0;
    CHECK(err == ERR_INTERRUPTED, "error %d", err);
    unlink(path);
}

static void test_none(void)
{
    char *argv[] = {(char *)"/no/such program", NULL}, *text;
    int status;
    int err = child_run(argv, 1000, &text, &status);
    CHECK(err == ERR_UNSUPPORTED && !text, "error %d", err);
    CHECK_TEXT(fail_text(), "/no/such program: cannot be started: No such file or directory");
    char *sh[] = {(char *)"sh", (char *)"-c", (char *)"yes | head -n 9000", NULL};
    int n = 0;
    do {
        mem_fail_at(++n);
        err = child_run(sh, 20000, &text, &status);
        mem_fail_at(0);
        CHECK(!err || (err == ERR_MEMORY && !text), "allocation %d: error %d", n, err);
    } while (err && n < 100);
    CHECK(!err && n > 2, "after %d allocations: error %d", n, err);
    mem_free(text);
    // No descriptor is left open.
    int free_one = dup(0);
    close(free_one);
    for (int i = 0; i < 20; i++) {
        child_run(argv, 1000, &text, &status);
        mem_free(shell("exit 1", 20000, &err, &status));
    }
    int now = dup(0);
    close(now);
    CHECK(now == free_one, "descriptor %d, and %d before", now, free_one);
}

// A process that has started another, of a group of its own, which has some memory and says so.
static pid_t start_two(int told)
{
    const size_t bytes = (size_t)32 << 20;
    pid_t pid = fork();
    if (pid) return pid;
    if (!fork()) {
        volatile char *p = malloc(bytes);
        setpgid(0, 0);
        for (size_t i = 0; p && i < bytes; i += 4096) p[i] = 1;
        if (write(told, p ? "x" : "-", 1) != 1) _exit(1);
    }
    for (;;) pause();
}

static void test_tree(void)
{
    struct process_tree tree;
    int pipes[2];
    char letter = 0;
    process_tree_find(getpid(), &tree);
    CHECK(tree.count == 1 && tree.pids[0] == getpid(), "%d in the tree of one", tree.count);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    if (access(path, R_OK)) {
        SKIP("what a process has started: this system does not tell children");
        return;
    }
    CHECK(!pipe(pipes), "no pipe");
    pid_t first = start_two(pipes[1]);
    CHECK(read(pipes[0], &letter, 1) == 1 && letter == 'x', "the second process has no memory");
    process_tree_find(first, &tree);
    CHECK(tree.count == 2 && tree.pids[0] == first, "%d in the tree of two", tree.count);
    int64_t both = process_tree_memory(&tree);
    CHECK(both > (int64_t)32 << 20, "%lld bytes of both", (long long)both);
    process_tree_kill(&tree);
    CHECK(waitpid(first, NULL, 0) == first, "the first one");
    // The second is nobody's now; its end of the pipe says when it is over.
    close(pipes[1]);
    CHECK(read(pipes[0], &letter, 1) == 0, "the second one goes on");
    CHECK(!process_tree_memory(&tree), "memory of those that are over");
    close(pipes[0]);
}

// This program finds itself; also where its file is another one by now, as after `make`.
static void test_self(const char *own)
{
    char path[PATH_MAX], copy[] = P_tmpdir "/test_child.XXXXXX", command[2 * PATH_MAX];
    int err, status, fd = mkstemp(copy);
    struct stat here, there;
    CHECK(!child_self(path), "%s", fail_text());
    CHECK(!stat(path, &there) && !stat(own, &here) && here.st_ino == there.st_ino, "%s", path);
    snprintf(command, sizeof command, "cp '%s' %s && chmod +x %s && exec %s replaced", path, copy,
             copy, copy);
    close(fd);
    char *text = shell(command, 20000, &err, &status);
    CHECK(!err && !status, "error %d, status %d", err, status);
    CHECK_TEXT(text ? text : "(none)", "the right one\n");
    mem_free(text);
    unlink(copy);
}

// The copy: another file takes its place, and what it starts as itself is still itself.
static int be_replaced(const char *own)
{
    char path[PATH_MAX], *text;
    int status, fd;
    if (unlink(own) || (fd = open(own, O_WRONLY | O_CREAT, 0777)) < 0) return 2;
    dprintf(fd, "#!/bin/sh\necho the wrong one\n");
    close(fd);
    if (child_self(path)) return 3;
    char *argv[] = {path, (char *)"tell", NULL};
    if (child_run(argv, 20000, &text, &status)) return 4;
    printf("%s", text);
    mem_free(text);
    return status;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "replaced")) return be_replaced(argv[0]);
    if (argc > 1) return printf("the right one\n") < 0;
    test_self(argv[0]);
    RUN_ALL(test_ends, test_long, test_late, test_none, test_tree);
    return TEST_END();
}
