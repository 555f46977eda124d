// The intrinsics that kernels call. To add one, write it here: see README.md.
#ifndef EMU_DEVICE_H
#define EMU_DEVICE_H

#include "emu_engine.h"

// Barriers and fences. Threads of a block run one at a time, so fences have nothing to do.

static inline void __syncthreads(EMU_HERE) { emu::barrier("__syncthreads", 0, file, line); }
static inline int __syncthreads_count(int p, EMU_HERE)
{
    return emu::barrier("__syncthreads_count", p, file, line).count;
}
static inline int __syncthreads_or(int p, EMU_HERE)
{
    return emu::barrier("__syncthreads_or", p, file, line).count > 0;
}
static inline int __syncthreads_and(int p, EMU_HERE)
{
    emu::votes v = emu::barrier("__syncthreads_and", p, file, line);
    return v.count == v.total;
}
static inline void __syncwarp(unsigned mask = 0xffffffffu, const char *file = __builtin_FILE(),
                              int line = __builtin_LINE())
{
    emu::part(emu::meet("__syncwarp", mask, 0, file, line));
}
static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}
static inline void __nanosleep(unsigned) { emu::yield(); }
[[noreturn]] static inline void __trap() { emu::fault("__trap"); }
long long clock64();
unsigned long long __globaltimer();

// Shuffles. A lane that reads from a lane outside the mask gets a value of all ones.

namespace emu
{

template <typename T>
EMU_BARE T shuffle_value(const char *what, enum shuffle kind, unsigned mask, T x, int by, int width,
                         const char *file, int line)
{
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof x);
    bits = exchange(what, kind, mask, bits, by, width, file, line);
    memcpy(&x, &bits, sizeof x);
    return x;
}

} // namespace emu

#define EMU_SHUFFLES(T)                                                                            \
    static inline T __shfl_sync(unsigned mask, T x, int from, int width = 32, EMU_HERE)            \
    {                                                                                              \
        return emu::shuffle_value("__shfl_sync", emu::INDEX, mask, x, from, width, file, line);    \
    }                                                                                              \
    static inline T __shfl_up_sync(unsigned mask, T x, unsigned by, int width = 32, EMU_HERE)      \
    {                                                                                              \
        return emu::shuffle_value("__shfl_up_sync", emu::UP, mask, x, (int)by, width, file, line); \
    }                                                                                              \
    static inline T __shfl_down_sync(unsigned mask, T x, unsigned by, int width = 32, EMU_HERE)    \
    {                                                                                              \
        return emu::shuffle_value("__shfl_down_sync", emu::DOWN, mask, x, (int)by, width, file,    \
                                  line);                                                           \
    }                                                                                              \
    static inline T __shfl_xor_sync(unsigned mask, T x, int by, int width = 32, EMU_HERE)          \
    {                                                                                              \
        return emu::shuffle_value("__shfl_xor_sync", emu::XOR, mask, x, by, width, file, line);    \
    }
EMU_SHUFFLES(int)
EMU_SHUFFLES(unsigned)
EMU_SHUFFLES(long)
EMU_SHUFFLES(unsigned long)
EMU_SHUFFLES(long long)
EMU_SHUFFLES(unsigned long long)
EMU_SHUFFLES(float)
EMU_SHUFFLES(double)

// Votes, matches and reductions over the lanes of a mask.

namespace emu
{

// Meets, and folds f(result, value of the lane, lane) over the lanes of the mask.
template <typename R, typename F>
R fold(const char *what, unsigned mask, uint64_t value, R result, F f, const char *file, int line)
{
    meeting *m = meet(what, mask, value, file, line);
    for (int i = 0; i < 32; i++)
        if (m->mask >> i & 1) result = f(result, m->value[i], i);
    part(m);
    return result;
}

template <typename T>
unsigned match(const char *what, unsigned mask, T x, const char *file, int line)
{
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof x);
    return fold(
        what, mask, bits, 0u,
        [=](unsigned r, uint64_t v, int i) { return r | (unsigned)(v == bits) << i; }, file, line);
}

} // namespace emu

static inline unsigned __ballot_sync(unsigned mask, int p, EMU_HERE)
{
    return emu::ballot("__ballot_sync", mask, p, file, line);
}
static inline int __any_sync(unsigned mask, int p, EMU_HERE)
{
    return emu::ballot("__any_sync", mask, p, file, line) != 0;
}
static inline int __all_sync(unsigned mask, int p, EMU_HERE)
{
    return emu::ballot("__all_sync", mask, p, file, line) == mask;
}
// Which lanes run together is nobody's to rely on, so only the caller is promised.
static inline unsigned __activemask() { return 1u << emu::lane(); }

