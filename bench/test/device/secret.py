# SPDX-License-Identifier: MIT
"""
A shared secret: a client without it is rejected, and nobody else can take part in what follows
the greeting.
"""

import json
import os
import socket
import struct
import tempfile
import unittest

from insider import NO_PROOFS, NONCE, SEALED, SECRET, Insider, Keys, Tap, flip, refusal
from verbmark import (
    ADDRESS, CASE, HELLO, VERBMARK, Ended, Impostor, Peer, Program, Server,
    client, frame, measure, ready_line, verbmark, wait_until,
)

class Secrets(unittest.TestCase):
    def setUp(self):
        self.file = self.secret(SECRET)

    def secret(self, text):
        file = tempfile.NamedTemporaryFile()  # mode 600
        self.addCleanup(file.close)
        file.write(text + b"\n")
        file.flush()
        return file.name

    def start(self, *options):
        server = Server("--secret-file", self.file, *options)
        self.addCleanup(server.kill)
        return server

    def insider(self, server):
        peer = Insider.dial(server.port)
        self.addCleanup(peer.close)
        return peer

    def sweep(self, port, *options):
        return Ended(client("-n", 50, *options, port=port))

    def check_serves(self, server):
        wait_until(lambda: server.threads() <= 2, what="the clients to be cleaned up")
        measure(server, "-n", 50, "--secret-file", self.file)


class Shared(Secrets):
    def test_same_secret(self):
        server = self.start()
        measure(server, "-n", 50, "--secret-file", self.file)
        measure(server, "-n", 50, "--connect", "qp", "--secret-file", self.file)
        measure(
            server, "-n", 50, "--metric", "bw", "-q", "3", "--trials", 3, "--secret-file", self.file
        )
        # Connections with one ticket each, including those of later trials.
        connecting = ("--op", "connect", "--step", "whole,destroy", "--threads", 2, "--trials", 3)
        measure(server, "-n", 20, *connecting, "--secret-file", self.file)
        # Line ends are not part of the secret.
        measure(server, "-n", 50, "--secret-file", self.secret(SECRET + b"\r\n"))

    def test_doctor(self):
        server = self.start()
        for options, is_reached in (((), False), (("--secret-file", self.file), True)):
            words = ("doctor", ADDRESS, "-p", server.port, "--json", *options)
            report = json.loads(verbmark(*words).out)
            codes = [finding["code"] for finding in report["findings"]]
            self.assertEqual("server" in report["hosts"], is_reached)
            self.assertEqual("server" in codes, not is_reached, report["findings"])

    def test_client_written_from_the_manual(self):
        peer = self.insider(self.start())
        peer.greet()
        self.assertEqual(peer.hear()["type"], "welcome")
        peer.send(CASE)
        listening = peer.hear()
        self.assertEqual(listening["type"], "listening")
        self.assertEqual(len(bytes.fromhex(listening["salt"])), 32)

    def test_wrong_secret(self):
        server = self.start()
        ended = self.sweep(server.port, "--secret-file", self.secret(SECRET + b"!"))
        self.assertEqual(ended.status, 1)
        self.assertEqual(
            ended.err,
            f"verbmark: {ADDRESS}: wrong secret: --secret-file must be the same at both ends",
        )
        self.check_serves(server)

    def test_client_without_secret(self):
        server = self.start()
        ended = self.sweep(server.port)
        self.assertEqual(
            ended.err,
            f"verbmark: {ADDRESS}: this server has a secret: use the same --secret-file at both "
            "ends",
        )
        self.check_serves(server)

    def test_server_without_secret(self):
        """A server that does not ask for the secret gets nothing from the client."""
        with Server() as server:
            ended = self.sweep(server.port, "--secret-file", self.file)
            self.assertEqual(
                ended.err,
                f"verbmark: {ADDRESS} does not ask for a secret: start it with 'verbmark serve "
                "--secret-file', or omit --secret-file",
            )
            measure(server, "-n", 50)

    def test_server_with_token(self):
        """The token of a server that a run starts is a secret as well."""
        server = Program(VERBMARK, "serve", "-p", "0", "--token")
        self.assertEqual(server.wait(), 1)
        self.assertIn("cannot read a line from standard input", server.errors)
        for token, sentence in (
            ("0123456789abcdef0123", None), ("short", "--token: a secret of less than 16 bytes")
        ):
            process = f"(echo {token}; sleep 20) | {VERBMARK} serve -p 0 --token"
            own = Program("bash", "-c", process, start_new_session=True)
            try:
                wait_until(lambda: ready_line(own.out) or own.err, what="output")
                if sentence:
                    self.assertIn(sentence, own.errors)
                else:
                    port = int(ready_line(own.out).split()[1].rpartition(":")[2])
                    ended = self.sweep(port)
                    self.assertIn("this server accepts only the client that started it", ended.err)
            finally:
                os.killpg(own.pid, 9)
                own.kill()

    def test_usage(self):
        readable = self.secret(SECRET)
        os.chmod(readable, 0o644)
        for words, sentence in (
            (("serve", "--secret-file", readable), f"others can read {readable}: chmod 600 it"),
            (("run", "n02", "--secret-file", readable), f"others can read {readable}: chmod 600 it"),
            (("serve", "--secret-file", "/nowhere"), "cannot open /nowhere: No such file"),
            (("serve", "--secret-file", self.secret(b"short")), "less than 16 bytes"),
            (("serve", "--token", "--secret-file", self.file), "cannot be used together"),
            (("run", "--secret-file", self.file), "started by this run gets its own secret"),
            (
                ("run", "n02", "--launch", "ssh %h", "--secret-file", self.file),
                "a server started by --launch gets its own secret",
            ),
            (("doctor", "--secret-file", self.file), "--secret-file needs HOST"),
        ):
            with self.subTest(words):
                ended = verbmark(*words)
                self.assertIn(sentence, ended.err)
                self.assertEqual(len(ended.err.splitlines()), 1)


