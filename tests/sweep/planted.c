// Algorithms that no program should have: each ends its process, or does not end, in another way.
// They are in tests/sweep/spbench alone, which is the program with a longer list (algos/algos.def).
#define _GNU_SOURCE // RTLD_DEFAULT
#include "algos/algo.h"
#include "formats/csr.h"

#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern const struct algo spmm_reference_cpu;

#define EAT_STEP ((size_t)8 << 20)
#define EAT_MOST ((size_t)1 << 30) // the machine is to live on if nobody stops it

static int crash(struct task *t)
{
    (void)t;
    fprintf(stderr, "before the crash\n");
    volatile int *nowhere = (volatile int *)strtoul("8", NULL, 10); // what the compiler cannot see
    *nowhere = 1;
    return OK;
}

static int leave(struct task *t)
{
    (void)t;
    _exit(7);
}

// Leaves a process behind, of a group of its own, that holds all that was open.
static int leave_child(struct task *t)
{
    if (fork()) return leave(t);
    setsid();
    sleep(25);
    _exit(0);
}

static int hang(struct task *t)
{
    (void)t;
    while (getpid()) pause();
    return OK;
}

static int eat(struct task *t)
{
    (void)t;
    for (size_t eaten = 0; eaten < EAT_MOST; eaten += EAT_STEP) {
        char *p = malloc(EAT_STEP);
        if (p) memset(p, 1, EAT_STEP); // and never freed
        usleep(2000);
    }
    return fail(ERR_UNSUPPORTED, "nobody has stopped it");
}

// A process that it has started, in a group of its own, eats; its number goes where the test wants
// it.
static int brood(struct task *t)
{
    pid_t child = fork();
    if (child) return waitpid(child, NULL, 0), fail(ERR_UNSUPPORTED, "nobody has stopped it");
    setpgid(0, 0);
    FILE *note = fopen(getenv("PLANT_NOTE"), "w");
    if (note) fprintf(note, "%d", (int)getpid()), fclose(note);
    eat(t);
    sleep(25);
    _exit(0);
}

// As a CUDA context after an illegal access: whatever is asked of it fails.
static int dead_alloc(struct device *d, int64_t bytes, void **p)
{
    (void)bytes, (void)p;
    return fail(ERR_DEVICE, "%s: an illegal access came before", d->id);
}

static int dead_sync(struct device *d)
{
    return fail(ERR_DEVICE, "%s: an illegal access came before", d->id);
}

static int die(struct task *t)
{
    static struct device_ops dead;
    dead = *t->dev->ops;
    dead.alloc = dead_alloc;
    dead.sync = dead_sync;
    t->dev->ops = &dead;
    return fail(ERR_DEVICE, "an illegal access");
}

// Raises the signal of a batch system at the end of a job's time.
static int term(struct task *t)
{
    kill(getpid(), SIGTERM);
    return spmm_reference_cpu.run(t);
}

// Stands for cuSPARSE, which the loader may have from elsewhere.
static const char *version(void)
{
    const char *(*tell)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "planted_version");
    return tell ? tell() : "Plant 1.0";
}

// Calls exit(), as some libraries do after an error.
static int leave_in_order(struct task *t)
{
    (void)t;
    exit(0);
}

static void *spin(void *arg)
{
    while (getpid()) {}
    return arg;
}
// A thread works on until the process ends.
static void leave_thread(struct task *t)
{
    pthread_t thread;
    (void)t;
    if (!pthread_create(&thread, NULL, spin, NULL)) pthread_detach(thread);
}

// Works with a thread more than it was told to.
static int multiply_with_more(struct task *t)
{
    int err = OK;
#pragma omp parallel num_threads(omp_get_max_threads() + 1)
    if (omp_get_thread_num())
        for (double begin = clock_ms(); clock_ms() - begin < 20;) {}
    else
        for (double begin = clock_ms(); clock_ms() - begin < 20;) err = spmm_reference_cpu.run(t);
    return err;
}

static int multiply(struct task *t) { return spmm_reference_cpu.run(t); }

#define PLANT(symbol, function, ...)                                                               \
    const struct algo spmm_plant_##symbol##_cpu = {.layouts = ROW_MAJOR,                           \
                                                   .precs = BIT(F32) | BIT(F64),                   \
                                                   .A = {&format_csr},                             \
                                                   .arith = ARITH_PREC,                            \
                                                   .cite = "nobody",                               \
                                                   .run = function,                                \
                                                   __VA_ARGS__}
PLANT(crash, crash, );
PLANT(exit, leave, );
PLANT(child, leave_child, );
PLANT(hang, hang, );
PLANT(eat, eat, );
PLANT(brood, brood, );
PLANT(dead, die, );
PLANT(term, term, );
PLANT(exit0, leave_in_order, );
PLANT(thread, multiply, .teardown = leave_thread);
PLANT(more, multiply_with_more, );
PLANT(library, multiply, .vendor = "cuSPARSE", .library = version);
