#include "device/device.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The backends that are linked in.
static const struct device_ops *const backends[] = {
    &device_cpu,
#ifdef SPBENCH_CUDA
    &device_cuda,
#endif
};

static const struct device_ops *backend_of(enum device_kind kind)
{
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
        if (backends[i]->kind == kind) return backends[i];
    return NULL;
}

const char *device_kind_name(enum device_kind kind) { return kind == DEVICE_CPU ? "cpu" : "cuda"; }

int device_count(enum device_kind kind)
{
    const struct device_ops *ops = backend_of(kind);
    return ops ? ops->count() : 0;
}

const char *device_missing(enum device_kind kind)
{
    static _Thread_local char why[256];
    const struct device_ops *ops = backend_of(kind);
    if (!ops) return "built without CUDA";
    if (ops->count() > 0) return NULL;
    snprintf(why, sizeof why, "%s", fail_text()); // count() says why there is none
    return why;
}

// Which device `spec` means.
static int parse_spec(const char *spec, enum device_kind *kind, int *index)
{
    *index = 0;
    if (!strcmp(spec, "auto")) {
        *kind = device_missing(DEVICE_CUDA) ? DEVICE_CPU : DEVICE_CUDA;
        return OK;
    }
    if (!strcmp(spec, "cpu")) {
        *kind = DEVICE_CPU;
        return OK;
    }
    *kind = DEVICE_CUDA;
    if (!strcmp(spec, "cuda")) return OK;
    if (!strncmp(spec, "cuda:", 5) && spec[5] >= '0' && spec[5] <= '9') {
        char *end;
        errno = 0;
        long number = strtol(spec + 5, &end, 10);
        if (!*end) {
            *index = errno || number > 9999 ? 9999 : (int)number;
            return OK;
        }
    }
    return fail(ERR_USAGE, "-device %s: no such device; it is auto, cpu, cuda or cuda:N", spec);
}

int device_open(const char *spec, struct device *d)
{
    memset(d, 0, sizeof *d);
    enum device_kind kind;
    int index;
    int err = parse_spec(spec, &kind, &index);
    if (err) return err;
    const char *missing = device_missing(kind);
    if (missing) return fail(ERR_USAGE, "-device %s: %s; 'cpu' is always there", spec, missing);
    const struct device_ops *ops = backend_of(kind);
    int count = ops->count();
    if (index >= count)
        return fail(ERR_USAGE, "-device %s: the last CUDA device of this machine is cuda:%d", spec,
                    count - 1);

    d->kind = kind;
    d->index = index;
    snprintf(d->id, sizeof d->id, kind == DEVICE_CPU ? "cpu" : "cuda:%d", index);
    d->ops = ops;
    err = ops->open(d);
    if (err) memset(d, 0, sizeof *d);
    return err;
}

void device_close(struct device *d)
{
    if (!d->ops) return;
    for (int i = 0; i < d->block_count; i++) d->ops->release(d, d->blocks[i].p);
    mem_free(d->blocks);
    d->ops->close(d);
    memset(d, 0, sizeof *d);
}

static int make_room(struct device *d)
{
    if (d->block_count < d->block_room) return OK;
    int room = d->block_room ? 2 * d->block_room : 32;
    struct device_block *p = mem_resize(d->blocks, d->block_room, room, sizeof *p);
    if (!p) return ERR_MEMORY;
    d->blocks = p;
    d->block_room = room;
    return OK;
}

// Past the end only the last moment is kept.
static void trace(struct device *d)
{
    struct device_trace *t = d->trace;
    if (!t) return;
    int i = t->count < TRACE_MAX ? t->count++ : TRACE_MAX - 1;
    t->ms[i] = clock_ms() - t->start;
    t->bytes[i] = d->used_bytes;
}

int device_alloc(struct device *d, int64_t count, size_t size, void **p)
{
    *p = NULL;
    int64_t bytes;
    int err = size_mul(count, (int64_t)size, &bytes);
    if (!err) err = make_room(d);
    if (!err) err = d->ops->alloc(d, bytes, p);
    if (err) return err;
    d->blocks[d->block_count++] = (struct device_block){*p, bytes};
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
    int i = d->block_count - 1; // what came last mostly goes first
    while (i >= 0 && d->blocks[i].p != p) i--;
    assert(i >= 0);
    if (i < 0) return;
    d->used_bytes -= d->blocks[i].bytes;
    d->blocks[i] = d->blocks[--d->block_count];
    d->ops->release(d, p);
    trace(d);
}

void device_peak_reset(struct device *d) { d->peak_bytes = d->used_bytes; }

int device_upload(struct device *d, void *to, const void *from, int64_t bytes)
{
    return bytes ? d->ops->upload(d, to, from, bytes) : OK;
}

int device_place(struct device *d, const void *from, int64_t count, size_t size, void **to)
{
    int err = device_alloc(d, count, size, to);
    if (!err) err = device_upload(d, *to, from, count * (int64_t)size);
    if (err) {
        device_free(d, *to);
        *to = NULL;
    }
    return err;
}

int device_download(struct device *d, void *to, const void *from, int64_t bytes)
{
    return bytes ? d->ops->download(d, to, from, bytes) : OK;
}

int device_fill(struct device *d, void *p, int byte, int64_t bytes)
{
    return bytes ? d->ops->fill(d, p, byte, bytes) : OK;
}

int device_sync(struct device *d) { return d->ops->sync(d); }
