#include "device/device.h"

#include "base/suggest.h"
#include "base/words.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Declares the backends, and lists all kinds of devices. A backend that is not in this build is
// NULL.
#define DEVICE(symbol, name, numbering, missing)                                                   \
    extern const struct device_ops device_##name __attribute__((weak));
#include "device/devices.def"
#undef DEVICE

enum { ONE, MANY };
#define DEVICE(symbol, name, numbering, missing) {#name, numbering, missing, &device_##name},
const struct device_entry device_list[DEVICE_KINDS] = {
#include "device/devices.def"
};
#undef DEVICE

int device_count(enum device_kind kind)
{
    const struct device_ops *ops = device_list[kind].ops;
    const char *missing;
    return ops ? ops->count(&missing) : 0;
}

const char *device_missing(enum device_kind kind)
{
    const struct device_ops *ops = device_list[kind].ops;
    const char *missing = device_list[kind].missing;
    return ops && ops->count(&missing) > 0 ? NULL : missing;
}

const char *device_names(void)
{
    static _Thread_local char text[128];
    snprintf(text, sizeof text, "auto");
    for (int kind = 0; kind < DEVICE_KINDS; kind++) {
        words_add(text, sizeof text, ", ", device_list[kind].name);
        if (!device_list[kind].numbered) continue;
        words_add(text, sizeof text, ", ", device_list[kind].name);
        words_add(text, sizeof text, "", ":N");
    }
    return text;
}

#define INDEX_MAX 9999

// Returns 7 for "cuda:7" and 0 for "cuda"; -1 if `spec` is no device of this kind.
static int number_of(const char *spec, const struct device_entry *entry)
{
    size_t length = strlen(entry->name);
    if (strncmp(spec, entry->name, length)) return -1;
    spec += length;
    if (!*spec) return 0;
    size_t digits = *spec == ':' ? strspn(spec + 1, "0123456789") : 0;
    if (!entry->numbered || !digits || spec[1 + digits]) return -1;
    return digits > 4 ? INDEX_MAX : atoi(spec + 1);
}

int device_parse(const char *spec, enum device_kind *kind, int *index)
{
    *index = 0;
    for (int k = DEVICE_KINDS - 1; k >= 0; k--) {
        *kind = (enum device_kind)k;
        if (!strcmp(spec, "auto") && !device_missing(*kind)) return OK;
        *index = number_of(spec, &device_list[k]);
        if (*index >= 0) return OK;
        *index = 0;
    }
    struct suggestion s;
    char guess[64];
    suggest_start(&s, spec);
    suggest_offer(&s, "auto");
    for (int k = 0; k < DEVICE_KINDS; k++) suggest_offer(&s, device_list[k].name);
    return fail(ERR_USAGE, "-device %s: no such device; %sit is one of %s", spec,
                suggest_text(&s, guess), device_names());
}

void device_id(enum device_kind kind, int index, char id[16])
{
    if (device_list[kind].numbered)
        snprintf(id, 16, "%s:%d", device_list[kind].name, index);
    else
        snprintf(id, 16, "%s", device_list[kind].name);
}

// Returns ERR_USAGE, with a text that names the devices of this machine.
static int fail_missing(const char *spec, const char *missing)
{
    char present[64] = "";
    for (int kind = 0; kind < DEVICE_KINDS; kind++)
        if (!device_missing((enum device_kind)kind))
            words_add(present, sizeof present, "' and '", device_list[kind].name);
    return fail(ERR_USAGE, "-device %s: %s; '%s' is always there", spec, missing, present);
}

int device_find(const char *spec, enum device_kind *kind, int *index)
{
    int err = device_parse(spec, kind, index);
    if (err) return err;
    const char *missing = device_missing(*kind);
    if (missing) return fail_missing(spec, missing);
    int count = device_count(*kind);
    if (*index < count) return OK;
    char last[16];
    device_id(*kind, count - 1, last);
    return fail(ERR_USAGE, "-device %s: the last one of this machine is %s", spec, last);
}

