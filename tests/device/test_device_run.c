// What a device keeps of the memory and of the runs of an algorithm: new blocks are poisoned, each
// allocation is traced, and a closed run may do nothing but launch.
#include <stdlib.h>

#include "device/device.h"
#include "dies.h"

static struct device dev;
static void *block; // on the device
static char host_block[64];

static void allocates(void) { device_alloc(&dev, 16, 1, &block); }
static void frees(void) { device_free(&dev, block); }
static void uploads(void) { device_upload(&dev, block, host_block, 16); }
static void uploads_nothing(void) { device_upload(&dev, block, host_block, 0); }
static void places(void) { device_place(&dev, host_block, 16, 1, &block); }
static void downloads(void) { device_download(&dev, host_block, block, 16); }
static void waits(void) { device_sync(&dev); }
static void fills(void) { device_fill(&dev, block, 7, 16); }
static void frees_nothing(void) { device_free(&dev, NULL); }

static const struct deed {
    const char *name;
    void (*deed)(void);
    const char *says; // NULL: it may be done
} deeds[] = {
    {"an allocation", allocates, "allocates memory"},
    {"a release", frees, "frees memory"},
    {"an upload", uploads, "copies from the host"},
    {"an upload of nothing", uploads_nothing, "copies from the host"},
    {"a placement", places, "allocates memory"},
    {"a download", downloads, "copies to the host"},
    {"waiting", waits, "waits"},
    {"a fill", fills, NULL},
    {"a release of nothing", frees_nothing, NULL},
};

static void do_closed(void *arg)
{
    const struct deed *x = arg;
    device_run_begin(&dev, true);
    x->deed();
}

static void do_after(void *arg)
{
    const struct deed *x = arg;
    device_run_begin(&dev, true);
    if (device_run_end(&dev)) _exit(1);
    x->deed();
}

static void test_closed(void)
{
    for (int i = 0; i < COUNT(deeds); i++) {
        struct deed x = deeds[i];
        if (x.says) CHECK(dies(do_closed, &x, x.says), "%s: %s passes", dev.id, x.name);
        if (!device_is_host(&dev)) continue; // a child may not use another device
        if (!x.says) CHECK(!dies(do_closed, &x, ""), "%s: %s does not pass", dev.id, x.name);
        CHECK(!dies(do_after, &x, ""), "%s: %s does not pass after the run", dev.id, x.name);
    }
    // In an open run all of it may be done.
    int64_t used = dev.used_bytes;
    void *mine = block, *other = NULL;
    for (int closed = 0; closed < 2; closed++) {
        device_run_begin(&dev, closed);
        CHECK(dev.closed == closed, "closed: %d", dev.closed);
        fills();
        if (!closed) {
            CHECK(!device_place(&dev, host_block, 16, 1, &other), "%s", fail_text());
            CHECK(!device_download(&dev, host_block, other, 16), "%s", fail_text());
            CHECK(!device_sync(&dev), "%s", fail_text());
            device_free(&dev, other);
        }
        CHECK(!device_run_end(&dev) && !dev.closed, "%s", fail_text());
    }
    CHECK(dev.used_bytes == used && block == mine, "%lld bytes", (long long)dev.used_bytes);
}

// More moments than there is room for at first, twice over.
static void test_trace(void)
{
    enum { BLOCKS = 150 };
    struct device_trace t = {.start = clock_ms()};
    void *blocks[BLOCKS];
    int64_t before = dev.used_bytes, bytes = before, wrong = 0;
    dev.trace = &t;
    for (int i = 0; i < BLOCKS; i++) CHECK(!device_alloc(&dev, i, 8, &blocks[i]), "%d", i);
    for (int i = 0; i < BLOCKS; i++) device_free(&dev, blocks[i]);
    dev.trace = NULL;
    void *untraced;
    CHECK(!device_alloc(&dev, 1, 1, &untraced), "%s", fail_text());
    device_free(&dev, untraced);
    CHECK(t.count == 2 * BLOCKS && t.capacity >= t.count && !t.lost, "%lld moments of %d",
          (long long)t.count, 2 * BLOCKS);
    for (int i = 0; i < 2 * BLOCKS && i < t.count; i++) {
        bytes += i < BLOCKS ? i * 8 : -(i - BLOCKS) * 8;
        wrong += t.moments[i].bytes != bytes || t.moments[i].ms < 0 ||
                 (i && t.moments[i].ms < t.moments[i - 1].ms);
    }
    CHECK(!wrong && bytes == before, "%lld moments are wrong", (long long)wrong);
    device_trace_free(&t);
    CHECK(!t.moments && !t.count && !t.capacity, "a trace that was freed");
}

