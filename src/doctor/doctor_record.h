// What the doctor found, as a record of its own kind, for those who keep it beside results.
#ifndef DOCTOR_RECORD_H
#define DOCTOR_RECORD_H

#include "doctor/doctor.h"
#include "records/json.h"
#include "records/record.h"

struct doctor_record {
    struct json j;
    cJSON *findings;
};

void doctor_record_start(struct doctor_record *r, const struct probe *p);
// `of` is what was looked at: device, machine, program.
void doctor_record_add(struct doctor_record *r, const char *of, const struct doctor_check *c,
                       const struct finding *f, enum verdict verdict);
// Writes the record, and frees it; `spoils` of its findings would spoil a measurement.
int doctor_record_write(struct doctor_record *r, struct record_file *out, int spoils);
// For one that is not written.
void doctor_record_free(struct doctor_record *r);

#endif
