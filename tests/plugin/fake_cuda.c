// A stand-in for libcuda.so.1 in the emulator. A module is a text. Its kernels `spmm` and `sddmm`
// run on the host at once, and have the arguments of the templates.
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static int most_shared = 49152; // bytes of dynamic shared memory that a launch may have

static int spmm(int64_t threads, void **arguments)
{
    const int64_t m = *(int64_t *)arguments[0], k = *(int64_t *)arguments[1];
    const int32_t *ptr = *(int32_t **)arguments[2], *idx = *(int32_t **)arguments[3];
    const float *val = *(float **)arguments[4], *B = *(float **)arguments[5];
    const int64_t ldb = *(int64_t *)arguments[6], ldc = *(int64_t *)arguments[8];
    float *C = *(float **)arguments[7];
    for (int64_t e = 0; e < threads && e < m * k; e++) {
        float sum = 0;
        for (int32_t p = ptr[e / k]; p < ptr[e / k + 1]; p++)
            sum += val[p] * B[idx[p] * ldb + e % k];
        C[e / k * ldc + e % k] = sum;
    }
    return 0;
}

static int sddmm(int64_t threads, void **arguments)
{
    const int64_t m = *(int64_t *)arguments[0], k = *(int64_t *)arguments[1];
    const int32_t *ptr = *(int32_t **)arguments[2], *idx = *(int32_t **)arguments[3];
    const float *val = *(float **)arguments[4];
    const float *X = *(float **)arguments[5], *Y = *(float **)arguments[7];
    const int64_t ldx = *(int64_t *)arguments[6], ldy = *(int64_t *)arguments[8];
    float *C = *(float **)arguments[9];
    for (int64_t i = 0; i < threads && i < m; i++)
        for (int32_t p = ptr[i]; p < ptr[i + 1]; p++) {
            float sum = 0;
            for (int64_t l = 0; l < k; l++) sum += X[i * ldx + l] * Y[idx[p] * ldy + l];
            C[p] = val[p] * sum;
        }
    return 0;
}

int cuModuleLoadData(void **module, const void *image);
int cuModuleLoadData(void **module, const void *image)
{
    *module = (void *)image;
    return strncmp(image, "a module", 8) ? 200 : 0;
}

int cuModuleGetFunction(int (**function)(int64_t, void **), void *module, const char *name);
int cuModuleGetFunction(int (**function)(int64_t, void **), void *module, const char *name)
{
    *function = !module                  ? NULL
                : !strcmp(name, "spmm")  ? spmm
                : !strcmp(name, "sddmm") ? sddmm
                                         : NULL;
    return *function ? 0 : 500;
}

int cuFuncSetAttribute(void *function, int attribute, int value);
int cuFuncSetAttribute(void *function, int attribute, int value)
{
    most_shared = value;
    return function && attribute == 8 && value <= 232448 ? 0 : 1;
}

int cuLaunchKernel(int (*function)(int64_t, void **), unsigned gx, unsigned gy, unsigned gz,
                   unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                   void **arguments, void **extra);
int cuLaunchKernel(int (*function)(int64_t, void **), unsigned gx, unsigned gy, unsigned gz,
                   unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                   void **arguments, void **extra)
{
    (void)stream;
    usleep(100); // the emulator's ceilings are low
    if (shared > (unsigned)most_shared || extra || gy * gz * by * bz != 1 || bx > 1024) return 1;
    return function((int64_t)gx * bx, arguments);
}
