# SPDX-License-Identifier: MIT
"""What the items share: their list, what they count, and a server that is looked at."""

import contextlib
import os
import threading

import verbmark as v

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.dirname(os.path.dirname(v.VERBMARK))

OPERATIONS = ("send", "write", "read", "write-imm", "fetch-add")
# A sentence takes 5 s at the most; the rest is for a busy machine.
PATIENCE = 20
# A heap may keep that much of what was given back, and for each client less than the smallest
# thing that it has had of it.
ROOM_KIB = 1536
EACH_BYTES = 64
# What each of several threads at once may leave of its stack.
THREAD_KIB = 24
# A drive takes megabytes, and leaves holes where they were.
DRIVEN_KIB = 3072

ITEMS = {}
# Those that are not tried unless they are named.
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
    """Of one item, whichever thread tries. What was not survived is said."""

    def __init__(self):
        self.lock = threading.Lock()
        self.tried = self.survived = 0
        self.notes = []
        self.heaps = []  # before and after, in KiB
        self.complaints = []

    def told(self):
        """What there is to know of it besides."""
        told = [f"heap {before} -> {after} KiB" for before, after in self.heaps]
        if len(told) > 3:
            most = max(self.heaps, key=lambda heap: heap[1] - heap[0])
            told = ["most of {} heaps {} -> {} KiB".format(len(told), *most)]
        return [*told, *self.notes]

    @contextlib.contextmanager
    def attempt(self, what):
        with self.lock:
            self.tried += 1
        try:
            yield
            with self.lock:
                self.survived += 1
        except Exception as error:  # whatever it is, it is no survival
            self.complaints.append(f"{what}: {type(error).__name__}: {error}")


def check(condition, what):
    if not condition:
        raise AssertionError(what)


class Stage:
    """A server, and what is to be the same of it before and after; client: its clients' options."""

    def __init__(self, *options, client=(), **settings):
        self.client = client
        self.server = v.Server(*options, **settings)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.server.kill()

    def standing(self):
        return v.resources(), self.server.descriptors(), self.server.threads()

    def heap_kib(self):
        with open(f"/proc/{self.server.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("RssAnon:"))

    def serves(self):
        """Another client is served, to the end of a case."""
        v.measure(self.server, "-n", 20, "--cq", "event", *self.client)

    def greets(self):
        with v.Peer.greeted(self.server.port) as peer:
            peer.send({"type": "bye"})

    def settle(self, before):
        v.wait_until(
            lambda: self.standing() == before, PATIENCE,
            f"what was there before: {before}, and now {self.standing()}",
        )

    @contextlib.contextmanager
    def nothing_left(self, tally, clients=0, room=ROOM_KIB):
        """Of all that so many clients do meanwhile, once the heap has what it always has."""
        for _ in range(3):
            self.serves()
        v.wait_until(lambda: self.server.threads() <= 2, PATIENCE, "the end of the first ones")
        before = self.standing()
        heap = self.heap_kib()
        yield
        with tally.attempt("what is left of them"):
            self.settle(before)
            grown = self.heap_kib() - heap
            tally.heaps.append((heap, heap + grown))
            most = room + clients * EACH_BYTES // 1024
            check(grown <= most, f"the heap has grown by {grown} KiB, and {most} are the most")
            self.serves()


def endless(stage, dice):
    """A client that would measure for an hour."""
    op = dice.choice(OPERATIONS)
    return v.client(
        "-D", "3600s", "--op", op, "--metric", dice.choice(("lat", "bw")),
        "--cq", dice.choice(("poll", "event", "adaptive")),
        "-s", 8 if op == "fetch-add" else dice.choice((8, 4096)),
        "--connect", dice.choice(("cm", "qp")), port=stage.server.port,
    )


def told(ended):
    check(ended.status in (1, 2), f"exit status {ended.status}")
    check(len(ended.err.splitlines()) == 1 and len(ended.err) < 1000, ended.err[:500])
    check(ended.seconds < PATIENCE, f"it took {ended.seconds:.0f} s")
