// Files of the cache folder that are read, and files that are replaced.
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

// The rights of a file, or of its folder, and whether the file is used.
static void test_modes(void)
{
    static const struct {
        mode_t file, folder;
        bool used;
    } table[] = {{0600, 0700, true},  {0644, 0755, true},  {0664, 0700, false},
                 {0602, 0700, false}, {0600, 0770, false}, {0600, 01777, false}};
    CHECK(!mkdir("rights", 0700), "no folder");
    put("rights/file");
    for (int i = 0; i < COUNT(table); i++) {
        bool set = !chmod("rights/file", table[i].file) && !chmod("rights", table[i].folder);
        CHECK(set && can_read("rights/file") == table[i].used, "%o in %o", table[i].file,
              table[i].folder);
    }
    CHECK(!can_replace("rights/file") && !can_replace("rights/new"), "a folder of all");

    struct stat facts;
    CHECK(!chmod("rights", 0700) && !chmod("rights/file", 0666) && can_replace("rights/file"),
          "an own file that others could write");
    CHECK(!stat("rights/file", &facts) && (facts.st_mode & 07777) == 0600, "mode %o",
          facts.st_mode);
}

// Files and folders of another user are not used. Files of root are used.
static void test_owners(void)
{
    enum { OTHER = 65534 };
    if (geteuid()) {
        SKIP("files of another user: only root can make some");
        return;
    }
    put("other");
    CHECK(!chmod("other", 0600) && !chown("other", OTHER, OTHER) && !can_read("other"), "a file");
    CHECK(can_replace("other") && can_read("other"), "a file that is replaced");
    CHECK(!mkdir("others", 0700), "no folder");
    put("others/file");
    CHECK(!chown("others", OTHER, OTHER) && !can_read("others/file"), "a folder");
    CHECK(!can_replace("others/file"), "written to a folder of another user");
    CHECK(!chmod(folder, 0755) && !seteuid(OTHER), "cannot be another user");
    CHECK(can_read("others/file"), "a file of root in an own folder");
    CHECK(!seteuid(0), "cannot be root again");
}

// The cache folder is made for this user. An own folder gets the right mode, another's is refused.
static void test_make(void)
{
    char path[USER_CACHE_PATH_MAX];
    struct stat facts;
    CHECK(!setenv("XDG_CACHE_HOME", folder, 1) && user_cache_path(path, "part"), "%s", folder);
    CHECK(user_cache_make("part") && !stat(path, &facts) && (facts.st_mode & 07777) == 0700,
          "mode %o", facts.st_mode);
    CHECK(!chmod(path, 0777) && user_cache_make("part") && !stat(path, &facts) &&
              (facts.st_mode & 07777) == 0755,
          "mode %o", facts.st_mode);
    CHECK(geteuid() || (!chown(path, 65534, 65534) && !user_cache_make("part")),
          "the folder of another user");
    CHECK(user_cache_make(""), "the folder around it");
}

int main(void)
{
    umask(022);
    bool made = mkdtemp(folder) && !chdir(folder);
    CHECK(made, "%s", folder);
    RUN_ALL(test_kinds, test_modes, test_owners, test_make);
    if (made) {
        char command[sizeof folder + 16];
        snprintf(command, sizeof command, "rm -rf %s", folder);
        CHECK(!system(command), "%s stays", folder);
    }
    return TEST_END();
}
