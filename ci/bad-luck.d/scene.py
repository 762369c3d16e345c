# SPDX-License-Identifier: MIT
"""Code shared by the items: their list, the tally of tries, and a server under observation."""

import contextlib
import os
import threading

import verbmark as v

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.dirname(os.path.dirname(v.VERBMARK))

OPERATIONS = ("send", "write", "read", "write-imm", "fetch-add")
# A message takes at most 5 s; the rest is margin for a busy machine.
PATIENCE = 20
# The heap may keep this much freed memory, plus less than its smallest allocation for each client.
ROOM_KIB = 1536
EACH_BYTES = 64
# Stack memory that each concurrent thread may leave behind.
THREAD_KIB = 24

ITEMS = {}
# Items that run only if they are named.
LONG = set()


def item(title, default, is_long=False):
    def add(function):
        name = function.__name__.replace("_", "-")
        ITEMS[name] = (title, default, function)
        if is_long:
            LONG.add(name)
        return function

    return add


class Tally:
    """Counts the tries of one item, in any thread, and collects complaints about failures."""

    def __init__(self):
        self.lock = threading.Lock()
        self.tried = self.survived = 0
        self.notes = []
        self.heaps = []  # (before, after) in KiB
        self.complaints = []

    def details(self):
        """Returns heap sizes and notes as texts."""
        texts = [f"heap {before} -> {after} KiB" for before, after in self.heaps]
        if len(texts) > 3:
            most = max(self.heaps, key=lambda heap: heap[1] - heap[0])
            texts = ["largest growth of {} heaps {} -> {} KiB".format(len(texts), *most)]
        return [*texts, *self.notes]

    @contextlib.contextmanager
    def attempt(self, what):
        with self.lock:
            self.tried += 1
        try:
            yield
            with self.lock:
                self.survived += 1
        except Exception as error:  # any exception is a failure
            self.complaints.append(f"{what}: {type(error).__name__}: {error}")


def check(condition, what):
    if not condition:
        raise AssertionError(what)


class Stage:
    """A server, its resources before and after, and the options of its clients (client)."""

    def __init__(self, *options, client=(), **settings):
        self.client = client
        self.server = v.Server(*options, **settings)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.server.kill()

    def resources(self):
        return v.resources(), self.server.descriptors(), self.server.threads()

    def heap_kib(self):
        with open(f"/proc/{self.server.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("RssAnon:"))

    def serves(self):
        """Checks that the server serves another client."""
        v.measure(self.server, "-n", 20, "--cq", "event", *self.client)

    def greets(self):
        with v.Peer.greeted(self.server.port) as peer:
            peer.send({"type": "bye"})

    def settle(self, before):
        v.wait_until(
            lambda: self.resources() == before, PATIENCE,
            f"the earlier resources, {before}",
        )

    @contextlib.contextmanager
    def nothing_left(self, tally, clients=0, room=ROOM_KIB):
        """Warms up the heap, then checks that the clients of the block leak nothing."""
        for _ in range(3):
            self.serves()
        v.wait_until(lambda: self.server.threads() <= 2, PATIENCE, "the end of the first clients")
        before = self.resources()
        heap = self.heap_kib()
        yield
        with tally.attempt("what the clients leave behind"):
            self.settle(before)
            grown = self.heap_kib() - heap
            tally.heaps.append((heap, heap + grown))
            most = room + clients * EACH_BYTES // 1024
            check(grown <= most, f"the heap grew by {grown} KiB; the limit is {most} KiB")
            self.serves()


def endless(stage, dice):
    """Returns a client that would measure for an hour."""
    op = dice.choice(OPERATIONS)
    return v.client(
        "-D", "3600s", "--op", op, "--metric", dice.choice(("lat", "bw")),
        "--cq", dice.choice(("poll", "event", "adaptive")),
        "-s", 8 if op == "fetch-add" else dice.choice((8, 4096)),
        "--connect", dice.choice(("cm", "qp")), port=stage.server.port,
    )


def check_message(ended):
    """Checks that a program failed within the time limit with one line of error message."""
    check(ended.status in (1, 2), f"exit status {ended.status}")
    check(len(ended.err.splitlines()) == 1 and len(ended.err) < 1000, ended.err[:500])
    check(ended.seconds < PATIENCE, f"the program took {ended.seconds:.0f} s")
