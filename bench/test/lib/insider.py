# SPDX-License-Identifier: MIT
"""
A client that knows the secret, written from the manual page with Python's own BLAKE2b; clients
that do not know it; and an attacker between client and server.
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
    """The keys derived from a secret and the greetings of client and server."""

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
    """A client that knows the secret, or believes so."""

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
        """Returns the next sealed message that is not a heartbeat, or None at the end."""
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
    Stands between client and server, records what each sends, and may tamper with it:
    meddle(from_client, number of the frame, frame) returns what to send instead.
    """

    def __init__(self, port, meddle=lambda from_client, number, piece: piece):
        self.server_port = port
        self.meddle = meddle
        self.said = {True: b"", False: b""}
        super().__init__(self.pass_on)

    def pass_on(self, client_side):
        server_side = socket.create_connection((ADDRESS, self.server_port), PATIENCE)
        self.sockets.append(server_side)
        back = threading.Thread(
            target=self.pump, args=(server_side, client_side, False), daemon=True
        )
        back.start()
        self.pump(client_side, server_side, True)

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
    """Returns the frame with one bit flipped."""
    at = len(piece) // 2
    return piece[:at] + bytes([piece[at] ^ 1]) + piece[at + 1 :]


GREETING = frame(HELLO | {"nonce": NONCE})
# Frames that a client sends in place of a proof, and the server's reason to reject it.
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


def refusal(port, frames):
    """
    Returns the reason for which the server rejected the client before closing the connection,
    or None if the close overtook the reason.
    """
    with Peer.dial(port) as peer:
        for message in frames:
            peer.sock.sendall(message)
        answer = peer.receive()
        if answer and answer["type"] == "challenge":
            answer = peer.receive()
        if not answer:
            return None
        assert answer["type"] == "refused", answer
        assert peer.receive() is None, "the server did not close the connection"
        return answer["reason"]
