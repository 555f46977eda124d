// The emulator's <cuda_runtime.h>: .cu files are compiled by g++ with -x c++ -Itests/emu.
#ifndef EMU_CUDA_RUNTIME_H
#define EMU_CUDA_RUNTIME_H

#include "emu_types.h"
#include "emu_engine.h"
#include "emu_device.h"
#include "emu_runtime.h"

#endif
