// Storage of `onepass` for rows of C until C is allocated. An extent holds neighbouring rows, one
// after the other. Extents lie in blocks of memory. A thread fills its own block. No row is moved
// before its place in C is known.
#ifndef ONEPASS_EXTENTS_H
#define ONEPASS_EXTENTS_H

#include "algos/algo.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// Limits for the nonzeros of a block, which are those of a mean share. A small C then needs little
// memory, and a large C has few page faults.
#define BLOCK_LEAST ((int64_t)1 << 14)
#define BLOCK_MOST  ((int64_t)1 << 20)

// Nonzeros that may be written past the end of a row.
#define BLOCK_SPARE 8

struct extent {
    int32_t first, end; // rows
    int64_t count;      // nonzeros of the rows; after extents_order(): nonzeros before the rows
    const int32_t *idx;
    const char *val;
    int thread;  // the thread that computed the rows
    void *block; // the block that begins with this extent; NULL: the extent is inside a block
};

struct extents {
    struct device *dev;
    struct extent *list;
    int64_t count, room;
    size_t width;            // bytes of a value
    int64_t block;           // nonzeros of a block
    int err;                 // error of a failed allocation of a block
    char why[FAIL_TEXT_MAX]; // the error's message
};

// Write position of a thread in its block. Fields that change with each row are here and not in the
// list, whose cache lines are shared with other threads.
struct cursor {
    int thread;
    struct extent *extent; // extent that is being filled; its end is not set yet
    int32_t *idx;          // column of the next nonzero
    char *val;             // value of the next nonzero
    int64_t left;          // nonzeros that the block has room for
};

// Allocates the list for the extents of `shares` shares, whose rows have up to `nonzeros` in all. A
// thread leaves a block only if the block and the row that does not fit hold a block's nonzeros.
static inline int extents_begin(struct extents *x, struct device *dev, size_t width, int threads,
                                int64_t shares, int64_t nonzeros)
{
    *x = (struct extents){.dev = dev, .width = width};
    x->block = max64(BLOCK_LEAST, min64(nonzeros / shares, BLOCK_MOST));
    x->room = shares + threads + 2 * (nonzeros / x->block);
    return device_alloc(dev, x->room, sizeof *x->list, (void **)&x->list);
}

static inline void extents_free(struct extents *x)
{
    for (int64_t p = 0; p < x->count; p++) device_free(x->dev, x->list[p].block);
    device_free(x->dev, x->list);
}

static inline int cursor_block(struct extents *x, struct cursor *cursor, int64_t need, void **block)
{
    const int64_t room = max64(need, x->block);
    const int64_t all = (room + BLOCK_SPARE + 15) / 16 * 16;
    int err = device_alloc(x->dev, all, sizeof *cursor->idx + x->width, block);
    if (err) return err;
    cursor->val = *block; // values first, so that both arrays are aligned
    cursor->idx = (int32_t *)(cursor->val + all * (int64_t)x->width);
    cursor->left = room;
    return OK;
}

// Begins an extent at row i, which has up to `need` nonzeros. One thread at a time: the list and
// the device's count of allocated memory are shared.
static inline int cursor_begin(struct extents *x, struct cursor *cursor, int32_t i, int64_t need)
{
    int err;
#pragma omp critical(onepass_extents)
    {
        void *block = NULL;
        if (!x->err && cursor->left < need) x->err = cursor_block(x, cursor, need, &block);
        if (x->err && !x->why[0]) strcpy(x->why, fail_text());
        err = x->err;
        if (!err) {
            assert(x->count < x->room);
            cursor->extent = &x->list[x->count++];
            *cursor->extent =
                (struct extent){i, i, 0, cursor->idx, cursor->val, cursor->thread, block};
        }
    }
    return err;
}

// Advances the cursor past `count` nonzeros that are written.
static inline void cursor_move(struct cursor *cursor, int64_t count, size_t width)
{
    cursor->idx += count;
    cursor->val += count * (int64_t)width;
    cursor->left -= count;
}

// Ends the extent before row i.
static inline void cursor_end(struct cursor *cursor, int32_t i)
{
    cursor->extent->end = i;
    cursor->extent->count = cursor->idx - cursor->extent->idx;
}

static inline int extent_compare(const void *a, const void *b)
{
    const int32_t x = ((const struct extent *)a)->first, y = ((const struct extent *)b)->first;
    return (x > y) - (x < y);
}

// Sorts the extents by row. Returns the nonzeros of all extents.
static inline int64_t extents_order(struct extents *x)
{
    int64_t sum = 0;
    qsort(x->list, (size_t)x->count, sizeof *x->list, extent_compare);
    for (int64_t p = 0; p < x->count; p++) {
        const int64_t count = x->list[p].count;
        x->list[p].count = sum;
        sum += count;
    }
    return sum;
}

#endif
