# SPDX-License-Identifier: MIT
"""A client and other programs that it finds in place of a server."""

import http.server
import os
import re
import socket
import struct
import threading
import time
import unittest

from verbmark import (
    ADDRESS, DEVICE, PORT, VERBMARK, Ended, Impostor, Peer, Program, client, frame,
)

WELCOME = {"type": "welcome", "protocol": 5, "version": "0", "host": "other", "devices": []}


def close(sock):
    sock.close()


def silence(sock):
    while sock.recv(4096):
        pass


def garbage(sock):
    sock.sendall(bytes(range(255, 0, -1)) * 100)
    silence(sock)


def four_gib(sock):
    sock.sendall(struct.pack(">I", 0xFFFFFFFF) + b"x" * 1000)
    silence(sock)


def half_a_frame(sock):
    sock.recv(4096)
    sock.sendall(frame(WELCOME)[:20])
    sock.close()


def sends(*messages):
    def serve(sock):
        peer = Peer(sock)
        peer.expect("hello")
        for message in messages:
            peer.send(message)
        while peer.receive():
            pass

    return serve


def next_message(peer):
    """Returns the next message, after answering requests for counters."""
    message = peer.receive()
    while message and message["type"] == "note":
        peer.send({"type": "noted", "counters": {}, "noise": {}})
        message = peer.receive()
    return message


def answers_in_turn(*answers):
    """Returns a server that welcomes, answers each message with the next of these, and closes."""

    def serve(sock):
        peer = Peer(sock)
        peer.expect("hello")
        peer.send(WELCOME | {"devices": [PORT]})
        peer.expect("describe")
        peer.send({"type": "description", "facts": {}, "noise": {}})
        for answer in answers:
            if not next_message(peer):
                break
            peer.send(answer)
        # Close only after the last answer was read.
        next_message(peer)
        sock.close()

    return serve


