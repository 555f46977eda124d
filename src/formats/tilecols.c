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
    struct array list[ARRAYS_MAX];
    int count = arrays(out, list), err = OK;
    for (int x = 0; x < count && !err; x++)
        err = device_alloc(d, list[x].count, list[x].size, list[x].data);
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

static const char *check(const struct sparse *X)
{
    const struct tilecols *C = tilecols_of(X);
    if (C->tile_n != tile_count(C->n)) return "tile columns do not cover n";
    if (!C->ptr || !C->row || !C->tile || !C->used) return "missing array";
    if (C->ptr[0] != 0) return "ptr[0] is not 0";
    if (C->ptr[C->tile_n] != C->tiles) return "ptr[tile_n] is not tiles";
    for (int32_t j = 0; j < C->tile_n; j++) {
        if (C->ptr[j] > C->ptr[j + 1] || C->ptr[j + 1] > C->tiles) return "ptr descends";
        for (int32_t q = C->ptr[j]; q < C->ptr[j + 1]; q++) {
            if (C->row[q] < 0 || C->row[q] >= tile_count(C->m))
                return "tile row outside the matrix";
            if (C->tile[q] < 0 || C->tile[q] >= C->tiles) return "tile outside the matrix";
            if (!C->used[q]) return "an empty tile";
            if (q > C->ptr[j] && C->row[q - 1] >= C->row[q]) return "tile rows not ascending";
            if (q > C->ptr[j] && C->tile[q - 1] >= C->tile[q]) return "tiles not ascending";
        }
    }
    return NULL;
}

const struct format format_tilecols = {
    .name = "tilecols",
    .about = "the tiles of tile16 by tile columns",
    .size = sizeof(struct tilecols),
    .from = &format_tile16,
    .arrays = arrays,
    .make = make,
    .check = check,
};
