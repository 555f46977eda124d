#define _GNU_SOURCE // SCM_TIMESTAMPNS
#include "base/stamp.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/base.h"

static int to = -1;

int stamp_pair(int ends[2])
{
    const int on = 1;
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends)) return errno;
    // Without times of the system stamp_read() finds no message.
    setsockopt(ends[0], SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    return 0;
}

void stamp_open(int end) { to = end; }

int stamp_send(double message)
{
    if (to < 0 || send(to, &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 ||
        errno == EAGAIN || errno == ENOBUFS)
        return OK;
    return fail(ERR_STATE, "samples cannot be announced to the sweep: %s", strerror(errno));
}

bool stamp_read(int end, double *at_ms, double *message)
{
    union {
        struct cmsghdr first; // aligns the bytes
        char bytes[CMSG_SPACE(sizeof(struct timespec))];
    } control;
    struct iovec data = {message, sizeof *message};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    struct timespec t;
    if (recvmsg(end, &m, MSG_DONTWAIT) != sizeof *message) return false;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (!c || c->cmsg_type != SCM_TIMESTAMPNS) return false;
    memcpy(&t, CMSG_DATA(c), sizeof t);
    *at_ms = (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
    return true;
}
