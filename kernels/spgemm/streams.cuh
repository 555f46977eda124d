// Independent kernels of a phase in streams of their own.
#ifndef SPGEMM_STREAMS_H
#define SPGEMM_STREAMS_H

#include "kernel.cuh"

#define STREAMS_MOST 13

struct streams {
    bool wanted; // option `streams`; false: all kernels are in the main stream
    cudaStream_t stream[STREAMS_MOST];
    cudaEvent_t fork, joined[STREAMS_MOST];
};

static int streams_create(const struct task *t, struct streams *s)
{
    s->wanted = task_option(t, "streams") != 0;
    CUDA_TRY(cudaEventCreateWithFlags(&s->fork, cudaEventDisableTiming));
    for (int i = 0; i < STREAMS_MOST; i++) {
        CUDA_TRY(cudaStreamCreateWithFlags(&s->stream[i], cudaStreamNonBlocking));
        CUDA_TRY(cudaEventCreateWithFlags(&s->joined[i], cudaEventDisableTiming));
    }
    return OK;
}

static void streams_destroy(struct streams *s)
{
    for (int i = 0; i < STREAMS_MOST; i++) {
        if (s->stream[i]) cudaStreamDestroy(s->stream[i]);
        if (s->joined[i]) cudaEventDestroy(s->joined[i]);
    }
    if (s->fork) cudaEventDestroy(s->fork);
}

// Makes stream i wait for the work that is in the main stream at this time. join_stream() makes
// later work of the main stream wait for stream i.
static int fork_stream(struct task *t, struct streams *s, int i, bool first, cudaStream_t *stream)
{
    *stream = s->stream[i];
    if (first) CUDA_TRY(cudaEventRecord(s->fork, (cudaStream_t)t->dev->stream));
    CUDA_TRY(cudaStreamWaitEvent(*stream, s->fork));
    return OK;
}

static int join_stream(struct task *t, struct streams *s, int i)
{
    CUDA_TRY(cudaEventRecord(s->joined[i], s->stream[i]));
    CUDA_TRY(cudaStreamWaitEvent((cudaStream_t)t->dev->stream, s->joined[i]));
    return OK;
}

// Calls launch(i, stream) for each i below `parts` with counts[i] > 0, the greatest count first.
// Each call has a stream of its own. The least count has the main stream, unless `main_taken`. Then
// calls rest(), which uses the main stream.
template <typename F, typename G>
static int run_in_streams(struct task *t, struct streams *s, const int32_t *counts, int parts,
                          bool main_taken, F launch, G rest)
{
    int on_main = -1, forked = 0, err = OK;
    bool used[STREAMS_MOST] = {};
    for (int i = parts - 1; i >= 0; i--)
        if (counts[i] > 0 && !main_taken) on_main = i;
    for (int i = parts - 1; i >= 0 && !err; i--) {
        if (counts[i] <= 0) continue;
        cudaStream_t stream = (cudaStream_t)t->dev->stream;
        used[i] = s->wanted && i != on_main;
        if (used[i]) err = fork_stream(t, s, i, forked++ == 0, &stream);
        if (!err) launch(i, stream);
    }
    if (!err) err = rest();
    for (int i = 0; i < parts; i++)
        if (used[i]) {
            int joined = join_stream(t, s, i);
            if (!err) err = joined;
        }
    return err;
}

#endif
