// Files of the cache folder: which are read, and which are replaced.
#include "base/user_cache.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static char folder[] = P_tmpdir "/test_user_cache.XXXXXX";

static void put(const char *name)
{
    FILE *f = fopen(name, "w");
    CHECK(f && fputs("text", f) >= 0 && !fclose(f), "%s", name);
}

static bool can_read(const char *path)
{
    char first = 0;
    int fd = user_cache_open(path);
    bool good = fd >= 0 && read(fd, &first, 1) == 1 && first == 't';
    if (fd >= 0) close(fd);
    return good;
}

static bool can_replace(const char *path)
{
    struct whole_file f;
    int err = user_cache_replace(&f, path);
    if (!err) err = fputs("text", f.stream) < 0 ? ERR_OUTPUT : OK, err = whole_file_close(&f, err);
    return !err;
}

// Neither a pipe nor an endless device is waited for; no link is followed.
static void test_kinds(void)
{
    static const char *const others[] = {"pipe", "folder", "zero", "link", "dangling"};
    alarm(20); // a pipe would block
    put("file");
    bool made = !mkfifo("pipe", 0600) && !mkdir("folder", 0700) && !symlink("/dev/zero", "zero") &&
                !symlink("file", "link") && !symlink("nothing", "dangling");
    CHECK(made, "nothing can be tried");
    CHECK(can_read("file") && can_replace("file") && can_read("file"), "a regular file");
    CHECK(!can_read("none") && can_replace("none") && can_read("none"), "a new file");
    for (int i = 0; i < COUNT(others); i++)
        CHECK(!can_read(others[i]) && !can_replace(others[i]), "%s", others[i]);
    struct stat facts;
    CHECK(!lstat("pipe", &facts) && S_ISFIFO(facts.st_mode), "the pipe is replaced");
    CHECK(access("nothing", F_OK), "written through a link");
    alarm(0);
}

int main(void)
{
    bool made = mkdtemp(folder) && !chdir(folder);
    CHECK(made, "%s", folder);
    test_kinds();
    if (made) {
        char command[sizeof folder + 16];
        snprintf(command, sizeof command, "rm -rf %s", folder);
        CHECK(!system(command), "%s stays", folder);
    }
    return TEST_END();
}
