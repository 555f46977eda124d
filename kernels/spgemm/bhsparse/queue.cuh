// Stage 3 of `bhsparse`, host: a launch for each size of the buffer, and the growth of C~.
//
// After a launch the host fetches the queue, moves the complete rows behind the others, and gives
// each of the others a place for the next buffer at the end of C~. A place has at most as many
// entries as the row has products.
#ifndef SPGEMM_BHSPARSE_QUEUE_H
#define SPGEMM_BHSPARSE_QUEUE_H

#include "merge.cuh"

// Entries of the buffer in each launch. From the last on, a launch has MERGE_BUFFER entries more.
static constexpr int32_t buffers[] = {MERGE_PLACE, 512, 1024, 2048, MERGE_BUFFER};
#define SHARED_BUFFERS COUNT(buffers)

static int64_t buffer_of(int launch)
{
    if (launch < SHARED_BUFFERS) return buffers[launch];
    return (launch - SHARED_BUFFERS + 2) * (int64_t)MERGE_BUFFER;
}

// Launches the kernel with the next buffer, for the first `count` rows of the queue.
template <typename T>
static int launch_merge(const struct task *t, const struct work *w, int32_t count)
{
    const int launch = w->launches;
    const auto long_rows = merge_long_rows<T>;
#define CASE(i, THREADS)                                                                           \
    if (launch == i) {                                                                             \
        const auto kernel = merge_rows<THREADS, buffers[i] / THREADS, T>;                          \
        LAUNCH(kernel, (unsigned)count, THREADS, 0, t->dev->stream, factors_of<T>(t), w->queue,    \
               w->length, w->idx, (T *)w->val);                                                    \
    }
    CASE(0, 64)
    CASE(1, 128)
    CASE(2, 256)
    CASE(3, 256)
    CASE(4, MERGE_THREADS)
#undef CASE
    if (launch >= SHARED_BUFFERS)
        LAUNCH(long_rows, (unsigned)count, MERGE_THREADS, 0, t->dev->stream, factors_of<T>(t),
               w->queue, buffer_of(launch), w->length, w->idx, (T *)w->val);
    return launch_check("bhsparse: merge");
}

// grow_array() where the device's memory does not hold both arrays.
static int grow_by_host(struct device *d, void **array, int64_t old_bytes, int64_t bytes)
{
    void *copy = mem_alloc(old_bytes, 1);
    if (!copy) return ERR_MEMORY;
    int err = device_download(d, copy, *array, old_bytes);
    if (!err) {
        device_free(d, *array);
        *array = NULL;
        err = device_alloc(d, bytes, 1, array);
    }
    if (!err) err = device_upload(d, *array, copy, old_bytes);
    mem_free(copy);
    return err;
}

// Grows an array of C~ from `old` to w->size elements of `width` bytes.
static int grow_array(struct device *d, struct work *w, void **array, int64_t old, size_t width)
{
    const int64_t old_bytes = old * (int64_t)width, bytes = w->size * (int64_t)width;
    void *larger;
    int err = device_alloc(d, bytes, 1, &larger);
    if (err == ERR_MEMORY) {
        fail_drop();
        w->by_host++;
        return grow_by_host(d, array, old_bytes, bytes);
    }
    if (err) return err;
    void *smaller = *array;
    *array = larger;
    err = d->ops->copy(d, larger, smaller, old_bytes);
    device_free(d, smaller);
    return err;
}

// Sets up the queue: all rows of the last bin.
static int make_queue(struct task *t, struct work *w)
{
    const struct state *s = (const struct state *)t->state;
    const int32_t first = w->first[BIN_MERGE], count = w->first[BINS] - first;
    w->waiting = (struct long_row *)mem_alloc(count, sizeof *w->waiting);
    if (!w->waiting) return ERR_MEMORY;
    for (int32_t r = 0; r < count; r++) {
        const int64_t at = s->at[first + r];
        w->waiting[r] = {at, at, s->rows[first + r], 0, 0, 0};
    }
    return device_place(t->dev, w->waiting, count, sizeof *w->queue, (void **)&w->queue);
}

// Moves the complete rows among the first `count` of the queue behind the others. Returns the
// number of the others, and gives them larger places.
static int32_t compact_queue(const struct state *s, struct work *w, int32_t count)
{
    int32_t left = 0;
    for (int32_t r = 0; r < count; r++) {
        const struct long_row row = w->waiting[r];
        if (row.a < 0) continue;
        w->waiting[r] = w->waiting[left];
        w->waiting[left] = row;
        w->waiting[left].from = row.at;
        w->waiting[left++].at = w->size;
        w->size += min64(buffer_of(w->launches), s->products[row.row]);
    }
    return left;
}

template <typename T> static int run_merge(struct task *t, struct work *w)
{
    struct device *d = t->dev;
    const int64_t width = (int64_t)sizeof *w->queue;
    int32_t count = w->first[BINS] - w->first[BIN_MERGE];
    int err = task_phase(t, "merge");
    if (!err && count) err = make_queue(t, w);
    while (!err && count) {
        const int32_t launched = count;
        const int64_t old_size = w->size;
        err = launch_merge<T>(t, w, launched);
        if (!err) err = device_download(d, w->waiting, w->queue, launched * width);
        if (err) return err;
        w->launches++;
        count = compact_queue((const struct state *)t->state, w, launched);
        err = device_upload(d, w->queue, w->waiting, launched * width);
        if (err || !count) return err;
        err = task_phase(t, "allocate");
        if (!err) err = grow_array(d, w, (void **)&w->idx, old_size, sizeof *w->idx);
        if (!err) err = grow_array(d, w, &w->val, old_size, sizeof(T));
        if (!err) err = task_phase(t, "merge");
    }
    return err;
}

#endif
