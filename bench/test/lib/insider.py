# SPDX-License-Identifier: MIT
"""
A client that knows a secret, written from the manual's words with Python's own BLAKE2b; who
does not know it; and somebody on the way between both ends.
"""

import hashlib
import json
import socket
import struct
import threading

from verbmark import ADDRESS, CASE, HELLO, PATIENCE, Impostor, Peer, frame

SEALED = 1 << 31
SECRET = b"the walls have ears, and so do wires"
NONCE = bytes(range(32)).hex()


def blake(data, key=b""):
    return hashlib.blake2b(data, key=key, digest_size=32).digest()


class Keys:
    """What follows from a secret and both ends' words."""

    def __init__(self, secret, challenge, nonce=NONCE, version="0"):
        talk = b"".join(
            struct.pack(">Q", len(part)) + part
            for part in (
                b"verbmark talk 1", struct.pack(">I", HELLO["protocol"]), version.encode(),
                challenge["version"].encode(), bytes.fromhex(nonce),
                bytes.fromhex(challenge["nonce"]),
            )
        )
        agreed = blake(talk, blake(secret, b"verbmark secret 1"))
        self.proof = blake(b"the client knows", agreed).hex()
        self.to_server = blake(b"from client to server", agreed)
        self.to_client = blake(b"from server to client", agreed)


def seal(key, count, body):
    return blake(struct.pack(">QI", count, len(body)) + body, key)


class Insider(Peer):
    """A client that knows the secret, or thinks so."""

    sent = received = 0
    keys = None

    def greet(self, secret=SECRET):
        self.send(HELLO | {"nonce": NONCE})
        challenge = self.expect("challenge")
        keys = Keys(secret, challenge)
        self.send({"type": "proof", "proof": keys.proof})
        self.keys = keys
        return challenge

    def send(self, message):
        if not self.keys:
            super().send(message)
            return
        body = json.dumps(message).encode()
        mac = seal(self.keys.to_server, self.sent, body)
        self.sent += 1
        self.sock.sendall(struct.pack(">I", SEALED | (len(body) + 32)) + body + mac)

    def exactly(self, length):
        data = b""
        while len(data) < length:
            more = self.sock.recv(length - len(data))
            if not more:
                return None
            data += more
        return data

    def hear(self):
        """The next sealed message that is no heartbeat; None at the end."""
        while True:
            head = self.exactly(4)
            if not head:
                return None
            length = struct.unpack(">I", head)[0]
            body = self.exactly(length & ~SEALED)
            if length & SEALED:
                body, mac = body[:-32], body[-32:]
                assert mac == seal(self.keys.to_client, self.received, body), "a wrong seal"
                self.received += 1
            message = json.loads(body)
            if message["type"] != "alive":
                return message


class Tap(Impostor):
    """
    Stands between client and server, keeps what each has said, and may have its hands on
    what passes: meddle(from_client, number of the frame, frame) is what goes on instead.
    """

    def __init__(self, port, meddle=lambda from_client, number, piece: piece):
        self.there = port
        self.meddle = meddle
        self.said = {True: b"", False: b""}
        super().__init__(self.pass_on)

    def pass_on(self, near):
        far = socket.create_connection((ADDRESS, self.there), PATIENCE)
        self.sockets.append(far)
        back = threading.Thread(target=self.pump, args=(far, near, False), daemon=True)
        back.start()
        self.pump(near, far, True)

    def pump(self, source, sink, from_client):
        data = b""
        number = 0
        try:
            while True:
                more = source.recv(65536)
                if not more:
                    break
                data += more
                while len(data) >= 4:
                    length = 4 + (struct.unpack(">I", data[:4])[0] & ~SEALED)
                    if len(data) < length:
                        break
                    piece, data = data[:length], data[length:]
                    self.said[from_client] += piece
                    if b'"alive"' not in piece:
                        piece = self.meddle(from_client, number, piece)
                        number += 1
                    sink.sendall(piece)
        except OSError:
            pass
        for sock in (source, sink):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def flip(piece):
    """With a bit of it changed."""
    at = len(piece) // 2
    return piece[:at] + bytes([piece[at] ^ 1]) + piece[at + 1 :]


GREETING = frame(HELLO | {"nonce": NONCE})
# What is said in the place of a proof, and why nobody is served for it.
NO_PROOFS = (
    ([frame(HELLO)], "this server has a secret"),
    ([frame(HELLO | {"nonce": 7})], "this server has a secret"),
    ([frame(HELLO | {"nonce": NONCE[:-2]})], "this server has a secret"),
    ([frame(HELLO | {"nonce": "é" * 32})], "this server has a secret"),
    ([GREETING, frame({"type": "proof"})], "malformed proof"),
    ([GREETING, frame({"type": "proof", "proof": 0})], "malformed proof"),
    ([GREETING, frame({"type": "proof", "proof": "0" * 63})], "malformed proof"),
    ([GREETING, frame({"type": "proof", "proof": "0" * 64})], "wrong secret"),
    ([GREETING, frame({"type": "proof", "proof": NONCE})], "wrong secret"),
    ([GREETING, frame(CASE)], "malformed proof"),
    ([GREETING, GREETING], "malformed proof"),
    ([GREETING, frame({"type": "bye"})], "malformed proof"),
)


def refusal(port, said):
    """The reason of the server, which then has closed; or None, where the end overtook it."""
    with Peer.dial(port) as peer:
        for message in said:
            peer.sock.sendall(message)
        answer = peer.receive()
        if answer and answer["type"] == "challenge":
            answer = peer.receive()
        if not answer:
            return None
        assert answer["type"] == "refused", answer
        assert peer.receive() is None, "it is served"
        return answer["reason"]
