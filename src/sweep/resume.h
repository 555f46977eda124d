// What a file of records has already: a sweep goes on where it was ended, however it was. Of a case
// that is there more than once the last record counts. resume.c reads it, resume_find.c answers.
#ifndef RESUME_H
#define RESUME_H

#include "sweep/worker_request.h"

struct resume_case {
    char *key, *name, *path; // of the case; of its matrix; owned
    int64_t prefix;          // letters of the key up to the matrix; 0: it cannot be told
    enum status status;
    int64_t made;  // when its run began, in seconds since 1970; INT64_MIN: not known
    char *content; // of its matrix, owned; NULL: none, or not known
    double file_bytes, file_changed_ns; // of its file; NAN: likewise
    int64_t place;                      // among the lines
};

struct resume {
    struct resume_case *cases; // size count; by name, then by key, then as they came
    int64_t count, room;
    int64_t lines; // whole ones
    bool exists;
};

// Reads the file. One that is not there is empty. A line that is no record is an error that names
// it, but for the beginning of one that a crash has left at the end: that counts for nothing.
int resume_read(struct resume *r, const char *path);
// Takes the file for this sweep until *fd is closed; one that is not there is left so, and *fd is
// -1. ERR_OUTPUT: another sweep has it.
int resume_lock(const char *path, int *fd);
void resume_free(struct resume *r);

// A matrix of the sweep, and which of its cases count as finished.
struct resume_ask {
    const char *name, *path;
    int64_t changed; // when its file was written last, in seconds; INT64_MIN: it is in none
    struct file_mark file;
    bool retry;     // only what ended as it should, or cannot be done here
    int64_t rounds; // a case that ended so is to be there so many times
};
// How cases ended.
struct endings {
    int64_t by_status[STATUS_COUNT];
    int64_t unread; // of those that are not good, the ones whose matrix could not be read
};
void endings_add(struct endings *t, enum status status, const char *key, const char *name);
// A case that is finished; texts are the resume's.
struct resume_found {
    const char *key, *name, *path; // path: of the file that was measured
    enum status status;
    // Not NULL: only if this is the content of the matrix, which is to be read to know. It is where
    // the file at hand is not the one that was measured, by path, size and time.
    const char *content;
};
struct resume_list {
    struct resume_found *list; // size count; owned
    int64_t count;
};
// Those of the cases whose keys begin so, up to the matrix. Of a record that says nothing of its
// file it counts when it was made: what was written since is another matrix.
int resume_done(const struct resume *r, const struct resume_ask *ask, const struct texts *prefixes,
                struct resume_list *out);
// Whether all of these beginnings are there of the file of this path, and certainly of this matrix,
// so that it need not be read to know.
bool resume_has_all(const struct resume *r, const struct resume_ask *ask,
                    const struct texts *prefixes);

#endif
