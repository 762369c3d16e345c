/* SPDX-License-Identifier: MIT */
#include "bench/micro/row.h"

#include <errno.h>

#include "bench/loop/sink.h"
#include "bench/micro/calls.h"

/* Some of these are below 2048 ns, where each value has its own bin, and some above. */
#define VALUES 4096

static int run_latency(struct bed *bed, const struct loop_run *run, struct error *error)
{
	const struct operation *op = &operations[bed->settings.op];

	return op_latency(op, operation_kind(op, &bed->parameters))(&bed->lane, run, error);
}

static int run_bandwidth(struct bed *bed, const struct loop_run *run, struct error *error)
{
	return op_loops_of(&operations[bed->settings.op])->bandwidth(&bed->lane, run, error);
}

static int run_load(struct bed *bed, const struct loop_run *run, struct error *error)
{
	return op_loops_of(&operations[bed->settings.op])->load(&bed->lane, run, error);
}

/* The alarm that ends the loop is not a failure. */
static int run_sink(struct bed *bed, const struct loop_run *run, struct error *error)
{
	struct error end = {0};
	int code;

	alarm_clear(&bed->lane.endpoint.alarm);
	instant_supply(&bed->instant, run->messages);
	code = loop_sink(&bed->lane, NULL, &end);
	return code == -ESHUTDOWN ? 0 : error_set(error, code, "%s", end.text);
}

static int run_hist(struct bed *bed, const struct loop_run *run, struct error *error)
{
	for (uint64_t i = 0; i < run->messages; i++)
		hist_add(run->hist, i % VALUES);
	return 0;
}

static ALWAYS_INLINE void read_clock(uint64_t times, bool is_counter)
{
	for (uint64_t i = 0; i < times; i++) {
		uint64_t now = clock_ticks(is_counter);

		/* Keeps the compiler from dropping the read. */
		__asm__ volatile("" : : "r"(now));
	}
}

static int run_clock(struct bed *bed, const struct loop_run *run, struct error *error)
{
	if (run->is_counter)
		read_clock(run->messages, true);
	else
		read_clock(run->messages, false);
	return 0;
}

/* Arguments: name, path, run function, settings without the path. */
#define ROW_ON(name_, path_, run_, ...)                                         \
	{                                                                       \
		.name = name_, .run = run_, .calls = calls_drive, .settings = { \
			.path = path_,                                          \
			__VA_ARGS__                                             \
		}                                                               \
	}
#define LISTED(name, run, ...)                                     \
	ROW_ON(name "/extended", POST_EXTENDED, run, __VA_ARGS__), \
		ROW_ON(name "/classic", POST_CLASSIC, run, __VA_ARGS__)
#define INLINED(name, run, ...)                                         \
	ROW_ON(name "/inline", POST_EXTENDED_INLINE, run, __VA_ARGS__), \
		LISTED(name, run, __VA_ARGS__)
#define STREAM(name, ...) INLINED(name, run_bandwidth, .metric = METRIC_BW, __VA_ARGS__)
#define LOAD(name, ...)   INLINED(name, run_load, .metric = METRIC_LOAD, __VA_ARGS__)
/* Reads and atomics are never inline. */
#define FETCH(name, ...)                               \
	LISTED(name "-lat", run_latency, __VA_ARGS__), \
		LISTED(name "-bw", run_bandwidth, .metric = METRIC_BW, __VA_ARGS__)

