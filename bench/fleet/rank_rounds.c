/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "bench/fleet/meeting.h"
#include "bench/fleet/rank_parts.h"

/* How long a barrier itself may take. */
#define BARRIER_MS 3000

/* Looks whether rank 0 still answers. */
static void look_for_first(struct rank *rank)
{
	struct meeting meeting = {0};
	struct error fault = {0};

	if (!rank_is_first(rank))
		rank->is_gone[0] = rank_is_unreachable(
			meeting_open(&meeting, &rank->servers[0], "rank 0", &rank->stop, &fault));
	meeting_close(&meeting);
}

/* Passes a barrier. Fails only on a signal. */
static int pass_barrier(struct rank *rank, unsigned int timeout_ms, struct error *error)
{
	struct error fault = {0};
	int code = job_meet(&rank->job, timeout_ms, &fault);

	if (!code)
		return 0;
	rank->is_broken = true;
	if (code == -EINTR)
		return error_set(error, -EINTR, "%s", fault.text);
	rank->is_loose = true;
	fleet_warn(rank->fleet, "%s; the remaining rounds did not begin together", fault.text);
	look_for_first(rank);
	return 0;
}

int rank_meet_all(struct rank *rank, unsigned int timeout_ms, struct error *error)
{
	int code = rank->is_loose ? 0 : pass_barrier(rank, timeout_ms, error);

	/* A barrier that all ranks have passed shows that rank 0 is there. */
	if (code || !rank->is_loose || rank_is_first(rank) || !rank->is_gone[0])
		return code;
	rank->is_broken = true;
	return error_set(error, -EHOSTDOWN,
			 "rank 0 (%s), which writes the report, ended or stopped answering; "
			 "nothing is reported",
			 rank->fleet->nodes[0].name);
}

static struct round_settings round_of(const struct rank *rank)
{
	return (struct round_settings){
		.plan = rank->settings->plan,
		.schedule = &rank->schedule,
		.servers = rank->servers,
		.timeout_ms = rank->timeout_ms,
		.stop = rank->job.stop,
		.with_histograms = rank->settings->with_histograms,
	};
}

/* Returns why the two nodes cannot be measured; NULL: they can. */
static const char *find_obstacle(const struct rank *rank, const struct round_pair *pair)
{
	const struct fleet_node *from = &rank->fleet->nodes[pair->from];
	const struct fleet_node *to = &rank->fleet->nodes[pair->to];

	if (from->error[0])
		return from->error;
	if (to->error[0])
		return to->error;
	return rank->is_gone[pair->to] ? "the node does not answer" : NULL;
}

int rank_drive(struct rank *rank, const struct round_pair *pair, struct error *error)
{
	const struct round_settings settings = round_of(rank);
	const char *obstacle = find_obstacle(rank, pair);
	struct meeting meeting = {0};
	struct error fault = {0};
	int code = 0;

	/* With barriers too: they may have failed at the other end alone, which then waits for this. */
	if (!obstacle && pair->to != rank->job.rank) {
		code = meeting_open(&meeting, &rank->servers[pair->to],
				    rank->fleet->nodes[pair->to].name, &rank->stop, &fault);
		rank->is_gone[pair->to] = rank_is_unreachable(code);
		if (!code)
			code = meeting_begin(&meeting, rank->turn, 4 * rank->round_ms, &rank->stop,
					     &fault);
		if (code)
			obstacle = fault.text;
	}
	if (code == -EINTR)
		code = error_set(error, -EINTR, "interrupted");
	else if (obstacle)
		code = round_fail(&settings, pair, obstacle, rank->fleet, error);
	else
		code = round_measure(&settings, pair, rank->fleet, error);
	meeting_close(&meeting);
	return code;
}

/* Lets a pair's client measure. With barriers, there is nothing to wait for. */
static int respond(struct rank *rank, uint32_t client, struct error *error)
{
	struct meeting meeting = {0};
	struct error fault = {0};
	int code;

	if (!rank->is_loose || rank->is_gone[client] ||
	    rank->fleet->nodes[rank->job.rank].error[0] || rank->fleet->nodes[client].error[0])
		return 0;
	code = meeting_open(&meeting, &rank->servers[client], rank->fleet->nodes[client].name,
			    &rank->stop, &fault);
	meeting_close(&meeting);
	rank->is_gone[client] = rank_is_unreachable(code);
	if (!code)
		code = node_server_await_guests(&rank->server, 1, 4 * rank->round_ms,
						rank->job.stop, &fault);
	return code == -EINTR ? error_set(error, -EINTR, "%s", fault.text) : 0;
}

int rank_begin_round(struct rank *rank, struct error *error)
{
	int code;

	rank_report_early(rank);
	code = rank_meet_all(rank, rank->round_ms + BARRIER_MS, error);
	if (code)
		return code;
	rank->turn++;
	node_server_begin_round(&rank->server, rank->turn);
	return 0;
}

static int run_round(struct rank *rank, uint32_t round, struct error *error)
{
	struct schedule_meeting meetings[SCHEDULE_MEETINGS];
	size_t count = schedule_meetings(&rank->schedule, round, rank->job.rank, meetings);
	int code = rank_begin_round(rank, error);

	for (size_t i = 0; i < count && !code; i++) {
		const struct round_pair pair = {
			.round = round, .from = rank->job.rank, .to = meetings[i].peer};

		if (meetings[i].is_client)
			code = rank_drive(rank, &pair, error);
	}
	for (size_t i = 0; i < count && !code; i++)
		if (!meetings[i].is_client)
			code = respond(rank, meetings[i].peer, error);
	return code;
}

static void show_round(const struct rank *rank, uint32_t round)
{
	struct rank_view *view = rank->settings->view;
	size_t n_failed = 0;

	if (!rank_is_first(rank) || !view)
		return;
	for (size_t i = 0; i < rank->fleet->n_pairs; i++)
		n_failed += rank->fleet->pairs[i].status == FLEET_FAILED;
	view->begins(view, rank->fleet, round, rank->fleet->n_rounds, n_failed);
}

int rank_run_schedule(struct rank *rank, struct error *error)
{
	uint32_t n_rounds = rank->fleet->n_rounds;
	int code = 0;

	for (uint32_t i = 0; i < n_rounds && !code; i++) {
		show_round(rank, i);
		code = run_round(rank, i, error);
	}
	return code ? code : rank_end_phase(rank, error);
}
