// CUDA graphs. Called through device_ops.
#ifndef GRAPH_CUDA_H
#define GRAPH_CUDA_H

#include "device/device.h"

int graph_cuda_make(struct device *d, int (*launch)(void *arg), void *arg, void **graph);
int graph_cuda_launch(struct device *d, void *graph);
void graph_cuda_free(struct device *d, void *graph);

#endif
