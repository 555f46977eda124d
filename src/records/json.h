// A JSON document, built with cJSON. If a node cannot be allocated, the document remembers this and
// json_line() fails, so that callers need not test each step.
#ifndef JSON_H
#define JSON_H

#include "base/base.h"

#include <cjson/cJSON.h>
#include <stdio.h>

struct json {
    cJSON *root;
    bool lost; // a node could not be allocated
};

// Parses one document, which the caller frees with cJSON_Delete(). ERR_INPUT: the text is no
// document, or more than one.
int json_parse(const char *text, cJSON **out);

// Return a member of an object; NULL or NAN if it is missing or of another type.
const cJSON *json_get(const cJSON *o, const char *name);
const char *json_get_text(const cJSON *o, const char *name);
double json_get_number(const cJSON *o, const char *name);

// Starts an empty object.
void json_start(struct json *j);
void json_free(struct json *j);

// Each adds a node to `parent`: under `name` to an object, with name NULL to an array.
cJSON *json_object(struct json *j, cJSON *parent, const char *name);
cJSON *json_array(struct json *j, cJSON *parent, const char *name);
// NaN and infinity become null: JSON has no such numbers.
void json_number(struct json *j, cJSON *parent, const char *name, double x);
// The same for measured values, with seven digits.
void json_measure(struct json *j, cJSON *parent, const char *name, double x);
// Adds a whole number of 64 bits, without rounding to a double.
void json_whole(struct json *j, cJSON *parent, const char *name, uint64_t x);
// NULL becomes null; bytes that are not UTF-8 become '?'.
void json_text(struct json *j, cJSON *parent, const char *name, const char *text);
// Adds any bytes, such as a path: each byte becomes the character of its number. json_bytes_back()
// restores the bytes of such a text, in place. NULL becomes null.
void json_bytes(struct json *j, cJSON *parent, const char *name, const char *bytes);
void json_bytes_back(char *text);
void json_bool(struct json *j, cJSON *parent, const char *name, bool x);
void json_null(struct json *j, cJSON *parent, const char *name);

// Returns the document as one line with a newline; the caller frees it. NULL: ERR_MEMORY.
char *json_line(const struct json *j);
// Writes the document as such a line, and frees it.
int json_end(struct json *j, FILE *out);

#endif
