/* SPDX-License-Identifier: MIT */
#include "bench/fleet/rank.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/fleet/discover.h"
#include "bench/fleet/meeting.h"
#include "bench/fleet/node_server.h"
#include "bench/fleet/roster.h"
#include "bench/fleet/round.h"
#include "core/base/clock.h"
#include "reports/fleet/blame.h"
#include "reports/fleet/document.h"
#include "reports/fleet/judge.h"

/* Keys that ranks publish under. */
#define KEY_ENTRY   "verbmark.entry"
#define KEY_RETESTS "verbmark.retests.%u"
/* Time to connect and to set up the resources of a pair, besides the measurement. */
#define SETUP_MS 10000
/* Pairs in one message to rank 0. */
#define REPORT_PAIRS 500
/* How often a rank reports: per rank of the job, so that rank 0 is not busy with it. */
#define REPORT_NS       (20 * NS_PER_MS)
#define REPORT_LEAST_NS (2 * NS_PER_S)
/* Time that rank 0 may need to collect what all ranks have reported. */
#define COLLECT_MS 20000
/* How often rank 0 looks which ranks that have not reported are still alive. */
#define LOOK_MS       5000
#define RETESTS       2
#define RETEST_ROUNDS 64 /* at most, each time */
/* How long rank 0 waits for reports after a signal. */
#define LAST_MS 2000

struct rank {
	const struct rank_settings *settings;
	struct schedule schedule;
	struct job job;
	struct fleet *fleet; /* at other ranks than 0, with this rank's own pairs alone */
	struct node_server server;
	struct pair_server *servers; /* by rank */
	bool *is_gone;               /* by rank: did not answer */
	bool has_joined;
	bool is_loose;        /* the two ends of a pair meet on their own */
	bool is_broken;       /* a barrier of the job has failed */
	size_t n_sent;        /* of the fleet's pairs: reported to rank 0 */
	uint64_t reported_ns; /* when this rank last reported */
	uint32_t turn;        /* rounds so far, including retests */
	unsigned int timeout_ms;
	unsigned int round_ms; /* most that a round takes */
	bool is_leaving;       /* a signal came: it no longer ends what is sent */
	struct dial_stop stop;
};

static bool is_interrupted(void *owner)
{
	const struct rank *rank = owner;
	struct pollfd waiting = {.fd = rank->job.stop, .events = POLLIN};

	return !rank->is_leaving && poll(&waiting, 1, 0) > 0;
}

static bool is_first(const struct rank *rank)
{
	return rank->job.rank == 0;
}

static struct fleet_node *own_node(const struct rank *rank)
{
	return &rank->fleet->nodes[rank->job.rank];
}

/* Sets the node's group to its leaf switch, if Slurm knows it: "spine.leaf.node". */
static void find_group(struct fleet_node *node)
{
	const char *place = getenv("SLURM_TOPOLOGY_ADDR");
	const char *pattern = getenv("SLURM_TOPOLOGY_ADDR_PATTERN");
	const char *end = place ? strrchr(place, '.') : NULL;
	const char *begin = end;

	if (!end || !pattern || !strstr(pattern, "switch."))
		return;
	while (begin > place && begin[-1] != '.')
		begin--;
	snprintf(node->group, sizeof(node->group), "%.*s", (int)(end - begin), begin);
}

static int prepare(struct rank *rank, struct error *error)
{
	struct fleet *fleet = rank->fleet;
	struct fleet_node *node;
	int code;

	fleet->nodes = calloc(rank->job.size, sizeof(*fleet->nodes));
	rank->servers = calloc(rank->job.size, sizeof(*rank->servers));
	rank->is_gone = calloc(rank->job.size, sizeof(*rank->is_gone));
	if (!fleet->nodes || !rank->servers || !rank->is_gone)
		return error_set_errno(error, -ENOMEM, "cannot store the nodes");
	fleet->n_nodes = rank->job.size;
	rank->schedule.size = rank->job.size;
	snprintf(fleet->launcher, sizeof(fleet->launcher), "%s", rank->job.launcher);
	fleet->n_rounds = schedule_rounds(&rank->schedule);
	node = own_node(rank);
	snprintf(node->host, sizeof(node->host), "%s", rank->job.host);
	if (rank->job.local_size > 1)
		snprintf(node->name, sizeof(node->name), "%.50s.%u", node->host,
			 rank->job.local_rank);
	else
		snprintf(node->name, sizeof(node->name), "%s", node->host);
	node->presence = FLEET_PRESENT;
	find_group(node);
	code = node_server_open(&rank->server, error);
	if (code)
		return code;
	/* A node that cannot measure still takes part, so that the others need not wait for it. */
	if (discover_rails(node, error) || rails_choose(node, &rank->settings->rails, error)) {
		snprintf(node->error, sizeof(node->error), "%s", error->text);
		*error = (struct error){0};
		node->n_rails = 0;
		return 0;
	}
	rails_share(node, rank->job.local_rank, rank->job.local_size);
	return 0;
}

