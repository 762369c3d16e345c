# SPDX-License-Identifier: MIT
"""Multicast: one queue pair that sends, and several that each receive every message, or lose it."""

from verbmark import RUN_PATIENCE, Ended, Peer, Served, by_hand, client, measure

GROUP = "239.1.2.3"
BANDWIDTH = ("-c", "ud", "--metric", "bw", "--multicast", GROUP)


class Measured(Served):
    def measure(self, *options, count=1):
        document = measure(self.server, *BANDWIDTH, "--warmup", "0ms", *options).document
        cases = document["cases"]
        self.assertEqual(len(cases), count)
        for case in cases:
            self.assertEqual(case["status"], "complete", case)
            self.assertEqual((case["multicast"], case["connect"]), (GROUP, "qp"))
            self.assertEqual(len(case["receivers"]), case["qps"])
            for receiver in case["receivers"]:
                self.assertEqual(receiver["arrived"] + receiver["lost"], case["loss"]["sent"])
        return cases

    def test_every_receiver_gets_every_message(self):
        """No receive has to be posted again, so nothing is lost."""
        for case in self.measure(
            "--op", "send,send-imm", "--cq", "poll,event", "-q", "1,3", "-n", 50, "-r", 256,
            "--trials", 2, "--verify", count=8,
        ):
            self.assertEqual(case["loss"], {"sent": 100, "lost": 0})
            for receiver in case["receivers"]:
                self.assertEqual(receiver, {"arrived": 100, "lost": 0})

    def test_losses_of_each_receiver(self):
        """The server computes for longer than the client needs to send everything."""
        case, = self.measure("-q", 3, "-n", 4000, "-r", 4, "--think", "20ms", "-s", 256)
        for receiver in case["receivers"]:
            self.assertGreaterEqual(receiver["arrived"], 4)
            self.assertGreater(receiver["lost"], 0)
        mean = sum(receiver["lost"] for receiver in case["receivers"]) / 3
        self.assertAlmostEqual(case["loss"]["lost"], mean, delta=1)
        # A receiver that loses most messages has little throughput.
        self.assertLess(case["bandwidth"]["messages"], 4000)

    def test_table_shows_losses(self):
        ended = Ended(
            client(*BANDWIDTH, "-q", 2, "-n", 4000, "-r", 4, "--think", "20ms", "-s", 256,
                   "--warmup", "0ms", "--no-save", port=self.server.port),
            RUN_PATIENCE,
        )
        self.assertEqual(ended.status, 0, ended.err)
        self.assertRegex(ended.out, "2 receivers lost [1-9][0-9]*, [1-9][0-9]* messages")

    def test_two_runs_in_one_group(self):
        """Receivers drop what another run sends."""
        other = client(*BANDWIDTH, "-D", "1s", "--trials", 1, "--warmup", "0ms", "--no-save",
                       "--cq", "event", port=self.server.port)
        self.addCleanup(other.kill)
        while other.process.poll() is None:
            self.measure("-q", 2, "-n", 50, "-r", 256, "--cq", "event")

    def test_nothing_arrives(self):
        """Without receives, as with a switch that does not forward the group."""
        ended = Ended(
            client(*BANDWIDTH, "-q", 2, "-n", 50, "--receives", "none", "--warmup", "0ms",
                   "--no-save", port=self.server.port),
            RUN_PATIENCE,
        )
        self.assertEqual(ended.status, 1, ended.err)
        self.assertIn("messages were lost: check that switches forward the group",
                      " ".join((ended.out + ended.err).split()))

    def test_ways_to_post(self):
        self.measure("-q", 2, "-n", 64, "-r", 256, "-l", "1,4", "--access", "same,sequential",
                     "-s", 1000, count=4)


class Refused(Served):
    def test_before_anything_runs(self):
        for transport, metric, group, options, sentence in (
            ("rc", "bw", GROUP, (), "applies only to bandwidth of datagrams"),
            ("ud", "lat", GROUP, (), "applies only to bandwidth of datagrams"),
            ("ud", "bw", GROUP, ("-b",), "has one sender"),
            ("ud", "bw", GROUP, ("--threads", 2), "has one sender"),
            ("ud", "bw", GROUP, ("--use-srq",), "gives each receiver its own receives"),
            ("ud", "bw", "ff0e::7", (), "is IPv6, but the port's address is"),
            ("ud", "bw", "192.0.2.7", (), "is not a multicast address"),
            ("ud", "bw", "ff0e:1::7", (), "is not a multicast address"),
        ):
            with self.subTest(sentence):
                ended = Ended(
                    client("-c", transport, "--metric", metric, "--multicast", group, *options,
                           port=self.server.port),
                    RUN_PATIENCE,
                )
                self.assertEqual((ended.out, ended.status), ("", 2), ended.err)
                self.assertIn(sentence, ended.err)

    def test_clients_with_other_numbers_of_queue_pairs(self):
        """The client has one queue pair, and the server lists one for each receiver."""
        case = {"transport": "UD", "metric": "bw", "multicast": GROUP, "qps": 3}
        with Peer.greeted(self.server.port) as peer:
            peer.send(by_hand(**case))
            self.assertEqual(len(peer.expect("listening")["pairs"]), 3)
        with Peer.greeted(self.server.port) as peer:
            message = by_hand(**case)
            message["pairs"] *= 3
            peer.send(message)
            self.assertIn("3 queue pairs instead of 1", peer.expect("failed")["reason"])
