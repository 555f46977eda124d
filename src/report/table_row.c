#include "report/table_row.h"

#include <stdio.h>
#include <string.h>

int table_row_make(struct table_row *row, const struct collected *c, const struct summary_table *t,
                   int64_t line, int64_t matrix)
{
    const struct summary_row *cell = t->lines[line].cells[matrix];
    *row = (struct table_row){.table = t, .line = line, .matrix = matrix, .cell = cell};
    if (!cell) return OK;
    row->x = cell->x;
    row->facts = collect_algo(c, cell->x);
    return json_parse(cell->x->text, &row->json);
}

void table_row_free(struct table_row *row)
{
    cJSON_Delete(row->json);
    row->json = NULL;
}

const cJSON *table_row_field(const struct table_row *row, const char *field)
{
    return json_get(row->json, field);
}

double table_row_number(const struct table_row *row, const char *object, const char *field)
{
    return json_get_number(object ? json_get(row->json, object) : row->json, field);
}

const char *table_row_text(const struct table_row *row, const char *object, const char *field)
{
    return json_get_text(json_get(row->json, object), field);
}

bool table_row_is_timed(const struct table_row *row)
{
    return row->x && record_is_timed(&row->x->r);
}

bool input_next(const char **p, char name[INPUT_MAX], char value[INPUT_MAX])
{
    size_t length = strcspn(*p, " "), equals = strcspn(*p, "= ");
    if (!length) return false;
    bool named = equals < length;
    snprintf(name, INPUT_MAX, "%.*s", named ? (int)equals : 4, named ? *p : "prec");
    snprintf(value, INPUT_MAX, "%.*s", (int)(named ? length - equals - 1 : length),
             *p + (named ? equals + 1 : 0));
    *p += length;
    *p += **p == ' ';
    return true;
}

bool input_find(const char *inputs, const char *name, char value[INPUT_MAX])
{
    char found[INPUT_MAX];
    while (input_next(&inputs, found, value))
        if (!strcmp(found, name)) return true;
    return false;
}