int rank_open(struct rank **rank, const struct rank_settings *settings, struct fleet *fleet,
	      int stop, struct error *error)
{
	struct rank *made = calloc(1, sizeof(*made));
	int code;

	*rank = NULL;
	if (!made)
		return error_set_errno(error, -ENOMEM, "cannot join the job");
	made->settings = settings;
	made->schedule = settings->schedule;
	made->fleet = fleet;
	made->is_loose = settings->is_loose;
	made->stop = (struct dial_stop){is_interrupted, made};
	made->timeout_ms = settings->timeout_ms;
	if (!made->timeout_ms)
		made->timeout_ms =
			(unsigned int)(2 *
				       plan_estimate_ns(settings->plan, settings->plan->n_cases) /
				       NS_PER_MS) +
			SETUP_MS;
	code = job_open(&made->job, stop, error);
	if (!code)
		code = prepare(made, error);
	if (code)
		rank_close(made, 0);
	else
		*rank = made;
	return code;
}

const struct job *rank_job(const struct rank *rank)
{
	return &rank->job;
}

/* Reads what the other ranks have published about themselves. */
static int read_roster(struct rank *rank, struct error *error)
{
	int code = 0;

	for (uint32_t i = 0; i < rank->job.size && !code; i++) {
		struct fleet_node *node = &rank->fleet->nodes[i];
		char *text;

		if (i == rank->job.rank)
			continue;
		code = job_get(&rank->job, i, KEY_ENTRY, &text, error);
		if (!code)
			code = roster_read(text, node, &rank->servers[i], error);
		if (code)
			error_wrap(error, "rank %u", i);
		else
			node->presence = FLEET_PRESENT;
		free(text);
	}
	return code;
}

static void find_round_time(struct rank *rank)
{
	size_t most = 1;
	size_t n_steps;

	for (size_t i = 0; i < rank->fleet->n_nodes; i++)
		if (rank->fleet->nodes[i].n_rails > most)
			most = rank->fleet->nodes[i].n_rails;
	n_steps = schedule_steps(&rank->schedule, most, most);
	rank->round_ms = (unsigned int)n_steps * (rank->timeout_ms + ROUND_GRACE_MS);
}

int rank_join(struct rank *rank, struct error *error)
{
	char *text = roster_write(own_node(rank), &rank->server);
	int code = text ? 0 : error_set_errno(error, -ENOMEM, "cannot join the job");
	struct error ignored = {0};

	/* Loopback uses this rank's own entry. */
	if (!code)
		code = roster_read(text, own_node(rank), &rank->servers[rank->job.rank], &ignored);
	if (!code)
		code = job_publish(&rank->job, KEY_ENTRY, text, error);
	free(text);
	if (code)
		return code;
	code = job_meet(&rank->job, rank->settings->join_ms, error);
	if (code) {
		rank->is_broken = true;
		error_wrap(error, "joining the fleet");
		return error_append(error,
				    "the scheduler may have reported which one ended; --join "
				    "waits longer");
	}
	code = read_roster(rank, error);
	if (!code && is_first(rank))
		rails_compare(rank->fleet);
	rank->has_joined = !code;
	find_round_time(rank);
	return code;
}

