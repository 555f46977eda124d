// A stand-in for libcuda.so.1 in the emulator. A module is a text. Its kernel `multiply` is SpMM on
// the host, a thread for each element of C. The kernel has static shared memory.
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define STATIC_SHARED 16384
static int most_dynamic = 49152 - STATIC_SHARED; // bytes of shared memory that a launch may have

int cuModuleLoadData(void **module, const void *image);
int cuModuleLoadData(void **module, const void *image)
{
    *module = (void *)image;
    return strncmp(image, "a module", 8) ? 200 : 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name);
int cuModuleGetFunction(void **function, void *module, const char *name)
{
    *function = module;
    return strcmp(name, "multiply") ? 500 : 0;
}

int cuFuncGetAttribute(int *value, int attribute, void *function);
int cuFuncGetAttribute(int *value, int attribute, void *function)
{
    *value = STATIC_SHARED;
    return function && attribute == 1 ? 0 : 1;
}

int cuFuncSetAttribute(void *function, int attribute, int value);
int cuFuncSetAttribute(void *function, int attribute, int value)
{
    most_dynamic = value;
    return function && attribute == 8 && value + STATIC_SHARED <= 232448 ? 0 : 1;
}

int cuGetErrorString(int status, const char **text);
int cuGetErrorString(int status, const char **text)
{
    *text = status == 200   ? "device kernel image is invalid"
            : status == 500 ? "named symbol not found"
                            : "invalid argument";
    return 0;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra)
{
    const int64_t m = *(int64_t *)arguments[0], k = *(int32_t *)arguments[1];
    const int32_t *ptr = *(int32_t **)arguments[2], *idx = *(int32_t **)arguments[3];
    const float *val = *(float **)arguments[4], *B = *(float **)arguments[5];
    const int64_t ldb = *(int64_t *)arguments[6], ldc = *(int64_t *)arguments[8];
    float *C = *(float **)arguments[7];
    (void)stream;
    usleep(100); // the emulator's ceilings are low
    if (!function || shared > (unsigned)most_dynamic || extra || gy * gz * by * bz != 1) return 1;
    for (int64_t e = 0; e < (int64_t)gx * bx && e < m * k; e++) {
        float sum = 0;
        for (int32_t p = ptr[e / k]; p < ptr[e / k + 1]; p++)
            sum += val[p] * B[idx[p] * ldb + e % k];
        C[e / k * ldc + e % k] = sum;
    }
    return *(float *)arguments[9] == 1 ? 0 : 1;
}
