/* SPDX-License-Identifier: MIT */
#include "bench/host/advice/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/cli/cpulist.h"
#include "bench/host/advice/advice.h"
#include "bench/plan/pattern.h"
#include "core/base/clock.h"

#define WHY  "threads that share a CPU wait for each other"
#define MEND "use no more --threads than CPUs, or list more CPUs in --pin"

#define WHY_LOST  "another thread, such as the peer's, ran on that CPU meanwhile"
#define MEND_LOST "use --pin and --server-pin to give each end a CPU that is otherwise idle"

enum {
	LOST_PERCENT = 5, /* of the messages */
	LOST_LEAST = 10,
	LOST_PER_S = 50,
};

struct side {
	const struct result_end *end;
	bool is_server;
};

static unsigned int threads_of(const struct result_case *line, bool is_server)
{
	struct parameters parameters = parameters_default();
	struct error ignored = {0};

	parameters_decode(&parameters, line->parameters, &ignored);
	return pattern_lanes(&parameters, is_server);
}

/* Returns 0 if unknown. */
static unsigned int cpus_of(const struct result_case *line, bool is_server)
{
	const struct result_place *place = is_server ? &line->server_place : &line->client_place;
	struct cpulist list;

	return cpulist_parse(&list, place->cpus) ? cpulist_count(&list) : 0;
}

/* Returns the number of threads if it exceeds that of CPUs; 0 if it does not, or is unknown. */
static uint64_t surplus(const struct result_case *line, const void *of)
{
	const struct side *side = of;
	unsigned int threads = threads_of(line, side->is_server);
	unsigned int cpus = cpus_of(line, side->is_server);

	return cpus && threads > cpus ? threads : 0;
}

static void advice_threads_find(const struct result *result, const struct side *side,
				json_t *findings)
{
	uint64_t most;
	const struct result_case *worst = advice_worst(result, surplus, side, 1, &most);
	unsigned int cpus;
	char what[256];

	if (!worst)
		return;
	cpus = cpus_of(worst, side->is_server);
	snprintf(what, sizeof(what), "%" PRIu64 " threads of the %s on %u %s, e.g. in %.100s", most,
		 side->is_server ? "server" : "client", cpus, cpus > 1 ? "CPUs" : "CPU", worst->id);
	json_array_append_new(findings,
			      advice_finding("threads", true, side->end->host, what, WHY, MEND));
}

/*
 * Returns how often the polling thread was preempted, per 100 messages; 0 if unknown. Excludes
 * Soft-RoCE, which itself preempts the polling thread.
 */
static uint64_t lost_percent(const struct result_case *line, const void *of)
{
	const struct side *side = of;
	const struct result_cost *cost = side->is_server ? &line->server : &line->client;
	const char *cq = side->is_server ? line->server_cq : line->cq;

	if (!cq || strcmp(cq, "poll") != 0 || !cost->messages ||
	    (side->end->kind && !strcmp(side->end->kind, "rxe")))
		return 0;
	/* Background tasks preempt any thread a few times per second. */
	if (cost->involuntary_switches < LOST_LEAST ||
	    cost->involuntary_switches * (NS_PER_S / LOST_PER_S) < cost->user_ns + cost->system_ns)
		return 0;
	return cost->involuntary_switches * 100 / cost->messages;
}

static void find_lost(const struct result *result, const struct side *side, json_t *findings)
{
	uint64_t most;
	const struct result_case *worst =
		advice_worst(result, lost_percent, side, LOST_PERCENT, &most);
	char what[256];

	if (!worst)
		return;
	snprintf(what, sizeof(what),
		 "the %s's polling thread was preempted %" PRIu64 " times per 100 messages, e.g. "
		 "in %.100s",
		 side->is_server ? "server" : "client", most, worst->id);
	json_array_append_new(findings, advice_finding("shared-cpu", true, side->end->host, what,
						       WHY_LOST, MEND_LOST));
}

void advice_threads(const struct result *result, json_t *findings)
{
	const struct side client = {&result->client, false};
	const struct side server = {&result->server, true};

	advice_threads_find(result, &client, findings);
	advice_threads_find(result, &server, findings);
	find_lost(result, &client, findings);
	find_lost(result, &server, findings);
}
