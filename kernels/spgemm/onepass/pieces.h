// Storage for rows of C until all of them are known. Rows that follow one another lie side by side
// in a piece, pieces lie in blocks of memory. A thread fills its own block; no row is moved before
// its place in C is known.
#ifndef ONEPASS_PIECES_H
#define ONEPASS_PIECES_H

#include "algos/algo.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// Nonzeros of a block: those of a share at the most that it may have, within these limits, so that
// a small C needs little room, and a large one few page faults.
#define BLOCK_LEAST ((int64_t)1 << 14)
#define BLOCK_MOST  ((int64_t)1 << 20)

// Nonzeros that may be written past the end of a row.
#define BLOCK_SPARE 8

struct piece {
    int32_t first, end; // rows
    int64_t count;      // nonzeros of these; once in order: nonzeros before them
    const int32_t *idx;
    const char *val;
    int thread;  // whose it is
    void *block; // the block that begins with this piece; NULL: it goes on in one
};

struct pieces {
    struct device *dev;
    struct piece *list;
    int64_t count, room;
    size_t width;            // bytes of a value
    int64_t block;           // nonzeros of a block
    int err;                 // of a block that could not be had,
    char why[FAIL_TEXT_MAX]; // in the words of the thread that wanted it
};

// A thread's place in its block. What changes with each row is here and not in the list, whose
// lines of cache others write to.
struct pen {
    int thread;
    struct piece *piece; // under way, without its end
    int32_t *idx;        // of the next nonzero
    char *val;
    int64_t left; // nonzeros that there is room for
};

// Room for the pieces of so many shares whose rows have up to `nonzeros`: a block is left when it
// and the row that did not fit have as many as it holds, at least.
static inline int pieces_begin(struct pieces *x, struct device *dev, size_t width, int threads,
                               int64_t shares, int64_t nonzeros)
{
    *x = (struct pieces){.dev = dev, .width = width};
    x->block = max64(BLOCK_LEAST, min64(nonzeros / shares, BLOCK_MOST));
    x->room = shares + threads + 2 * (nonzeros / x->block);
    return device_alloc(dev, x->room, sizeof *x->list, (void **)&x->list);
}

static inline void pieces_free(struct pieces *x)
{
    for (int64_t p = 0; p < x->count; p++) device_free(x->dev, x->list[p].block);
    device_free(x->dev, x->list);
}

static inline int pen_block(struct pieces *x, struct pen *pen, int64_t need, void **block)
{
    const int64_t room = max64(need, x->block);
    const int64_t all = (room + BLOCK_SPARE + 15) / 16 * 16;
    int err = device_alloc(x->dev, all, sizeof *pen->idx + x->width, block);
    if (err) return err;
    pen->val = *block; // the wider ones first, so that both are aligned
    pen->idx = (int32_t *)(pen->val + all * (int64_t)x->width);
    pen->left = room;
    return OK;
}

// Begins a piece at row i, which has up to `need` nonzeros. One thread at a time: the list is
// shared, and so is the device's of what is allocated.
static inline int pen_begin(struct pieces *x, struct pen *pen, int32_t i, int64_t need)
{
    int err;
#pragma omp critical(onepass_pieces)
    {
        void *block = NULL;
        if (!x->err && pen->left < need) x->err = pen_block(x, pen, need, &block);
        if (x->err && !x->why[0]) strcpy(x->why, fail_text());
        err = x->err;
        if (!err) {
            assert(x->count < x->room);
            pen->piece = &x->list[x->count++];
            *pen->piece = (struct piece){i, i, 0, pen->idx, pen->val, pen->thread, block};
        }
    }
    return err;
}

// The next nonzeros are written.
static inline void pen_move(struct pen *pen, int64_t count, size_t width)
{
    pen->idx += count;
    pen->val += count * (int64_t)width;
    pen->left -= count;
}

// Ends the piece under way before row i.
static inline void pen_end(struct pen *pen, int32_t i)
{
    pen->piece->end = i;
    pen->piece->count = pen->idx - pen->piece->idx;
}

static inline int piece_compare(const void *a, const void *b)
{
    const int32_t x = ((const struct piece *)a)->first, y = ((const struct piece *)b)->first;
    return (x > y) - (x < y);
}

// Puts them in the order of their rows; returns the nonzeros of all.
static inline int64_t pieces_order(struct pieces *x)
{
    int64_t sum = 0;
    qsort(x->list, (size_t)x->count, sizeof *x->list, piece_compare);
    for (int64_t p = 0; p < x->count; p++) {
        const int64_t count = x->list[p].count;
        x->list[p].count = sum;
        sum += count;
    }
    return sum;
}

#endif
