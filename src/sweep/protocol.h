// The protocol between a sweep and its workers, both sides.
//
// A worker reads a request (worker_request.h), one line of JSON, from stdin. The worker writes
// lines to WORKER_CHANNEL and reads words of one letter from WORKER_WORDS. A standby (standby.h)
// gets ready by its first request, then waits for `begin` and reads its second request.
//
//   line                      word   meaning
//   tied                             the worker ends with its parent
//   ready                            the program is loaded, its options are parsed. A survey that
//                                    stays as a standby has written its plan before
//                             begin  to a standby: the second request is written
//   opened                           the device is open
//   read                             the matrix is read, or cannot be read
//                             go     the last worker of the slot is gone, no standby starts
//   device ID COUNT NAME             the open device, and the visible devices of its kind
//   near PROCESSORS                  survey only: processors next to the device, if known
//   note TEXT                        a message for the user
//   plan KEY                         survey only: the key of a case, up to the matrix
//   plugin                           describing plug-ins: the next line is a description
//   skipped REASON                   conform: the algorithm cannot run
//   library TEXT                     conform: version of its library, or of its plug-in
//   testing TRAP SIZE TEXT           conform: a case begins; its trap, size and text of its input
//   tested RESULT REASON             conform: the case has ended with this enum exact_result
//   environment                      the next line is this record
//   loaded CASES CONTENT             the matrix is loaded; number of cases; hash of the matrix
//   unread REASON                    the matrix cannot be read
//   quiet                            the worker is about to time
//                             go     no standby starts
//   loud                             the worker times nothing
//   case                             a case begins; the next line is its crash record
//   result STATUS MS MS MS TEXT      a case has ended; the next line is its record. Milliseconds
//                                    of its check, of its timing, and since the line `case` (0: a
//                                    case without that line)
//   again                            no other case can run in this process: another worker takes
//                                    the other cases
//   done                             nothing is measured any more, the worker ends
//   error CODE TEXT                  the worker gives up with this enum err
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include "sweep/worker_request.h"

#define WORKER_CHANNEL 3
#define WORKER_WORDS   4
#define WORKER_INPUT   5 // stdin of the sweep, for the matrix "-"
#define WORKER_STAMPS  6 // stamps (stamp.h) around each sample on the CPU: -1, then its milliseconds

enum protocol_line {
    LINE_TIED,
    LINE_READY,
    LINE_OPENED,
    LINE_READ,
    LINE_DEVICE,
    LINE_NEAR,
    LINE_NOTE,
    LINE_PLAN,
    LINE_PLUGIN,
    LINE_SKIPPED,
    LINE_LIBRARY,
    LINE_TESTING,
    LINE_TESTED,
    LINE_ENVIRONMENT,
    LINE_LOADED,
    LINE_UNREAD,
    LINE_QUIET,
    LINE_LOUD,
    LINE_CASE,
    LINE_RESULT,
    LINE_AGAIN,
    LINE_DONE,
    LINE_ERROR,
    LINES // number of lines; also: an unknown line
};
enum protocol_word { WORD_BEGIN = 'b', WORD_GO = 'g' };

// Parent: returns the kind of a line, and sets *rest to the text behind its word.
enum protocol_line protocol_parse(const char *line, const char **rest);
// Parent: parses the rest of an error line into a code and a text.
enum err protocol_error(const char *rest, const char **text);

// Worker: write a line; without and with a text behind its word.
int protocol_say(enum protocol_line line);
int protocol_say_text(enum protocol_line line, const char *format, ...) PRINTF_LIKE(2, 3);
// Worker: waits for a word. ERR_INTERRUPTED: the parent is gone.
int protocol_await(enum protocol_word word);
// Worker: reads the next request from stdin.
int protocol_read_request(struct worker_request *request);

#endif
