# SPDX-License-Identifier: MIT
"""Each limit of a server, and each reason to reject a client."""

import contextlib
import os
import tempfile

import insider
import limits
import verbmark as v
from scene import BUILD, PATIENCE, ROOM_KIB, THREAD_KIB, Stage, check, check_message, item
from states import LIMITS, PAUSE, TIME, case


@contextlib.contextmanager
def guarding(tally, *options, room=ROOM_KIB, **settings):
    """Yields a server with limits; checks that it still serves clients and leaks nothing."""
    with Stage(*options, **settings) as stage, stage.nothing_left(tally, room=room):
        yield stage


def refused(stage, sentence, *options, host=None):
    ended = v.Ended(v.client("-n", 10, *options, port=stage.server.port, host=host or v.ADDRESS))
    check_message(ended)
    check(ended.status == 1 and sentence in ended.err, ended.err)


def failed(stage, message, sentence):
    with v.Peer.greeted(stage.server.port) as peer:
        peer.send(message)
        answer = peer.expect("failed")
    check(sentence in answer["reason"], answer)


@item("each limit, and each reason to reject a client", 1)
def refusals(tally, count, dice):
    for name, (limit, *_) in limits.LIMITS.items():
        few = limits.FEW_DESCRIPTORS if name == "descriptors" else ()
        with Stage(*limit, before=few) as stage:
            # Heap memory that many queue pairs leave behind is reused by later ones.
            limits.check_left_out(stage.server, name)
            with stage.nothing_left(tally), tally.attempt(name):
                limits.check_left_out(stage.server, name)
    for refuse in (
        refuse_memory, refuse_clients, refuse_time, refuse_words, refuse_places, refuse_ignorance,
    ):
        refuse(tally)


def refuse_memory(tally):
    big = case(size=16 << 20)
    with guarding(tally, "--max-memory", "48m") as stage, tally.attempt("memory of all clients"):
        with v.Peer.greeted(stage.server.port) as first:
            first.send(big)
            first.expect("listening")
            failed(stage, big, "other clients leave only")


def refuse_clients(tally):
    count = 64
    with guarding(tally, "--max-clients", 1, room=ROOM_KIB + count * THREAD_KIB) as stage:
        with v.Peer.greeted(stage.server.port) as busy, tally.attempt("one client more"):
            # During a case a client keeps its place.
            busy.send(v.CASE)
            busy.expect("listening")
            refused(stage, "serving its maximum of 1 client")
        with tally.attempt("strangers"), contextlib.ExitStack() as stack:
            strangers = [stack.enter_context(v.Peer.dial(stage.server.port)) for _ in range(count)]
            v.wait_until(lambda: stage.server.threads() >= count, PATIENCE, "all strangers")
            stage.serves()
            reason = strangers[0].expect("refused")["reason"]
            check("no greeting had arrived" in reason, reason)


def refuse_time(tally):
    with guarding(tally, *LIMITS) as stage:
        with tally.attempt("the time of a client"):
            ended = v.Ended(v.client("-D", "60s", port=stage.server.port))
            check(ended.status == 1 and TIME in ended.out + ended.err, ended.err)
        with tally.attempt("the pause of a client"), v.Peer.greeted(stage.server.port) as peer:
            reason = peer.expect("refused")["reason"]
            check(PAUSE in reason, reason)


def refuse_words(tally):
    other = {"device": "other9", "port": 1}
    with guarding(tally, "--device", v.DEVICE) as stage:
        for name, said, reason in (
            ("another protocol", v.HELLO | {"protocol": 99}, "the client speaks protocol 99"),
            ("no greeting", {"type": "nonsense"}, "unexpected greeting"),
            ("a case before the greeting", v.CASE, "unexpected greeting"),
        ):
            with tally.attempt(name):
                found = insider.refusal(stage.server.port, [v.frame(said)])
                check(reason in found, found)
        for name, said, reason in (
            ("another device", v.CASE | other, "this server offers"),
            ("facts of another device", {"type": "describe"} | other, "this server offers"),
            ("an unknown operation", case(op="nonsense"), "this server cannot run the case"),
            ("a case without parameters", v.CASE | {"parameters": 7}, "malformed case"),
        ):
            with tally.attempt(name):
                failed(stage, said, reason)


def refuse_places(tally):
    with guarding(tally, "--allow", f"{v.ADDRESS}/32") as stage:
        with tally.attempt("a client in another network"):
            refused(stage, "clients from ::1 are not allowed", host="::1")
        with tally.attempt("queue pairs in another network"):
            message = v.by_hand(v.gid_of("203.0.113.99"), transport="UD")
            failed(stage, message, "outside the networks of 'serve --allow'")


def refuse_ignorance(tally):
    with contextlib.ExitStack() as stack:
        right, wrong = (stack.enter_context(tempfile.NamedTemporaryFile()) for _ in range(2))
        for file, text in ((right, insider.SECRET), (wrong, insider.SECRET + b"!")):
            file.write(text)
            file.flush()
        secret = ("--secret-file", right.name)
        stage = stack.enter_context(guarding(tally, *secret, client=secret))
        port = stage.server.port
        with tally.attempt("no secret"):
            refused(stage, "this server has a secret")
        with tally.attempt("another secret"):
            refused(stage, "wrong secret", "--secret-file", wrong.name)
        for number, (said, reason) in enumerate(insider.NO_PROOFS):
            with tally.attempt(f"an invalid proof, {number}"):
                found = insider.refusal(port, said)
                check(reason in found, found)
        with tally.attempt("a replayed proof"):
            with insider.Tap(port) as tap:
                v.measure(tap, "-n", 20, *secret)
            check(b'"proof"' in tap.said[True], "the client sent no proof")
            found = insider.refusal(port, [tap.said[True]])
            check("wrong secret" in found, found)
        for from_client, number in ((True, 2), (True, 3), (False, 1), (False, 2)):
            with tally.attempt(f"a changed message, {from_client} {number}"):
                meddle(stage, from_client, number, secret)
        with tally.attempt("a queue pair without a ticket"):
            connect_without_ticket(port)


def meddle(stage, from_client, number, secret):
    def change(is_client, count, piece):
        return insider.flip(piece) if (is_client, count) == (from_client, number) else piece

    with insider.Tap(stage.server.port, change) as tap:
        ended = v.Ended(v.client("-n", 10, *secret, port=tap.port))
    check(ended.status == 1, ended.err)
    v.wait_until(lambda: stage.server.threads() <= 2, PATIENCE, "the end of the client")
    said = ended.err + "\n".join(stage.server.err[-1:])
    check("altered or forged" in said, said)


def connect_without_ticket(port):
    stranger = os.path.join(BUILD, "bench/test/stranger")
    with insider.Insider.dial(port) as peer:
        peer.greet()
        check(peer.hear()["type"] == "welcome", "the client was rejected")
        peer.send(v.CASE)
        listening = peer.hear()
        ended = v.Ended(v.Program(stranger, listening["address"], listening["ports"][0]), PATIENCE)
    check(ended.status == 1 and "missing or wrong ticket" in ended.out, ended.out)
