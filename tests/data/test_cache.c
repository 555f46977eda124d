// Kept matrices: what is served is what reading the file anew would give, whatever happens to the
// file, to the entry and to the folder.
#include "data/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "data/load.h"
#include "csr_equal.h"
#include "test.h"

static char here[] = P_tmpdir "/test_cache.XXXXXX"; // the tests run in there
static char kept[sizeof here + 8];                  // the folder of the cache
static struct cache_rules all_kept = {.folder = kept, .most_bytes = 1000000000, .reader = 7};

#define BANNER  "%%MatrixMarket matrix coordinate "
#define ENTRIES 1500

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    CHECK(f && fputs(text, f) >= 0, "%s", name);
    if (f) fclose(f);
}

// A file of ENTRIES rows of one entry; `first` is the first value.
static void put_matrix(const char *name, const char *kind, int first)
{
    FILE *f = fopen(name, "w");
    CHECK(f, "%s", name);
    if (!f) return;
    fprintf(f, "%s%s general\n%d 9 %d\n", BANNER, kind, ENTRIES, ENTRIES);
    for (int i = 0; i < ENTRIES; i++)
        if (*kind == 'r')
            fprintf(f, "%d %d %d\n", i + 1, i % 9 + 1, i ? i : first);
        else
            fprintf(f, "%d %d\n", i + 1, i % 9 + 1);
    fclose(f);
}

// The entries in the folder, the name of the last; what else is there counts in `others`.
static int entries(char path[512], int *others)
{
    int count = 0;
    DIR *folder = opendir(kept);
    struct dirent *d;
    *others = 0;
    while (folder && (d = readdir(folder))) {
        size_t length = strlen(d->d_name);
        if (length > 4 && !strcmp(d->d_name + length - 4, CACHE_SUFFIX))
            count++, snprintf(path, 512, "%s/%s", kept, d->d_name);
        else if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
            ++*others;
    }
    if (folder) closedir(folder);
    return count;
}

static int count_entries(void)
{
    char path[512];
    int others, count = entries(path, &others);
    CHECK(!others, "%d files that are no entries", others);
    return count;
}

static void empty(void)
{
    char path[512];
    int others;
    while (entries(path, &others)) unlink(path);
}

// Loads the file, which must be as it is read without a cache; returns whether it was kept.
static bool load(const char *name, uint64_t seed)
{
    struct matrix M;
    struct csr A;
    struct mtx_info info;
    int err = mtx_read(name, seed, &A, &info);
    CHECK(!err, "%s", fail_text());
    err = matrix_load(name, seed, &M);
    CHECK(!err, "%s", fail_text());
    if (err) return false;
    CHECK(csr_equal(&A, &M.A), "%s is another matrix", name);
    CHECK_TEXT(M.field, mtx_field_name(info.field));
    CHECK_TEXT(M.symmetry, mtx_symmetry_name(info.symmetry));
    CHECK(M.values_drawn == (info.field == MTX_PATTERN) && M.stored == info.stored &&
              M.duplicates == info.duplicates && M.file_bytes == info.bytes &&
              M.facts.row_mean == (double)A.nnz / A.m,
          "%s: other facts", name);
    CHECK(M.load_ms > 0 && (M.load_mb_s > 0) == !M.cached, "%g ms, %g MB/s", M.load_ms,
          M.load_mb_s);
    bool cached = M.cached;
    csr_free(&A);
    matrix_free(&M);
    return cached;
}

static void test_kept(void)
{
    put_matrix("a.mtx", "real", 5);
    CHECK(!load("a.mtx", 1) && count_entries() == 1, "read for the first time");
    CHECK(load("a.mtx", 1) && load("a.mtx", 2) && count_entries() == 1, "its seed is no matter");
    CHECK(!rename("a.mtx", "folder/a.mtx") && load("folder/a.mtx", 1), "nor is its folder");

    put("s.mtx", BANNER "complex hermitian\n3 3 3\n1 1 1 0\n2 1 5 2\n2 1 3 1\n");
    CHECK(!load("s.mtx", 1) && load("s.mtx", 1), "with duplicates, mirrored");
    put("none.mtx", BANNER "real general\n4 5 0\n");
    CHECK(!load("none.mtx", 1) && load("none.mtx", 1), "nothing in it");

    cache_use(NULL);
    CHECK(!load("folder/a.mtx", 1), "without a cache");
    struct cache_rules no_reader = all_kept;
    no_reader.reader = 0;
    cache_use(&no_reader);
    CHECK(!load("folder/a.mtx", 1), "by a reader of no version");
    cache_use(&all_kept);
    empty();
}

