# SPDX-License-Identifier: MIT
"""Bandwidth, trials and measuring by time: the figures of a case must agree with each other."""

import statistics

from verbmark import Served, counter, measure, wait_until_settled, warmed_up

OPS = ("send", "write", "read")
STREAMS = (
    "send,write,read,write-imm,fetch-add,compare-swap,write-notify,read-notify,doorbell"
)
MODES = ("poll", "event", "adaptive")
DEPTH = 128
# Counters of rxe for messages that it sends again, and so counts twice.
AGAIN = ("completer_retry_err", "rcvd_rnr_err", "rcvd_seq_err")
PERCENTILES = (("p50", 20), ("p90", 100), ("p99", 1000), ("p99_9", 10000), ("p99_99", 100000))


class Sweep(Served):
    def cases(self, *options):
        document = measure(self.server, *options).document
        self.assertEqual(document["run"]["status"], "complete")
        for case in document["cases"]:
            self.assertEqual(case["status"], "complete")
        return document["cases"]

    def case(self, *options):
        (case,) = self.cases(*options)
        return case

    def check_interval(self, interval, values, value):
        """Checks an interval over at most six trials: six span all values, fewer have none."""
        if len(values) < 6:
            self.assertIsNone(interval)
        else:
            self.assertEqual(interval, {"low": min([*values, value]), "high": max([*values, value])})


