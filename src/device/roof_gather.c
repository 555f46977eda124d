// Rows at random, as sparse kernels fetch those of a dense operand: the blocks they come from, and
// the rate for a row and a block of any size.
#include "device/roof.h"

#include <math.h>
#include <string.h>

const int roof_row_bytes[ROOF_ROWS] = {32, 64, 128, 256, 512};

void roof_plan_gathers(struct roof *roof, int64_t first, int64_t last)
{
    double octaves = last > first ? log2((double)last / (double)first) : 0;
    int count = (int)min64(1 + (int64_t)ceil(octaves / 2), ROOF_GATHERS_MAX);
    roof->gather_count = count;
    for (int i = 0; i < count; i++) {
        double bytes = (double)first * exp2(count > 1 ? octaves * i / (count - 1) : 0);
        roof->gathers[i] = (struct roof_gather){.bytes = (int64_t)bytes & ~(int64_t)4095};
    }
}

// What is fetched out of a larger block can be out of a smaller one, and a long row can as short
// ones: what is below that was held up by something else.
static double smooth(const struct roof *r, int block, int row)
{
    double best = 0;
    for (int b = block; b < r->gather_count; b++)
        for (int w = 0; w <= row; w++) best = fmax(best, r->gathers[b].gb_s[w]);
    return best;
}

// Between [i] and [next] of an ascending list, `part` of the way on a scale of ratios.
struct place {
    int i, next;
    double part;
};

static struct place place_of(const double *sizes, int count, double x)
{
    struct place p = {0, 0, 0};
    while (p.i + 1 < count && sizes[p.i + 1] <= x) p.i++;
    p.next = p.i + 1 < count && x > sizes[p.i] ? p.i + 1 : p.i;
    if (p.next > p.i) p.part = log(x / sizes[p.i]) / log(sizes[p.next] / sizes[p.i]);
    return p;
}

static double between(double a, double b, double part) { return a * pow(b / a, part); }

double roof_gather_gb_s(const struct roof *r, double row_bytes, double block_bytes)
{
    double rows[ROOF_ROWS], blocks[ROOF_GATHERS_MAX], at[2];
    if (!r->gather_count) return 0;
    for (int w = 0; w < ROOF_ROWS; w++) rows[w] = roof_row_bytes[w];
    for (int b = 0; b < r->gather_count; b++) blocks[b] = (double)r->gathers[b].bytes;
    struct place row = place_of(rows, ROOF_ROWS, row_bytes);
    struct place block = place_of(blocks, r->gather_count, block_bytes);
    for (int i = 0; i < 2; i++) {
        int b = i ? block.next : block.i;
        at[i] = between(smooth(r, b, row.i), smooth(r, b, row.next), row.part);
    }
    return between(at[0], at[1], block.part);
}

static bool same_blocks(const struct roof *a, const struct roof *b)
{
    bool same = a->gather_count == b->gather_count;
    for (int i = 0; same && i < a->gather_count; i++)
        same = a->gathers[i].bytes == b->gathers[i].bytes;
    return same;
}

static int64_t largest(const struct roof *r)
{
    return r->gather_count ? r->gathers[r->gather_count - 1].bytes : 0;
}

void roof_merge_gathers(struct roof *r, const struct roof *earlier)
{
    if (same_blocks(r, earlier)) {
        for (int b = 0; b < r->gather_count; b++)
            for (int w = 0; w < ROOF_ROWS; w++)
                r->gathers[b].gb_s[w] = fmax(r->gathers[b].gb_s[w], earlier->gathers[b].gb_s[w]);
    } else if (largest(earlier) > largest(r)) { // memory was short now
        r->gather_count = earlier->gather_count;
        memcpy(r->gathers, earlier->gathers, sizeof r->gathers);
    }
}

bool roof_gathers_are_sane(const struct roof *r)
{
    if (r->gather_count < 1 || r->gather_count > ROOF_GATHERS_MAX) return false;
    for (int b = 0; b < r->gather_count; b++) {
        const struct roof_gather *g = &r->gathers[b];
        if (g->bytes <= (b ? r->gathers[b - 1].bytes : 0) || g->bytes > ROOF_BYTES_MOST)
            return false;
        for (int w = 0; w < ROOF_ROWS; w++)
            if (!(g->gb_s[w] >= ROOF_LEAST && g->gb_s[w] <= r->near_gb_s)) return false;
    }
    return true;
}
