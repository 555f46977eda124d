// Messages have the times at which they are sent, also if they are read later.
#include "base/clock.h"
#include "base/stamp.h"
#include "test.h"

#include <unistd.h>

#define APART_MS 20.0
#define LATE_MS  200.0 // for a loaded machine

static void test_times(void)
{
    int ends[2];
    double first_ms, second_ms, message;
    CHECK(!stamp_pair(ends), "no channel");
    CHECK(!stamp_send(1), "without a channel nothing is sent");
    stamp_open(ends[1]);
    CHECK(!stamp_send(-1), "%s", fail_text());
    usleep((useconds_t)(APART_MS * 1e3));
    CHECK(!stamp_send(2.5), "%s", fail_text());
    usleep((useconds_t)(LATE_MS * 2e3));
    CHECK(stamp_read(ends[0], &first_ms, &message) && message == -1, "message %g", message);
    CHECK(stamp_read(ends[0], &second_ms, &message) && message == 2.5, "message %g", message);
    CHECK(second_ms - first_ms >= APART_MS && second_ms - first_ms < APART_MS + LATE_MS, "%g ms",
          second_ms - first_ms);
    CHECK(!stamp_read(ends[0], &first_ms, &message), "a message that was not sent");
    int errors = 0;
    for (int i = 0; i < 10000; i++) errors += stamp_send(i) != OK;
    CHECK(!errors, "a full channel: %s", fail_text());
    close(ends[1]);
    CHECK(stamp_send(0) == ERR_STATE, "a closed channel takes messages");
    close(ends[0]);
}

TESTS(test_times)
