/* SPDX-License-Identifier: MIT */
#include "bench/micro/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "bench/loop/round.h"
#include "bench/micro/calls.h"
#include "bench/micro/row.h"

/* Counts returned by check_look. */
#define SEEN 4

/* One, a few, and numbers that are no multiple of any depth, list or batch. */
static const uint64_t counts[] = {1, 31, 1000, 4099};

static void expect(const char *what, uint64_t is, uint64_t should_be, struct error *error)
{
	if (is != should_be)
		error_set(error, -EPROTO, "%s: %" PRIu64 ", expected %" PRIu64, what, is,
			  should_be);
}

static uint64_t posts(const struct instant *instant)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < instant->n_queues; i++)
		sum += instant->queues[i].posts;
	return sum;
}

/* A notification is a separate post. */
static uint64_t posts_each(const struct bed *bed)
{
	return operations[bed->settings.op].shape.is_notified ? 2 : 1;
}

/* Counts completions not yet polled, of receives or of posts. */
static uint64_t left(const struct instant *instant, bool is_receive)
{
	uint64_t sum = 0;

	for (uint64_t i = instant->taken; i < instant->made; i++)
		sum += !(instant->ids[i % INSTANT_RING] & LANE_RECEIVE) != is_receive;
	return sum;
}

/*
 * Checks that each queue pair is in its initial state once nothing is in flight. Unpolled messages
 * are in the ring.
 */
static int check_flows(const struct bed *bed, struct error *error)
{
	uint64_t receives = left(&bed->instant, true);

	for (unsigned int i = 0; i < bed->lane.settings.n_flows; i++) {
		const struct flow *flow = &bed->lane.flows[i];

		expect("room", flow->room, bed->lane.settings.tx_depth, error);
		expect("unsignaled posts", flow->unsignaled, 0, error);
		receives += bed->instant.queues[i].receives + flow->returns.count;
	}
	expect("receives", receives, bed->parameters.rx_depth * bed->lane.settings.n_flows, error);
	return error->code;
}

/*
 * Checks that all places were visited equally often, locally and remotely, and that messages had
 * the right number of pieces.
 */
static int check_places(const struct bed *bed, uint64_t total, struct error *error)
{
	const struct instant_queue *queue = &bed->instant.queues[0];
	uint64_t least = total / INSTANT_PLACES_NOTED;
	uint64_t more = total % INSTANT_PLACES_NOTED;
	uint64_t found[2] = {0};

	if (bed->settings.peer != INSTANT_NOTES)
		return 0;
	expect("pieces", queue->pieces, total * bed->parameters.sge, error);
	if (!bed->lane.settings.walks)
		return error->code;
	for (size_t i = 0; i < INSTANT_PLACES_NOTED; i++) {
		found[0] += queue->remote_visits[i] == least + 1;
		found[1] += queue->local_visits[i] == least + 1;
		expect("visits of a place",
		       queue->remote_visits[i] - (queue->remote_visits[i] == least + 1), least,
		       error);
		expect("local visits of a place", queue->local_visits[i], queue->remote_visits[i],
		       error);
	}
	expect("places that were visited once more", found[0], more, error);
	expect("local places that were visited once more", found[1], more, error);
	return error->code;
}

/* total: messages of all runs on this bed; now: messages of the last run. */
static int check_run(const struct row *row, const struct bed *bed, uint64_t total, uint64_t now,
		     struct error *error)
{
	bool is_sink = row->settings.peer == INSTANT_SENDS;
	const struct instant *instant = &bed->instant;
	const struct lane *lane = &bed->lane;

	expect("samples", bed->hist.count, row_samples(row, now), error);
	expect("messages in windows", rate_windows_total(&bed->windows), row_counted(row, now),
	       error);
	if (!row->calls)
		return error->code;
	expect("messages", lane->result.messages, total, error);
	expect("posts", posts(instant), is_sink ? 0 : total * posts_each(bed), error);
	expect("completions", lane->result.completions, instant->taken, error);
	expect("completions left", left(instant, false), lane->is_signal_outstanding, error);
	/* Unless bidirectional, the loop takes every message that arrives. */
	if (!bed->settings.is_both)
		expect("messages left", left(instant, true), 0, error);
	if (bed->settings.is_verified)
		expect("messages verified", lane->verify.sequence, total, error);
	return check_flows(bed, error);
}

static int check_row(const struct row *row, struct bed *bed, struct error *error)
{
	uint64_t total = 0;

	if (bed_open(bed, &row->settings, error))
		return error->code;
	for (size_t i = 0; i < ARRAY_LENGTH(counts) && !error->code; i++) {
		struct loop_run run = bed_run(bed, counts[i]);

		bed_clear(bed);
		total += counts[i];
		if (!row->run(bed, &run, error) && !check_run(row, bed, total, counts[i], error))
			check_places(bed, total, error);
	}
	bed_close(bed);
	return error->code;
}

/*
 * Checks a run that is limited by time. When the time is up, a stream ends with a completion, and
 * only the next run posts again: the provider's work during a post counts for the messages posted.
 * Until it sees a completion a stream fills only one queue pair, even if there are more, because
 * everything that an instant provider completes meanwhile would be counted late. The next run fills
 * another one.
 */