// Same name, size and time, other content.
static void test_edited(void)
{
    struct stat before, after;
    put_matrix("a.mtx", "real", 5);
    load("a.mtx", 1);
    CHECK(load("a.mtx", 1) && !stat("a.mtx", &before), "kept");
    put_matrix("a.mtx", "real", 6);
    const struct timespec times[2] = {before.st_atim, before.st_mtim};
    CHECK(!utimensat(AT_FDCWD, "a.mtx", times, 0) && !stat("a.mtx", &after), "no time set");
    CHECK(after.st_size == before.st_size && after.st_mtim.tv_sec == before.st_mtim.tv_sec &&
              after.st_mtim.tv_nsec == before.st_mtim.tv_nsec,
          "not the same file to all appearances");
    CHECK(!load("a.mtx", 1), "the old content is served");
    CHECK(load("a.mtx", 1) && count_entries() == 2, "the new one is kept as well");

    // Edited while it is read: what was read may be half of each.
    struct csr A;
    struct mtx_info info;
    empty();
    struct cache_key key = cache_key("a.mtx", 1);
    CHECK(key.there && !mtx_read("a.mtx", 1, &A, &info), "%s", fail_text());
    put_matrix("a.mtx", "real", 7);
    cache_keep(&key, "a.mtx", &A, &info);
    CHECK(!count_entries(), "what has changed since is kept");
    unlink("a.mtx");
    cache_keep(&key, "a.mtx", &A, &info);
    CHECK(!count_entries(), "what is gone is kept");
    csr_free(&A);
}

static void test_key(void)
{
    struct cache_rules other = all_kept;
    put_matrix("p.mtx", "pattern", 0);
    CHECK(!load("p.mtx", 1) && load("p.mtx", 1), "drawn values");
    CHECK(!load("p.mtx", 2) && load("p.mtx", 2) && load("p.mtx", 1), "of two seeds");
    // By whatever name it lies there, an entry knows the seed of its values.
    char path[512], moved[512 + 32];
    int others;
    CHECK(entries(path, &others) == 2, "%s", path);
    const char *end = strrchr(path, '-');
    unsigned seed = end ? (unsigned)strtoul(end + 1, NULL, 16) : 0;
    CHECK(seed == 1 || seed == 2, "%s", path);
    snprintf(moved, sizeof moved, "%.*s-%016x" CACHE_SUFFIX, end ? (int)(end - path) : 0, path,
             3 - seed);
    CHECK(!rename(path, moved) && !load("p.mtx", 3 - seed), "another seed's are served");
    empty();
    CHECK(!load("p.mtx", 1) && load("p.mtx", 1), "drawn values");
    other.reader = 8;
    cache_use(&other);
    CHECK(!load("p.mtx", 1) && load("p.mtx", 1), "of another reader");
    cache_use(&all_kept);
    CHECK(load("p.mtx", 1), "of the first reader");
    empty();

    // One archive, two matrices: which is meant its name says.
    struct matrix a, b;
    put_matrix("a.mtx", "real", 5);
    put_matrix("b.mtx", "real", 6);
    int made = system("tar -czf a.tar.gz a.mtx b.mtx && cp a.tar.gz b.tar.gz");
    CHECK(!made, "tar");
    for (int i = 0; i < 2 && !made; i++) {
        CHECK(!matrix_load("a.tar.gz", 1, &a) && !matrix_load("b.tar.gz", 1, &b), "%s",
              fail_text());
        CHECK(a.cached == i && b.cached == i, "kept: %d, %d", a.cached, b.cached);
        CHECK(!csr_equal(&a.A, &b.A), "one for both");
        matrix_free(&a);
        matrix_free(&b);
    }
    empty();

    struct cache_rules large = all_kept, slow = all_kept;
    put_matrix("a.mtx", "real", 5);
    large.least_text = 1000000;
    cache_use(&large);
    CHECK(!load("a.mtx", 1) && !count_entries(), "a small file is kept");
    slow.least_ms = 1e9;
    cache_use(&slow);
    CHECK(!load("a.mtx", 1) && !count_entries(), "one that is soon read is kept");
    cache_use(&all_kept);
    CHECK(!cache_key("-", 1).there && !cache_key("/dev/null", 1).there &&
              !cache_key("folder", 1).there && !cache_key("nowhere", 1).there,
          "of what is no file");
}

