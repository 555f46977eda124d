// Products of small matrices with values of 16 bits on tensor cores, with sums in f32. For nvcc and
// for the emulator of tests/emu.
#ifndef MMA_H
#define MMA_H

#include "device/warp.cuh"

// c += a * b, 16 x 16 by 16 x 8, by all lanes. A word has two elements, the first in its low half.
// With i = l / 4 and j = l % 4 * 2, lane l has these elements:
//   a[0], a[1]  (i, j) and (i, j + 1); (i + 8, j) and (i + 8, j + 1)
//   a[2], a[3]  the same in columns j + 8 and j + 9
//   b[0], b[1]  (j, i) and (j + 1, i); (j + 8, i) and (j + 9, i)
//   upper       c(i, j) and c(i, j + 1)
//   lower       c(i + 8, j) and c(i + 8, j + 1)
// The first parameter selects the type of the values.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define MULTIPLY_16X8X16(T)                                                                        \
    static __device__ __forceinline__ void multiply_16x8x16(                                       \
        T, float upper[2], float lower[2], const uint32_t a[4], const uint32_t b[2])               \
    {                                                                                              \
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." #T "." #T ".f32 "                    \
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"             \
                     : "+f"(upper[0]), "+f"(upper[1]), "+f"(lower[0]), "+f"(lower[1])              \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));          \
    }
MULTIPLY_16X8X16(f16)
MULTIPLY_16X8X16(bf16)
#undef MULTIPLY_16X8X16
#else // the emulator; kernels need sm_80
template <typename T>
static __device__ __forceinline__ void multiply_16x8x16(T type, float upper[2], float lower[2],
                                                        const uint32_t a[4], const uint32_t b[2])
{
    const int a_lane = lane_id() / 4 * 4, b_lane = lane_id() % 4 * 8;
    const unsigned long long a_words[] = {a[0] | (unsigned long long)a[1] << 32,
                                          a[2] | (unsigned long long)a[3] << 32},
                             b_words = b[0] | (unsigned long long)b[1] << 32;
    for (int k = 0; k < 4; k++) {
        const unsigned long long at_left = __shfl_sync(FULL_MASK, b_words, b_lane + k);
        const unsigned long long at_right = __shfl_sync(FULL_MASK, b_words, b_lane + 4 + k);
        for (int half = 0; half < 2; half++) { // of the columns of a
            const unsigned long long words = __shfl_sync(FULL_MASK, a_words[half], a_lane + k);
            float top[2], bottom[2], left[2], right[2];
            widen_pair(type, top, (uint32_t)words);
            widen_pair(type, bottom, (uint32_t)(words >> 32));
            widen_pair(type, left, (uint32_t)(at_left >> 32 * half));
            widen_pair(type, right, (uint32_t)(at_right >> 32 * half));
            for (int x = 0; x < 2; x++) {
                upper[0] += top[x] * left[x];
                upper[1] += top[x] * right[x];
                lower[0] += bottom[x] * left[x];
                lower[1] += bottom[x] * right[x];
            }
        }
    }
}
#endif

#endif
