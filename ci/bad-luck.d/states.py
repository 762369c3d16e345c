# SPDX-License-Identifier: MIT
"""Clients that stop talking, in each state of the protocol."""

import concurrent.futures
import contextlib
import os
import select
import tempfile
import threading
import time

import verbmark as v
from scene import PATIENCE, ROOM_KIB, THREAD_KIB, Stage, Tally, check, endless, item

# Clients that stall at a time.
AT_ONCE = 8
# Short limits, so that a test can wait until they end a client that is alive.
LIMITS = ("--max-pause", "3s", "--max-time", "12s")
# The server's reasons to end a client.
GREETING = "no answer within 5000 ms"
PAUSE = "has been idle for 3 s"
TIME = "time limit of 12 s is over"

# The messages before the client stalls, and the reason that the server gives.
STATES = {
    "nothing sent": ((), GREETING),
    "half a greeting": ((b"\0\0\0\x40{\"type\":",), GREETING),
    "challenged": (("secret",), GREETING),
    "greeted": (("hello",), PAUSE),
    "described": (("hello", "describe"), PAUSE),
    "noted": (("hello", "describe", "note"), PAUSE),
    "half a case": (("hello", b"\0\0\1\0{\"type\":\"case\""), PAUSE),
    "a case that is never connected": (("hello", "case"), TIME),
    "a case by hand": (("hello", "describe", "pairs"), TIME),
    "a case by hand that never begins": (("hello", "both ways"), TIME),
}
# The same for a verbmark client some of whose messages are held back: the first message held, the
# reason to end, and the options of the client.
HELD = {
    "connected": ("ready", TIME, ("-n", 50)),
    # The client has begun and gives up sooner.
    "bidirectional, and not begun": (
        "begin", "nothing arrived for 5 s", ("-n", 10**12, "--metric", "bw", "-b")
    ),
    "measured": ("stop", TIME, ("-n", 50)),
    "between two trials": ("done", TIME, ("-n", 50, "--trials", 2)),
}
# The message for each word above, and the server's answers.
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
}


def case(**parameters):
    return v.CASE | {"parameters": v.CASE["parameters"] | parameters}


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
    """Servers for all states: one with a secret, and a plain one."""

    def __init__(self, *limits):
        with tempfile.NamedTemporaryFile(delete=False) as file:  # mode 600
            file.write(b"such as nobody says\n")
        self.secret = file.name
        secret = ("--secret-file", self.secret)
        self.plain = Stage(*limits)
        self.guarded = Stage(*limits, *secret, client=secret)
        self.all = (self.plain, self.guarded)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for stage in self.all:
            stage.server.kill()
        os.unlink(self.secret)

    def of(self, words):
        return self.guarded if "secret" in words else self.plain

    @contextlib.contextmanager
    def nothing_left(self, tally, clients, at_once=0):
        room = ROOM_KIB + at_once * THREAD_KIB
        with (
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
                v.wait_until(lambda: stage.server.threads() <= 2, PATIENCE, "the end of the client")


@item("a client that stalls in each state, dead or alive", 1)
def stalls(tally, count, dice):
    with Stages(*LIMITS) as stages:
        # Concurrent threads leave stacks and heaps behind, which later threads reuse.
        stall_all(Tally(), (False,), stages)
        with stages.nothing_left(tally, 2 * count * (len(STATES) + len(HELD)), AT_ONCE):
            stall_all(tally, (False, True) * count, stages)
            for stopped in range(2 * count):
                with tally.attempt("stopped within a case"):
                    stop_client(stages.plain, dice, stopped % 2)


def stall_all(tally, lives, stages):
    """Stalls several clients at a time to save time."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        waits = []
        for is_alive in lives:
            for state, (words, _) in STATES.items():
                waits.append(pool.submit(attempt, tally, state, is_alive, stall, stages.of(words)))
            for state in HELD:
                waits.append(pool.submit(attempt, tally, state, is_alive, hold, stages.plain))
        with tally.attempt("other clients meanwhile"):
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
        # An alive client with a partial message keeps extending it.
        alive = b" " if is_half else v.frame(v.ALIVE)
        last = last_message(peer, alive if lives else b"")
    check(not lives or ends in last.get("reason", ""), f"the last message was {last}")


def last_message(peer, alive):
    """Returns the last message of the server to a client that sends nothing but `alive`."""
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
        check(False, f"the client is still served after {PATIENCE} s")
    return last


def hold(stage, state, lives):
    held, ends, options = HELD[state]
    with v.Relay(stage.server, held) as relay, v.client(
        "--cq", "event", *options, port=relay.port
    ) as program:
        relay.wait()
        if not lives:
            v.stop(program)
        check(relay.over.wait(PATIENCE), f"the client is still served after {PATIENCE} s")
        if lives:
            check(program.wait(PATIENCE) == 1, "the exit status is not 1")
            said = program.errors + "\n".join(program.out)
            check(ends in said, said)


def stop_client(stage, dice, seconds):
    before = stage.server.threads()
    with endless(stage, dice) as program:
        time.sleep(0.3 + seconds)
        v.stop(program)
        stage.serves()
        v.wait_until(lambda: stage.server.threads() <= before, PATIENCE, "the end of the client")


@item("a client that sends one byte every 0.3 s", 8)
def drips(tally, count, dice):
    room = ROOM_KIB + count * THREAD_KIB
    with Stage() as stage, stage.nothing_left(tally, count, room):
        threads = [
            threading.Thread(target=drip, args=(tally, stage, number % 2), daemon=True)
            for number in range(count)
        ]
        for thread in threads:
            thread.start()
        with tally.attempt("other clients meanwhile"):
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
                    check(time.monotonic() < start + PATIENCE, "the client is still served")
