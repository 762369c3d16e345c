/* SPDX-License-Identifier: MIT */
#include "bench/host/advice/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/cli/cpulist.h"
#include "bench/host/advice/advice.h"
#include "bench/plan/pattern.h"
#include "core/base/clock.h"

#define WHY  "threads that take turns on a processor wait for each other"
#define MEND "--threads of no more than there are processors, or a longer --pin"

#define WHY_LOST  "another thread ran there, such as the other end's, and this one saw nothing then"
#define MEND_LOST "--pin and --server-pin, a CPU each that has nothing else to do"

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

/* 0: it is not known. */
static unsigned int cpus_of(const struct result_case *line, bool is_server)
{
	const struct result_place *place = is_server ? &line->server_place : &line->client_place;
	struct cpulist list;

	return cpulist_parse(&list, place->cpus) ? cpulist_count(&list) : 0;
}

/* So many threads on fewer processors; 0: nothing is known, or there are enough. */
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
	snprintf(what, sizeof(what), "%" PRIu64 " threads of the %s on %u %s, as in %.100s", most,
		 side->is_server ? "server" : "client", cpus, cpus > 1 ? "CPUs" : "CPU", worst->id);
	json_array_append_new(findings,
			      advice_finding("threads", true, side->end->host, what, WHY, MEND));
}

/*
 * Of a hundred messages, how many saw the thread that polls for them lose its processor; 0: it is
 * not known. Soft-RoCE works on the processor of who polls, each time.
 */
static uint64_t lost_percent(const struct result_case *line, const void *of)
{
	const struct side *side = of;
	const struct result_cost *cost = side->is_server ? &line->server : &line->client;
	const char *cq = side->is_server ? line->server_cq : line->cq;

	if (!cq || strcmp(cq, "poll") != 0 || !cost->messages ||
	    (side->end->kind && !strcmp(side->end->kind, "rxe")))
		return 0;
	/* What keeps a machine's house comes some times in a second. */
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
		 "the %s's polling thread lost its CPU %" PRIu64
		 " times in 100 messages, as in %.100s",
		 side->is_server ? "server" : "client", most, worst->id);
	json_array_append_new(findings, advice_finding("shared-cpu", true, side->end->host, what,
						       WHY_LOST, MEND_LOST));
}

void advice_threads(const struct result *result, json_t *findings)
{
	const struct side near = {&result->client, false};
	const struct side far = {&result->server, true};

	advice_threads_find(result, &near, findings);
	advice_threads_find(result, &far, findings);
	find_lost(result, &near, findings);
	find_lost(result, &far, findings);
}
