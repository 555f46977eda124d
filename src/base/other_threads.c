#include "base/other_threads.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sysfs.h"

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b; // numbers are not negative
}

void other_threads_find(struct other_threads *x, int *own, int count)
{
    DIR *tasks = opendir("/proc/self/task");
    x->count = 0;
    if (!tasks) return;
    qsort(own, (size_t)count, sizeof *own, compare);
    for (struct dirent *e; x->count < OTHER_THREADS_MAX && (e = readdir(tasks));) {
        int thread = atoi(e->d_name);
        if (thread > 0 && !bsearch(&thread, own, (size_t)count, sizeof *own, compare))
            x->list[x->count++] = thread;
    }
    closedir(tasks);
}

int other_threads_new(const struct other_threads *x, const struct other_threads *before)
{
    int count = 0;
    for (int i = 0; i < x->count; i++) {
        int b = 0;
        while (b < before->count && before->list[b] != x->list[i]) b++;
        count += b == before->count;
    }
    return count;
}

static bool is_running(int thread)
{
    char path[64], text[256], *state;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    // The state follows the name in brackets. The name can have brackets, too.
    return sysfs_line(path, text, sizeof text) && (state = strrchr(text, ')')) && state[1] == ' ' &&
           state[2] == 'R';
}

int other_threads_running(const struct other_threads *x)
{
    int count = 0;
    for (int i = 0; i < x->count; i++) count += is_running(x->list[i]);
    return count;
}

// Returns the clock of a thread. Linux derives the number of this clock from that of the thread.
// Files of /proc count in ticks, which are longer than the times here.
static clockid_t clock_of(int thread)
{
    enum { OF_A_THREAD = 4, BY_SCHEDULER = 2 };
    return (clockid_t)(~(unsigned)thread << 3 | OF_A_THREAD | BY_SCHEDULER);
}

double other_threads_used_ms(const struct other_threads *x)
{
    double ms = 0;
    struct timespec t;
    for (int i = 0; i < x->count; i++)
        if (!clock_gettime(clock_of(x->list[i]), &t)) ms += t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
    return ms;
}
