#include "cli/about.h"

#include <stddef.h>
#include <string.h>

#define STATUS_MAX 255

const char *const about_description[] = {
    "spbench reads matrices, runs the algorithms of published papers beside those of vendors, "
    "checks every result, and tells how long each took and how far that is from what the device "
    "can do.",
    "The table goes to the standard error. Each case is also a record, a line of JSON. Records go "
    "to the file of -o. Without -o they go to the standard output if that is neither a terminal "
    "nor the file of the standard error, or with -q. The word run may be left out.",
    "A MATRIX is a Matrix Market file (.mtx, .mtx.gz, NAME.tar.gz), - for the standard input, or "
    "gen:SPEC, a synthetic matrix of one of these kinds:",
    NULL,
};

const struct about_exit about_exits[] = {
    {"run", 0, "every case is ok or unsupported, and one at least is ok"},
    {"run", 1, "a case is wrong or failed, all are unsupported, or records cannot be written"},
    {"doctor", 0, "nothing spoils a measurement"},
    {"doctor", 1, "something would"},
    {"sweep", 0, "every case of the file of -o is ok or unsupported, and one at least is ok"},
    {"sweep", 1, "a case is wrong or failed, all are unsupported, or records cannot be written"},
    {"sweep", 3, "a matrix could not be read"},
    {"sweep", 130, "interrupted: the same command goes on"},
    {"compare", 0, "no regression"},
    {"compare", 1, "a case is slower, newly failing or newly wrong"},
    {"compare", 3, "unknown: cases are missing, too noisy or drifted, or a file is not readable"},
    {"selftest", 0, "at most 1 % of the verdicts are false, and 95 % of what was planted is found"},
    {"selftest", 1, "more verdicts are false"},
    {"selftest", 3, "less is found, or it could not be measured"},
    {NULL, 0, "done"},
    {NULL, 1, "a device failed, or the output cannot be written"},
    {NULL, 2, "wrong usage"},
    {"run", 3, "a matrix could not be read"},
    {"info", 3, "a matrix could not be read"},
    {NULL, 130, "interrupted"},
    {NULL, 0, NULL},
};

static const struct about_exit *find_exit(const char *command, int status)
{
    const struct about_exit *of_all = NULL;
    for (const struct about_exit *e = about_exits; e->about; e++) {
        if (e->status != status) continue;
        if (!e->command) of_all = e;
        if (e->command && command && !strcmp(e->command, command)) return e;
    }
    return of_all;
}

const struct about_exit *about_exit_of(const char *command, int i)
{
    bool own = !command;
    for (const struct about_exit *e = about_exits; command && e->about; e++)
        own |= e->command && !strcmp(e->command, command);
    for (int status = 0; own && status <= STATUS_MAX; status++) {
        const struct about_exit *e = find_exit(command, status);
        if (e && !i--) return e;
    }
    return NULL;
}

const struct about_file about_files[] = {
    {"~/.cache/spbench/roof.tsv", "the ceilings of devices, as they were measured"},
    {"PREFIX/share/spbench", "fetch_suitesparse.sh with matrices.txt, and the scripts of plots/"},
    {NULL, NULL},
};

const struct about_example about_examples[] = {
    {"spbench -alg merge,rowsplit -k 64 gen:rmat:14:16",
     "two algorithms of SpMM on a synthetic graph"},
    {"spbench -alg all -k 32,128 -prec f32,f64 -o results.jsonl web.mtx",
     "all algorithms on a file, the records kept"},
    {"spbench -op spgemm -mul aa,aat -device cpu web.mtx", "A*A and A*A^T on the CPU"},
    {"spbench info -model web.mtx", "what is to be known of a matrix, and predictions"},
    {"spbench sweep -k 64 -o results.jsonl matrices.txt",
     "every matrix of a list that is there; the same again goes on after a break"},
    {"spbench report -sort speedup -o results.csv results.jsonl",
     "the measured times and speed-ups as CSV"},
    {"spbench compare -ab base/spbench -alg merge -k 64 web.mtx",
     "is this program slower than another one"},
    {"spbench doctor && spbench roof", "is this machine fit to measure on; what can it do"},
    {NULL, NULL},
};
