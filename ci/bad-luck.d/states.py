# SPDX-License-Identifier: MIT
"""Clients that stop to speak, in each state of the protocol."""

import concurrent.futures
import contextlib
import os
import select
import tempfile
import threading
import time

import verbmark as v
from scene import (
    DRIVEN_KIB, PATIENCE, ROOM_KIB, THREAD_KIB, Stage, Tally, check, endless, item,
)

# So many stall at a time.
AT_ONCE = 8
# Such as a test can wait for: they are what ends a client that lives.
LIMITS = ("--max-pause", "3s", "--max-time", "12s")
# What does, in the server's words.
GREETING = "no answer within 5000 ms"
PAUSE = "has been idle for 3 s"
TIME = "time limit of 12 s is over"

# What is said until then, and what ends it.
STATES = {
    "nothing said": ((), GREETING),
    "half a greeting": ((b"\0\0\0\x40{\"type\":",), GREETING),
    "challenged": (("secret",), GREETING),
    "greeted": (("hello",), PAUSE),
    "described": (("hello", "describe"), PAUSE),
    "noted": (("hello", "describe", "note"), PAUSE),
    "half a case": (("hello", b"\0\0\1\0{\"type\":\"case\""), PAUSE),
    "a case that it does not connect": (("hello", "case"), TIME),
    "a case by hand": (("hello", "describe", "pairs"), TIME),
    "a case by hand that it does not begin": (("hello", "both ways"), TIME),
    "a drive that does not go": (("hello", "drive"), TIME),
    "a drive": (("hello", "drive", "go"), TIME),
}
# The same of a client of ours, which does not hear, or is not heard: the message, what ends it,
# and its options.
HELD = {
    "connected": ("ready", TIME, ("-n", 50)),
    # It has begun, and gives up sooner.
    "both ways, and not begun": (
        "begin", "nothing arrived for 5 s", ("-n", 10**12, "--metric", "bw", "-b")
    ),
    "measured": ("stop", TIME, ("-n", 50)),
    "between two trials": ("done", TIME, ("-n", 50, "--trials", 2)),
}
# What each word of those is, and what the server says to it.
MESSAGES = {
    "hello": (lambda stage: v.HELLO, ("welcome",)),
    "secret": (lambda stage: v.HELLO | {"nonce": "0" * 64}, ("challenge",)),
    "describe": (
        lambda stage: {"type": "describe", "device": v.DEVICE, "port": 1}, ("description",)
    ),
    "note": (lambda stage: {"type": "note"}, ("noted",)),
    "case": (lambda stage: case(), ("listening",)),
    "pairs": (lambda stage: v.by_hand(cq="event"), ("listening", "ready")),
    "both ways": (
        lambda stage: v.by_hand(cq="event", metric="bw", bidirectional=True), ("listening", "ready")
    ),
    "drive": (lambda stage: drive(stage), ("steady",)),
    "go": (lambda stage: {"type": "go"}, ("gone",)),
}


def case(**parameters):
    return v.CASE | {"parameters": v.CASE["parameters"] | parameters}


def drive(stage):
    """Of itself, for longer than anybody waits."""
    return {
        "type": "drive", "host": v.ADDRESS, "port": stage.server.port, "wait_ms": 0,
        "parameters": {"op": "send", "cq": "event", "duration": "3600s"},
    }


def reach(stage, peer, words):
    for word in words:
        if isinstance(word, bytes):
            peer.sock.sendall(word)
            continue
        message, answers = MESSAGES[word]
        peer.send(message(stage))
        for answer in answers:
            peer.expect(answer)


class Stages:
    """Servers for all states: one with a secret, one whose clients have it drive, and one more."""

    def __init__(self, *limits):
        with tempfile.NamedTemporaryFile(delete=False) as file:  # mode 600
            file.write(b"such as nobody says\n")
        self.secret = file.name
        secret = ("--secret-file", self.secret)
        self.plain = Stage(*limits)
        self.guarded = Stage(*limits, *secret, client=secret)
        self.driving = Stage(*limits, "--drive")
        self.all = (self.plain, self.guarded, self.driving)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for stage in self.all:
            stage.server.kill()
        os.unlink(self.secret)

    def of(self, words):
        if "secret" in words:
            return self.guarded
        return self.driving if "drive" in words else self.plain

    @contextlib.contextmanager
    def nothing_left(self, tally, clients, at_once=0):
        room = ROOM_KIB + at_once * THREAD_KIB
        with (
            self.driving.nothing_left(tally, clients, DRIVEN_KIB),
            self.guarded.nothing_left(tally, clients, room),
            self.plain.nothing_left(tally, clients, room),
        ):
            yield


