#include "doctor/doctor_record.h"

#include "records/record_parts.h"

// Adds the devices that were preferred but are unavailable.
static void add_missing(struct json *j, const struct probe *p)
{
    cJSON *all = json_array(j, j->root, "missing");
    for (int k = 0; k < DEVICE_KINDS; k++) {
        const char *missing = device_missing((enum device_kind)k);
        if (!missing || p->gpu) continue;
        cJSON *x = json_object(j, all, NULL);
        json_text(j, x, "kind", device_list[k].name);
        json_text(j, x, "reason", missing);
    }
}

void doctor_record_start(struct doctor_record *r, const struct probe *p)
{
    struct json *j = &r->j;
    json_start(j);
    json_text(j, j->root, "schema", RECORD_SCHEMA);
    json_text(j, j->root, "kind", "doctor");
    record_add_origin(j);
    json_number(j, j->root, "threads", p->threads);
    json_text(j, j->root, "device", p->id);
    json_text(j, j->root, "name", p->name[0] ? p->name : NULL);
    add_missing(j, p);
    r->findings = json_array(j, j->root, "findings");
}

void doctor_record_add(struct doctor_record *r, const char *of, const struct doctor_check *c,
                       const struct finding *f, enum severity verdict)
{
    static const char *const words[] = {[SEVERITY_OK] = "ok",
                                        [SEVERITY_UNCLEAR] = "unclear",
                                        [SEVERITY_HINT] = "hint",
                                        [SEVERITY_ADVICE] = "advice"};
    cJSON *x = json_object(&r->j, r->findings, NULL);
    json_text(&r->j, x, "of", of);
    json_text(&r->j, x, "check", c->name);
    json_text(&r->j, x, "verdict", words[verdict]);
    json_text(&r->j, x, "value", f->value);
    json_text(&r->j, x, "advice", f->advice[0] ? f->advice : NULL);
}

int doctor_record_write(struct doctor_record *r, struct record_file *out, int spoils)
{
    json_number(&r->j, r->j.root, "spoils", spoils);
    return record_document(out, &r->j);
}

void doctor_record_free(struct doctor_record *r) { json_free(&r->j); }
