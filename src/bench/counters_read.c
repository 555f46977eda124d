// Parses the output of ncu --csv --page raw: a line of names that begins with "ID", a line of
// units, and a line for each kernel. Lines of ncu that begin with ==, and of this program, can be
// between.
#include "bench/counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define CELL_MAX 256 // letters of a cell that count

const char *const counter_metrics[METRICS] = {[METRIC_MEMORY] = "dram__bytes.sum",
                                              [METRIC_L2] = "lts__t_bytes.sum",
                                              [METRIC_L1] = "l1tex__t_bytes.sum"};

// Reads the next cell of a line of CSV, quoted or not. Returns false at the end of the line.
static bool next_cell(const char **p, char cell[CELL_MAX])
{
    const char *at = *p;
    int length = 0;
    bool quoted = *at == '"';
    if (!*at || *at == '\n' || *at == '\r') return false;
    for (at += quoted; *at && *at != '\n'; at++) {
        if (quoted && *at == '"' && *++at != '"') break; // two quotes mean one quote of the cell
        if (!quoted && (*at == ',' || *at == '\r')) break;
        if (length < CELL_MAX - 1) cell[length++] = *at;
    }
    cell[length] = 0;
    *p = at + (*at == ',');
    return true;
}

// Returns the bytes of a unit (powers of 1,000); 0: no unit of bytes.
static double unit_bytes(const char *unit)
{
    static const char *const names[] = {"byte", "Kbyte", "Mbyte", "Gbyte", "Tbyte"};
    for (int i = 0; i < COUNT(names); i++)
        if (!strcmp(unit, names[i])) return pow(1000, i);
    return 0;
}

// Returns the number of a text such as "1,234,567.5"; NAN: no number, or negative.
static double number_of(const char *text)
{
    char plain[CELL_MAX], *end;
    int length = 0;
    for (; *text; text++)
        if (*text != ',') plain[length++] = *text;
    plain[length] = 0;
    double x = strtod(plain, &end);
    return length && !*end && isfinite(x) && x >= 0 ? x : NAN;
}

// Columns of the metrics, among hundreds of others, and the factors of their units.
struct columns {
    int place[METRICS];
    double factor[METRICS];
};

// Returns the first metric without a column; NULL: all have one.
static const char *find_columns(const char *head, struct columns *c)
{
    char cell[CELL_MAX];
    for (int m = 0; m < METRICS; m++) c->place[m] = -1, c->factor[m] = 1; // bytes
    for (int i = 0; next_cell(&head, cell); i++)
        for (int m = 0; m < METRICS; m++)
            if (!strcmp(cell, counter_metrics[m])) c->place[m] = i;
    for (int m = 0; m < METRICS; m++)
        if (c->place[m] < 0) return counter_metrics[m];
    return NULL;
}

static void refuse(struct counters *out, const char *what, const char *of)
{
    out->known = false;
    snprintf(out->reason, sizeof out->reason, "ncu %s %s", what, of);
}

// Reads the cell of metric m: a unit, or a number of a kernel.
static bool add_cell(const char *cell, bool units, int m, struct columns *c, struct counters *out)
{
    double *sums[METRICS] = {[METRIC_MEMORY] = &out->memory_bytes,
                             [METRIC_L2] = &out->l2_bytes,
                             [METRIC_L1] = &out->l1_bytes};
    double x = units ? unit_bytes(cell) : number_of(cell);
    if (units && !(x > 0)) return refuse(out, "has an unknown unit of", counter_metrics[m]), false;
    if (units)
        c->factor[m] = x;
    else
        *sums[m] += x * c->factor[m];
    if (x >= 0 && isfinite(*sums[m])) return true;
    return refuse(out, "has no value of", counter_metrics[m]), false;
}

// Reads a line: the units, or a kernel.
static void add_line(const char *line, struct columns *c, struct counters *out)
{
    char cell[CELL_MAX];
    bool units = false, found[METRICS] = {false};
    for (int i = 0; next_cell(&line, cell); i++) {
        if (!i) units = !cell[0];
        for (int m = 0; m < METRICS; m++)
            if (i == c->place[m]) {
                found[m] = true;
                if (!add_cell(cell, units, m, c, out)) return;
            }
    }
    for (int m = 0; m < METRICS; m++)
        if (!found[m]) {
            refuse(out, "has no value of", counter_metrics[m]);
            return;
        }
    out->kernels += !units;
}

// Returns the printable rest of the first line from `what` on; NULL: no line has that text.
static const char *line_with(const char *text, const char *what, char line[CELL_MAX])
{
    char whole[CELL_MAX];
    const char *at = strstr(text, what);
    if (!at) return NULL;
    snprintf(whole, sizeof whole, "%.*s", (int)strcspn(at, "\r\n"), at);
    return utf8_visible(whole, line, CELL_MAX);
}

// Sets the reason if the output has no names of columns.
static void tell_failure(const char *text, int status, struct counters *out)
{
    char line[CELL_MAX];
    if (strstr(text, "ERR_NVGPUCTRPERM"))
        snprintf(out->reason, sizeof out->reason,
                 "this user may not read the GPU's counters (ERR_NVGPUCTRPERM): an administrator "
                 "has to allow it");
    else if (line_with(text, "==ERROR== ", line))
        snprintf(out->reason, sizeof out->reason, "ncu: %s", line + strlen("==ERROR== "));
    else if (line_with(text, "spbench: ", line))
        snprintf(out->reason, sizeof out->reason, "under ncu: %s", line + strlen("spbench: "));
    else if (strstr(text, "No kernels were profiled"))
        snprintf(out->reason, sizeof out->reason, "ncu saw no kernel");
    else
        snprintf(out->reason, sizeof out->reason, "ncu printed no counters and ended with %d",
                 status);
}

void counters_read(const char *text, int status, struct counters *out)
{
    struct columns columns;
    bool begun = false;
    out->known = true;
    out->memory_bytes = out->l2_bytes = out->l1_bytes = 0;
    out->kernels = 0;
    for (const char *line = text; *line && out->known; line += strcspn(line, "\n")) {
        line += *line == '\n';
        if (strncmp(line, begun ? "\"" : "\"ID\"", begun ? 1 : 4)) continue;
        const char *unknown = begun ? NULL : find_columns(line, &columns);
        if (unknown) refuse(out, "does not know", unknown);
        if (begun) add_line(line, &columns, out);
        begun = true;
    }
    if (!out->known || (begun && out->kernels && !status)) return;
    out->known = false;
    tell_failure(text, status, out);
}
