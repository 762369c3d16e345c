# SPDX-License-Identifier: MIT
"""Clients that come and go, and clients and servers that are killed."""

import contextlib
import signal
import time

import verbmark as v
from scene import OPERATIONS, PATIENCE, ROOM_KIB, THREAD_KIB, Stage, Tally, check, endless, item


@item("the client is killed at any moment of a case", 200)
def client_killed(tally, count, dice):
    with Stage() as stage:
        # Let the heap grow to what it keeps for several operations at once.
        kill_clients(Tally(), stage, 10, dice)
        # Threads at a time: the killed client, its lanes, and the next client.
        with stage.nothing_left(tally, count, ROOM_KIB + 4 * THREAD_KIB):
            kill_clients(tally, stage, count, dice)


def kill_clients(tally, stage, count, dice):
    for number in range(count):
        with tally.attempt(f"kill {number}"), begun(stage, number, dice) as program:
            program.kill()
            check(stage.server.process.poll() is None, "the server ended")
            stage.greets()


def queue_pairs():
    """Returns the number of queue pairs of the client, the server and any other process."""
    return sum(device["qp"] for device in v.resources())


@contextlib.contextmanager
def begun(stage, number, dice):
    """Yields an endless client at a random moment of its case; every fourth is still connecting."""
    v.wait_until(lambda: stage.server.threads() <= 2, PATIENCE, "the end of the previous client")
    threads, pairs = stage.server.threads(), queue_pairs()
    is_early = number % 4 == 0
    with endless(stage, dice) as program:
        def has_begun():
            check(program.process.poll() is None, f"the client ended: {program.errors}")
            return stage.server.threads() > threads if is_early else queue_pairs() >= pairs + 2

        v.wait_until(has_begun, PATIENCE, "its thread" if is_early else "its queue pairs")
        time.sleep(dice.uniform(0, 0.1 if is_early else 0.5))
        check(program.process.poll() is None, f"the client ended: {program.errors}")
        yield program


@item("clients one after another", 2000)
def clients_in_turn(tally, count, dice):
    with Stage() as stage, stage.nothing_left(tally, count):
        for number in range(count):
            with tally.attempt(f"client {number}"):
                ended = v.Ended(v.client(
                    "-n", 10, "--warmup", "0s", "--op", dice.choice(OPERATIONS), "--cq", "event",
                    port=stage.server.port,
                ))
                check(ended.status == 0, ended.err)


@item("clients at once", 64)
def clients_at_once(tally, count, dice):
    with Stage() as stage:
        # The first threads leave stacks behind, which later threads reuse.
        for _ in range(2):
            crowd(Tally(), stage, count)
        with stage.nothing_left(tally, count, ROOM_KIB + count * THREAD_KIB):
            crowd(tally, stage, count)


def crowd(tally, stage, count):
    programs = [
        v.client("-n", 20, "--warmup", "0s", "--cq", "event", port=stage.server.port)
        for _ in range(count)
    ]
    for number, program in enumerate(programs):
        with tally.attempt(f"client {number}"):
            ended = v.Ended(program, v.RUN_PATIENCE)
            check(ended.status == 0, ended.err)


@item("the server is killed, or stopped, at any moment of a case", 20)
def server_killed(tally, count, dice):
    for number in range(count):
        # A stopped server always has a client whose case has begun.
        stopped = number % 4 == 3
        with tally.attempt(f"server {number}"), Stage() as stage, begun(stage, number, dice) as program:
            stage.server.signal(signal.SIGSTOP if stopped else signal.SIGKILL)
            check(program.wait(PATIENCE) == 1, "the exit status is not 1")
            check(program.errors or program.out, "the client printed nothing")
            check(len(program.err) <= 1, program.errors)
