#include "data/cache_room.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/words.h"

#define SHARE  10  // of what is free, one part may be taken
#define LOST_S 600 // no process is at work on a file that has not grown for so long

struct entry {
    struct entry *next;
    int64_t bytes;
    struct timespec used;
    char name[]; // in the folder
};

static void free_list(struct entry *list)
{
    while (list) {
        struct entry *next = list->next;
        mem_free(list);
        list = next;
    }
}

// A temporary name of struct whole_file.
static bool is_temporary(const char *name) { return !strncmp(name, ".spbench-", 9); }

// The entries of an open folder; NULL where there are none, or there is no memory for the list.
// *bytes is of them and of those that are being written. What killed processes left is removed.
static struct entry *list_entries(DIR *folder, int64_t *bytes)
{
    struct entry *list = NULL;
    struct dirent *d;
    struct stat facts;
    *bytes = 0;
    while ((d = readdir(folder))) {
        bool unfinished = is_temporary(d->d_name);
        if (!unfinished && !ends_with(d->d_name, CACHE_SUFFIX)) continue;
        if (fstatat(dirfd(folder), d->d_name, &facts, AT_SYMLINK_NOFOLLOW)) continue;
        if (!S_ISREG(facts.st_mode)) continue;
        if (unfinished && time(NULL) - facts.st_mtime > LOST_S) {
            unlinkat(dirfd(folder), d->d_name, 0);
            continue;
        }
        *bytes += facts.st_size;
        if (unfinished) continue;
        size_t length = strlen(d->d_name) + 1;
        struct entry *e = mem_try_alloc((int64_t)(sizeof *e + length));
        if (!e) break;
        *e = (struct entry){.next = list, .bytes = facts.st_size, .used = facts.st_mtim};
        memcpy(e->name, d->d_name, length);
        list = e;
    }
    return list;
}

static bool older(const struct entry *a, const struct entry *b)
{
    return a->used.tv_sec != b->used.tv_sec ? a->used.tv_sec < b->used.tv_sec
                                            : a->used.tv_nsec < b->used.tv_nsec;
}

// Takes the one that was not used for longest out of the list.
static struct entry *take_oldest(struct entry **list)
{
    struct entry **oldest = list;
    for (struct entry **e = list; *e; e = &(*e)->next)
        if (older(*e, *oldest)) oldest = e;
    struct entry *taken = *oldest;
    *oldest = taken->next;
    return taken;
}

bool cache_make_room(const char *path, int64_t bytes, int64_t limit)
{
    struct statvfs disk;
    int64_t there;
    DIR *folder = opendir(path);
    if (!folder) return false;
    struct entry *list = list_entries(folder, &there);
    if (!fstatvfs(dirfd(folder), &disk)) {
        double most = ((double)disk.f_bavail * (double)disk.f_frsize + (double)there) / SHARE;
        if (most < (double)limit) limit = (int64_t)most;
    }
    bool possible = bytes <= limit;
    while (possible && list && there > limit - bytes) {
        struct entry *e = take_oldest(&list);
        unlinkat(dirfd(folder), e->name, 0); // another process may have been first
        there -= e->bytes;
        mem_free(e);
    }
    free_list(list);
    closedir(folder);
    return possible && there <= limit - bytes;
}