// The one entry, cut short or with a bit that differs, anywhere.
static void test_damaged(void)
{
    char path[512];
    int others, tried = 0, served = 0;
    struct stat facts;
    put("d.mtx", BANNER "real general\n2 3 3\n1 1 5\n1 3 1.5\n2 3 6\n");
    load("d.mtx", 1);
    CHECK(entries(path, &others) == 1 && !stat(path, &facts) && load("d.mtx", 1), "not kept");
    int64_t bytes = facts.st_size;
    for (int64_t i = 0; i < bytes; i++) {
        char byte = 0;
        int fd = open(path, O_RDWR);
        bool done = fd >= 0 && pread(fd, &byte, 1, i) == 1;
        byte ^= (char)(1 << i % 8);
        done = done && pwrite(fd, &byte, 1, i) == 1;
        if (fd >= 0) close(fd);
        struct csr A;
        struct mtx_info info;
        struct cache_key key = cache_key("d.mtx", 1);
        tried += done;
        if (cache_read(&key, &A, &info)) served++, csr_free(&A);
        CHECK(!A.ptr, "something is left");
        byte ^= (char)(1 << i % 8);
        fd = open(path, O_WRONLY);
        CHECK(fd >= 0 && pwrite(fd, &byte, 1, i) == 1, "byte %lld is not mended", (long long)i);
        if (fd >= 0) close(fd);
    }
    CHECK(tried == bytes && !served, "%d of %d with a wrong bit were served", served, tried);
    CHECK(load("d.mtx", 1), "the mended one");
    CHECK(!truncate(path, bytes + 1) && !load("d.mtx", 1) && load("d.mtx", 1),
          "a longer one is replaced");
    for (int64_t size = 0; size < bytes; size += 1 + size / 3)
        CHECK(!truncate(path, size) && !load("d.mtx", 1) && load("d.mtx", 1), "%lld of %lld bytes",
              (long long)size, (long long)bytes);
    CHECK(count_entries() == 1, "one entry");
    empty();
}

static void test_no_room(void)
{
    struct cache_rules other = all_kept;
    char path[512];
    int others;
    put_matrix("a.mtx", "real", 5);
    other.folder = "/dev/null/x";
    cache_use(&other);
    CHECK(!load("a.mtx", 1) && !load("a.mtx", 1), "in no folder");
    // The user's own: where there is none, and where there is one.
    char own[sizeof here + 16];
    other.folder = NULL;
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    CHECK(!load("a.mtx", 1) && !load("a.mtx", 1), "where the user has no place for a cache");
    setenv("HOME", here, 1);
    CHECK(!load("a.mtx", 1) && load("a.mtx", 1), "in the user's home");
    snprintf(own, sizeof own, "%s/own", here);
    setenv("XDG_CACHE_HOME", own, 1);
    CHECK(!load("a.mtx", 1) && load("a.mtx", 1) && !access("own/spbench/matrices", F_OK), "%s",
          own);
    cache_use(&all_kept);
    if (geteuid()) {
        CHECK(!chmod(kept, 0500) && !load("a.mtx", 1) && !count_entries() && !chmod(kept, 0700),
              "in a folder that is only to be read");
    } else {
        SKIP("a folder that is only to be read: root may write there");
    }
    // A disk that is full in the middle of it.
    struct rlimit before, little;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    little = before;
    little.rlim_cur = 8192;
    setrlimit(RLIMIT_FSIZE, &little);
    CHECK(!load("a.mtx", 1) && !load("a.mtx", 1) && !count_entries(), "a part is left");
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(!load("a.mtx", 1) && load("a.mtx", 1), "when there is room again");

    // Without memory for what is kept the file is read, or that fails.
    int n = 1, err;
    struct matrix M;
    do {
        mem_fail_at(n);
        err = matrix_load("a.mtx", 1, &M);
        mem_fail_at(0);
        CHECK(!err || (err == ERR_MEMORY && !M.A.ptr), "allocation %d: %s", n, fail_text());
        matrix_free(&M);
    } while (n++ < 30);
    CHECK(!err, "%s", fail_text());
    CHECK(entries(path, &others) == 1, "one entry");
    empty();
}

