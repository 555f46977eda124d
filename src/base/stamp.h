// Messages that the system stamps with the time of sending. Sending wakes no reader: announcing a
// timed region starts no other work.
#ifndef STAMP_H
#define STAMP_H

#include <stdbool.h>

// Makes a channel: messages go from ends[1] to ends[0]. Returns 0 or an errno.
int stamp_pair(int ends[2]);
// Sets the end to which this process sends. Without a call nothing is sent.
void stamp_open(int end);
// Sends a message. A message beyond the room of the channel is lost. ERR_STATE: there is no channel
// any more.
int stamp_send(double message);
// Reads the next message, without waiting. Sets *at_ms to the time of sending. Returns false if no
// message is left.
bool stamp_read(int end, double *at_ms, double *message);

#endif
