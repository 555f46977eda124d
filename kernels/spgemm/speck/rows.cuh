// Step 5, local load balancing: the rows of a team, and its loop over their products.
#ifndef SPGEMM_SPECK_ROWS_H
#define SPGEMM_SPECK_ROWS_H

#include "sizes.cuh"

// The blocks of a launch, a team for each.
struct team_blocks {
    const struct block_rows *queue; // NULL: each block has `rows` rows of all m
    int32_t count, rows, m;
};

static __device__ __forceinline__ struct block_rows block_of(const struct team_blocks &blocks,
                                                             int32_t b)
{
    if (blocks.queue) return blocks.queue[b];
    const int32_t first = b * blocks.rows;
    return {first, min(blocks.rows, blocks.m - first)};
}

// Rows of a team, in shared memory. The key of a nonzero is column + shift[r]. The keys of a row
// follow those of the row before, without a gap. So the order of keys is the order of C.
struct team_rows {
    int32_t end[ROWS_MOST];     // end of each row in A
    int32_t shift[ROWS_MOST];   // row r has the keys from shift[r] + its least column on
    int32_t key_end[ROWS_MOST]; // end of the keys of each row
    int32_t out[ROWS_MOST];     // key number e of the team, in row r, is nonzero start + out[r] + e
                                // of C; direct rows: start + out[r] is the row's first nonzero
    int32_t count[ROWS_MOST];   // symbolic: nonzeros of each row
    uint32_t direct;            // bit r: row r is direct
    int32_t rows, first;        // number of rows, and the first of them
    uint32_t p, p_end;          // their nonzeros of A
    int32_t keys;               // numeric: keys of all rows, without those of direct rows
    int32_t span;               // end of the keys of the last row
    int32_t lanes_log;
    int64_t start; // first nonzero of C
};

// Returns the binary logarithm of the lanes for a row of S. The lanes follow the mean length of the
// rows without the longest. They are adjusted until the longest row takes about as many passes as
// the other rows take on the other lanes. A team has 2^most lanes.
static __device__ __forceinline__ int choose_lanes(uint32_t products, uint32_t nonzeros,
                                                   uint32_t longest, int most)
{
    const uint32_t mean = nonzeros > 1 ? (products - longest) / (nonzeros - 1) : longest;
    int log = mean ? 31 - __clz((int)mean) : 0;
    if (2ull * mean > 3ull << log) log++; // over 1.5 * 2^log
    log = min(log, most);
    auto passes_of_others = [&]() { return max(nonzeros >> (most - log), 1u); };
    auto passes_of_longest = [&]() { return max(longest >> log, 1u); };
    if (passes_of_others() > 2 * passes_of_longest())
        log = max(log - 1, min(mean > 64 ? 5 : 0, most));
    while (log < most && passes_of_longest() > 2 * passes_of_others()) log++;
    return log;
}

// Sets the rows of a team. By all threads of the team; ends with a barrier.
template <int PHASE, int TEAM, typename T>
static __device__ __forceinline__ void
load_rows(const struct factors<T> &x, const struct block_rows &block,
          const struct row_facts *__restrict__ facts, const int32_t *__restrict__ nz,
          const struct result<T> &c, struct team_rows &rows)
{
    const int me = team_rank<TEAM>(), lane = lane_id();
    if (me < WARP) {
        const int32_t i = block.first + lane;
        const bool there = lane < block.rows;
        struct row_facts f = {0, 0, 0, -1};
        int32_t p = 0, end = 0, entries = 0, out = 0;
        int64_t start = 0;
        if (there) {
            f = facts[i];
            p = __ldg(x.A_ptr + i);
            end = __ldg(x.A_ptr + i + 1);
            if (PHASE == NUMERIC) {
                start = row_start(c, i);
                entries = nz[i];
            }
        }
        const bool direct = end - p == 1, hashed = end - p > 1 && f.products > 0;
        const int64_t team_start = warp_broadcast(start, 0);
        const int32_t span = hashed ? f.high - f.low + 1 : 0, keys = hashed ? entries : 0;
        const int32_t span_end = warp_scan(span), keys_end = warp_scan(keys);
        const bool walked = hashed || PHASE == NUMERIC;
        const uint32_t products = warp_sum(walked ? (uint32_t)f.products : 0);
        const uint32_t longest = __reduce_max_sync(FULL_MASK, walked ? (uint32_t)f.longest : 0);
        const unsigned directs = __ballot_sync(FULL_MASK, there && direct);
        const int32_t last = warp_broadcast(end, block.rows - 1);
        if (PHASE == NUMERIC) out = (int32_t)(start - team_start) - (hashed ? keys_end - keys : 0);
        rows.end[lane] = end;
        rows.shift[lane] = span_end - span - f.low;
        rows.key_end[lane] = span_end;
        rows.out[lane] = out;
        rows.count[lane] = 0;
        if (lane == WARP - 1) {
            rows.keys = keys_end;
            rows.span = span_end;
        }
        if (lane == 0) {
            int most = 0;
            while (1 << most < TEAM) most++;
            rows.direct = directs;
            rows.rows = block.rows;
            rows.first = block.first;
            rows.p = (uint32_t)p;
            rows.p_end = (uint32_t)last;
            rows.start = start;
            rows.lanes_log = choose_lanes(products, (uint32_t)(last - p), longest, most);
        }
    }
    team_sync<TEAM>();
}