static int check_by_time(const struct row *row, struct bed *bed, struct error *error)
{
	if (row->settings.metric != METRIC_BW || row->settings.peer == INSTANT_SENDS)
		return 0;
	if (bed_open(bed, &row->settings, error))
		return error->code;
	for (size_t i = 0; i < ARRAY_LENGTH(counts) && !error->code; i++) {
		struct loop_run run = bed_run(bed, UINT64_MAX);
		uint64_t before = bed->lane.result.messages;

		run.until = 0;
		if (row->run(bed, &run, error))
			break;
		expect("posts by time", posts(&bed->instant),
		       (bed->lane.settings.tx_depth + before) * posts_each(bed), error);
		if (bed->lane.settings.n_flows > 1)
			expect("posts in its turn", bed->instant.queues[i].posts,
			       bed->lane.settings.tx_depth * posts_each(bed), error);
	}
	bed_close(bed);
	return error->code;
}

/* Checks that the client looks at the alarm before it posts anything. */
static int check_by_alarm(const struct row *row, struct bed *bed, struct error *error)
{
	struct error fault = {0};
	struct loop_run run;
	int code;

	if (row->settings.metric != METRIC_LAT || !row->calls)
		return 0;
	if (bed_open(bed, &row->settings, error))
		return error->code;
	alarm_raise(&bed->lane.endpoint.alarm, -ECANCELED, "canceled");
	run = bed_run(bed, counts[0]);
	code = row->run(bed, &run, &fault);
	expect("result after an alarm", code == -ECANCELED, true, error);
	expect("posts after an alarm", posts(&bed->instant), 0, error);
	expect("samples after an alarm", bed->hist.count, 0, error);
	bed_close(bed);
	return error->code;
}

/* Checks that turns grow while they are short; the alarm is checked between turns. */
static int check_turns(struct error *error)
{
	static const struct {
		uint64_t ns;
		uint64_t most;
		uint64_t next;
	} turns[] = {
		{999999,             1,              2             },
		{999999,             ROUND_MOST / 2, ROUND_MOST    },
		{1,                  ROUND_MOST,     ROUND_MOST    },
		{1000000,            ROUND_MOST,     ROUND_MOST / 2},
		{1000000,            2,              1             },
		{UINT64_C(27000000), 1,              1             },
	};
	const struct loop_run run = {.mult = UINT64_C(1) << 32};

	for (size_t i = 0; i < ARRAY_LENGTH(turns); i++) {
		const struct round round = {
			.run = &run, .n = 2, .ticks = {5, 6, 5 + turns[i].ns}
                };

		expect("rounds of the next turn", round_most(&round, turns[i].most), turns[i].next,
		       error);
	}
	return error->code;
}

/* Counts what the provider sees of a row, or of the calls that stand for it. */
static int check_look(const struct row *row, bool is_calls, struct bed *bed, uint64_t seen[SEEN],
		      struct error *error)
{
	struct loop_run run;

	if (bed_open(bed, &row->settings, error))
		return error->code;
	run = bed_run(bed, UINT64_C(8) * CALLS_ROUND);
	if (is_calls)
		row->calls(bed, run.messages);
	else
		row->run(bed, &run, error);
	seen[0] = posts(&bed->instant);
	seen[1] = bed->instant.made;
	/*
	 * The calls may poll for the last completion before it arrives, and do not look at its
	 * kind.
	 */
	seen[2] = bed->instant.queues[0].receives + (is_calls ? 0 : left(&bed->instant, true));
	seen[3] = bed->instant.made - bed->instant.taken > 1;
	bed_close(bed);
	return error->code;
}

/* Checks that the calls alone use the provider in the same way as the row. */
static int check_calls(const struct row *row, struct bed *bed, struct error *error)
{
	uint64_t by_calls[SEEN] = {0};
	uint64_t by_row[SEEN] = {0};

	if (!row->calls || check_look(row, false, bed, by_row, error) ||
	    check_look(row, true, bed, by_calls, error))
		return error->code;
	expect("posts by calls alone", by_calls[0], by_row[0], error);
	expect("completions by calls alone", by_calls[1], by_row[1], error);
	expect("receives by calls alone", by_calls[2], by_row[2], error);
	expect("completions that no call took", by_calls[3], by_row[3], error);
	return error->code;
}

int check_all(void)
{
	static struct bed bed;
	struct error turns = {0};
	int failed = 0;

	printf("1..%zu\n", n_rows + 1);
	for (size_t i = 0; i < n_rows; i++) {
		struct error error = {0};
		bool is_good = !check_row(&rows[i], &bed, &error) &&
			       !check_by_time(&rows[i], &bed, &error) &&
			       !check_by_alarm(&rows[i], &bed, &error) &&
			       !check_calls(&rows[i], &bed, &error);

		printf("%s %zu - %s\n", is_good ? "ok" : "not ok", i + 1, rows[i].name);
		if (!is_good)
			printf("# %s\n", error.text);
		failed += !is_good;
	}
	if (check_turns(&turns))
		printf("# %s\n", turns.text);
	printf("%s %zu - turns\n", turns.code ? "not ok" : "ok", n_rows + 1);
	failed += !!turns.code;
	return failed;
}
