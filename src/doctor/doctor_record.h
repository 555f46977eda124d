// Record with the findings of `doctor`, to keep beside results.
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
// Adds a finding. `of` names the subject: device, machine or program.
void doctor_record_add(struct doctor_record *r, const char *of, const struct doctor_check *c,
                       const struct finding *f, enum severity verdict);
// Writes the record and frees it. `spoils` is the number of findings that spoil a measurement.
int doctor_record_write(struct doctor_record *r, struct record_file *out, int spoils);
// Frees a record that is not written.
void doctor_record_free(struct doctor_record *r);

#endif