int device_open(const char *spec, struct device *d)
{
    memset(d, 0, sizeof *d);
    enum device_kind kind;
    int index;
    int err = device_find(spec, &kind, &index);
    if (err) return err;
    d->kind = kind;
    d->index = index;
    device_id(kind, index, d->id);
    d->ops = device_list[kind].ops;
    err = d->ops->open(d);
    if (err) memset(d, 0, sizeof *d);
    return err;
}

struct device device_host(void)
{
    return (struct device){.kind = DEVICE_CPU, .id = "host", .ops = device_list[DEVICE_CPU].ops};
}

bool device_is_host(const struct device *d) { return d->kind == DEVICE_CPU; }

int64_t device_cached_bytes(const struct device *d)
{
    return max64(d->cache_seen_bytes ? d->cache_seen_bytes : d->cache_bytes, d->cache_least_bytes);
}

void device_close(struct device *d)
{
    if (!d->ops) return;
    for (int i = 0; i < d->block_count; i++) d->ops->release(d, d->blocks[i].p);
    mem_free(d->blocks);
    d->ops->close(d);
    memset(d, 0, sizeof *d);
}

// Makes space for one more block.
static int grow_blocks(struct device *d)
{
    if (d->block_count < d->block_capacity) return OK;
    int capacity = d->block_capacity ? 2 * d->block_capacity : 32;
    struct device_block *p = mem_resize(d->blocks, d->block_capacity, capacity, sizeof *p);
    if (!p) return ERR_MEMORY;
    d->blocks = p;
    d->block_capacity = capacity;
    return OK;
}

void device_trace_free(struct device_trace *t)
{
    mem_free(t->moments);
    *t = (struct device_trace){0};
}

static void trace(struct device *d)
{
    struct device_trace *t = d->trace;
    if (!t) return;
    if (t->count == t->capacity) {
        int64_t capacity = t->capacity ? 2 * t->capacity : 64;
        struct device_moment *p = mem_resize(t->moments, t->capacity, capacity, sizeof *p);
        if (!p) {
            t->lost = true;
            fail_drop();
            return;
        }
        t->moments = p;
        t->capacity = capacity;
    }
    t->moments[t->count++] = (struct device_moment){clock_ms() - t->start, d->used_bytes};
}

// Reports a call that a closed run() must not make.
static void refuse_closed(const struct device *d, const char *what)
{
    if (d->closed) bug("%s: a run() of a result that is there before %s", d->id, what);
}

// AddressSanitizer reports writes by code that it instruments. NULL: not in this build.
extern void __asan_poison_memory_region(const volatile void *p, size_t size) __attribute__((weak));
extern void __asan_unpoison_memory_region(const volatile void *p, size_t size)
    __attribute__((weak));

static unsigned char guard_byte(int i) { return (unsigned char)(0xc5 ^ (5 * i)); }

static void set_guard(const struct device_block *b)
{
    unsigned char *end = (unsigned char *)b->p + b->bytes;
    for (int i = 0; i < b->guard; i++) end[i] = guard_byte(i);
    if (b->guard && __asan_poison_memory_region) __asan_poison_memory_region(end, (size_t)b->guard);
}

// Returns true if the block was written behind its end. The guard is then no longer poisoned.
static bool is_overrun(const struct device_block *b)
{
    const unsigned char *end = (const unsigned char *)b->p + b->bytes;
    bool damaged = false;
    if (b->guard && __asan_unpoison_memory_region)
        __asan_unpoison_memory_region(end, (size_t)b->guard);
    for (int i = 0; i < b->guard; i++) damaged |= end[i] != guard_byte(i);
    return damaged;
}

struct device_block device_overrun(struct device *d)
{
    struct device_block found = d->overrun;
    for (int i = 0; i < d->block_count; i++) {
        if (is_overrun(&d->blocks[i])) found = d->blocks[i];
        set_guard(&d->blocks[i]);
    }
    d->overrun = (struct device_block){.p = NULL};
    return found;
}

