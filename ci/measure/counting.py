# SPDX-License-Identifier: MIT
"""
What a device of Soft-RoCE counts while a program has both ends on it. Of both ways each end tells a
rate over a time of its own, and the sum of them is more than there ever was where one end is ahead
of the other. The packets of the device are those of both, at any time.
"""

import contextlib
import os
import threading
import time

COUNTERS = "/sys/class/infiniband/%s/ports/1/hw_counters"
PACKETS = "sent_pkts"
# Each one that has come before is answered by one more that acknowledges it; but of a read by all of
# its answer.
DUPLICATES = "duplicate_request"
# Of what comes too early, and is sent again.
AGAIN = ("send_rnr_err", "out_of_seq_request")
# Two samples are enough, one soon after the beginning of the middle and one before its end.
EVERY_S = 0.25
# What took longer to read is of no one time.
LONGEST_S = 0.001
# More do not fit into a packet.
MOST_BYTES = 4096


def is_counted(device):
    return os.path.exists(os.path.join(COUNTERS % device, PACKETS))


def least_packets(messages, size):
    """Of so many messages, without what acknowledges them."""
    return messages * -(-size // MOST_BYTES)


def middle(samples, least):
    """
    Packets per second in the middle of the last ones, which are those that were measured: before
    them a program may have warmed up, and at their end may be one end alone. None if too little was
    seen of it, or if packets came that say nothing of messages. A sample is a time, a count, and how
    often that was.
    """
    end = samples[-1][1] if samples else 0
    seen = [sample for sample in samples if end - 0.9 * least <= sample[1] <= end - 0.1 * least]
    if len(seen) < 2 or seen[0][2] != seen[-1][2] or seen[0][1] == seen[-1][1]:
        return None
    return (seen[-1][1] - seen[0][1]) / (seen[-1][0] - seen[0][0])


class Counting:
    """Reads the counters now and then until it is told to stop."""

    def __init__(self, device, is_read):
        self.folder = COUNTERS % device
        self.is_read = is_read
        self.samples = []
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._sample, daemon=True)

    def _read(self, name):
        with open(os.path.join(self.folder, name), encoding="ascii") as file:
            return int(file.read())

    def _sample(self):
        while not self.is_over.wait(EVERY_S):
            before = time.monotonic()
            count = self._read(PACKETS)
            after = time.monotonic()
            if after - before < LONGEST_S:
                duplicates = self._read(DUPLICATES)
                again = sum(self._read(name) for name in AGAIN)
                if self.is_read:
                    again += duplicates
                else:
                    count -= 2 * duplicates
                self.samples.append(((before + after) / 2, count, again))


@contextlib.contextmanager
def counting(device, is_read):
    """The samples of what runs meanwhile, when it has: what is sent twice counts once."""
    one = Counting(device, is_read)
    one.thread.start()
    try:
        yield one.samples
    finally:
        one.is_over.set()
        one.thread.join()