#define EMU_MATCH(T)                                                                               \
    static inline unsigned __match_any_sync(unsigned mask, T x, EMU_HERE)                          \
    {                                                                                              \
        return emu::match("__match_any_sync", mask, x, file, line);                                \
    }                                                                                              \
    static inline unsigned __match_all_sync(unsigned mask, T x, int *all, EMU_HERE)                \
    {                                                                                              \
        *all = emu::match("__match_all_sync", mask, x, file, line) == mask;                        \
        return *all ? mask : 0;                                                                    \
    }
EMU_MATCH(int)
EMU_MATCH(unsigned)
EMU_MATCH(long)
EMU_MATCH(unsigned long)
EMU_MATCH(long long)
EMU_MATCH(unsigned long long)
EMU_MATCH(float)
EMU_MATCH(double)

#define EMU_REDUCE(T, op, start, expression)                                                       \
    static inline T __reduce_##op##_sync(unsigned mask, T x, EMU_HERE)                             \
    {                                                                                              \
        return emu::fold(                                                                          \
            "__reduce_" #op "_sync", mask, (uint64_t)x, (T)(start),                                \
            [](T a, uint64_t v, int) {                                                             \
                T b = (T)v;                                                                        \
                return (T)(expression);                                                            \
            },                                                                                     \
            file, line);                                                                           \
    }
EMU_REDUCE(int, add, 0, (unsigned)a + (unsigned)b)
EMU_REDUCE(int, min, INT32_MAX, a < b ? a : b)
EMU_REDUCE(int, max, INT32_MIN, a > b ? a : b)
EMU_REDUCE(unsigned, add, 0, a + b)
EMU_REDUCE(unsigned, min, UINT32_MAX, a < b ? a : b)
EMU_REDUCE(unsigned, max, 0, a > b ? a : b)
EMU_REDUCE(unsigned, and, UINT32_MAX, a &b)
EMU_REDUCE(unsigned, or, 0, a | b)
EMU_REDUCE(unsigned, xor, 0, a ^ b)

// Bits.

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline unsigned long long __brevll(unsigned long long x)
{
    unsigned long long r = 0;
    for (int i = 0; i < 64; i++) r |= (x >> i & 1) << (63 - i);
    return r;
}
static inline unsigned __brev(unsigned x) { return (unsigned)(__brevll(x) >> 32); }
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned by)
{
    return (unsigned)(((uint64_t)hi << 32 | lo) << (by & 31) >> 32);
}
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned by)
{
    return (unsigned)(((uint64_t)hi << 32 | lo) >> (by & 31));
}
static inline int __mul24(int a, int b) { return (int)((unsigned)a * (unsigned)b); }
static inline int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((uint64_t)a * b >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}

namespace emu
{
template <typename To, typename From> To bits_as(From x)
{
    static_assert(sizeof(To) == sizeof(From), "");
    To y;
    memcpy(&y, &x, sizeof y);
    return y;
}
} // namespace emu

static inline int __float_as_int(float x) { return emu::bits_as<int>(x); }
static inline unsigned __float_as_uint(float x) { return emu::bits_as<unsigned>(x); }
static inline float __int_as_float(int x) { return emu::bits_as<float>(x); }
static inline float __uint_as_float(unsigned x) { return emu::bits_as<float>(x); }
static inline long long __double_as_longlong(double x) { return emu::bits_as<long long>(x); }
static inline double __longlong_as_double(long long x) { return emu::bits_as<double>(x); }

// Loads and stores with cache hints.

#define EMU_LOAD(name)                                                                             \
    template <typename T> static inline T name(const T *p) { return *p; }
#define EMU_STORE(name)                                                                            \
    template <typename T> static inline void name(T *p, std::common_type_t<T> x) { *p = x; }
EMU_LOAD(__ldg)
EMU_LOAD(__ldca)
EMU_LOAD(__ldcg)
EMU_LOAD(__ldcs)
EMU_LOAD(__ldlu)
EMU_LOAD(__ldcv)
EMU_STORE(__stwb)
EMU_STORE(__stcg)
EMU_STORE(__stcs)
EMU_STORE(__stwt)

// Arithmetic.

