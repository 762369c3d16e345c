/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/fleet/meeting.h"
#include "bench/fleet/rank_parts.h"
#include "core/base/clock.h"
#include "reports/fleet/document.h"

/* Pairs in one message to rank 0, and the size from which on no more are added. */
#define REPORT_PAIRS 500
#define REPORT_BYTES (1 << 18)
/* How often a rank reports: per rank of the job, so that rank 0 is not busy with it. */
#define REPORT_NS       (20 * NS_PER_MS)
#define REPORT_LEAST_NS (2 * NS_PER_S)
/* How often rank 0 looks which ranks that have not reported are still alive. */
#define LOOK_MS 5000
/* How long rank 0 waits for reports after a signal. */
#define LAST_MS 2000

/* Adds pairs that another rank has measured. */
static void take_pairs(struct rank *rank, json_int_t sender, size_t first, const json_t *pairs)
{
	struct error ignored = {0};
	json_t *one;
	size_t i;

	json_array_foreach(pairs, i, one)
	{
		struct fleet_pair *pair;

		/* A rank reports again when it has missed the answer. */
		if (first + i < rank->n_taken[sender])
			continue;
		rank->n_taken[sender] = first + i + 1;
		pair = fleet_add_pair(rank->fleet);
		if (!pair)
			continue;
		/* Each rank reports what it drove. A pair that it did not is dropped. */
		if (fleet_pair_parse(rank->fleet, pair, one, &ignored)) {
			rank->fleet->n_pairs--;
		} else if (pair->from != sender) {
			fleet_clear_pair(pair);
			rank->fleet->n_pairs--;
		}
	}
}

/* Returns this rank's pairs that rank 0 does not know yet, at most that number. */
static json_t *list_unsent(const struct rank *rank, size_t most)
{
	json_t *list = json_array();
	size_t n_bytes = 0;

	for (size_t i = rank->n_sent;
	     i < rank->fleet->n_pairs && json_array_size(list) < most && n_bytes < REPORT_BYTES;
	     i++) {
		json_t *pair = fleet_pair_encode(rank->fleet, &rank->fleet->pairs[i]);

		n_bytes += json_dumpb(pair, NULL, 0, JSON_COMPACT);
		if (json_array_append_new(list, pair))
			break;
	}
	return list;
}

static void mark_lost(struct rank *rank, uint32_t number)
{
	struct fleet_node *node = &rank->fleet->nodes[number];

	node->presence = FLEET_LOST;
	if (!node->error[0])
		snprintf(node->error, sizeof(node->error),
			 "the rank ended, or stopped answering, during the check");
}

/* Sends this rank's pairs to rank 0. is_last: nothing follows in this phase. */
static int report(struct rank *rank, bool is_last, struct error *error)
{
	struct meeting meeting = {0};
	bool is_over = false;
	int code = meeting_open(&meeting, &rank->servers[0], "rank 0", &rank->stop, error);

	rank->is_gone[0] = rank_is_unreachable(code);
	while (!code && !is_over) {
		json_t *pairs = list_unsent(rank, REPORT_PAIRS);
		size_t n_sent = rank->n_sent + json_array_size(pairs);

		is_over = n_sent == rank->fleet->n_pairs;
		if (n_sent == rank->n_sent && !is_over)
			code = error_set_errno(error, -ENOMEM, "cannot report");
		else
			code = meeting_report(&meeting, rank->job.rank, rank->n_sent, pairs,
					      is_over && is_last, error);
		if (!code)
			rank->n_sent = n_sent;
		json_decref(pairs);
	}
	meeting_close(&meeting);
	rank->reported_ns = clock_now_ns();
	return code;
}

/* Reports the rest. Rank 0 may be busy with the reports of others, so this tries again for a while. */
static int report_last(struct rank *rank, struct error *error)
{
	struct pollfd stop = {.fd = rank->job.stop, .events = POLLIN};
	uint64_t deadline = clock_deadline(COLLECT_MS);
	int code;

	for (;;) {
		*error = (struct error){0};
		code = report(rank, true, error);
		if (!code || code == -EINTR || code == -ECONNREFUSED || !clock_left_ms(deadline))
			return code;
		/* Ranks try at different times. */
		poll(&stop, 1, 100 + (int)(rank->job.rank % 32) * 30);
	}
}

