#include "cli/options/commands.h"

#include <string.h>

#include "base/base.h" // COUNT

static const char run_notes[] =
    "\nAll matrices are opened first. If one is missing or is no matrix, nothing is measured.\n\n"
    "A list given twice is joined: -k 64 -k 128. Other options can be given once.\n"
    "-k 16:64:16 means 16,32,48,64, and -k '1:64:*2' means 1,2,4,8,16,32,64.\n"
    "Several values of -opt make cases: -opt rows=32,64,stage=8,16 makes four.\n\n"
    "'spbench help columns' explains the table.\n\n"
    "Records (JSON Lines) go to the file of -o, the table goes to stderr. Without -o, records go\n"
    "to stdout if stdout is neither a terminal nor the file of stderr.\n";
static const char sweep_notes[] =
    "\nA LIST, such as matrices.txt, has a matrix per line: a file, gen:SPEC, or Group/Name, and\n"
    "its sets. A path with blanks stands between quotes (\"). A FOLDER stands for all matrices\n"
    "in it.\n";
static const char report_notes[] =
    "\nA FILE has records (.jsonl, .jsonl.gz). Each operation, precision, set of axes, device and\n"
    "revision of the program has its own table. CSV has the cases only. -alg sets the order, too.\n"
    "'spbench help columns' explains the columns.\n";
static const char conform_notes[] =
    "\nThe table has a row for each algorithm and library. right, wrong, unsup. and crash count "
    "the\n"
    "exact cases. Each trap has a column with a word, or a dash if the trap is not for the\n"
    "algorithm:\n"
    "  ok                  right; the trap found no fault\n"
    "  WRONG               a wrong result\n"
    "  failed              a call returned an error; counts as wrong\n"
    "  crash               the process ended, or the device was lost\n"
    "  hang                no end before -timeout\n"
    "  flushed             denormal numbers are treated as 0\n"
    "  varies              runs differ in bits\n"
    "  no order            a run starts before earlier work in its stream has ended; an error\n"
    "  no graph            a run cannot be captured\n"
    "  unsup.              the algorithm refuses the cases\n"
    "  skipped             not enough memory; the reason is below the table\n"
    "\nThe traps:\n";
static const char compare_forms[] =
    "\nOther forms:\n"
    "  spbench compare -ab PROGRAM [OPTIONS] MATRIX...   measure and compare two programs\n"
    "  spbench compare -history [OPTIONS] FILES|FOLDER   compare the newest file with older ones\n";

// To add a command: its name in enum command, its function, a row here.
static const struct command_info commands[] = {
    {COMMAND_RUN, "run", "[OPTIONS] MATRIX...", "measure algorithms; the word run may be omitted",
     .least = 1, .most = INT32_MAX, .takes = "matrix", .notes = run_notes, .records = true},
    {COMMAND_SWEEP, "sweep", "[OPTIONS] LIST|FOLDER|MATRIX...",
     "measure many matrices in worker processes; resumable", .least = 1, .most = INT32_MAX,
     .takes = "matrix", .notes = sweep_notes, .records = true},
    {COMMAND_ADVISE, "advise", "[OPTIONS] MATRIX...",
     "measure the candidates for a matrix, and name the call to make", .least = 1,
     .most = INT32_MAX, .takes = "matrix"},
    {COMMAND_REPORT, "report", "[OPTIONS] FILE...",
     "print tables and a summary of all matrices from records", .least = 1, .most = INT32_MAX,
     .notes = report_notes},
    {COMMAND_COMPARE, "compare", "[OPTIONS] OLD NEW", "compare two files of records case by case",
     .least = 0, .most = INT32_MAX, .forms = compare_forms},
    {COMMAND_INFO, "info", "MATRIX...",
     "show facts about matrices: sizes, row lengths, products, reuse", .least = 1,
     .most = INT32_MAX, .takes = "matrix"},
    {COMMAND_LIST, "list", "[algorithms|devices|formats|NAME]",
     "list algorithms, devices and formats, or describe one", .least = 0, .most = 1},
    {COMMAND_GEN, "gen", "SPEC [-o FILE]", "write a synthetic matrix", .least = 1, .most = 1,
     .takes = "SPEC"},
    {COMMAND_ROOF, "roof", "[-device NAME]", "measure the ceilings of the device", .least = 0,
     .most = 0},
    {COMMAND_DOCTOR, "doctor", "[-device NAME] [-o FILE]",
     "find conditions that spoil measurements, with advice", .least = 0, .most = 0},
    {COMMAND_CONFORM, "conform", "[OPTIONS]",
     "test vendors' libraries or plug-ins for wrong results", .least = 0, .most = 0,
     .notes = conform_notes},
    {COMMAND_NEW_KERNEL, "new-kernel", "spmm|sddmm|spgemm NAME [-cpu|-cuda]",
     "write a first plug-in: its source, a Makefile, the header", .least = 2, .most = 2},
    {COMMAND_WORKER, "worker", "", NULL, .least = 0, .most = 0},
    {COMMAND_HELP, "help", "[COMMAND|" HELP_COLUMNS "]",
     "show this help, the options of a command, or the columns", .least = 0, .most = 1},
    {COMMAND_MAN, "man", "", "print the manual page: spbench man | man -l -", .least = 0,
     .most = 0},
    {COMMAND_COMPLETION, "completion", "bash", "print a completion script for bash", .least = 1,
     .most = 1},
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
