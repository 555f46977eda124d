// The cases that a file of records has: a sweep continues where it ended. If a case has several
// records, the last one counts.
#ifndef RESUME_H
#define RESUME_H

#include "sweep/worker_request.h"

struct resume_case {
    char *key, *name, *path; // key; name and path of the matrix; owned
    int64_t prefix;          // length of the key up to the matrix; 0: unknown
    enum status status;
    bool dropped;  // by a race
    int64_t made;  // date of its run, in seconds since 1970; INT64_MIN: unknown
    char *content; // hash of the matrix, owned; NULL: none, or unknown
    double file_bytes, file_changed_ns; // size and last write of the file; NAN: likewise
    int64_t place;                      // order in the file
};

struct resume {
    struct resume_case *cases; // size count; by name, key and order in the file
    int64_t count, room;
    int64_t lines; // whole lines
    bool exists;
};

// Reads the file; a missing file has no cases. A line that is no record is an error with its
// number. The part of a record at the end, left by a crash, is ignored.
int resume_read(struct resume *r, const char *path);
// Locks the file for this sweep until *fd is closed. A missing file stays missing, and *fd is -1.
// ERR_OUTPUT: another sweep has the lock.
int resume_lock(const char *path, int *fd);
void resume_free(struct resume *r);

// A matrix of the sweep, and the rule by which its cases are finished.
struct resume_ask {
    const char *name, *path;
    int64_t changed; // last write of its file, in seconds; INT64_MIN: no file
    struct file_mark file;
    bool retry;     // only cases that are ok or unsupported are finished
    bool race;      // cases that a race dropped are finished
    int64_t rounds; // number of records that such a case needs
};
// Numbers of ended cases.
struct endings {
    int64_t by_status[STATUS_COUNT];
    int64_t unread; // failed cases of matrices that could not be read
};
void endings_add(struct endings *t, enum status status, const char *key, const char *name);
// A finished case; the texts belong to struct resume.
struct resume_found {
    const char *key, *name, *path; // path: the measured file
    enum status status;
    // Not NULL: finished only if the matrix has this content. The file differs from the measured
    // one by path, size or time, so the matrix must be read.
    const char *content;
};
struct resume_list {
    struct resume_found *list; // size count; owned
    int64_t count;
};
// Lists the finished cases with these prefixes (keys up to the matrix). A record without the size
// and date of its file counts unless the file was written after the run: the file was not read.
int resume_done(const struct resume *r, const struct resume_ask *ask, const struct texts *prefixes,
                struct resume_list *out);
// Returns true if cases with all of these prefixes are finished, for this file without doubt: the
// matrix need not be read.
bool resume_has_all(const struct resume *r, const struct resume_ask *ask,
                    const struct texts *prefixes);

#endif
