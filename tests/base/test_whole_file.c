// Files that are there whole or not at all: what is in the folder after each way to end.
#include "base/whole_file.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static char folder[] = P_tmpdir "/test_whole.XXXXXX";

// The content of a file, "(none)" if there is none.
static const char *content(const char *name)
{
    static char text[64];
    FILE *f = fopen(name, "r");
    if (!f) return "(none)";
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    CHECK(f && fputs(text, f) >= 0, "%s", name);
    if (f) fclose(f);
}

// The names in the folder, hidden ones included.
static int names_there(void)
{
    int count = 0;
    DIR *d = opendir(".");
    while (d && readdir(d)) count++;
    if (d) closedir(d);
    return count - 2; // . and ..
}

static int write_it(const char *name, const char *text, int end)
{
    struct whole_file f;
    int err = whole_file_open(&f, name);
    if (err) return err;
    fputs(text, f.stream);
    return whole_file_close(&f, end);
}

static mode_t mode_of(const char *name)
{
    struct stat s;
    return stat(name, &s) ? 0 : s.st_mode & 07777;
}

static void test_ends(void)
{
    umask(027);
    CHECK(!write_it("new", "one", OK), "%s", fail_text());
    CHECK_TEXT(content("new"), "one");
    CHECK(mode_of("new") == 0640, "mode %o", mode_of("new"));
    CHECK(write_it("new", "two", ERR_INTERRUPTED) == ERR_INTERRUPTED, "another error");
    CHECK_TEXT(content("new"), "one");
    CHECK(write_it("other", "two", ERR_OUTPUT) == ERR_OUTPUT, "another error");
    CHECK(names_there() == 1, "%d names", names_there());
    CHECK(!chmod("new", 0604) && !write_it("new", "three", OK), "%s", fail_text());
    CHECK_TEXT(content("new"), "three");
    CHECK(mode_of("new") == 0604, "mode %o", mode_of("new"));
    // While it is written, the old one is there.
    struct whole_file f;
    CHECK(!whole_file_open(&f, "new") && fputs("four", f.stream) >= 0, "%s", fail_text());
    CHECK_TEXT(content("new"), "three");
    CHECK(!whole_file_close(&f, OK), "%s", fail_text());
    CHECK_TEXT(content("new"), "four");
}

static void test_links(void)
{
    struct stat s;
    CHECK(!mkdir("in", 0777) && !symlink("in/far", "link"), "cannot prepare");
    put("in/far", "old");
    CHECK(!write_it("link", "new", OK), "%s", fail_text());
    CHECK_TEXT(content("in/far"), "new");
    CHECK(!lstat("link", &s) && S_ISLNK(s.st_mode), "the link was replaced");
    CHECK(!unlink("in/far") && write_it("link", "new", OK) == ERR_OUTPUT, "a link to nothing");
    CHECK_TEXT(fail_text(), "link: is a link to a missing file");
    CHECK(!unlink("link") && !rmdir("in"), "something was left in the folder");
}

static void test_refused(void)
{
    char name[NAME_MAX + 1], longer[PATH_MAX + 10];
    CHECK(write_it(".", "x", OK) == ERR_OUTPUT, "a folder was written");
    CHECK_TEXT(fail_text(), ".: Is a directory");
    CHECK(write_it("no/such", "x", OK) == ERR_OUTPUT, "a folder that is not there");
    CHECK_TEXT(fail_text(), "no/such: No such file or directory");
    memset(name, 'n', sizeof name);
    name[NAME_MAX] = 0;
    CHECK(!write_it(name, "x", OK) && !unlink(name), "the longest name: %s", fail_text());
    memset(longer, 'n', sizeof longer);
    longer[sizeof longer - 1] = 0;
    CHECK(write_it(longer, "x", OK) == ERR_OUTPUT && strstr(fail_text(), "name too long"), "%s",
          fail_text());
    bool root = !geteuid(); // whom nothing is forbidden
    put("kept", "old");
    CHECK(!chmod("kept", 0444) && !chmod(".", 0777), "cannot prepare");
    CHECK(!root || !seteuid(65534), "cannot become nobody");
    CHECK(write_it("kept", "new", OK) == ERR_OUTPUT, "what may not be written was replaced");
    CHECK_TEXT(fail_text(), "kept: Permission denied");
    CHECK(!root || !seteuid(0), "cannot become root again");
    CHECK_TEXT(content("kept"), "old");
    CHECK(!unlink("kept"), "kept is gone");
}

// What is no file is written as it is.
static void test_devices(void)
{
    if (access("/dev/full", W_OK)) {
        SKIP("no /dev/full");
        return;
    }
    CHECK(!write_it("/dev/null", "x", OK), "%s", fail_text());
    CHECK(write_it("/dev/full", "x", OK) == ERR_OUTPUT, "a full disk");
    CHECK_TEXT(fail_text(), "/dev/full: No space left on device");
    CHECK(!access("/dev/null", F_OK) && !access("/dev/full", F_OK), "a device is gone");
}

// The disk is full: the old file stays, and nothing else.
static void test_full(void)
{
    struct rlimit before, limit;
    put("full", "old");
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 5;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    int err = write_it("full", "longer than that", OK);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(err == ERR_OUTPUT, "error %d", err);
    CHECK_TEXT(fail_text(), "full: File too large");
    CHECK_TEXT(content("full"), "old");
    CHECK(!unlink("full"), "it is gone");
}

static void end(int signal)
{
    (void)signal;
    whole_file_abandon();
    _exit(7);
}

// A signal's handler ends the program while a file is open, or after it was closed.
static void test_signal(bool closed)
{
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        struct whole_file f;
        signal(SIGTERM, end);
        if (whole_file_open(&f, "half") || fputs("half", f.stream) < 0 || fflush(f.stream))
            _exit(1);
        if (closed && whole_file_close(&f, OK)) _exit(2);
        raise(SIGTERM);
        _exit(3);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7, "it ended with %d",
          WEXITSTATUS(status));
    CHECK_TEXT(content("half"), closed ? "half" : "(none)");
}

int main(void)
{
    CHECK(mkdtemp(folder) && !chdir(folder), "no folder %s", folder);
    RUN_ALL(test_ends, test_links, test_refused, test_devices, test_full);
    test_signal(false);
    CHECK(names_there() == 1, "%d names were left", names_there());
    test_signal(true);
    CHECK(names_there() == 2, "%d names were left", names_there());
    unlink("new");
    unlink("half");
    CHECK(!chdir("/") && !rmdir(folder), "something was left in %s", folder);
    return TEST_END();
}