const struct row rows[] = {
	INLINED("send-lat", run_latency, .op = OPERATION_SEND, .peer = INSTANT_ANSWERS),
	INLINED("send-lat-event", run_latency, .op = OPERATION_SEND, .peer = INSTANT_ANSWERS,
		.cq = CQ_EVENT),
	INLINED("send-lat-verify", run_latency, .op = OPERATION_SEND, .peer = INSTANT_ECHOES,
		.is_verified = true),
	INLINED("send-lat-ud", run_latency, .op = OPERATION_SEND, .peer = INSTANT_ANSWERS,
		.transport = TRANSPORT_UD),
	INLINED("write-lat", run_latency, .op = OPERATION_WRITE, .peer = INSTANT_PLACES),
	INLINED("write-lat-event", run_latency, .op = OPERATION_WRITE, .cq = CQ_EVENT),
	INLINED("write-lat-verify", run_latency, .op = OPERATION_WRITE, .peer = INSTANT_ECHOES,
		.is_verified = true),
	INLINED("write-imm-lat", run_latency, .op = OPERATION_WRITE_IMM, .peer = INSTANT_ANSWERS),
	INLINED("write-notify-lat", run_latency, .op = OPERATION_WRITE_NOTIFY,
		.peer = INSTANT_ANSWERS),
	LISTED("read-notify-lat", run_latency, .op = OPERATION_READ_NOTIFY,
	       .peer = INSTANT_ANSWERS),
	LISTED("read-lat-verify", run_latency, .op = OPERATION_READ, .peer = INSTANT_ECHOES,
	       .is_verified = true),
	FETCH("read", .op = OPERATION_READ),
	FETCH("fetch-add", .op = OPERATION_FETCH_ADD),
	FETCH("compare-swap", .op = OPERATION_COMPARE_SWAP),
	STREAM("send-bw", .op = OPERATION_SEND),
	STREAM("send-bw-16qp", .op = OPERATION_SEND, .qps = 16),
	STREAM("send-bw-list16", .op = OPERATION_SEND, .post_list = 16),
	STREAM("send-bw-latencies", .op = OPERATION_SEND, .latencies = true),
	STREAM("send-bw-both", .op = OPERATION_SEND, .peer = INSTANT_ANSWERS, .is_both = true),
	STREAM("send-bw-both-list16", .op = OPERATION_SEND, .peer = INSTANT_ANSWERS,
	       .is_both = true, .post_list = 16),
	STREAM("send-bw-ud", .op = OPERATION_SEND, .transport = TRANSPORT_UD),
	STREAM("write-bw", .op = OPERATION_WRITE),
	STREAM("write-bw-16qp", .op = OPERATION_WRITE, .qps = 16),
	STREAM("write-bw-list16", .op = OPERATION_WRITE, .post_list = 16),
	STREAM("write-bw-latencies", .op = OPERATION_WRITE, .latencies = true),
	STREAM("write-imm-bw", .op = OPERATION_WRITE_IMM),
	STREAM("write-notify-bw", .op = OPERATION_WRITE_NOTIFY),
	STREAM("write-notify-bw-both", .op = OPERATION_WRITE_NOTIFY, .peer = INSTANT_ANSWERS,
	       .is_both = true),
	STREAM("write-notify-bw-latencies", .op = OPERATION_WRITE_NOTIFY, .latencies = true),
	STREAM("write-bw-random", .op = OPERATION_WRITE, .access = ACCESS_RANDOM,
	       .peer = INSTANT_NOTES),
	STREAM("write-bw-random-list16", .op = OPERATION_WRITE, .access = ACCESS_RANDOM,
	       .peer = INSTANT_NOTES, .post_list = 16),
	STREAM("write-bw-random-latencies", .op = OPERATION_WRITE, .access = ACCESS_RANDOM,
	       .peer = INSTANT_NOTES, .latencies = true),
	FETCH("read-random", .op = OPERATION_READ, .access = ACCESS_RANDOM, .peer = INSTANT_NOTES),
	STREAM("send-bw-random", .op = OPERATION_SEND, .access = ACCESS_RANDOM),
	INLINED("send-lat-random", run_latency, .op = OPERATION_SEND, .peer = INSTANT_ANSWERS,
		.access = ACCESS_RANDOM),
	ROW_ON("read-bw-sge3/classic", POST_CLASSIC, run_bandwidth, .op = OPERATION_READ,
	       .metric = METRIC_BW, .peer = INSTANT_NOTES, .sge = 3),
	LISTED("read-notify-bw", run_bandwidth, .metric = METRIC_BW, .op = OPERATION_READ_NOTIFY),
	LOAD("send-load", .op = OPERATION_SEND),
	LOAD("send-load-poisson", .op = OPERATION_SEND, .is_poisson = true),
	LOAD("write-load-16qp", .op = OPERATION_WRITE, .qps = 16),
	LOAD("write-notify-load", .op = OPERATION_WRITE_NOTIFY),
	LISTED("read-notify-load", run_load, .metric = METRIC_LOAD, .op = OPERATION_READ_NOTIFY),
	{.name = "sink",
											    .run = run_sink,
											    .calls = calls_sink,
											    .settings = {.op = OPERATION_SEND, .metric = METRIC_BW, .peer = INSTANT_SENDS}},
	{.name = "hist_add",              .run = run_hist,    .settings = {.op = OPERATION_SEND}    },
	{.name = "clock_ticks",              .run = run_clock, .settings = {.op = OPERATION_SEND}},
};
const size_t n_rows = ARRAY_LENGTH(rows);

const struct row *row_find(const char *name)
{
	for (size_t i = 0; i < n_rows; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

uint64_t row_samples(const struct row *row, uint64_t messages)
{
	bool has = row->run == run_latency || row->run == run_load || row->run == run_hist ||
		   row->settings.latencies;

	return has ? messages : 0;
}

uint64_t row_counted(const struct row *row, uint64_t messages)
{
	return row->run == run_bandwidth ? messages : 0;
}