class Bandwidth(Sweep):
    def check_totals(self, case):
        whole, trials = case["bandwidth"], case["trials"]
        self.assertEqual(whole["bytes"], whole["messages"] * case["size"])
        self.assertEqual(whole["messages"], sum(trial["messages"] for trial in trials))
        self.assertEqual(whole["duration_ns"], sum(trial["duration_ns"] for trial in trials))
        median = statistics.median(trial["bandwidth"]["messages_per_s"] for trial in trials)
        self.assertAlmostEqual(whole["messages_per_s"] / median, 1)
        self.assertAlmostEqual(whole["bytes_per_s"] / case["size"] / median, 1)
        self.assertEqual(case["cpu"]["client"]["messages"], whole["messages"])
        for trial in trials:
            seconds = trial["duration_ns"] / 1e9
            bytes_per_s = trial["messages"] * case["size"] / seconds
            self.assertAlmostEqual(trial["bandwidth"]["bytes_per_s"] / bytes_per_s, 1)
            self.assertAlmostEqual(
                trial["bandwidth"]["messages_per_s"] * case["size"] / bytes_per_s, 1
            )
        for key in ("bytes_per_s", "messages_per_s"):
            self.check_interval(
                whole["intervals"][key], [trial["bandwidth"][key] for trial in trials], whole[key]
            )

    def check_windows(self, case):
        whole = case["bandwidth"]
        windows, histogram = whole["windows"], whole["histogram"]
        self.assertEqual(histogram["unit"], "bytes/s")
        self.assertEqual(histogram["count"], len(windows))
        self.assertEqual(sum(row[2] for row in histogram["bins"]), len(windows))
        self.assertEqual(histogram["sum"], sum(windows))
        self.assertEqual((histogram["min"], histogram["max"]), (min(windows), max(windows)))
        # Throughput windows are 10 ms, doubled until one covers a hundred messages.
        times = whole["window_ns"] / 10e6
        self.assertIn(times, [2**n for n in range(12)])
        covered_ns = len(windows) * whole["window_ns"]
        self.assertLessEqual(covered_ns, whole["duration_ns"])
        # Each trial lacks less than a window at its end, and less than another one if windows were
        # merged in pairs.
        self.assertGreater(
            covered_ns, whole["duration_ns"] - 2 * len(case["trials"]) * whole["window_ns"]
        )
        # Rates count whole messages; only those outside of all windows are missing.
        in_windows = sum(windows) * whole["window_ns"] / 1e9
        self.assertLessEqual(in_windows, whole["bytes"])
        mean = sum(windows) / len(windows)
        # Windows cover all trials, of which bytes_per_s is the median.
        self.assertLessEqual(mean, whole["bytes"] * 1e9 / covered_ns * (1 + 1e-9))
        self.assertGreater(mean, whole["bytes"] * 1e9 / whole["duration_ns"] / 2)
        self.assertTrue(min(windows) <= mean <= max(windows))

    def check_case(self, case, duration_ms):
        self.assertEqual(case["metric"], "bw")
        self.assertEqual(case["transport"], "RC")
        self.assertNotIn("latency_ns", case)
        self.check_totals(case)
        self.check_windows(case)
        for trial in case["trials"]:
            self.assertGreaterEqual(trial["duration_ns"], duration_ms * 1e6)
            self.assertTrue(warmed_up(trial), trial["warmup"])
        cpu = case["cpu"]["client"]
        self.assertGreater(cpu["completions"], 0)
        self.assertLess(cpu["completions"], cpu["messages"])
        if case["cq"] == "poll":
            self.assertEqual(cpu["cq_events"], 0)

    def test_each_operation_and_mode(self):
        for size in ("64", "4k"):
            cases = self.cases(
                "--metric", "bw", "--op", ",".join(OPS), "--cq", ",".join(MODES), "-s", size,
                "-D", "100ms", "--trials", 2,
            )
            self.assertEqual(
                [case["id"] for case in cases],
                [f"{op}/bw/{size}/{cq}" for op in OPS for cq in MODES],
            )
            for case in cases:
                with self.subTest(case["id"]):
                    self.assertEqual(len(case["trials"]), 2)
                    self.check_case(case, 100)

    def many(self, *options):
        document = measure(
            self.server, "--metric", "bw", "-q", "1,16,128", "-n", 4000, "--trials", 1,
            "--warmup", 0, *options,
        ).document
        for case in document["cases"]:
            self.assertEqual(case["status"], "complete", case)
            self.assertEqual(case["bandwidth"]["messages"], 4000)
        return document

    def test_many_queue_pairs(self):
        """Many queue pairs run even if completion queues are limited."""
        document = self.many("--op", "send,write-notify,doorbell")
        for case in document["cases"]:
            for end in case["chosen"].values():
                self.assertLessEqual(end["cq_depth"], 32768)
        # Each of 128 queue pairs sends fewer messages, and two points are not compared.
        self.assertNotIn("crowds", document)

    def test_receive_for_each_message(self):
        """88 of 600 receives are not reposted, and more messages arrive than are measured."""
        for ways in ((), ("-b",)):
            cases = self.cases(
                "--metric", "bw", "--op", "send,write-notify", "-q", "1,3", "-r", 600, "-n", 600,
                "--trials", 2, *ways,
            )
            for case in cases:
                with self.subTest(case["id"]):
                    self.assertEqual([trial["messages"] for trial in case["trials"]], [600, 600])
                    self.assertTrue(all(trial["warmup"]["messages"] for trial in case["trials"]))

    def test_knee_of_many_queue_pairs(self):
        document = self.many("--op", "send,write-notify", "-t", 2, "-r", 2, "-Q", 1)
        self.assertEqual(len(document["crowds"]), 2)
        for crowd in document["crowds"]:
            op = crowd["at"]["case"].partition("/")[0]
            found = [case for case in document["cases"] if case["op"] == op]
            rates = [case["trials"][0]["bandwidth"]["messages_per_s"] for case in found]
            # The number of points before all further ones have less than 0.8 times the best rate.
            before = next((n for n in (1, 2) if max(rates[n:]) < 0.8 * max(rates[:n])), 3)
            self.assertEqual(crowd["at"]["queue_pairs"], (1, 16, 128)[before - 1])
            self.assertAlmostEqual(crowd["best"]["messages_per_s"], max(rates[:before]), delta=1)

    def test_server_with_another_completion_mode(self):
        cases = self.cases(
            "--metric", "bw", "--op", "send", "--cq", "poll", "--server-cq", "poll,event",
            "-D", "200ms",
        )
        for case in cases:
            self.check_case(case, 200)
            # The server sees all messages that were sent.
            server = case["cpu"]["server"]
            self.assertGreaterEqual(server["messages"], case["bandwidth"]["messages"])
            self.assertEqual(server["cq_events"] > 0, case["server_cq"] == "event")

    def test_by_messages(self):
        case = self.case("--metric", "bw", "-n", 5000, "--op", "write")
        self.check_totals(case)
        self.assertEqual(case["bandwidth"]["messages"], 5000)

    def test_one_at_a_time(self):
        # With a single outstanding operation this measures latency.
        cases = self.cases("--metric", "bw", "--op", "write,read", "-t", 1, "-n", 2000)
        for case in cases:
            self.assertEqual(case["tx_depth"], 1)
            self.assertEqual(case["cq_mod"], 1)
            self.assertEqual(case["bandwidth"]["messages"], 2000)
            self.assertEqual(case["cpu"]["client"]["completions"], 2000)

    def test_depths(self):
        for depth, every in ((2, 1), (2, 2), (7, 3), (500, 500), (512, 1)):
            with self.subTest(depth=depth, every=every):
                case = self.case(
                    "--metric", "bw", "-t", depth, "-Q", every, "-D", "100ms", "-s", 256
                )
                self.check_totals(case)
                cpu = case["cpu"]["client"]
                self.assertEqual(cpu["completions"] * every, cpu["messages"])

    def check_packets(self, op, cq, size, per_message):
        before = counter("sent_pkts")
        retries = sum(counter(name) for name in AGAIN)
        case = self.case("--metric", "bw", "--op", op, "--cq", cq, "-s", size, "-D", "200ms",
                         "--trials", 2)
        messages = sum(
            trial["messages"] + trial["warmup"]["messages"] for trial in case["trials"]
        )
        sent = wait_until_settled() - before
        again = sum(counter(name) for name in AGAIN) - retries
        self.assertGreaterEqual(sent, messages * per_message)
        # Each trial may have more: operations in flight at its end, and its connection.
        more = DEPTH * per_message + 20
        self.assertLessEqual(sent, messages * per_message + (2 + 2 * again) * more)

    def test_packets(self):
        # Each message needs one packet and its acknowledgment; for a read, the data acknowledge.
        for op in OPS:
            for cq in MODES:
                with self.subTest(op, cq=cq):
                    self.check_packets(op, cq, 64, 2)

    def test_packets_of_large_messages(self):
        # 16 KiB need four packets at this MTU.
        for op in OPS:
            with self.subTest(op):
                self.check_packets(op, "poll", "16k", 4 + 1)


    def test_packets_of_grants(self):
        """Each grant needs a request and a reply, with acknowledgments; nothing else is sent."""
        before = counter("sent_pkts")
        again = [counter(name) for name in AGAIN]
        self.cases("--op", "alloc", "-s", "1,1m", "-n", 300, "--warmup", 0, "--trials", 1)
        sent = wait_until_settled() - before
        self.assertGreaterEqual(sent, 2 * 300 * 8)
        if again == [counter(name) for name in AGAIN]:
            self.assertLess(sent, 2 * 300 * 9)


