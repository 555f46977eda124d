#include "cli/options/commands.h"

#include <string.h>

#include "base/base.h" // COUNT

static const char run_notes[] =
    "\nAll matrices are looked at first: where one is not there, or does not begin as a matrix\n"
    "does, nothing is measured.\n\n"
    "A list that is given again adds to it: -k 64 -k 128. All else is given once.\n"
    "-k 16:64:16 means 16,32,48,64, and -k '1:64:*2' means 1,2,4,8,16,32,64.\n"
    "Several values of -opt make cases: -opt rows=32,64,stage=8,16 makes four.\n\n"
    "'spbench help columns' explains the table.\n\n"
    "Records (JSON Lines) go to the file of -o, the table to stderr. Without -o records go to\n"
    "stdout if it is a file or pipe of its own: not a terminal, and not that of stderr.\n";
static const char sweep_notes[] =
    "\nA LIST, such as matrices.txt, has a matrix a line: a file, gen:SPEC, or Group/Name with\n"
    "the sets that it is in. A FOLDER means all matrices in it.\n";
static const char report_notes[] =
    "\nA FILE has records (.jsonl, .jsonl.gz). Each operation, precision, set of axes, device and\n"
    "revision of the program has a table of its own: no mean is over two of them. CSV has the\n"
    "cases alone. -alg gives the order as well. 'spbench help columns' explains the columns.\n";
static const char compare_forms[] =
    "\nAlso:\n"
    "  spbench compare -ab PROGRAM [OPTIONS] MATRIX...   measure both, with options of run\n"
    "  spbench compare -history [OPTIONS] FILES|FOLDER   the newest against all before\n";

// To add a command: its name in enum command, its function, a row here.
static const struct command_info commands[] = {
    {COMMAND_RUN, "run", "[OPTIONS] MATRIX...", "measure; the word run may be left out", .least = 1,
     .most = INT32_MAX, .takes = "matrix", .notes = run_notes, .records = true},
    {COMMAND_LIST, "list", "[algorithms|devices|formats|NAME]",
     "algorithms, devices, formats; or all about one of them", .least = 0, .most = 1},
    {COMMAND_INFO, "info", "MATRIX...", "facts about matrices: sizes, row lengths, products, reuse",
     .least = 1, .most = INT32_MAX, .takes = "matrix"},
    {COMMAND_GEN, "gen", "SPEC [-o FILE]", "write a synthetic matrix", .least = 1, .most = 1,
     .takes = "SPEC"},
    {COMMAND_ROOF, "roof", "[-device NAME]", "measure what the device can do at most", .least = 0,
     .most = 0},
    {COMMAND_DOCTOR, "doctor", "[-device NAME] [-o FILE]",
     "what here would spoil a measurement, with advice", .least = 0, .most = 0},
    {COMMAND_COMPLETION, "completion", "bash", "print what completes command lines in bash",
     .least = 1, .most = 1},
    {COMMAND_MAN, "man", "", "print the manual page: spbench man | man -l -", .least = 0,
     .most = 0},
    {COMMAND_REPORT, "report", "[OPTIONS] FILE...",
     "the tables again from records, with a summary of all matrices", .least = 1, .most = INT32_MAX,
     .notes = report_notes},
    {COMMAND_COMPARE, "compare", "[OPTIONS] OLD NEW",
     "verdicts on two files of records, and an exit status", .least = 0, .most = INT32_MAX,
     .forms = compare_forms},
    {COMMAND_SELFTEST, "selftest", "aa [OPTIONS] [MATRIX...]",
     "this program against itself: false verdicts, noise floor", .least = 0, .most = INT32_MAX,
     .takes = "matrix"},
    {COMMAND_SWEEP, "sweep", "[OPTIONS] LIST|FOLDER|MATRIX...",
     "measure many matrices, lose nothing, go on where it was ended", .least = 1, .most = INT32_MAX,
     .takes = "matrix", .notes = sweep_notes, .records = true},
    {COMMAND_WORKER, "worker", "", NULL, .least = 0, .most = 0},
    {COMMAND_HELP, "help", "[COMMAND|" HELP_COLUMNS "]",
     "this help, the options of a command, or the columns of the table", .least = 0, .most = 1},
};
#define COMMAND_COUNT COUNT(commands)

const struct command_info *command_shown(int i)
{
    for (int c = 0; c < COMMAND_COUNT; c++)
        if (commands[c].about && !i--) return &commands[c];
    return NULL;
}

const struct command_info *command_find(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(commands[i].name, name)) return &commands[i];
    return NULL;
}

const struct command_info *command_at(int i) { return i < COMMAND_COUNT ? &commands[i] : NULL; }
