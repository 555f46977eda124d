#include "formats/tile16.h"

static int arrays(const struct sparse *X, struct array list[ARRAYS_MAX])
{
    struct tilecols *C = (struct tilecols *)X;
    list[0] = (struct array){(void **)&C->ptr, (int64_t)C->tile_n + 1, sizeof *C->ptr};
    list[1] = (struct array){(void **)&C->row, C->tiles, sizeof *C->row};
    list[2] = (struct array){(void **)&C->tile, C->tiles, sizeof *C->tile};
    list[3] = (struct array){(void **)&C->used, C->tiles, sizeof *C->used};
    return 4;
}

static int make(struct device *d, const struct sparse *from, const double *opt, struct sparse *out)
{
    (void)opt;
    const struct tile16 *A = tile16_of(from);
    struct tilecols *C = (struct tilecols *)out;
    C->tile_n = A->tile_n;
    C->tiles = A->tiles;
    if (A->tiles > INT32_MAX)
        return fail(ERR_UNSUPPORTED, "%lld tiles do not fit in 32 bits", (long long)A->tiles);
    int err = sparse_alloc(d, out);
    int32_t *next = err ? NULL : mem_zero_alloc((int64_t)A->tile_n + 1, sizeof *next);
    if (!next) return ERR_MEMORY;
    for (int64_t t = 0; t < A->tiles; t++) next[A->col[t]]++;
    C->ptr[0] = 0;
    for (int64_t j = 0; j < A->tile_n; j++) {
        C->ptr[j + 1] = C->ptr[j] + next[j];
        next[j] = C->ptr[j];
    }
    for (int32_t i = 0; i < A->tile_m; i++)
        for (int64_t t = A->ptr[i]; t < A->ptr[i + 1]; t++) {
            int32_t q = next[A->col[t]]++;
            C->row[q] = i;
            C->tile[q] = (int32_t)t;
            C->used[q] = (uint16_t)(A->used[t] >> TILE);
        }
    mem_free(next);
    return OK;
}

const struct format format_tilecols = {
    .name = "tilecols",
    .about = "the tiles of tile16 by tile columns",
    .size = sizeof(struct tilecols),
    .from = &format_tile16,
    .arrays = arrays,
    .make = make,
};