class Options(Sweep):
    """Options of a case, each with a fixed number of messages, all of which must arrive."""

    MESSAGES = 600

    def check(self, *options, count=1):
        cases = self.cases("--metric", "bw", "-n", self.MESSAGES, *options)
        self.assertEqual(len(cases), count)
        for case in cases:
            self.assertEqual(case["bandwidth"]["messages"], self.MESSAGES)
        return cases

    def test_all_operations(self):
        for case in self.check("--op", STREAMS, count=9):
            self.assertEqual(case["cpu"]["client"]["messages"], self.MESSAGES)
        cases = measure(self.server, "--op", "all", "--cq", "poll,event", "-n", 50).document["cases"]
        self.assertEqual(len(cases), 51)
        for case in cases:
            # Soft-RoCE of older kernels has no atomic writes.
            if not (case["op"] == "atomic-write" and case["status"] == "skipped"):
                self.assertEqual(case["latency_ns"]["count"], 50, case["id"])

    def test_doorbells(self):
        """Each group of that many writes has one completion on either side; the rest has one."""
        for every, rung in ((1, 600), (7, 86), (64, 10), (600, 1)):
            (case,) = self.check("--op", "doorbell", "--doorbell-every", every, "--warmup", 0)
            cpu = case["cpu"]
            self.assertEqual(cpu["client"]["completions"], rung)
            self.assertLessEqual(cpu["server"]["completions"], rung)
            self.assertEqual(cpu["server"]["messages"], self.MESSAGES)
            self.assertEqual(case["cq_mod"], every)
        options = ("--doorbell-every", "1,16")
        self.check("--op", "doorbell", *options, "-q", 3, "--use-srq", "--cq", "event", count=2)
        self.check("--op", "doorbell", *options, "-s", 9000, "-b", count=2)
        self.check("--op", "doorbell", "--latencies", "--access", "same,random", count=2)

    def test_latencies_of_doorbells(self):
        """A message is all writes up to a doorbell, and its latency covers all of them."""
        options = ("--op", "doorbell", "--doorbell-every", "1,40", "-n", 200, "--warmup", 0)
        for case in self.cases(*options, "--cq", "poll,event", "--access", "same,random"):
            self.assertEqual(case["latency_ns"]["kind"], "half")
            self.assertEqual(case["latency_ns"]["count"], 200)
            # The reply and each signaled post complete; nobody waits for the last post.
            self.assertIn(case["cpu"]["client"]["completions"], (399, 400))
            self.assertEqual(case["cpu"]["server"]["messages"], 200)

    def test_grants(self):
        """Grants of any size need messages of the same size."""
        options = ("--op", "alloc", "-s", "1,10000,1m", "-n", 100, "--warmup", 0)
        for case in self.cases(*options, "--cq", "poll,event"):
            self.assertEqual(case["latency_ns"]["kind"], "full")
            self.assertEqual(case["latency_ns"]["count"], 100)
            self.assertEqual(case["cpu"]["client"]["messages"], 100)
            self.assertEqual(case["cpu"]["server"]["messages"], 100)
        (case,) = self.cases("--op", "alloc", "--threads", 2, "-n", 50, "--use-srq")
        self.assertEqual(case["latency_ns"]["count"], 100)

    def test_queue_pairs(self):
        self.check("--op", STREAMS, "-q", 4, count=9)
        self.check("--op", "send,write-imm,write-notify", "-q", "1,4", "--use-srq", count=6)

    def test_lists(self):
        self.check("--op", "send,write,read,write-imm,fetch-add", "-l", "2,16", "-q", "1,3",
                   count=20)
        # One call's posts fit, whatever the size.
        self.check("--op", "write", "-l", 64, "-s", "256k")

    def test_bidirectional(self):
        for case in self.check("--op", STREAMS, "-b", count=9):
            total = case["bandwidth"]["total"]
            # A server that got no CPU during so short a measurement sent nothing.
            self.assertGreaterEqual(total["messages_per_s"], case["bandwidth"]["messages_per_s"])

    def reverse_messages(self, case):
        """Returns the number of messages in the other direction, from its rate and the time."""
        (trial,) = case["trials"]
        reverse = trial["bandwidth"]["far_messages_per_s"] * trial["duration_ns"] / 1e9
        total = case["bandwidth"]["total"]["messages_per_s"] * trial["duration_ns"] / 1e9
        self.assertAlmostEqual(total - reverse, trial["messages"], 2)
        return reverse

    def test_both_directions_are_measured_equally_long(self):
        """The client's completions are those of its own messages and of received ones."""
        options = ("--metric", "bw", "-D", "500ms", "-b", "-Q", 1, "--warmup", "1s")
        for case in self.cases("--op", "send,write-imm", *options):
            cpu = case["cpu"]["client"]
            self.assertAlmostEqual(
                self.reverse_messages(case), cpu["completions"] - cpu["messages"], 2
            )
            # The server's count includes the warm-up.
            self.assertGreater(case["cpu"]["server"]["messages"], 0)
        # One-sided operations are counted by the server, which runs for longer.
        for case in self.cases("--op", "write,read", *options):
            server = case["cpu"]["server"]["messages"]
            self.assertLess(self.reverse_messages(case), server)

    def test_few_large_messages_in_both_directions(self):
        """
        Posting a large message may take as long as sending it, and each queue pair sends only a
        few. In a single run the server may get no CPU.
        """
        for options in (("--op", "write", "-s", "1m"), ("--op", "read", "-s", "1m"),
                        ("--op", "write", "-s", "16k", "-q", 16)):
            runs = (self.cases("--metric", "bw", "-b", "-t", 64, "-n", 40, *options)
                    for _ in range(100))
            self.assertTrue(any(self.reverse_messages(case) > 0 for (case,) in runs), options)

    def test_large_messages_are_posted_in_parts(self):
        """Post lists divide neither the depth nor the count, and loops continue after them."""
        options = ("--op", "write,read", "-s", "64k", "-t", 8)
        self.check(*options, "-l", 3, "-q", "1,3", count=4)
        self.check(*options, "-l", 3, "-b", count=2)
        for case in self.cases(*options, "--metric", "bw", "-D", "200ms", "--threads", 2, "-q", 2):
            self.assertGreater(case["bandwidth"]["messages"], 0)

    def test_latencies_of_bidirectional_streams(self):
        # Long enough for a server that shares its CPU with other programs.
        options = ("--metric", "bw", "-D", "500ms", "-b", "--latencies")
        for case in self.cases("--op", "send,write,read", *options):
            self.assertEqual(case["latency_ns"]["count"], case["bandwidth"]["messages"])
            self.assertGreater(self.reverse_messages(case), 0)

    def test_latencies(self):
        for case in self.check("--op", "send,write,read", "--latencies", count=3):
            self.assertEqual(case["latency_ns"]["count"], self.MESSAGES)
            self.assertEqual(case["latency_ns"]["kind"], "completion")

    def test_rare_signals_of_latencies(self):
        """A signaled message is reaped only when the next one is due, so both must fit."""
        for case in self.cases("--op", "send,write,write-notify", "-Q", 64, "-n", 500):
            self.assertEqual(case["latency_ns"]["count"], 500)