// Sets when an entry was used, in seconds from now.
static void used(const char *path, int seconds)
{
    struct timespec now, times[2];
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += seconds;
    times[0] = times[1] = now;
    CHECK(!utimensat(AT_FDCWD, path, times, 0), "%s", path);
}

// The entry that was used last.
static void newest(char path[512])
{
    char one[512];
    struct stat facts;
    struct timespec last = {0};
    DIR *folder = opendir(kept);
    struct dirent *d;
    while (folder && (d = readdir(folder))) {
        snprintf(one, sizeof one, "%s/%s", kept, d->d_name);
        if (stat(one, &facts) || !S_ISREG(facts.st_mode)) continue;
        if (facts.st_mtim.tv_sec < last.tv_sec ||
            (facts.st_mtim.tv_sec == last.tv_sec && facts.st_mtim.tv_nsec < last.tv_nsec))
            continue;
        last = facts.st_mtim;
        strcpy(path, one);
    }
    if (folder) closedir(folder);
}

static void test_limit(void)
{
    struct cache_rules little = all_kept;
    char name[32], path[512] = "";
    struct stat facts;
    int others;
    put_matrix("0.mtx", "real", 10);
    load("0.mtx", 1);
    CHECK(entries(path, &others) == 1 && !stat(path, &facts), "one");
    used(path, -9000);
    little.most_bytes = facts.st_size * 3 + 10; // three have room
    cache_use(&little);
    for (int i = 1; i < 5; i++) {
        if (i == 3) CHECK(load("0.mtx", 1), "the first one is not used again");
        snprintf(name, sizeof name, "%d.mtx", i);
        put_matrix(name, "real", 10 + i);
        CHECK(!load(name, 1), "%s is there already", name);
        CHECK(count_entries() == (i < 3 ? i + 1 : 3), "%d after %d", count_entries(), i + 1);
        newest(path);
        used(path, -1000 * (9 - i));
    }
    CHECK(load("0.mtx", 1) && load("4.mtx", 1) && load("3.mtx", 1), "those used last are gone");
    CHECK(!load("1.mtx", 1) && count_entries() == 3, "the others have made no room");

    // Larger than all that may be kept; nothing goes for it.
    little.most_bytes = 1000;
    CHECK(!load("2.mtx", 1) && count_entries() == 3, "one for which there is no room");

    // What is not the cache's own stays; what a killed process left goes soon.
    char mine[512], lost[512], fresh[512];
    snprintf(mine, sizeof mine, "%s/notes.txt", kept);
    snprintf(lost, sizeof lost, "%s/.spbench-abcdef", kept);
    snprintf(fresh, sizeof fresh, "%s/.spbench-ghijkl", kept);
    put(mine, "mine"), put(lost, "lost"), put(fresh, "fresh");
    used(lost, -1000);
    CHECK(cache_evict(kept, 10, 15), "room for 10 bytes beside 5");
    CHECK(!cache_evict(kept, 10, 14), "room for 10 bytes, and 5 that are being written");
    CHECK(!entries(path, &others) && others == 2 && access(lost, F_OK) && !unlink(mine) &&
              !unlink(fresh),
          "%d other files", others);
    CHECK(!cache_evict(kept, 11, 10) && !cache_evict("nowhere", 1, 10), "no room");
    CHECK(!cache_evict(kept, INT64_MAX / 2, INT64_MAX), "more than a tenth of the disk");
    cache_use(&all_kept);
}

// Loads the two files again and again, in each of which a matrix of its own is; what is kept goes
// now and then.
static int load_often(int who)
{
    char path[512];
    int others;
    for (int i = 0; i < 16; i++) {
        load(i & 1 ? "a.mtx" : "b.mtx", 1);
        if (i % 5 == who && entries(path, &others)) unlink(path);
    }
    return test_failed != 0;
}

