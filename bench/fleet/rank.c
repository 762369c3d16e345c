/* SPDX-License-Identifier: MIT */
#include "bench/fleet/rank.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/fleet/discover.h"
#include "bench/fleet/rank_parts.h"
#include "bench/fleet/roster.h"
#include "reports/fleet/blame/blame.h"
#include "reports/fleet/blame/judge.h"

/* The key that a rank's description is published under. */
#define KEY_ENTRY "verbmark.entry"
/* Time to connect and to set up the resources of a pair, besides the measurement. */
#define SETUP_MS 10000
#define RETESTS  2

static bool is_interrupted(void *owner)
{
	const struct rank *rank = owner;
	struct pollfd waiting = {.fd = rank->job.stop, .events = POLLIN};

	return !rank->is_leaving && poll(&waiting, 1, 0) > 0;
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

/* Returns what makes the scheduler end all ranks when one dies; NULL: as far as known, nothing. */
static const char *find_chain(const struct job *job)
{
	const char *slurm = getenv("SLURM_KILL_BAD_EXIT");

	if (!strcmp(job->launcher, "openmpi") && getenv("OMPI_MCA_orte_hnp_uri") &&
	    !getenv("OMPI_MCA_orte_enable_recovery"))
		return "mpirun ends all ranks when one dies, unless it is given --enable-recovery";
	if (!strcmp(job->launcher, "slurm") && slurm && strcmp(slurm, "0") != 0)
		return "SLURM_KILL_BAD_EXIT is set, so srun ends all ranks when one dies; "
		       "--kill-on-bad-exit=0 prevents that";
	return NULL;
}

static int prepare(struct rank *rank, struct error *error)
{
	struct fleet *fleet = rank->fleet;
	struct fleet_node *node;
	int code;

	fleet->nodes = calloc(rank->job.size, sizeof(*fleet->nodes));
	rank->servers = calloc(rank->job.size, sizeof(*rank->servers));
	rank->is_gone = calloc(rank->job.size, sizeof(*rank->is_gone));
	rank->n_taken = calloc(rank->job.size, sizeof(*rank->n_taken));
	if (!fleet->nodes || !rank->servers || !rank->is_gone || !rank->n_taken)
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
	code = discover_rails(node, error);
	if (code && rank->settings->rails.devices)
		error_wrap(error, "--devices %s", rank->settings->rails.devices);
	if (!code)
		code = rails_choose(node, &rank->settings->rails, error);
	if (code) {
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
	if (!code && rank_is_first(rank)) {
		const char *chain = find_chain(&rank->job);

		/* Open MPI does that unless told otherwise; it matters when a signal comes. */
		if (chain && strcmp(rank->job.launcher, "openmpi") != 0)
			fleet_warn(rank->fleet, "%s", chain);
		rails_compare(rank->fleet);
	}
	rank->has_joined = !code;
	find_round_time(rank);
	return code;
}

void rank_refuse(struct rank *rank)
{
	struct error ignored = {0};
	/* No rank can read this. */
	int code = job_publish(&rank->job, KEY_ENTRY, "{}", &ignored);

	if (!code)
		code = job_meet(&rank->job, rank->settings->join_ms, &ignored);
	rank->is_broken = code;
}

/* Repeats bad measurements, and serves the others until rank 0 has all figures. */
static int finish(struct rank *rank, struct error *error)
{
	int code = 0;

	for (unsigned int i = 1; i <= RETESTS && !code && !rank->is_loose; i++)
		code = rank_run_retest(rank, i, error);
	if (!code)
		code = rank_meet_all(rank, 2 * rank->round_ms + COLLECT_MS, error);
	/* Rank 0 has this rank's figures, and may leave when another rank was lost. */
	if (code == -EHOSTDOWN) {
		*error = (struct error){0};
		code = 0;
	}
	return code;
}

static int measure(struct rank *rank, struct error *error)
{
	int code = rank_run_schedule(rank, error);

	if (!code)
		code = finish(rank, error);
	/* Admit no more meetings: whoever is late finds out. */
	node_server_begin_round(&rank->server, UINT32_MAX);
	return code;
}

int rank_measure(struct rank *rank, struct error *error)
{
	struct fleet *fleet = rank->fleet;
	const char *chain;
	int code = measure(rank, error);

	if (code == -EINTR) {
		rank_leave(rank);
		fleet->is_interrupted = true;
		chain = find_chain(&rank->job);
		snprintf(fleet->interruption, sizeof(fleet->interruption), "%.80s%s%s", error->text,
			 chain ? "; " : "", chain ? chain : "");
		rank->is_broken = true;
		*error = (struct error){0};
		code = 0;
	}
	if (!rank_is_first(rank))
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
	else if (rank_is_first(rank))
		job_end(&rank->job, status);
	free(rank->servers);
	free(rank->is_gone);
	free(rank->n_taken);
	free(rank);
}