class Trials(Sweep):
    def test_figures_of_each(self):
        for trials in (1, 2, 5, 6):
            case = self.case("-n", 200, "--trials", trials)
            self.assertEqual(len(case["trials"]), trials)
            whole = case["latency_ns"]
            self.assertEqual(whole["count"], 200 * trials)
            self.assertEqual(whole["histogram"]["count"], 200 * trials)
            figures = [trial["latency_ns"] for trial in case["trials"]]
            for trial in case["trials"]:
                self.assertEqual(trial["messages"], 200)
                self.assertTrue(warmed_up(trial), trial["warmup"])
            self.assertEqual(whole["min"], min(row["min"] for row in figures))
            self.assertEqual(whole["max"], max(row["max"] for row in figures))
            self.assertAlmostEqual(
                whole["mean"] / statistics.fmean(row["mean"] for row in figures), 1
            )
            self.assertEqual(
                {key for key in whole["intervals"] if key in figures[0]}, {"mean", "p50", "p90"}
            )
            for key, interval in whole["intervals"].items():
                if key in figures[0]:
                    self.check_interval(interval, [row[key] for row in figures], whole[key])
                else:
                    self.assertIsNone(interval)

    def test_costs_add_up(self):
        case = self.case("-n", 100, "--trials", 3, "--cq", "event")
        for end in ("client", "server"):
            for key, value in case["cpu"][end].items():
                self.assertEqual(value, sum(trial["cpu"][end][key] for trial in case["trials"]))

    def test_too_few_samples_in_a_trial(self):
        # A median needs more than the 12 samples of a trial; the 24 of both are enough.
        case = self.case("-n", 12, "--trials", 2)
        self.assertIn("p50", case["latency_ns"])
        self.assertIsNone(case["latency_ns"]["intervals"]["p50"])
        self.assertNotIn("p50", case["trials"][0]["latency_ns"])