class Impostors(unittest.TestCase):
    def check(self, port, sentence, host=ADDRESS, least=0, options=()):
        ended = Ended(client("-n", 50, *options, port=port, host=host))
        self.assertRegex(ended.err, sentence)
        self.assertEqual(len(ended.err.splitlines()), 1, ended.err)
        self.assertEqual(ended.out, "")
        self.assertEqual(ended.status, 1)
        self.assertGreaterEqual(ended.seconds, least)

    def check_impostor(self, serve, sentence):
        with Impostor(serve) as impostor:
            self.check(impostor.port, f"^verbmark: {sentence}")

    def test_nothing_listens(self):
        # Keep the port bound so that no other program can take it.
        with socket.socket() as kept:
            kept.bind((ADDRESS, 0))
            port = kept.getsockname()[1]
            self.check(
                port,
                f"^verbmark: nothing listens on {ADDRESS}:{port}; run 'verbmark serve' there "
                "or add --launch 'ssh %h'$",
            )

    def test_wait_times_out(self):
        with socket.socket() as kept:
            kept.bind((ADDRESS, 0))
            self.check(kept.getsockname()[1], "nothing listens", least=1, options=("--wait", "1s"))

    def test_unknown_name(self):
        self.check(7471, "^verbmark: cannot resolve 'nobody.invalid': ", host="nobody.invalid")

    def test_missing_host(self):
        host = ADDRESS.rpartition(".")[0] + ".77"
        self.check(7471, f"^verbmark: cannot reach {host}:7471: No route to host$", host=host)

    def test_unreachable_network(self):
        self.check(7471, "^verbmark: cannot reach 192.0.2.1:7471: Network is", host="192.0.2.1")

    def test_host_that_does_not_answer(self):
        # With a full backlog, new connections are not answered.
        with socket.socket() as listener:
            listener.bind((ADDRESS, 0))
            listener.listen(0)
            port = listener.getsockname()[1]
            knocking = [socket.socket() for _ in range(3)]
            for sock in knocking:
                sock.setblocking(False)
                sock.connect_ex((ADDRESS, port))
            self.check(
                port,
                f"^verbmark: {ADDRESS}:{port} does not answer: is the host up, and TCP {port} open",
            )
            for sock in knocking:
                sock.close()

    def test_web_server(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *unused):
                pass

        with http.server.HTTPServer(("", 0), Handler) as web:
            threading.Thread(target=web.serve_forever, daemon=True).start()
            # The web server waits for the end of a line.
            self.check(web.server_port, "the peer has been silent for 4 s")
            web.shutdown()

    def test_server_of_another_protocol(self):
        def serve(sock):
            sock.recv(1)
            sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        self.check_impostor(serve, ".*the peer is not verbmark")

    def test_server_that_talks_first(self):
        def serve(sock):
            sock.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
            silence(sock)

        self.check_impostor(serve, ".*the peer is not verbmark")

    def test_silence(self):
        self.check_impostor(silence, f"{ADDRESS}:[0-9]+: the peer has been silent for 4 s")

    def test_close(self):
        self.check_impostor(close, ".*closed the control connection")

    def test_garbage(self):
        self.check_impostor(garbage, ".*the peer is not verbmark")

    def test_four_gib(self):
        self.check_impostor(
            four_gib, ".*control message of 2147483647 bytes: the peer is not verbmark"
        )

    def test_half_a_frame(self):
        self.check_impostor(half_a_frame, ".*closed the control connection")

    def test_only_heartbeats(self):
        def serve(sock):
            while True:
                sock.sendall(frame({"type": "alive"}))
                time.sleep(0.5)

        self.check_impostor(serve, ".*no answer within 5000 ms")

    def test_rejection(self):
        self.check_impostor(
            sends({"type": "refused", "reason": "the client speaks protocol 1, the server 2"}),
            f"{ADDRESS}: the client speaks protocol 1, the server 2$",
        )

    def test_another_protocol(self):
        # From an older and a newer version, which word it differently.
        own = Ended(Program(VERBMARK, "--version")).out.split()[-1]
        for protocol, upgraded in ((1, ADDRESS), (99, "this host")):
            refusal = {"type": "refused", "reason": "no", "protocol": protocol, "version": "0.0.9"}
            with self.subTest(protocol):
                self.check_impostor(
                    sends(refusal),
                    rf"{ADDRESS} speaks protocol {protocol} \(verbmark 0.0.9\), "
                    rf"this host speaks \d+ \({re.escape(own)}\): upgrade {upgraded}$",
                )

    def test_control_characters_in_reason(self):
        self.check_impostor(
            sends({"type": "refused", "reason": "\x1b[2Jred\x07\n\x9b"}),
            rf"{ADDRESS}: \?\[2Jred\?\?\?\?$",
        )

    def test_useless_welcomes(self):
        for welcome, sentence in (
            ({"devices": []}, "the peer lists 0 device ports"),
            ({"devices": "all"}, "the peer lists 0 device ports"),
            ({"devices": [7]}, "malformed list of devices from the peer"),
            ({"devices": [PORT | {"port": "x"}]}, "malformed list of devices"),
            ({"devices": [PORT | {"state": "DOWN"}]}, "no active ports"),
        ):
            with self.subTest(sentence):
                self.check_impostor(sends(WELCOME | welcome), f".*{sentence}")

    def test_no_common_network(self):
        other = [{"address": "198.51.100.9", "prefix": 24, "interface": "eth0"}]
        self.check_impostor(
            sends(WELCOME | {"devices": [PORT | {"addresses": other}]}),
            rf"{DEVICE} \(\S+/\d+\) and {ADDRESS}'s {DEVICE} \(198.51.100.9/24\) share no network; "
            "if there is a route, name both devices: -d and --server-device$",
        )


class Cases(unittest.TestCase):
    """A server that greets correctly and then misbehaves."""

    def check(self, serve, sentence):
        with Impostor(serve) as impostor:
            ended = Ended(client("-n", 50, "-s", "64,128", port=impostor.port))
        self.assertRegex(ended.out + "\n" + ended.err, sentence)
        self.assertEqual(ended.status, 1)

    def test_two_failures(self):
        # Each failure is reported, and the client does not wait for either twice.
        self.check(
            answers_in_turn(
                {"type": "failed", "reason": "one"}, {"type": "failed", "reason": "two"}
            ),
            f"(?s)send/lat/64/poll: failed\n  {ADDRESS}: one\n.*send/lat/128/poll: failed\n  {ADDRESS}: two",
        )

    def test_nonsense(self):
        self.check(
            answers_in_turn({"type": "nonsense"}, {"type": "done"}),
            f"send/lat/64/poll: failed\n  {ADDRESS} sent an unexpected message instead of 'listening'",
        )

    def test_incomplete_listening(self):
        self.check(
            answers_in_turn({"type": "listening"}, {"type": "failed", "reason": "stopped"}),
            "send/lat/64/poll: failed\n  the server's reply has no valid address and ports",
        )

    def test_address_without_device(self):
        self.check(
            answers_in_turn(
                {"type": "listening", "address": "192.0.2.1", "ports": [1]},
                {"type": "failed", "reason": "stopped"},
            ),
            "send/lat/64/poll: failed\n  192.0.2.1: cannot resolve the address",
        )


if not os.environ.get("SOFTROCE_ADDRESS"):
    raise unittest.SkipTest("no RDMA device")
