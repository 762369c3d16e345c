# SPDX-License-Identifier: MIT
"""Clients that come and go, or are killed, and servers that are."""

import contextlib
import signal
import time

import verbmark as v
from scene import OPERATIONS, PATIENCE, ROOM_KIB, THREAD_KIB, Stage, Tally, check, endless, item


@item("the client is killed at any moment of a case", 200)
def client_killed(tally, count, dice):
    with Stage() as stage:
        # What the heap keeps of several operations at once is there from then on.
        kill_clients(Tally(), stage, 10, dice)
        # The one that is killed, its lanes, and who greets meanwhile.
        with stage.nothing_left(tally, count, ROOM_KIB + 4 * THREAD_KIB):
            kill_clients(tally, stage, count, dice)


def kill_clients(tally, stage, count, dice):
    for number in range(count):
        with tally.attempt(f"kill {number}"), begun(stage, number, dice) as program:
            program.kill()
            check(stage.server.process.poll() is None, "the server has ended")
            stage.greets()


def queue_pairs():
    """Of both ends, and of whoever else has some."""
    return sum(device["qp"] for device in v.resources())


@contextlib.contextmanager
def begun(stage, number, dice):
    """An endless client at some moment of its case; one of four on the way to it."""
    v.wait_until(lambda: stage.server.threads() <= 2, PATIENCE, "the end of the one before")
    threads, pairs = stage.server.threads(), queue_pairs()
    is_early = number % 4 == 0
    with endless(stage, dice) as program:
        def has_begun():
            check(program.process.poll() is None, f"it has ended: {program.errors}")
            return stage.server.threads() > threads if is_early else queue_pairs() >= pairs + 2

        v.wait_until(has_begun, PATIENCE, "its thread" if is_early else "its queue pairs")
        time.sleep(dice.uniform(0, 0.1 if is_early else 0.5))
        check(program.process.poll() is None, f"it has ended: {program.errors}")
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
        # The first of so many threads leave stacks, which the next ones are given.
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
        # Of those that are stopped none is on the way to its case.
        stopped = number % 4 == 3
        with tally.attempt(f"server {number}"), Stage() as stage, begun(stage, number, dice) as program:
            stage.server.signal(signal.SIGSTOP if stopped else signal.SIGKILL)
            check(program.wait(PATIENCE) == 1, "its exit status is not 1")
            check(program.errors or program.out, "it has said nothing")
            check(len(program.err) <= 1, program.errors)