@item("a client that hangs up in each state", 25)
def hang_ups(tally, count, dice):
    with Stages() as stages:
        hang_up_all(Tally(), stages, 5)
        with stages.nothing_left(tally, len(STATES) * count):
            hang_up_all(tally, stages, count)


def hang_up_all(tally, stages, count):
    for state, (words, _) in STATES.items():
        stage = stages.of(words)
        for _ in range(count):
            with tally.attempt(state):
                with v.Peer.dial(stage.server.port) as peer:
                    reach(stage, peer, words)
                # A drive has a thread at either end, which here is one server.
                v.wait_until(lambda: stage.server.threads() <= 2, PATIENCE, "its end")


@item("a client that stalls in each state, dead or alive", 1)
def stalls(tally, count, dice):
    with Stages(*LIMITS) as stages:
        # So many threads at once leave stacks and heaps, which the next ones are given.
        stall_all(Tally(), (False,), stages)
        with stages.nothing_left(tally, 2 * count * (len(STATES) + len(HELD)), AT_ONCE):
            stall_all(tally, (False, True) * count, stages)
            for stopped in range(2 * count):
                with tally.attempt("stopped within a case"):
                    stop_client(stages.plain, dice, stopped % 2)


def stall_all(tally, lives, stages):
    """Some at once, so that it takes no longer than it has to."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        waits = []
        for is_alive in lives:
            for state, (words, _) in STATES.items():
                waits.append(pool.submit(attempt, tally, state, is_alive, stall, stages.of(words)))
            for state in HELD:
                waits.append(pool.submit(attempt, tally, state, is_alive, hold, stages.plain))
        with tally.attempt("others meanwhile"):
            while not all(wait.done() for wait in waits):
                for stage in stages.all:
                    stage.serves()


def attempt(tally, state, lives, how, stage):
    with tally.attempt(f"{state}, {'alive' if lives else 'dead'}"):
        how(stage, state, lives)


def stall(stage, state, lives):
    words, ends = STATES[state]
    is_half = bool(words) and isinstance(words[-1], bytes)
    with v.Peer.dial(stage.server.port) as peer:
        reach(stage, peer, words)
        # Its message goes on, and is never whole.
        alive = b" " if is_half else v.frame(v.ALIVE)
        last = hear_out(peer, alive if lives else b"")
    check(not lives or ends in last.get("reason", ""), f"it was told {last}")


def hear_out(peer, alive):
    """The last that the server says to who says nothing but that."""
    deadline = time.monotonic() + PATIENCE
    last = {}
    with contextlib.suppress(ConnectionError):
        while time.monotonic() < deadline:
            if not select.select([peer.sock], [], [], 0.5)[0]:
                peer.sock.sendall(alive)
                continue
            if not peer.frames.fill():
                return last
            while message := peer.frames.take():
                last = last if message["type"] == "alive" else message
        check(False, f"it is still served after {PATIENCE} s")
    return last


def hold(stage, state, lives):
    held, ends, options = HELD[state]
    with v.Relay(stage.server, held) as relay, v.client(
        "--cq", "event", *options, port=relay.port
    ) as program:
        relay.wait()
        if not lives:
            v.stop(program)
        check(relay.over.wait(PATIENCE), f"it is still served after {PATIENCE} s")
        if lives:
            check(program.wait(PATIENCE) == 1, "its exit status is not 1")
            said = program.errors + "\n".join(program.out)
            check(ends in said, said)


def stop_client(stage, dice, seconds):
    before = stage.server.threads()
    with endless(stage, dice) as program:
        time.sleep(0.3 + seconds)
        v.stop(program)
        stage.serves()
        v.wait_until(lambda: stage.server.threads() <= before, PATIENCE, "its end")


@item("a client that sends a byte each 0.3 s", 8)
def drips(tally, count, dice):
    room = ROOM_KIB + count * THREAD_KIB
    with Stage() as stage, stage.nothing_left(tally, count, room):
        threads = [
            threading.Thread(target=drip, args=(tally, stage, number % 2), daemon=True)
            for number in range(count)
        ]
        for thread in threads:
            thread.start()
        with tally.attempt("others meanwhile"):
            while any(thread.is_alive() for thread in threads):
                stage.serves()
        for thread in threads:
            thread.join()


def drip(tally, stage, greeted):
    with tally.attempt("greeted" if greeted else "a stranger"):
        with v.Peer.dial(stage.server.port) as peer:
            if greeted:
                reach(stage, peer, ("hello",))
            peer.sock.settimeout(0.01)
            start = time.monotonic()
            with contextlib.suppress(ConnectionError):
                for byte in v.frame(case()):
                    peer.sock.sendall(bytes([byte]))
                    time.sleep(0.3)
                    check(time.monotonic() < start + PATIENCE, "it is still served")
