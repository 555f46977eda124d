// What tests may change about the emulated device. Each also has an environment variable, read at
// the first use.
#ifndef EMU_H
#define EMU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Memory of the device (SPBENCH_EMU_MEMORY, bytes); 1 GiB unless told.
void emu_set_memory(int64_t bytes);
// Number of devices (SPBENCH_EMU_DEVICES); 1 unless told, 0 for a machine without.
void emu_set_devices(int count);
// The n-th call from now that can fail does so: allocations, copies, launches, streams, events,
// waits (SPBENCH_EMU_FAIL_NTH); 0 switches that off.
void emu_fail_at(int64_t n);
// Whether the call that emu_fail_at() chose has been reached.
int emu_failed(void);

// The order in which blocks, the warps of a block and the lanes of a warp run. Mixed takes the
// three others in turn, block by block (SPBENCH_EMU_ORDER = mixed, forward, reverse, shuffle;
// SPBENCH_EMU_SEED).
enum emu_order { EMU_MIXED, EMU_FORWARD, EMU_REVERSE, EMU_SHUFFLE };
void emu_set_order(enum emu_order order, uint64_t seed);

// Kernels launched since the start.
int64_t emu_launches(void);
// Those of them that LAUNCH_EARLY started.
int64_t emu_launches_early(void);
// Those from a cudaProfilerStart() to the next cudaProfilerStop().
int64_t emu_profiled(void);
// Bytes of device memory that are allocated now.
int64_t emu_used(void);

#ifdef __cplusplus
}
#endif
#endif