static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fdividef(float a, float b) { return a / b; }
static inline float __frcp_rn(float a) { return 1.0f / a; }
static inline float __fsqrt_rn(float a) { return sqrtf(a); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
#if !defined(__GLIBC_PREREQ) || !__GLIBC_PREREQ(2, 42) // later ones have them in math.h
static inline float rsqrtf(float a) { return 1.0f / sqrtf(a); }
static inline double rsqrt(double a) { return 1.0 / sqrt(a); }
#endif

// As in CUDA, both arguments of an integer min may differ in sign; the unsigned type wins.
#define EMU_MIN_MAX(T, U, R)                                                                       \
    static inline R min(T a, U b) { return (R)a < (R)b ? (R)a : (R)b; }                            \
    static inline R max(T a, U b) { return (R)a > (R)b ? (R)a : (R)b; }
EMU_MIN_MAX(int, int, int)
EMU_MIN_MAX(unsigned, unsigned, unsigned)
EMU_MIN_MAX(int, unsigned, unsigned)
EMU_MIN_MAX(unsigned, int, unsigned)
EMU_MIN_MAX(long, long, long)
EMU_MIN_MAX(unsigned long, unsigned long, unsigned long)
EMU_MIN_MAX(long, unsigned long, unsigned long)
EMU_MIN_MAX(unsigned long, long, unsigned long)
EMU_MIN_MAX(long long, long long, long long)
EMU_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
EMU_MIN_MAX(long long, unsigned long long, unsigned long long)
EMU_MIN_MAX(unsigned long long, long long, unsigned long long)
#define EMU_FMIN_MAX(T, U, R, f)                                                                   \
    static inline R min(T a, U b) { return fmin##f(a, b); }                                        \
    static inline R max(T a, U b) { return fmax##f(a, b); }
EMU_FMIN_MAX(float, float, float, f)
EMU_FMIN_MAX(double, double, double, )
EMU_FMIN_MAX(float, double, double, )
EMU_FMIN_MAX(double, float, double, )

// Atomics, for the types that CUDA has them for.

namespace emu
{
template <typename T, typename F> T atomic(T *p, F f)
{
    maybe_yield();
    T old = *p;
    *p = f(old);
    return old;
}
} // namespace emu

#define EMU_ATOMIC(T, name, expression)                                                            \
    static inline T name(T *p, T b)                                                                \
    {                                                                                              \
        return emu::atomic(p, [=](T a) { return (T)(expression); });                               \
    }
#define EMU_ATOMICS(T, U)                                                                          \
    EMU_ATOMIC(T, atomicAdd, (U)a + (U)b)                                                          \
    EMU_ATOMIC(T, atomicMin, a < b ? a : b)                                                        \
    EMU_ATOMIC(T, atomicMax, a > b ? a : b)                                                        \
    EMU_ATOMIC(T, atomicAnd, a &b)                                                                 \
    EMU_ATOMIC(T, atomicOr, a | b)                                                                 \
    EMU_ATOMIC(T, atomicXor, a ^ b)
EMU_ATOMICS(int, unsigned)
EMU_ATOMICS(unsigned, unsigned)
EMU_ATOMICS(unsigned long long, unsigned long long)
EMU_ATOMIC(int, atomicSub, (unsigned)a - (unsigned)b)
EMU_ATOMIC(unsigned, atomicSub, a - b)
EMU_ATOMIC(unsigned, atomicInc, a >= b ? 0 : a + 1)
EMU_ATOMIC(unsigned, atomicDec, a == 0 || a > b ? b : a - 1)
EMU_ATOMIC(long long, atomicMin, a < b ? a : b)
EMU_ATOMIC(long long, atomicMax, a > b ? a : b)
EMU_ATOMIC(float, atomicAdd, a + b)
EMU_ATOMIC(double, atomicAdd, a + b)

// A thread may spin on these two, so others get their turn.
#define EMU_EXCHANGE(T)                                                                            \
    static inline T atomicExch(T *p, T x)                                                          \
    {                                                                                              \
        emu::yield();                                                                              \
        T old = *p;                                                                                \
        *p = x;                                                                                    \
        return old;                                                                                \
    }
#define EMU_CAS(T)                                                                                 \
    static inline T atomicCAS(T *p, T expected, T x)                                               \
    {                                                                                              \
        T old = *p;                                                                                \
        if (old == expected)                                                                       \
            *p = x;                                                                                \
        else                                                                                       \
            emu::yield();                                                                          \
        return old;                                                                                \
    }
EMU_EXCHANGE(int)
EMU_EXCHANGE(unsigned)
EMU_EXCHANGE(unsigned long long)
EMU_EXCHANGE(float)
EMU_CAS(int)
EMU_CAS(unsigned)
EMU_CAS(unsigned short)
EMU_CAS(unsigned long long)

#endif
