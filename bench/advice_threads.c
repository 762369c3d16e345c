/* SPDX-License-Identifier: MIT */
#include "bench/advice_threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/advice.h"
#include "bench/cpulist.h"
#include "bench/pattern.h"
#include "core/clock.h"

#define WHY  "threads that take turns on a processor wait for each other"
#define MEND "--threads of no more than there are processors, or a longer --pin"

#define WHY_LOST  "another thread ran there, such as the other end's, and this one saw nothing then"
#define MEND_LOST "--pin and --server-pin, a CPU each that has nothing else to do"

enum {
	LOST_PERCENT = 5, /* of the messages */
	LOST_LEAST = 10,
	LOST_PER_S = 50,
};

/* Of an end. */
static unsigned int threads_of(const struct result_case *line, bool is_server)
{
	struct parameters parameters = parameters_default();
	struct error ignored = {0};

	parameters_decode(&parameters, line->parameters, &ignored);
	return pattern_lanes(&parameters, is_server);
}

/* So many threads, on so many processors; 0: nothing is known, or there are enough. */
static uint64_t surplus(const struct result_case *line, bool is_server, unsigned int *cpus)
{
	const struct result_place *place = is_server ? &line->server_place : &line->client_place;
	unsigned int threads = threads_of(line, is_server);
	struct cpulist list;

	if (!cpulist_parse(&list, place->cpus))
		return 0;
	*cpus = cpulist_count(&list);
	return threads > *cpus ? threads : 0;
}

static void find(const struct result *result, bool is_server, json_t *findings)
{
	const struct result_end *end = is_server ? &result->server : &result->client;
	const struct result_case *worst = NULL;
	unsigned int on_cpus = 0;
	uint64_t most = 0;
	char what[256];

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		unsigned int cpus;
		uint64_t threads = surplus(line, is_server, &cpus);

		if (threads <= most)
			continue;
		worst = line;
		most = threads;
		on_cpus = cpus;
	}
	if (!worst)
		return;
	snprintf(what, sizeof(what), "%" PRIu64 " threads of the %s on %u %s, as in %.100s", most,
		 is_server ? "server" : "client", on_cpus, on_cpus > 1 ? "CPUs" : "CPU", worst->id);
	json_array_append_new(findings,
			      advice_finding("threads", true, end->host, what, WHY, MEND));
}

/*
 * Of a hundred messages, how many saw the thread that polls for them lose its processor; 0: it is
 * not known. Soft-RoCE works on the processor of who polls, each time.
 */
static uint64_t lost_percent(const struct result_case *line, const struct result_end *end,
			     bool is_server)
{
	const struct result_cost *cost = is_server ? &line->server : &line->client;
	const char *cq = is_server ? line->server_cq : line->cq;

	if (!cq || strcmp(cq, "poll") != 0 || !cost->messages ||
	    (end->kind && !strcmp(end->kind, "rxe")))
		return 0;
	/* What keeps a machine's house comes some times in a second. */
	if (cost->involuntary_switches < LOST_LEAST ||
	    cost->involuntary_switches * (NS_PER_S / LOST_PER_S) < cost->user_ns + cost->system_ns)
		return 0;
	return cost->involuntary_switches * 100 / cost->messages;
}

static void find_lost(const struct result *result, bool is_server, json_t *findings)
{
	const struct result_end *end = is_server ? &result->server : &result->client;
	const struct result_case *worst = NULL;
	uint64_t most = LOST_PERCENT - 1;
	char what[256];

	for (size_t i = 0; i < result->n_cases; i++) {
		uint64_t lost = lost_percent(&result->cases[i], end, is_server);

		if (lost <= most)
			continue;
		worst = &result->cases[i];
		most = lost;
	}
	if (!worst)
		return;
	snprintf(what, sizeof(what),
		 "the %s's polling thread lost its CPU %" PRIu64
		 " times in 100 messages, as in %.100s",
		 is_server ? "server" : "client", most, worst->id);
	json_array_append_new(
		findings, advice_finding("shared-cpu", true, end->host, what, WHY_LOST, MEND_LOST));
}

void advice_threads(const struct result *result, json_t *findings)
{
	find(result, false, findings);
	find(result, true, findings);
	find_lost(result, false, findings);
	find_lost(result, true, findings);
}
