# SPDX-License-Identifier: MIT
"""Connections from programs that are not verbmark clients, and to programs that are not servers."""

import contextlib
import socket
import struct

import verbmark as v
from scene import Stage, check_message, item
from states import case


@item("random bytes to the port of the server", 200)
def strangers(tally, count, dice):
    hello = v.frame(v.HELLO)
    with Stage() as stage, stage.nothing_left(tally, count):
        for number in range(count):
            kind = dice.randrange(6)
            said = (
                dice.randbytes(dice.randrange(1, 5000)),
                struct.pack(">I", dice.randrange(1 << 32)) + dice.randbytes(100),
                hello + dice.randbytes(dice.randrange(1, 5000)),
                hello + struct.pack(">I", 60) + b'{"type":"case",' + dice.randbytes(45),
                hello + v.frame({"type": "case"} | nonsense(dice)),
                hello + b"".join(v.frame(case(size=dice.choice((-1, 0, 1 << 62)))) for _ in range(5)),
            )[kind]
            with tally.attempt(f"{number}: {said[:60]!r}"):
                with contextlib.suppress(ConnectionError), v.Peer.dial(stage.server.port) as peer:
                    peer.sock.sendall(said)
                stage.greets()


def nonsense(dice, depth=0):
    """Returns an object with random values under names of the protocol."""
    values = (
        None, True, -1, 0, 1 << 62, 1.5, "", "x" * 300, "\x1b[2J", [], [[]] * 50,
        {"a": {}}, "rc", dice.random(),
    )
    keys = ("parameters", "address", "device", "port", "pairs", "op", "size", "qps", "x")
    return {
        key: nonsense(dice, depth + 1) if dice.random() < 0.3 and depth < 5 else dice.choice(values)
        for key in dice.sample(keys, dice.randrange(len(keys)))
    }


def impostor(*answers):
    def serve(sock):
        peer = v.Peer(sock)
        peer.expect("hello")
        for answer in answers:
            sock.sendall(answer if isinstance(answer, bytes) else v.frame(answer))
        while peer.receive():
            pass

    return serve


@item("a HOST that does not answer, is not verbmark, or is older or newer", 1)
def hosts(tally, count, dice):
    welcome = {"type": "welcome", "protocol": v.HELLO["protocol"], "version": "9", "host": "x", "devices": []}
    refused = {"type": "refused", "reason": "no", "version": "0.0.1"}
    for name, serve in {
        "silent": impostor(),
        "closes": lambda sock: sock.close(),
        "a web server": impostor(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        "ssh": impostor(b"SSH-2.0-OpenSSH_9.2\r\n"),
        "random": lambda sock: sock.sendall(dice.randbytes(4096)),
        "older": impostor(refused | {"protocol": 1}),
        "newer": impostor(refused | {"protocol": 99}),
        "without devices": impostor(welcome),
        "random devices": impostor(welcome | {"devices": [nonsense(dice) for _ in range(9)]}),
        "a welcome of one megabyte": impostor(welcome | {"host": "x" * 1000000}),
        "a million welcomes": impostor(v.frame(welcome) * 10000),
        "an unexpected challenge": impostor({"type": "challenge", "nonce": "0" * 64}),
    }.items():
        with tally.attempt(name), v.Impostor(serve) as server:
            check_message(v.Ended(v.client("-n", 10, port=server.port)))
    with tally.attempt("nothing listens"):
        with socket.create_server((v.ADDRESS, 0)) as once:
            port = once.getsockname()[1]
        check_message(v.Ended(v.client("-n", 10, port=port)))
    for host in ("nobody.invalid", "", "-", "x" * 5000, "256.256.256.256", "::::", "a b", "[::1]"):
        with tally.attempt(f"HOST {host[:20]!r}"):
            check_message(v.Ended(v.client("-n", 10, host=host)))