void rank_report_early(struct rank *rank)
{
	uint64_t every_ns = REPORT_NS * rank->job.size;
	struct error ignored = {0};

	if (every_ns < REPORT_LEAST_NS)
		every_ns = REPORT_LEAST_NS;
	if (!rank_is_first(rank) && rank->n_sent < rank->fleet->n_pairs &&
	    clock_now_ns() - rank->reported_ns > every_ns)
		report(rank, false, &ignored);
}

/* Takes the reports that have arrived. has_reported: by rank. Returns how many ranks are missing. */
static size_t take_reports(struct rank *rank, bool *has_reported)
{
	json_t *reports = node_server_take_reports(&rank->server);
	size_t n_missing = 0;
	json_t *one;
	size_t i;

	json_array_foreach(reports, i, one)
	{
		json_int_t from = json_integer_value(json_object_get(one, "rank"));

		if (from <= 0 || from >= rank->job.size)
			continue;
		take_pairs(rank, from, (size_t)json_integer_value(json_object_get(one, "first")),
			   json_object_get(one, "pairs"));
		if (json_is_true(json_object_get(one, "last")))
			has_reported[from] = true;
	}
	json_decref(reports);
	for (i = 1; i < rank->job.size; i++)
		n_missing += !has_reported[i] && !rank->is_gone[i];
	return n_missing;
}

/* Looks which of the missing ranks still answer, until the deadline. */
static void look_for_missing(struct rank *rank, const bool *has_reported, uint64_t deadline)
{
	for (uint32_t i = 1; i < rank->job.size && clock_left_ms(deadline); i++) {
		struct meeting meeting = {0};
		struct error ignored = {0};

		if (has_reported[i] || rank->is_gone[i])
			continue;
		if (rank->stop.is_over(rank))
			return;
		rank->is_gone[i] = rank_is_unreachable(
			meeting_open(&meeting, &rank->servers[i], "", &rank->stop, &ignored));
		if (rank->stop.is_over(rank))
			rank->is_gone[i] = false;
		meeting_close(&meeting);
	}
}

/* Returns whether any rank was lost. */
static bool mark_all_lost(struct rank *rank, const bool *has_reported)
{
	bool has_lost = false;

	for (uint32_t i = 1; i < rank->job.size; i++)
		if (!has_reported[i]) {
			mark_lost(rank, i);
			has_lost = true;
		}
	return has_lost;
}

/* Collects the figures of all ranks that are left, at rank 0. */
static int collect(struct rank *rank, struct error *error)
{
	bool *has_reported = calloc(rank->job.size, sizeof(*has_reported));
	uint64_t deadline = clock_deadline(4 * rank->round_ms + COLLECT_MS);
	int code = 0;

	if (!has_reported)
		return error_set_errno(error, -ENOMEM, "cannot store the figures");
	while (take_reports(rank, has_reported) && code != -EINTR && clock_left_ms(deadline)) {
		struct error waited = {0};

		code = node_server_await_report(&rank->server, LOOK_MS, rank->job.stop, &waited);
		if (code == -ETIMEDOUT)
			look_for_missing(rank, has_reported, deadline);
	}
	if (code == -EINTR)
		error_set(error, -EINTR, "interrupted");
	else if (mark_all_lost(rank, has_reported))
		rank->is_loose = rank->is_broken = true; /* barriers would wait for them */
	free(has_reported);
	return error->code;
}

int rank_end_phase(struct rank *rank, struct error *error)
{
	return rank_is_first(rank) ? collect(rank, error) : report_last(rank, error);
}

void rank_leave(struct rank *rank)
{
	uint64_t deadline = clock_deadline(LAST_MS);
	bool *has_reported = calloc(rank->job.size, sizeof(*has_reported));
	struct error ignored = {0};

	rank->is_leaving = true;
	if (!rank_is_first(rank) && rank->has_joined)
		report(rank, true, &ignored);
	while (rank_is_first(rank) && has_reported && take_reports(rank, has_reported)) {
		int left = clock_left_ms(deadline);

		if (!left ||
		    node_server_await_report(&rank->server, (unsigned int)left, -1, &ignored))
			break;
	}
	free(has_reported);
}