class Duration(Sweep):
    def check_percentiles(self, latency):
        found = [latency[key] for key, least in PERCENTILES if latency["count"] >= least]
        self.assertEqual(found, sorted(found))
        for key, least in PERCENTILES:
            self.assertEqual(key in latency, latency["count"] >= least, key)

    def check_time(self, asked_ms, *options, factor=1):
        """
        A trial ends with the first operation that completes after its time. If the machine
        takes the CPU away for a while, the interrupted operation is among the samples.
        """
        case = self.case("-D", f"{asked_ms}ms", *options)
        latency = case["latency_ns"]
        (trial,) = case["trials"]
        asked_ns = asked_ms * 1e6
        self.assertGreaterEqual(trial["duration_ns"], 0.95 * asked_ns)
        self.assertLessEqual(
            trial["duration_ns"], 1.05 * asked_ns + 2 * factor * latency["max"]
        )
        self.check_percentiles(latency)

    def test_latencies(self):
        for op, cq, factor in (
            ("send", "poll", 2), ("send", "event", 2), ("write", "poll", 2), ("read", "poll", 1),
            ("read", "adaptive", 1),
        ):
            with self.subTest(op, cq=cq):
                self.check_time(1000, "--op", op, "--cq", cq, factor=factor)

    def test_large_message(self):
        self.check_time(500, "-s", "1m", factor=2)

    def test_bandwidths(self):
        # Other load makes one trial too long now and then, but not all of them.
        for op in OPS:
            durations = []
            while not durations or min(durations) > 1.05 * 500e6:
                self.assertLess(len(durations), 6, durations)
                case = self.case("-D", "500ms", "--metric", "bw", "--op", op)
                durations.append(case["trials"][0]["duration_ns"])
            self.assertGreaterEqual(min(durations), 500e6)
