#include <string.h>

#include "base/utf8.h"
#include "cli/commands/conform_rows.h"
#include "records/json.h"

#define COLUMN_LEAST 7 // width of "skipped"

static int width_of(const char *text, int width)
{
    return (int)max64((int64_t)strlen(text), width);
}

static int column_width(int trap)
{
    const struct trap *t = &traps[trap];
    return width_of(t->name, t->lacking ? width_of(t->lacking, COLUMN_LEAST) : COLUMN_LEAST);
}

static void print_row(FILE *out, const struct conform_row *x, int names, int libraries)
{
    fprintf(out, "%-6s  %-*s  %-4s  %-*s", x->entry->op->name, names, x->entry->name,
            device_list[x->entry->device].name, libraries, x->library[0] ? x->library : "-");
    if (x->skipped[0]) {
        fprintf(out, "  not run\n");
        return;
    }
    fprintf(out, "  %5lld  %5lld  %6lld  %5lld", x->count[EXACT_RIGHT],
            x->count[EXACT_WRONG] + x->count[EXACT_FAILED], x->count[EXACT_UNSUPPORTED],
            x->count[EXACT_CRASHED] + x->count[EXACT_HUNG]);
    for (int t = 0; t < trap_count; t++)
        fprintf(out, "  %-*s", t < trap_count - 1 ? column_width(t) : 0, conform_word(x, 1 + t));
    fprintf(out, "\n");
}

// Returns true if an earlier row tells the same reason of the same part; part -1: nothing was run.
static bool is_told(const struct conform_row *rows, int row, int part)
{
    const struct conform_row *x = &rows[row];
    for (int r = 0; r < row; r++)
        if (part < 0 ? !strcmp(rows[r].skipped, x->skipped)
                     : rows[r].parts[part].result == EXACT_SKIPPED &&
                           x->parts[part].result == EXACT_SKIPPED &&
                           !strcmp(rows[r].parts[part].why, x->parts[part].why))
            return true;
    return false;
}

static void print_heading(FILE *out, const struct conform_row *x, bool *told)
{
    if (*told) return;
    fprintf(out, "%s %s %s%s%s\n", x->entry->op->name, x->entry->name,
            device_list[x->entry->device].name, x->library[0] ? ", " : "", x->library);
    *told = true;
}

// Prints the reasons of a row. A reason that many rows share, such as a lack of memory, is printed
// once.
static void print_reasons(FILE *out, const struct conform_row *rows, int row)
{
    const struct conform_row *x = &rows[row];
    char text[FAIL_TEXT_MAX];
    bool told = false;
    if (x->skipped[0] && !is_told(rows, row, -1)) {
        print_heading(out, x, &told);
        fprintf(out, "  not run: %s\n", utf8_visible(x->skipped, text, sizeof text));
    }
    for (int i = 0; i <= trap_count; i++) {
        const struct conform_part *p = &x->parts[i];
        if (p->result != EXACT_SKIPPED && p->result < EXACT_LACKING) continue;
        if (is_told(rows, row, i)) continue;
        print_heading(out, x, &told);
        fprintf(out, "  %s, %s: %s\n", conform_part_name(i), conform_word(x, i),
                utf8_visible(p->input, text, sizeof text));
        fprintf(out, "    %s\n", utf8_visible(p->why, text, sizeof text));
    }
}

void conform_print(FILE *out, const struct conform_row *rows, int count)
{
    int names = 9, libraries = 7;
    for (int r = 0; r < count; r++) {
        names = width_of(rows[r].entry->name, names);
        libraries = width_of(rows[r].library, libraries);
    }
    fprintf(out, "%-6s  %-*s  %-4s  %-*s  %5s  %5s  %6s  %5s", "op", names, "algorithm", "on",
            libraries, "library", "right", "wrong", "unsup.", "crash");
    for (int t = 0; t < trap_count; t++)
        fprintf(out, "  %-*s", t < trap_count - 1 ? column_width(t) : 0, traps[t].name);
    fprintf(out, "\n");
    for (int r = 0; r < count; r++) print_row(out, &rows[r], names, libraries);
    for (int r = 0; r < count; r++) print_reasons(out, rows, r);
}

static void json_part(struct json *j, cJSON *list, const struct conform_row *x, int i)
{
    const struct conform_part *p = &x->parts[i];
    const bool told = p->result == EXACT_SKIPPED || p->result >= EXACT_LACKING;
    cJSON *part = json_object(j, list, NULL);
    json_text(j, part, "name", conform_part_name(i));
    json_text(j, part, "result", p->result == EXACT_NONE ? NULL : conform_word(x, i));
    json_text(j, part, "input", told ? p->input : NULL);
    json_text(j, part, "reason", told ? p->why : NULL);
}

int conform_json(FILE *out, const struct conform_row *rows, int count)
{
    struct json j;
    json_start(&j);
    json_text(&j, j.root, "schema", "spbench-conform/1");
    cJSON *list = json_array(&j, j.root, "algorithms");
    for (int r = 0; r < count; r++) {
        const struct conform_row *x = &rows[r];
        cJSON *row = json_object(&j, list, NULL);
        json_text(&j, row, "op", x->entry->op->name);
        json_text(&j, row, "alg", x->entry->name);
        json_text(&j, row, "device", device_list[x->entry->device].name);
        json_text(&j, row, "library", x->library[0] ? x->library : NULL);
        json_text(&j, row, "file", x->file);
        json_text(&j, row, "not_run", x->skipped[0] ? x->skipped : NULL);
        json_bool(&j, row, "bad", conform_is_bad(x));
        cJSON *cases = json_object(&j, row, "cases");
        json_whole(&j, cases, "right", (uint64_t)x->count[EXACT_RIGHT]);
        json_whole(&j, cases, "wrong", (uint64_t)x->count[EXACT_WRONG]);
        json_whole(&j, cases, "failed", (uint64_t)x->count[EXACT_FAILED]);
        json_whole(&j, cases, "unsupported", (uint64_t)x->count[EXACT_UNSUPPORTED]);
        json_whole(&j, cases, "crashed", (uint64_t)x->count[EXACT_CRASHED]);
        json_whole(&j, cases, "hung", (uint64_t)x->count[EXACT_HUNG]);
        cJSON *parts = json_array(&j, row, "traps");
        for (int i = 0; i <= trap_count; i++) json_part(&j, parts, x, i);
    }
    int err = json_end(&j, out);
    json_free(&j);
    return err;
}