// Before anything that makes threads, which do not outlive a fork.
static void test_processes(void)
{
    pid_t pid[4];
    int status, bad = 0;
    put_matrix("a.mtx", "real", 5);
    put_matrix("b.mtx", "real", 6);
    fflush(stdout);
    for (int p = 0; p < COUNT(pid); p++) {
        pid[p] = fork();
        if (!pid[p]) {
            omp_set_num_threads(1);
            status = load_often(p);
            fflush(stdout);
            _exit(status);
        }
    }
    for (int p = 0; p < COUNT(pid); p++)
        bad += pid[p] < 0 || waitpid(pid[p], &status, 0) < 0 || status;
    CHECK(!bad, "%d of %d processes got a wrong matrix", bad, COUNT(pid));
    CHECK(load("a.mtx", 1) || load("a.mtx", 1), "kept in the end");
    empty();
}

// Who waits for a reader of a pipe waits on: what is no file is not opened.
static void test_pipe(void)
{
    int status;
    CHECK(!mkfifo("pipe", 0600), "pipe");
    pid_t writer = fork();
    if (!writer) _exit(open("pipe", O_WRONLY) < 0);
    const struct timespec while_it_starts = {.tv_nsec = 200000000};
    nanosleep(&while_it_starts, NULL);
    CHECK(writer > 0 && !cache_key("pipe", 1).there && !matrix_look("pipe"), "%s", fail_text());
    nanosleep(&while_it_starts, NULL);
    CHECK(waitpid(writer, &status, WNOHANG) == 0, "the pipe was opened");
    kill(writer, SIGKILL);
    waitpid(writer, &status, 0);
}

static void test_hash(void)
{
    enum { MOST = 200 };
    static unsigned char data[MOST + 1];
    int same = 0;
    for (int bytes = 0; bytes <= MOST; bytes++) {
        struct hash whole = hash_bytes(data, bytes), again = hash_bytes(data, bytes);
        CHECK(hash_equal(whole, again), "%d bytes differ from themselves", bytes);
        same += hash_equal(whole, hash_bytes(data, bytes + 1)); // one more zero
        for (int bit = 0; bit < 8 * bytes; bit++) {
            data[bit / 8] ^= (unsigned char)(1 << bit % 8);
            struct hash other = hash_bytes(data, bytes);
            same += other.a == whole.a || other.b == whole.b;
            data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
    }
    CHECK(!same, "%d pairs that differ have the same hash", same);

    // Many pieces: a bit in any, and their order; the number of threads is no matter.
    int64_t bytes = ((int64_t)70 << 20) + 5;
    unsigned char *many = mem_zero_alloc(bytes, 1);
    CHECK(many, "%s", fail_text());
    if (!many) return;
    struct hash before = hash_bytes(many, bytes);
    many[0] = 1;
    struct hash first = hash_bytes(many, bytes);
    many[0] = 0, many[(int64_t)1 << 20] = 1;
    struct hash second = hash_bytes(many, bytes);
    many[(int64_t)1 << 20] = 0, many[bytes - 1] = 1;
    struct hash last = hash_bytes(many, bytes);
    omp_set_num_threads(1);
    struct hash alone = hash_bytes(many, bytes);
    omp_set_num_threads(omp_get_num_procs());
    CHECK(hash_equal(last, alone), "by the threads");
    CHECK(!hash_equal(before, first) && !hash_equal(first, second) && !hash_equal(second, last) &&
              !hash_equal(before, last),
          "a bit of many is lost");
    mem_free(many);
}

int main(void)
{
    CHECK(mkdtemp(here) && !chdir(here) && !mkdir("folder", 0777) && !mkdir("kept", 0700), "%s",
          here);
    snprintf(kept, sizeof kept, "%s/kept", here);
    cache_use(&all_kept);
    RUN_ALL(test_processes, test_pipe, test_kept, test_edited, test_key, test_damaged,
            test_no_room, test_limit, test_hash);
    char command[64];
    snprintf(command, sizeof command, "rm -r '%s'", here);
    CHECK(!chdir("/") && !system(command), "%s", here);
    return TEST_END();
}
