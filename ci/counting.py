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

COUNTER = "/sys/class/infiniband/%s/ports/1/hw_counters/sent_pkts"
EVERY_S = 0.1
# What took longer to read is of no one time.
LONGEST_S = 0.001
# More do not fit into a packet.
MOST_BYTES = 4096


def is_counted(device):
    return os.path.exists(COUNTER % device)


def least_packets(messages, size):
    """Of so many messages, without what acknowledges them."""
    return messages * -(-size // MOST_BYTES)


def middle(samples, least):
    """
    Packets per second in the middle of the last ones, which are those that were measured: before
    them a program may have warmed up. None if too little was seen of it. Samples are pairs of
    a time and a count.
    """
    end = samples[-1][1] if samples else 0
    seen = [sample for sample in samples if end - 0.9 * least <= sample[1] <= end - 0.1 * least]
    if len(seen) < 2 or seen[-1][0] <= seen[0][0]:
        return None
    return (seen[-1][1] - seen[0][1]) / (seen[-1][0] - seen[0][0])


class Counting:
    """Reads the counter now and then until it is told to stop."""

    def __init__(self, device):
        self.path = COUNTER % device
        self.samples = []
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._sample, daemon=True)

    def _sample(self):
        while not self.is_over.wait(EVERY_S):
            before = time.monotonic()
            with open(self.path, encoding="ascii") as file:
                count = int(file.read())
            after = time.monotonic()
            if after - before < LONGEST_S:
                self.samples.append((before, count))


@contextlib.contextmanager
def counting(device):
    """The samples of what runs meanwhile, when it has."""
    one = Counting(device)
    one.thread.start()
    try:
        yield one.samples
    finally:
        one.is_over.set()
        one.thread.join()