class Strangers(Secrets):
    """Clients without the secret get a nonce and nothing else."""

    def test_wrong_proofs(self):
        server = self.start()
        for frames, reason in NO_PROOFS:
            with self.subTest(frames):
                self.assertIn(reason, refusal(server.port, frames))
        self.check_serves(server)

    def test_garbage(self):
        server = self.start()
        hello = frame(HELLO | {"nonce": NONCE})
        for data in (
            bytes(range(255, 0, -1)) * 40,
            hello + bytes(range(256)) * 40,
            hello + struct.pack(">I", SEALED | 40) + b"x" * 40,
            hello + struct.pack(">I", SEALED | 5000) + b"x" * 5000,
            hello + struct.pack(">I", 40) + b"x" * 40,
        ):
            with self.subTest(data[:60]):
                with Peer.dial(server.port) as peer:
                    try:
                        peer.sock.sendall(data)
                        while peer.frames.fill():
                            pass
                    except ConnectionError:
                        pass
                    self.assertNotIn(b"welcome", peer.frames.bytes)
        self.check_serves(server)

    def test_truncated_and_slow(self):
        """A missing or incomplete proof times out like any greeting."""
        server = self.start()
        proof = frame({"type": "proof", "proof": "0" * 64})
        for part in (0, 3, 4, 20, len(proof) - 1):
            with self.subTest(part), Peer.dial(server.port) as peer:
                peer.send(HELLO | {"nonce": NONCE})
                peer.expect("challenge")
                peer.sock.sendall(proof[:part])
                peer.sock.shutdown(socket.SHUT_WR)
                refused = peer.receive()
                self.assertIn(refused and refused["type"], (None, "refused"))
                self.assertIsNone(peer.receive())
        peer = Peer.dial(server.port)
        with peer:
            peer.send(HELLO | {"nonce": NONCE})
            # The client sends heartbeats while it waits.
            peer.expect("challenge")
            self.assertEqual(peer.receive()["type"], "refused")
        self.check_serves(server)

    def test_requests_sent_with_the_proof(self):
        """Messages sent together with the proof are ignored."""
        server = self.start()
        for extra in (frame(CASE), frame(CASE) * 3, frame({"type": "bye"})):
            peer = self.insider(server)
            peer.send(HELLO | {"nonce": NONCE})
            challenge = peer.expect("challenge")
            keys = Keys(SECRET, challenge)
            peer.sock.sendall(frame({"type": "proof", "proof": keys.proof}) + extra)
            peer.keys = keys
            seen = []
            try:
                while message := peer.hear():
                    seen.append(message["type"])
            except ConnectionError:
                pass
            self.assertNotIn("listening", seen)
        self.check_serves(server)

    def test_replay(self):
        """Neither a recorded client nor a recorded server can be replayed."""
        server = self.start()
        with Tap(server.port) as tap:
            self.assertEqual(self.sweep(tap.port, "--secret-file", self.file).status, 0)
            recorded = dict(tap.said)
        self.assertIn(b'"proof"', recorded[True])
        self.assertIn("wrong secret", refusal(server.port, [recorded[True]]))

        def play(sock):
            sock.recv(4096)
            sock.sendall(recorded[False])
            while sock.recv(4096):
                pass

        with Impostor(play) as impostor:
            ended = self.sweep(impostor.port, "--secret-file", self.file)
        self.assertEqual(ended.status, 1)
        self.assertRegex(
            ended.err, "unexpected (sealed )?control message|altered or forged"
        )
        self.check_serves(server)

    def test_server_that_does_not_know_the_secret(self):
        def welcome(sock, *answers):
            peer = Peer(sock)
            peer.expect("hello")
            peer.send({"type": "challenge", "nonce": NONCE, "version": "0"})
            peer.expect("proof")
            for answer in answers:
                sock.sendall(answer)
            while peer.receive():
                pass

        plain = frame({"type": "welcome", "protocol": 4, "version": "0", "host": "x", "devices": []})
        body = plain[4:]
        for answer, reason in (
            (plain, "control message without a seal"),
            (struct.pack(">I", SEALED | (len(body) + 32)) + body + bytes(32), "altered or forged"),
            (frame({"type": "alive"}) + plain, "control message without a seal"),
        ):
            with Impostor(lambda sock, answer=answer: welcome(sock, answer)) as impostor:
                ended = self.sweep(impostor.port, "--secret-file", self.file)
                self.assertEqual(ended.status, 1)
                self.assertIn(reason, ended.err)
        for challenge in (
            {"nonce": NONCE}, {"version": "0"}, {"nonce": "xyz", "version": "0"},
            {"nonce": 7, "version": 7},
        ):
            def ask(sock, challenge=challenge):
                peer = Peer(sock)
                peer.expect("hello")
                peer.send({"type": "challenge"} | challenge)
                while peer.receive():
                    pass

            with Impostor(ask) as impostor:
                ended = self.sweep(impostor.port, "--secret-file", self.file)
                self.assertIn("malformed challenge", ended.err)

    def test_stranger_connects_to_queue_pair(self):
        """A port that was announced to another client cannot be used without the ticket."""
        server = self.start()
        peer = self.insider(server)
        peer.greet()
        peer.hear()
        peer.send(CASE)
        listening = peer.hear()
        stranger = Program(os.environ["STRANGER"], listening["address"], listening["ports"][0])
        with stranger:
            self.assertEqual(stranger.wait(), 1)
            self.assertRegex(stranger.out[0], "missing or wrong ticket")
        # Without a secret anybody may connect: only the ticket prevents it.
        with Server() as free, Peer.dial(free.port) as other:
            other.send(HELLO)
            other.expect("welcome")
            other.send(CASE)
            listening = other.expect("listening")
            with Program(
                os.environ["STRANGER"], listening["address"], listening["ports"][0]
            ) as stranger:
                self.assertEqual(stranger.wait(), 0, stranger.out)