/* Adds pairs that another rank has measured. */
static void take_pairs(struct rank *rank, json_int_t sender, const json_t *pairs)
{
	struct error ignored = {0};
	json_t *one;
	size_t i;

	json_array_foreach(pairs, i, one)
	{
		struct fleet_pair *pair = fleet_add_pair(rank->fleet);

		/* Each rank reports what it drove. A pair that it did not is dropped. */
		if (!pair)
			continue;
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

	for (size_t i = rank->n_sent; i < rank->fleet->n_pairs && json_array_size(list) < most; i++)
		json_array_append_new(list, fleet_pair_encode(rank->fleet, &rank->fleet->pairs[i]));
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

/*
 * Passes a barrier of the job. If it fails, ranks go on without barriers. Returns an error only on a
 * signal.
 */
static int meet_all(struct rank *rank, unsigned int timeout_ms, struct error *error)
{
	struct error fault = {0};
	int code;

	if (rank->is_loose)
		return 0;
	code = job_meet(&rank->job, timeout_ms, &fault);
	if (!code)
		return 0;
	rank->is_broken = true;
	if (code == -EINTR)
		return error_set(error, -EINTR, "%s", fault.text);
	rank->is_loose = true;
	fleet_warn(rank->fleet, "%s; the remaining rounds did not begin together", fault.text);
	return 0;
}

/* Sends this rank's pairs to rank 0. is_last: nothing follows in this phase. */
static int report(struct rank *rank, bool is_last, struct error *error)
{
	struct meeting meeting = {0};
	bool is_over = false;
	int code = meeting_open(&meeting, &rank->servers[0], "rank 0", &rank->stop, error);

	while (!code && !is_over) {
		json_t *pairs = list_unsent(rank, REPORT_PAIRS);
		size_t n_sent = rank->n_sent + json_array_size(pairs);

		is_over = n_sent == rank->fleet->n_pairs;
		code = meeting_report(&meeting, rank->job.rank, pairs, is_over && is_last, error);
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
		if (!code || code == -EINTR || !clock_left_ms(deadline))
			return code;
		/* Ranks try at different times. */
		poll(&stop, 1, 100 + (int)(rank->job.rank % 32) * 30);
	}
}

/* Reports now and then, so that little is lost if this rank dies. */
static void report_early(struct rank *rank)
{
	uint64_t every_ns = REPORT_NS * rank->job.size;
	struct error ignored = {0};

	if (every_ns < REPORT_LEAST_NS)
		every_ns = REPORT_LEAST_NS;
	if (!is_first(rank) && rank->n_sent < rank->fleet->n_pairs &&
	    clock_now_ns() - rank->reported_ns > every_ns)
		report(rank, false, &ignored);
}

static struct round_settings round_of(const struct rank *rank)
{
	return (struct round_settings){
		.plan = rank->settings->plan,
		.schedule = &rank->schedule,
		.servers = rank->servers,
		.timeout_ms = rank->timeout_ms,
		.stop = rank->job.stop,
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

/* Measures a pair as its client. Returns an error only on a signal or without memory. */
static int drive(struct rank *rank, const struct round_pair *pair, struct error *error)
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
		rank->is_gone[pair->to] = code && code != -EINTR;
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

	if (!rank->is_loose || rank->is_gone[client] || own_node(rank)->error[0] ||
	    rank->fleet->nodes[client].error[0])
		return 0;
	code = meeting_open(&meeting, &rank->servers[client], rank->fleet->nodes[client].name,
			    &rank->stop, &fault);
	meeting_close(&meeting);
	rank->is_gone[client] = code && code != -EINTR;
	if (!code)
		code = node_server_await_guests(&rank->server, 1, 4 * rank->round_ms,
						rank->job.stop, &fault);
	return code == -EINTR ? error_set(error, -EINTR, "%s", fault.text) : 0;
}

/* Begins the next round: from now on, its meetings are admitted. */
static int begin_round(struct rank *rank, struct error *error)
{
	int code;

	report_early(rank);
	code = meet_all(rank, rank->round_ms + SETUP_MS, error);
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
	int code = begin_round(rank, error);

	for (size_t i = 0; i < count && !code; i++) {
		const struct round_pair pair = {
			.round = round, .from = rank->job.rank, .to = meetings[i].peer};

		if (meetings[i].is_client)
			code = drive(rank, &pair, error);
	}
	for (size_t i = 0; i < count && !code; i++)
		if (!meetings[i].is_client)
			code = respond(rank, meetings[i].peer, error);
	return code;
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

		take_pairs(rank, from, json_object_get(one, "pairs"));
		if (from > 0 && from < rank->job.size && json_is_true(json_object_get(one, "last")))
			has_reported[from] = true;
	}
	json_decref(reports);
	for (i = 1; i < rank->job.size; i++)
		n_missing += !has_reported[i] && !rank->is_gone[i];
	return n_missing;
}

/* Looks which of the missing ranks still answer. */
static void look_for_missing(struct rank *rank, const bool *has_reported)
{
	for (uint32_t i = 1; i < rank->job.size; i++) {
		struct meeting meeting = {0};
		struct error ignored = {0};

		if (has_reported[i] || rank->is_gone[i])
			continue;
		if (is_interrupted(rank))
			return;
		rank->is_gone[i] =
			meeting_open(&meeting, &rank->servers[i], "", &rank->stop, &ignored) != 0;
		if (is_interrupted(rank))
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
	size_t n_missing;
	int code = 0;

	if (!has_reported)
		return error_set_errno(error, -ENOMEM, "cannot store the figures");
	for (n_missing = take_reports(rank, has_reported);
	     n_missing && code != -EINTR && clock_left_ms(deadline);
	     n_missing = take_reports(rank, has_reported)) {
		struct error waited = {0};

		code = node_server_await_report(&rank->server, LOOK_MS, rank->job.stop, &waited);
		if (code == -ETIMEDOUT)
			look_for_missing(rank, has_reported);
	}
	if (code == -EINTR)
		error_set(error, -EINTR, "interrupted");
	else if (mark_all_lost(rank, has_reported))
		rank->is_loose = rank->is_broken = true; /* barriers would wait for them */
	free(has_reported);
	return error->code;
}

/* Ends a phase: rank 0 gets the figures of all ranks that are left. */
static int end_phase(struct rank *rank, struct error *error)
{
	return is_first(rank) ? collect(rank, error) : report_last(rank, error);
}

static void show_round(const struct rank *rank, uint32_t round)
{
	struct rank_view *view = rank->settings->view;
	size_t n_failed = 0;

	if (!is_first(rank) || !view)
		return;
	for (size_t i = 0; i < rank->fleet->n_pairs; i++)
		n_failed += rank->fleet->pairs[i].status == FLEET_FAILED;
	view->begins(view, rank->fleet, round, rank->fleet->n_rounds, n_failed);
}

static int run_schedule(struct rank *rank, struct error *error)
{
	uint32_t n_rounds = rank->fleet->n_rounds;
	int code = 0;

	for (uint32_t i = 0; i < n_rounds && !code; i++) {
		show_round(rank, i);
		code = run_round(rank, i, error);
	}
	return code ? code : end_phase(rank, error);
}

/* Publishes the measurements to repeat, at rank 0. Returns them in *wanted, which the caller owns. */
static int publish_retests(struct rank *rank, unsigned int retest, json_t **wanted,
			   struct error *error)
{
	struct fleet_retest *wishes = NULL;
	size_t count = 0;
	json_t *list = json_array();
	char key[32];
	char *text;
	int code = fleet_judge(rank->fleet, error);

	if (!code)
		code = fleet_choose_retests(rank->fleet, retest, &wishes, &count, error);
	for (size_t i = 0; i < count && !code; i++)
		json_array_append_new(list,
				      json_pack("[i,i,i,i,i]", (int)wishes[i].round,
						(int)wishes[i].from, (int)wishes[i].to,
						(int)wishes[i].from_rail, (int)wishes[i].to_rail));
	text = json_dumps(list, JSON_COMPACT);
	snprintf(key, sizeof(key), KEY_RETESTS, retest);
	if (!code)
		code = job_publish(&rank->job, key, text, error);
	free(text);
	free(wishes);
	*wanted = list;
	return code;
}

/* Gets the measurements to repeat, at other ranks. */
static int read_retests(const struct rank *rank, unsigned int retest, json_t **wanted,
			struct error *error)
{
	char key[32];
	char *text;
	int code;

	snprintf(key, sizeof(key), KEY_RETESTS, retest);
	code = job_get(&rank->job, 0, key, &text, error);
	if (!code)
		*wanted = json_loads(text, 0, NULL);
	free(text);
	return code;
}

static int run_retest_round(struct rank *rank, const json_t *list, int round, unsigned int retest,
			    struct error *error)
{
	int code = begin_round(rank, error);
	const json_t *wish;
	size_t i;

	/* The other end of a repeat does not wait for it. */
	if (rank->is_loose)
		return code;

	json_array_foreach(list, i, wish)
	{
		int turn, from, to, from_rail, to_rail;

		if (code || json_unpack((json_t *)(uintptr_t)wish, "[i,i,i,i,i]", &turn, &from, &to,
					&from_rail, &to_rail))
			return code;
		if (turn != round || from != (int)rank->job.rank || to < 0 || from_rail < 0 ||
		    from_rail >= FLEET_MOST_RAILS || to_rail < 0 || to_rail >= FLEET_MOST_RAILS ||
		    to >= (int)rank->job.size)
			continue;
		code = drive(rank,
			     &(struct round_pair){.round = rank->fleet->n_rounds + (uint32_t)round,
						  .from = rank->job.rank,
						  .to = (uint32_t)to,
						  .retest = (uint8_t)retest,
						  .from_rail = (uint8_t)from_rail,
						  .to_rail = (uint8_t)to_rail},
			     error);
	}
	return code;
}

/* Repeats bad measurements, once. */
static int run_retest(struct rank *rank, unsigned int retest, struct error *error)
{
	json_t *list = NULL;
	int last = -1;
	int code = is_first(rank) ? publish_retests(rank, retest, &list, error) : 0;
	const json_t *wish;
	size_t i;

	if (!code)
		code = meet_all(rank, 2 * rank->round_ms + COLLECT_MS, error);
	/* Without barriers, rank 0 cannot tell the others what to repeat. */
	if (code || rank->is_loose) {
		json_decref(list);
		return code;
	}
	if (!is_first(rank))
		code = read_retests(rank, retest, &list, error);
	json_array_foreach(list, i, wish)
	{
		json_int_t turn = json_integer_value(json_array_get(wish, 0));

		if (turn > last && turn < RETEST_ROUNDS)
			last = (int)turn;
	}
	for (int round = 0; round <= last && !code && !rank->is_loose; round++)
		code = run_retest_round(rank, list, round, retest, error);
	json_decref(list);
	return code ? code : end_phase(rank, error);
}

static int measure(struct rank *rank, struct error *error)
{
	int code = run_schedule(rank, error);

	for (unsigned int i = 1; i <= RETESTS && !code && !rank->is_loose; i++)
		code = run_retest(rank, i, error);
	/* Serve the others until rank 0 has all figures. */
	if (!code)
		code = meet_all(rank, 2 * rank->round_ms + COLLECT_MS, error);
	/* Admit no more meetings: whoever is late finds out. */
	node_server_begin_round(&rank->server, UINT32_MAX);
	return code;
}

/* After a signal: rank 0 takes what the others still report. */
static void leave(struct rank *rank)
{
	uint64_t deadline = clock_deadline(LAST_MS);
	bool *has_reported = calloc(rank->job.size, sizeof(*has_reported));
	struct error ignored = {0};

	rank->is_leaving = true;
	if (!is_first(rank) && rank->has_joined)
		report(rank, true, &ignored);
	while (is_first(rank) && has_reported && take_reports(rank, has_reported)) {
		int left = clock_left_ms(deadline);

		if (!left ||
		    node_server_await_report(&rank->server, (unsigned int)left, -1, &ignored))
			break;
	}
	free(has_reported);
}

int rank_measure(struct rank *rank, struct error *error)
{
	struct fleet *fleet = rank->fleet;
	int code = measure(rank, error);

	if (code == -EINTR) {
		leave(rank);
		fleet->is_interrupted = true;
		snprintf(fleet->interruption, sizeof(fleet->interruption), "%s", error->text);
		rank->is_broken = true;
		*error = (struct error){0};
		code = 0;
	}
	if (!is_first(rank))
		return code;
	if (!code)
		code = fleet_judge(fleet, error);
	return code ? code : fleet_find_blame(fleet, error);
}

void rank_close(struct rank *rank, int status)
{
	if (!rank)
		return;
	node_server_close(&rank->server);
	if (!rank->is_broken)
		job_close(&rank->job);
	else if (is_first(rank))
		job_end(&rank->job, status);
	free(rank->servers);
	free(rank->is_gone);
	free(rank);
}