int device_alloc(struct device *d, int64_t count, size_t size, void **p)
{
    *p = NULL;
    refuse_closed(d, "allocates memory");
    int64_t bytes;
    int guard = device_is_host(d) && (!d->running || d->poison) ? DEVICE_GUARD : 0;
    int err = size_mul(count, (int64_t)size, &bytes);
    if (!err) err = grow_blocks(d);
    if (!err) err = d->ops->alloc(d, bytes + min64(guard, INT64_MAX - bytes), p);
    if (err) return err;
    d->blocks[d->block_count] = (struct device_block){*p, bytes, guard};
    set_guard(&d->blocks[d->block_count++]);
    d->used_bytes += bytes;
    d->peak_bytes = max64(d->peak_bytes, d->used_bytes);
    trace(d);
    if (d->poison) err = device_fill(d, *p, 0xff, bytes);
    if (err) {
        device_free(d, *p);
        *p = NULL;
    }
    return err;
}

void device_free(struct device *d, void *p)
{
    if (!p) return;
    refuse_closed(d, "frees memory");
    int i = d->block_count - 1; // from the end: blocks are mostly freed in reverse order
    while (i >= 0 && d->blocks[i].p != p) i--;
    assert(i >= 0);
    if (i < 0) return;
    d->used_bytes -= d->blocks[i].bytes;
    if (is_overrun(&d->blocks[i])) d->overrun = d->blocks[i];
    d->blocks[i] = d->blocks[--d->block_count];
    d->ops->release(d, p);
    trace(d);
}

bool device_holds(const struct device *d, const void *p, int64_t bytes)
{
    for (int i = d->block_count - 1; i >= 0 && bytes; i--)
        if (d->blocks[i].p == p) return bytes >= 0 && bytes <= d->blocks[i].bytes;
    return !bytes;
}

void device_peak_reset(struct device *d) { d->peak_bytes = d->used_bytes; }

void device_count_foreign(struct device *d, int64_t bytes)
{
    d->used_bytes += bytes - d->foreign_bytes;
    d->peak_bytes = max64(d->peak_bytes, d->used_bytes);
    d->foreign_bytes = bytes;
    trace(d);
}

int device_upload(struct device *d, void *to, const void *from, int64_t bytes)
{
    refuse_closed(d, "copies from the host");
    return bytes ? d->ops->upload(d, to, from, bytes) : OK;
}

int device_place(struct device *d, const void *from, int64_t count, size_t size, void **to)
{
    return device_place_in(d, from, count, count, size, to);
}

int device_place_in(struct device *d, const void *from, int64_t count, int64_t room, size_t size,
                    void **to)
{
    int err = device_alloc(d, room, size, to);
    if (!err) err = device_upload(d, *to, from, count * (int64_t)size);
    if (err) {
        device_free(d, *to);
        *to = NULL;
    }
    return err;
}

int device_download(struct device *d, void *to, const void *from, int64_t bytes)
{
    refuse_closed(d, "copies to the host");
    return bytes ? d->ops->download(d, to, from, bytes) : OK;
}

int device_fill(struct device *d, void *p, int byte, int64_t bytes)
{
    return bytes ? d->ops->fill(d, p, byte, bytes) : OK;
}

// Returns the view as a single line if there are no gaps between its lines.
static struct device_view joined(const struct device_view *v)
{
    struct device_view line = *v;
    if (v->step == v->length) {
        line.length = line.step = v->lines * v->length;
        line.lines = line.length > 0;
    }
    return line;
}

int device_digest(struct device *d, const struct device_view *v, uint64_t *bits)
{
    struct device_view view = joined(v);
    *bits = 0;
    refuse_closed(d, "waits");
    return view.lines && view.length ? d->ops->digest(d, &view, bits) : OK;
}

int device_spoil(struct device *d, const struct device_view *v, uint64_t seed)
{
    struct device_view view = joined(v);
    return view.lines && view.length ? d->ops->spoil(d, &view, seed) : OK;
}

int device_fetch(struct device *d, const struct device_view *v, uint64_t seed, void *to)
{
    struct device_view view = joined(v);
    refuse_closed(d, "waits");
    return view.lines && view.length ? d->ops->fetch(d, &view, seed, to) : OK;
}

int device_sync(struct device *d)
{
    refuse_closed(d, "waits");
    return d->ops->sync(d);
}

void device_run_begin(struct device *d, bool closed)
{
    d->running = true;
    d->closed = closed;
    d->ops->run_begin(d, closed);
}

int device_run_end(struct device *d)
{
    d->running = d->closed = false;
    return d->ops->run_end(d);
}