// A nonzero of A: its row of S, and for hash tables `tag` and `mark` of the caller.
struct nonzero {
    uint32_t begin, end;
};
struct tagged_nonzero {
    uint32_t begin, end;
    int32_t tag, mark;
};

static __device__ __forceinline__ struct nonzero broadcast(const struct nonzero &z, int from)
{
    return {warp_broadcast(z.begin, from), warp_broadcast(z.end, from)};
}
static __device__ __forceinline__ struct tagged_nonzero broadcast(const struct tagged_nonzero &z,
                                                                  int from)
{
    return {warp_broadcast(z.begin, from), warp_broadcast(z.end, from), warp_broadcast(z.tag, from),
            warp_broadcast(z.mark, from)};
}

// Calls each(nonzero, q, column, value) for every product q of nonzeros [p, p_end) of A, until
// each() returns false. A group of 2^log lanes takes a row of S. Each lane then calls
// done(p, nonzero, q): q is the first product that the lane did not take, or the end of the row.
// load(p) returns a nonzero of type Z. The lanes of a warp load the next nonzeros of all groups
// together. The first product of the next nonzero is prefetched. Called by all threads of a team.
template <bool VALUES, int TEAM, typename Z, typename T, typename L, typename E, typename D>
static __device__ __forceinline__ void walk_rows(const struct factors<T> &x, uint32_t p,
                                                 uint32_t p_end, int log, L load, E each, D done)
{
    const uint32_t me = (uint32_t)team_rank<TEAM>(), lane = (uint32_t)lane_id();
    const uint32_t lanes = 1u << log, sub = me & (lanes - 1), groups = TEAM >> log;
    const int in_warp = max(ROWS_LOG - log, 0); // logarithm of the groups of a warp
    const uint32_t rounds = WARP >> in_warp;    // nonzeros of a group that are looked up at once
    struct first {
        Z z;
        uint32_t q;
        int32_t col;
        T a, v;
    };
    for (uint32_t at = p + ((me - lane) >> log); at < p_end; at += rounds * groups) {
        const uint32_t mine = at + (lane & ((1u << in_warp) - 1)) + (lane >> in_warp) * groups;
        Z z = {};
        T a = 0;
        if (mine < p_end) {
            z = load(mine);
            if (VALUES) a = __ldg(x.A_val + mine);
        }
        auto fetch = [&](uint32_t round) {
            const int from = (int)((round << in_warp) + (lane >> log));
            struct first f = {broadcast(z, from), 0, 0, VALUES ? warp_broadcast(a, from) : (T)0, 0};
            f.q = f.z.begin + sub;
            if (f.q < f.z.end) {
                f.col = __ldg(x.S_idx + f.q);
                if (VALUES) f.v = __ldg(x.S_val + f.q);
            }
            return f;
        };
        struct first next = fetch(0);
        for (uint32_t r = 0; r < rounds && at + r * groups < p_end; r++) {
            struct first now = next;
            if (r + 1 < rounds && at + (r + 1) * groups < p_end) next = fetch(r + 1);
            while (now.q < now.z.end) {
                if (!each(now.z, now.q, now.col, VALUES ? now.a * now.v : (T)0)) break;
                now.q += lanes;
                if (now.q < now.z.end) {
                    now.col = __ldg(x.S_idx + now.q);
                    if (VALUES) now.v = __ldg(x.S_val + now.q);
                }
            }
            done(at + r * groups + (lane >> log), now.z, now.q);
        }
    }
}

#endif
