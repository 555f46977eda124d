#include "data/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/user_cache.h"
#include "base/words.h"
#include "data/text.h"

#ifndef SPBENCH_READER // a checksum of the reader's sources, set by the Makefile
#define SPBENCH_READER 0
#endif

#define MAGIC  0x31305253436e6273u // "sbnCSR01" where the lowest byte comes first
#define FOLDER "matrices"
#define PIECE  ((int64_t)1 << 22) // bytes of an array that one thread reads at a time
#define SHARE  10                 // entries take 1/SHARE of the free disk space at most
#define LOST_S 600                // a temporary file this old has lost its process

const struct cache_rules cache_standard = {
    .most_bytes = 20000000000, .least_text = 1000000, .least_ms = 5, .reader = SPBENCH_READER};
static const struct cache_rules *rules;

void cache_use(const struct cache_rules *use) { rules = use && use->reader ? use : NULL; }

// The first bytes of an entry. The row starts, the columns and the values follow.
struct head {
    uint64_t magic, reader;
    struct hash file, name;
    int64_t bytes;
    uint64_t seed; // 0 if the file has values
    int64_t m, n, nnz;
    struct mtx_info info;
    struct hash arrays;
    struct hash self; // hash of the fields above
};

struct place {
    char folder[USER_CACHE_PATH_MAX];
    char path[USER_CACHE_PATH_MAX + 96];
};

// Sets p to the path of the entry of `key`. The name of an entry with drawn values has their seed.
static bool find_place(const struct cache_key *key, bool drawn, struct place *p)
{
    struct hash all = hash_join(key->file, key->name);
    char seed[32] = "";
    bool there;
    all = hash_join(all, (struct hash){(uint64_t)key->bytes, rules->reader});
    if (drawn) snprintf(seed, sizeof seed, "-%016llx", (unsigned long long)key->seed);
    p->folder[0] = 0;
    if (rules->folder)
        there = snprintf(p->folder, sizeof p->folder, "%s", rules->folder) < USER_CACHE_PATH_MAX;
    else
        there = user_cache_path(p->folder, FOLDER);
    snprintf(p->path, sizeof p->path, "%s/%016llx%016llx%s" CACHE_SUFFIX, p->folder,
             (unsigned long long)all.a, (unsigned long long)all.b, seed);
    return there;
}

// Hashes an open file. Returns false if the descriptor is no file, or the file is larger than half
// of the free memory: its pages would be evicted before the reader needs them.
static bool hash_file(int fd, struct hash *hash, int64_t *bytes)
{
    struct stat facts;
    if (fstat(fd, &facts) || !S_ISREG(facts.st_mode) || facts.st_size <= 0) return false;
    if (facts.st_size > mem_available() / 2) return false;
    void *p = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) return false;
    *hash = hash_bytes(p, facts.st_size);
    *bytes = facts.st_size;
    munmap(p, (size_t)facts.st_size);
    return true;
}

struct cache_key cache_key(const char *path, uint64_t seed)
{
    struct cache_key key = {.seed = seed};
    struct stat facts;
    const char *stem;
    // A pipe is not opened: its writer would take the cache for the reader.
    bool is_file = rules && strcmp(path, "-") && !stat(path, &facts) && S_ISREG(facts.st_mode);
    int fd = is_file ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0) return key;
    key.there = hash_file(fd, &key.file, &key.bytes);
    size_t length = text_stem(path, &stem);
    key.name = hash_bytes(stem, (int64_t)length);
    close(fd);
    return key;
}

static int64_t arrays_bytes(const struct head *h)
{
    return (h->m + 1) * (int64_t)sizeof(int64_t) +
           h->nnz * (int64_t)(sizeof(int32_t) + sizeof(double));
}

static struct hash hash_arrays(const struct csr *A)
{
    struct hash ptr = hash_bytes(A->ptr, ((int64_t)A->m + 1) * (int64_t)sizeof *A->ptr);
    struct hash idx = hash_bytes(A->idx, A->nnz * (int64_t)sizeof *A->idx);
    return hash_join(hash_join(ptr, idx), hash_bytes(A->val, A->nnz * (int64_t)sizeof *A->val));
}

static struct hash hash_head(const struct head *h)
{
    return hash_bytes(h, (int64_t)offsetof(struct head, self));
}

// Returns true if h is the head of an entry of `key` with a length of `bytes`.
static bool head_fits(const struct head *h, const struct cache_key *key, bool drawn, int64_t bytes)
{
    return h->magic == MAGIC && hash_equal(h->self, hash_head(h)) && h->reader == rules->reader &&
           hash_equal(h->file, key->file) && hash_equal(h->name, key->name) &&
           h->bytes == key->bytes && (h->info.field == MTX_PATTERN) == drawn &&
           h->seed == (drawn ? key->seed : 0) && h->m >= 0 && h->m <= INT32_MAX && h->n >= 0 &&
           h->n <= INT32_MAX && h->nnz >= 0 && h->nnz < INT64_MAX / 16 &&
           bytes == (int64_t)sizeof *h + arrays_bytes(h);
}

static bool read_piece(int fd, char *to, int64_t bytes, int64_t at)
{
    while (bytes > 0) {
        ssize_t got = pread(fd, to, (size_t)bytes, at);
        if (got < 0 && errno == EINTR && !interrupted) continue;
        if (got <= 0) return false;
        to += got, at += got, bytes -= got;
    }
    return true;
}

// Reads an array from offset *at on with all threads. Moves *at behind the array.
static bool read_array(int fd, void *to, int64_t bytes, int64_t *at)
{
    bool good = true;
#pragma omp parallel for schedule(dynamic, 1) reduction(&& : good) if (bytes > PIECE)
    for (int64_t i = 0; i < bytes; i += PIECE)
        good = good && !interrupted &&
               read_piece(fd, (char *)to + i, min64(bytes - i, PIECE), *at + i);
    *at += bytes;
    return good;
}