// No memory for a moment: the allocation is none the worse, and the loss is known.
static void test_lost_moments(void)
{
    struct device_trace t = {.start = clock_ms()};
    void *p;
    int64_t used = dev.used_bytes;
    dev.trace = &t;
    CHECK(!device_alloc(&dev, 4, 4, &p) && !t.lost, "%s", fail_text());
    while (t.count < t.capacity - 1) {
        device_free(&dev, p);
        CHECK(!device_alloc(&dev, 4, 4, &p), "%s", fail_text());
    }
    device_free(&dev, p); // the last one that there is room for
    if (t.count < t.capacity) CHECK(!device_alloc(&dev, 4, 4, &p), "%s", fail_text());
    CHECK(t.count == t.capacity && !t.lost, "%lld moments of %lld", (long long)t.count,
          (long long)t.capacity);
    bool there = dev.used_bytes > used;
    if (!there) {
        dev.trace = NULL;
        CHECK(!device_alloc(&dev, 4, 4, &p), "%s", fail_text());
        dev.trace = &t;
    }
    mem_fail_at(1);
    device_free(&dev, p);
    mem_fail_at(0);
    CHECK(t.lost && t.count == t.capacity && dev.used_bytes == used, "%lld moments of %lld, %s",
          (long long)t.count, (long long)t.capacity, t.lost ? "lost" : "none lost");
    dev.trace = NULL;
    device_trace_free(&t);
}

static void test_poison(void)
{
    unsigned char bytes[1000];
    void *p = NULL;
    int wrong = 0;
    dev.poison = true;
    CHECK(!device_alloc(&dev, 250, 4, &p), "%s", fail_text());
    dev.poison = false;
    CHECK(!device_download(&dev, bytes, p, sizeof bytes), "%s", fail_text());
    for (int i = 0; i < COUNT(bytes); i++) wrong += bytes[i] != 0xff;
    CHECK(!wrong, "%d bytes are not poisoned", wrong);
    device_free(&dev, p);
    dev.poison = true;
    CHECK(!device_alloc(&dev, 0, 4, &p) && p, "%s", fail_text());
    dev.poison = false;
    device_free(&dev, p);
}

static void test_place(void)
{
    char back[sizeof host_block];
    void *p = NULL;
    for (int i = 0; i < COUNT(host_block); i++) host_block[i] = (char)(i * 7);
    CHECK(!device_place(&dev, host_block, 8, 8, &p), "%s", fail_text());
    CHECK(!device_download(&dev, back, p, sizeof back) && !memcmp(back, host_block, sizeof back),
          "it came back changed");
    device_free(&dev, p);
    p = back;
    CHECK(device_place(&dev, host_block, (int64_t)1 << 50, 8, &p) == ERR_MEMORY && !p, "%p", p);
}

// Memory of the host for what is made there: nothing of it needs closing.
static void test_host(void)
{
    struct device host = device_host();
    void *p;
    CHECK(device_is_host(&host) && !host.used_bytes, "%s", host.id);
    CHECK(!device_alloc(&host, 100, 8, &p) && host.used_bytes == 800, "%s", fail_text());
    memset(p, 1, 800);
    device_free(&host, p);
    CHECK(!host.used_bytes, "%lld bytes", (long long)host.used_bytes);
    mem_free(host.blocks);
}

int main(void)
{
    test_host();
    for (int k = 0; k < DEVICE_KINDS; k++) {
        const char *missing = device_missing((enum device_kind)k);
        if (missing) SKIP("%s: %s", device_list[k].name, missing);
        if (missing) continue;
        int err = device_open(device_list[k].name, &dev);
        CHECK(!err, "%s", fail_text());
        CHECK(device_is_host(&dev) == (k == DEVICE_CPU), "%s", dev.id);
        CHECK(!device_alloc(&dev, 64, 1, &block), "%s", fail_text());
        RUN_ALL(test_closed, test_trace, test_lost_moments, test_poison, test_place);
        device_free(&dev, block);
        CHECK(!dev.used_bytes, "%s: %lld bytes left", dev.id, (long long)dev.used_bytes);
        device_close(&dev);
    }
    return TEST_END();
}
