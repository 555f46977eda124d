#include "cli/commands/about.h"

#include <stddef.h>
#include <string.h>

#define STATUS_MAX 255

const char *const about_description[] = {
    "spbench runs sparse algorithms of published papers and of vendors on matrices. Every result "
    "is checked. Each time is compared with the limits of the device.",
    "The table goes to stderr. Each case is also a record, a line of JSON. Records go to the file "
    "of -o. Without -o, records go to stdout if stdout is neither a terminal nor the file of "
    "stderr, or with -q. The word run may be omitted.",
    "A MATRIX is a Matrix Market file (.mtx, .mtx.gz, NAME.tar.gz), - for stdin, or gen:SPEC, a "
    "synthetic matrix of one of these kinds:",
    NULL,
};

const struct about_exit about_exits[] = {
    {"run", 0, "every case is ok or unsupported, and at least one is ok"},
    {"run", 1, "a case is wrong or failed, all are unsupported, or records cannot be written"},
    {"doctor", 0, "no finding spoils measurements"},
    {"doctor", 1, "a finding spoils measurements"},
    {"sweep", 0, "every case of the file of -o is ok or unsupported, and at least one is ok"},
    {"sweep", 1, "a case is wrong or failed, all are unsupported, or records cannot be written"},
    {"sweep", 3, "a matrix could not be read"},
    {"sweep", 130, "interrupted: the same command resumes the sweep"},
    {"compare", 0, "no regression"},
    {"compare", 1, "a case is slower, newly failing or newly wrong"},
    {"compare", 3, "no answer: cases are missing, noisy or drifted, or a file cannot be read"},
    {"conform", 0, "nothing is wrong"},
    {"conform", 1, "something is wrong, failed, crashed or hung, or nothing was run"},
    {NULL, 0, "done"},
    {NULL, 1, "a device failed, or the output cannot be written"},
    {NULL, 2, "wrong usage"},
    {"run", 3, "a matrix could not be read"},
    {"info", 3, "a matrix could not be read"},
    {"report", 3, "a file of records cannot be read"},
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
    {"~/.cache/spbench/roof.tsv", "measured ceilings of devices"},
    {"PREFIX/share/spbench", "fetch_suitesparse.sh with matrices.txt, and the scripts of plots/"},
    {NULL, NULL},
};

const struct about_example about_examples[] = {
    {"spbench -alg merge,rowsplit -k 64 gen:rmat:14:16",
     "two algorithms of SpMM on a synthetic graph"},
    {"spbench -alg all -k 32,128 -prec f32,f64 -o results.jsonl web.mtx",
     "all algorithms on a file, with records"},
    {"spbench -op spgemm -mul aa,aat -device cpu web.mtx", "A*A and A*A^T on the CPU"},
    {"spbench info -model web.mtx", "facts about a matrix, and predictions"},
    {"spbench sweep -k 64 -o results.jsonl matrices.txt",
     "all matrices of a list; the same command resumes the sweep"},
    {"spbench report -sort speedup -o results.csv results.jsonl",
     "the measured times and speed-ups as CSV"},
    {"spbench compare -ab base/spbench -alg merge -k 64 web.mtx",
     "compare this program with another build"},
    {"spbench doctor && spbench roof", "check the machine and measure its ceilings"},
    {NULL, NULL},
};
