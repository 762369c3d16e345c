/* SPDX-License-Identifier: MIT */
#include "bench/client/merge_threads.h"

#include <errno.h>
#include <stdlib.h>

int merge_threads_open(struct trial_lane *own, bool has_samples, struct error *error)
{
	own->hist = cacheline_calloc(1, sizeof(*own->hist));
	own->warmup = cacheline_calloc(1, sizeof(*own->warmup));
	own->windows = cacheline_calloc(1, sizeof(*own->windows));
	own->samples = has_samples ? malloc(sizeof(*own->samples)) : NULL;
	if (own->hist && own->windows && own->warmup && (own->samples || !has_samples))
		return 0;
	return error_set_errno(error, -ENOMEM, "cannot store the results");
}

void merge_threads_close(struct trial_lane *own)
{
	free(own->hist);
	free(own->warmup);
	free(own->windows);
	free(own->samples);
	free(own->timeline);
	own->samples = NULL;
	own->timeline = NULL;
	own->hist = own->warmup = NULL;
	own->windows = NULL;
}

static void merge_lane(struct trial_lane *into, const struct trial_lane *own,
		       struct result_trial *found)
{
	const struct result_trial *seen = &own->seen;

	result_join_warmup(&found->warmup, &seen->warmup);
	found->messages += seen->messages;
	if (seen->duration_ns > found->duration_ns)
		found->duration_ns = seen->duration_ns;
	result_add_cost(&found->client, &seen->client);
	hist_merge(into->hist, own->hist);
	hist_merge(into->warmup, own->warmup);
	if (own->timeline)
		breakdown_merge(&into->timeline->seen, &own->timeline->seen);
	rate_windows_lay_over(into->windows, own->windows);
}

/* Adds a lane's shares. In latency cases, its first queue pair performs all operations. */
static void share(struct shares *shares, const struct trial_lane *own, bool is_bw)
{
	const struct lane *lane = &own->lane;
	uint64_t *messages = &shares->messages[(size_t)lane->settings.number * shares->qps];

	shares->duration_ns[lane->settings.number] = own->seen.duration_ns;
	for (unsigned int i = 0; i < lane->settings.n_flows && is_bw; i++)
		messages[i] = lane_flow_done(&lane->flows[i]);
	if (!is_bw)
		messages[0] = own->seen.messages;
}

/*
 * With -D, each thread starts and ends at a completion of its own. Returns the time that all
 * messages would have taken at the sum of the threads' rates.
 */
static uint64_t duration_at_rates(const struct trial *trial, const struct result_trial *found)
{
	double rate = 0;

	for (unsigned int i = 0; i < trial->threads.n; i++) {
		const struct result_trial *seen = &trial->lanes[i].seen;

		if (seen->duration_ns)
			rate += (double)seen->messages / (double)seen->duration_ns;
	}
	return rate > 0 ? (uint64_t)((double)found->messages / rate) : found->duration_ns;
}

int merge_threads_parts(struct trial *trial, struct result_trial *found, struct error *error)
{
	const struct parameters *p = &trial->wanted->parameters;
	struct trial_outcome *outcome = &trial->outcome;
	struct trial_lane *first = trial->lanes;
	unsigned int n = trial->threads.n;
	bool is_bw = p->metric == METRIC_BW;
	/* A load uses its queue pairs in turn, and all of them belong to one thread. */
	bool is_shared = p->metric != METRIC_LOAD;

	if (is_shared && shares_open(&outcome->shares, n, first->lane.settings.n_flows, error))
		return error->code;
	*found = first->seen;
	for (unsigned int i = 1; i < n; i++)
		merge_lane(first, &trial->lanes[i], found);
	for (unsigned int i = 0; i < n; i++)
		outcome->until_ns = max_u64(outcome->until_ns, trial->lanes[i].until_ns);
	if (is_bw && n > 1 && p->iterations == PARAMETER_AUTO)
		found->duration_ns = duration_at_rates(trial, found);
	for (unsigned int i = 0; i < n && is_shared; i++)
		share(&outcome->shares, &trial->lanes[i], is_bw);
	return 0;
}

uint64_t merge_threads_posted(const struct trial *trial)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < trial->threads.n; i++)
		sum += trial->lanes[i].lane.result.posted;
	return sum;
}

uint64_t merge_threads_lost(const struct trial *trial)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < trial->threads.n; i++)
		sum += trial->lanes[i].lane.result.lost;
	return sum;
}

double merge_threads_received_per_s(const struct trial *trial)
{
	double sum = 0;

	for (unsigned int i = 0; i < trial->threads.n; i++)
		sum += trial->lanes[i].received_per_s;
	return sum;
}