class Attacks(Secrets):
    """An attacker on the path who can read and change everything."""

    def check(self, meddle, reason):
        server = self.start()
        with Tap(server.port, meddle) as tap:
            ended = self.sweep(tap.port, "--secret-file", self.file)
            self.assertEqual(ended.status, 1)
        wait_until(lambda: server.threads() <= 2, what="the clients to be cleaned up")
        self.assertRegex(ended.out + ended.err + server.errors, reason)
        self.check_serves(server)

    def at(self, from_client, number, change):
        return lambda is_client, count, piece: (
            change(piece) if (is_client, count) == (from_client, number) else piece
        )

    # Numbers of the client's frames: hello, proof, describe, case, stop, ...; of the server's:
    # challenge, welcome, description, listening, ready, ...
    def test_changed(self):
        for from_client, number in ((True, 2), (True, 3), (False, 1), (False, 2), (False, 3)):
            with self.subTest(from_client=from_client, number=number):
                self.check(self.at(from_client, number, flip), "altered or forged")

    def test_repeated(self):
        for from_client, number in ((True, 3), (False, 2)):
            with self.subTest(from_client=from_client):
                self.check(self.at(from_client, number, lambda piece: piece * 2), "altered or forged")

    def test_dropped(self):
        self.check(self.at(False, 3, lambda piece: b""), "altered or forged")

    def test_inserted(self):
        stop = frame({"type": "stop"})
        self.check(self.at(True, 3, lambda piece: piece + stop), "without a seal")
        self.check(self.at(False, 2, lambda piece: stop + piece), "without a seal")

    def test_downgraded(self):
        """Removes the nonce from the client's greeting, or the challenge of the server."""
        def without_nonce(piece):
            message = json.loads(piece[4:])
            del message["nonce"]
            return frame(message)

        self.check(self.at(True, 0, without_nonce), "this server has a secret")
        welcome = {"type": "welcome", "protocol": 4, "version": "0", "host": "x", "devices": []}
        self.check(self.at(False, 0, lambda piece: frame(welcome)), "does not ask for a secret")

    def test_another_version(self):
        """The proof covers the versions of client and server."""
        def older(piece):
            message = json.loads(piece[4:]) | {"version": "0.0.1"}
            return frame(message)

        for from_client in (True, False):
            self.check(self.at(from_client, 0, older), "wrong secret")


if not os.environ.get("SOFTROCE_ADDRESS"):
    raise unittest.SkipTest("no RDMA device")
