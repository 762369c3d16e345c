/* SPDX-License-Identifier: MIT */
#include "bench/client/merge_threads.h"

#include <errno.h>
#include <stdlib.h>

int merge_threads_open(struct trial *part, struct trial *whole, struct error *error)
{
	part->whole = whole;
	part->clock = whole->clock;
	part->hist = cacheline_calloc(1, sizeof(*part->hist));
	part->windows = cacheline_calloc(1, sizeof(*part->windows));
	if (whole->warmup)
		part->warmup = cacheline_calloc(1, sizeof(*part->warmup));
	if (part->hist && part->windows && (part->warmup || !whole->warmup))
		return 0;
	return error_set_errno(error, -ENOMEM, "cannot keep the results");
}

void merge_threads_close(struct trial *part)
{
	free(part->hist);
	free(part->windows);
	free(part->warmup);
	part->hist = part->warmup = NULL;
	part->windows = NULL;
}

static void add_part(struct trial *trial, const struct trial *part, struct result_trial *found)
{
	const struct result_trial *seen = &part->seen;

	result_join_warmup(&found->warmup, &seen->warmup);
	found->messages += seen->messages;
	if (seen->duration_ns > found->duration_ns)
		found->duration_ns = seen->duration_ns;
	result_add_cost(&found->client, &seen->client);
	hist_merge(trial->hist, part->hist);
	rate_windows_lay_over(trial->windows, part->windows);
	if (trial->warmup && part->warmup)
		hist_merge(trial->warmup, part->warmup);
	trial->received_per_s += part->received_per_s;
	if (part->until_ns > trial->until_ns)
		trial->until_ns = part->until_ns;
}

/* One at a time, the lane's first queue pair does all of them. */
static void share(struct shares *shares, const struct trial *part, bool is_bw)
{
	const struct lane *lane = &part->lane;
	uint64_t *messages = &shares->messages[(size_t)lane->settings.number * shares->qps];

	shares->duration_ns[lane->settings.number] = part->seen.duration_ns;
	for (unsigned int i = 0; i < lane->settings.n_flows && is_bw; i++)
		messages[i] = lane_flow_done(&lane->flows[i]);
	if (!is_bw)
		messages[0] = part->seen.messages;
}

/*
 * By time, each thread begins and ends with a completion of its own: so long all messages would
 * have taken at the rates of all of them.
 */
static uint64_t duration_at_rates(struct trial *trial, const struct result_trial *found)
{
	double rate = 0;

	for (unsigned int i = 0; i < trial->threads.n; i++) {
		const struct result_trial *seen = &trial_part(trial, i)->seen;

		if (seen->duration_ns)
			rate += (double)seen->messages / (double)seen->duration_ns;
	}
	return rate > 0 ? (uint64_t)((double)found->messages / rate) : found->duration_ns;
}

int merge_threads_parts(struct trial *trial, const struct plan_case *wanted,
			struct result_trial *found, struct error *error)
{
	bool is_bw = wanted->parameters.metric == METRIC_BW;
	/* A load goes around its queue pairs, which are of one thread. */
	bool is_shared = wanted->parameters.metric != METRIC_LOAD;

	if (is_shared &&
	    shares_open(&trial->shares, trial->threads.n, trial->lane.settings.n_flows, error))
		return error->code;
	*found = trial->seen;
	for (unsigned int i = 1; i < trial->threads.n; i++)
		add_part(trial, trial_part(trial, i), found);
	if (is_bw && trial->threads.n > 1 && wanted->parameters.iterations == PARAMETER_AUTO)
		found->duration_ns = duration_at_rates(trial, found);
	for (unsigned int i = 0; i < trial->threads.n && is_shared; i++)
		share(&trial->shares, trial_part(trial, i), is_bw);
	return 0;
}

uint64_t merge_threads_posted(struct trial *trial)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < trial->threads.n; i++)
		sum += trial_part(trial, i)->lane.result.posted;
	return sum;
}

uint64_t merge_threads_lost(struct trial *trial)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < trial->threads.n; i++)
		sum += trial_part(trial, i)->lane.result.lost;
	return sum;
}

struct result_place merge_threads_places(struct trial *trial)
{
	struct placement all = trial->lane.placement;

	for (unsigned int i = 1; i < trial->threads.n; i++)
		placement_join(&all, &trial_part(trial, i)->lane.placement);
	return placement_tell(&all);
}
