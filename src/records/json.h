// One JSON document of a record, built with cJSON. A node that could not be allocated is left out
// and remembered, so that callers build without looking at each step and json_line() refuses.
#ifndef JSON_H
#define JSON_H

#include "base/base.h"

#include <cjson/cJSON.h>

struct json {
    cJSON *root;
    bool lost; // a node could not be allocated
};

// A document from its text, to be freed with cJSON_Delete(). ERR_INPUT if that is anything else
// than one document.
int json_parse(const char *text, cJSON **out);

// Starts an empty object; the other, an empty array.
void json_start(struct json *j);
void json_start_list(struct json *j);
void json_free(struct json *j);

// Each adds to `parent`, under `name` if that is an object; name is NULL if it is an array.
cJSON *json_object(struct json *j, cJSON *parent, const char *name);
cJSON *json_array(struct json *j, cJSON *parent, const char *name);
// JSON knows no NaN and no infinity: these become null.
void json_number(struct json *j, cJSON *parent, const char *name, double x);
// The same for what was measured: seven digits say all of it, in half the space.
void json_measure(struct json *j, cJSON *parent, const char *name, double x);
// A number of 64 bits, of which a double would lose the last ones.
void json_whole(struct json *j, cJSON *parent, const char *name, uint64_t x);
// NULL becomes null; bytes that are not UTF-8 become '?'.
void json_text(struct json *j, cJSON *parent, const char *name, const char *text);
void json_bool(struct json *j, cJSON *parent, const char *name, bool x);
void json_null(struct json *j, cJSON *parent, const char *name);

// The document as one line that ends with a newline; to be freed with mem_free(). NULL: ERR_MEMORY.
char *json_line(const struct json *j);

#endif
