# SPDX-License-Identifier: MIT
"""
Counters of a Soft-RoCE device on which both client and server run. For bidirectional tests, each
side reports its rate over its own interval, and if one side is ahead of the other, the sum of both
exceeds the real rate. The packet counters of the device include both sides at any time.
"""

import contextlib
import os
import threading
import time

COUNTERS = "/sys/class/infiniband/%s/ports/1/hw_counters"
PACKETS = "sent_pkts"
# Each duplicate is answered by one more packet, its acknowledgment; for a READ, by the whole
# response.
DUPLICATES = "duplicate_request"
# Messages that arrive too early and are sent again.
AGAIN = ("send_rnr_err", "out_of_seq_request")
# Two samples in the middle of the run suffice.
EVERY_S = 0.25
# A sample that took longer to read has no definite time.
LONGEST_S = 0.001
# The largest payload of a packet.
MOST_BYTES = 4096


def is_counted(device):
    return os.path.exists(os.path.join(COUNTERS % device, PACKETS))


def least_packets(messages, size):
    """Returns the number of packets of the messages, without acknowledgments."""
    return messages * -(-size // MOST_BYTES)


def middle(samples, least):
    """
    Returns the packets per second in the middle of the last `least` packets, which are the measured
    ones: the program may have warmed up before them, and at the end only one side may still send.
    Returns None if there are too few samples, or if packets were retransmitted then. A sample
    is (time, packets, retransmissions).
    """
    end = samples[-1][1] if samples else 0
    seen = [sample for sample in samples if end - 0.9 * least <= sample[1] <= end - 0.1 * least]
    if len(seen) < 2 or seen[0][2] != seen[-1][2] or seen[0][1] == seen[-1][1]:
        return None
    return (seen[-1][1] - seen[0][1]) / (seen[-1][0] - seen[0][0])


class Counting:
    """Samples the counters in a thread until is_over is set."""

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
    """Yields a list that gets the samples of the block; retransmitted packets count once."""
    one = Counting(device, is_read)
    one.thread.start()
    try:
        yield one.samples
    finally:
        one.is_over.set()
        one.thread.join()
