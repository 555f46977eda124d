// The emulator's <cuda_profiler_api.h>: it is all in its runtime.
#include "emu_runtime.h"