static bool read_entry(int fd, const struct cache_key *key, bool drawn, struct csr *A,
                       struct mtx_info *info)
{
    struct head h;
    struct stat facts;
    int64_t at = sizeof h;
    if (fstat(fd, &facts) || !read_piece(fd, (char *)&h, sizeof h, 0)) return false;
    if (!head_fits(&h, key, drawn, facts.st_size)) return false;
    if (csr_alloc(A, (int32_t)h.m, (int32_t)h.n, h.nnz)) return fail_drop(), false;
    bool good = read_array(fd, A->ptr, (h.m + 1) * (int64_t)sizeof *A->ptr, &at) &&
                read_array(fd, A->idx, h.nnz * (int64_t)sizeof *A->idx, &at) &&
                read_array(fd, A->val, h.nnz * (int64_t)sizeof *A->val, &at) &&
                hash_equal(hash_arrays(A), h.arrays) && !csr_check(A);
    if (!good) {
        csr_free(A);
        *A = (struct csr){0};
        return false;
    }
    *info = h.info;
    futimens(fd, NULL); // time of the last use, for cache_evict()
    return true;
}

bool cache_read(const struct cache_key *key, struct csr *A, struct mtx_info *info)
{
    bool found = false;
    *A = (struct csr){0};
    for (int drawn = 0; drawn < 2 && key->there && !found; drawn++) {
        struct place p;
        bool there = find_place(key, drawn, &p);
        int fd = there ? user_cache_open(p.path) : -1;
        if (fd < 0) continue;
        found = read_entry(fd, key, drawn, A, info);
        close(fd);
    }
    return found;
}

struct entry {
    struct entry *next;
    int64_t bytes;
    struct timespec used;
    char name[];
};

static void free_list(struct entry *list)
{
    while (list) {
        struct entry *next = list->next;
        mem_free(list);
        list = next;
    }
}

// Returns true for a temporary name of struct whole_file.
static bool is_temporary(const char *name) { return !strncmp(name, ".spbench-", 9); }

// Returns the entries of an open folder; NULL if there are none, or memory is too small. Sets
// *bytes to the size of all entries and temporary files. Removes temporary files of killed
// processes.
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

// Removes the least recently used entry from the list and returns the entry.
static struct entry *take_oldest(struct entry **list)
{
    struct entry **oldest = list;
    for (struct entry **e = list; *e; e = &(*e)->next)
        if (older(*e, *oldest)) oldest = e;
    struct entry *taken = *oldest;
    *oldest = taken->next;
    return taken;
}

bool cache_evict(const char *path, int64_t bytes, int64_t limit)
{
    struct statvfs disk;
    int64_t used;
    DIR *folder = opendir(path);
    if (!folder) return false;
    struct entry *list = list_entries(folder, &used);
    if (!fstatvfs(dirfd(folder), &disk)) {
        double most = ((double)disk.f_bavail * (double)disk.f_frsize + (double)used) / SHARE;
        if (most < (double)limit) limit = (int64_t)most;
    }
    bool possible = bytes <= limit;
    while (possible && list && used > limit - bytes) {
        struct entry *e = take_oldest(&list);
        unlinkat(dirfd(folder), e->name, 0); // fails if another process has removed the entry
        used -= e->bytes;
        mem_free(e);
    }
    free_list(list);
    closedir(folder);
    return possible && used <= limit - bytes;
}

static void write_array(FILE *out, const void *data, int64_t bytes)
{
    for (int64_t i = 0; i < bytes && !interrupted && !ferror(out); i += PIECE)
        fwrite((const char *)data + i, 1, (size_t)min64(bytes - i, PIECE), out);
}

// Writes an entry and flushes it to the disk: a later write-back would disturb measurements.
static void write_entry(const char *path, const struct head *h, const struct csr *A)
{
    static struct whole_file file; // stays where it is until it is closed
    if (user_cache_replace(&file, path)) {
        fail_drop();
        return;
    }
    fwrite(h, sizeof *h, 1, file.stream);
    write_array(file.stream, A->ptr, (h->m + 1) * (int64_t)sizeof *A->ptr);
    write_array(file.stream, A->idx, h->nnz * (int64_t)sizeof *A->idx);
    write_array(file.stream, A->val, h->nnz * (int64_t)sizeof *A->val);
    bool good = !interrupted && !fflush(file.stream) && !fdatasync(fileno(file.stream));
    if (whole_file_close(&file, good ? OK : ERR_OUTPUT)) fail_drop();
}

void cache_keep(const struct cache_key *key, const char *path, const struct csr *A,
                const struct mtx_info *info)
{
    bool drawn = info->field == MTX_PATTERN;
    struct place p;
    if (!key->there || info->load_ms < rules->least_ms || info->bytes < rules->least_text) return;
    struct cache_key now = cache_key(path, key->seed); // the text was read after the first
    if (!now.there || now.bytes != key->bytes || !hash_equal(now.file, key->file)) return;
    struct head h = {.magic = MAGIC,
                     .reader = rules->reader,
                     .file = key->file,
                     .name = key->name,
                     .bytes = key->bytes,
                     .seed = drawn ? key->seed : 0,
                     .m = A->m,
                     .n = A->n,
                     .nnz = A->nnz,
                     .info = *info,
                     .arrays = hash_arrays(A)};
    h.self = hash_head(&h);
    if (!find_place(key, drawn, &p)) return;
    if (!rules->folder && !user_cache_make(FOLDER)) return;
    if (cache_evict(p.folder, (int64_t)sizeof h + arrays_bytes(&h), rules->most_bytes))
        write_entry(p.path, &h, A);
}
