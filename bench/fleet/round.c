/* SPDX-License-Identifier: MIT */
#include "bench/fleet/round.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/clock.h"

/* The pairs of rails that are measured at once. */
struct step {
	struct schedule_rails rails[FLEET_MOST_RAILS];
	struct pair *pairs[FLEET_MOST_RAILS]; /* NULL: could not be started */
	struct error faults[FLEET_MOST_RAILS];
	size_t count;
	int done; /* eventfd */
};

static bool is_done(const struct step *step)
{
	for (size_t i = 0; i < step->count; i++)
		if (step->pairs[i] && !pair_is_done(step->pairs[i]))
			return false;
	return true;
}

static void stop_all(struct step *step, int code, const char *reason)
{
	for (size_t i = 0; i < step->count; i++)
		if (step->pairs[i] && !pair_is_done(step->pairs[i]))
			pair_stop(step->pairs[i], code, reason);
}

/* Waits until all are done. Returns -ETIMEDOUT or, if the descriptor becomes readable, -EINTR. */
static int await(const struct step *step, unsigned int timeout_ms, int stop)
{
	struct pollfd fds[] = {
		{.fd = step->done, .events = POLLIN},
		{.fd = stop,       .events = POLLIN},
	};
	uint64_t deadline = clock_deadline(timeout_ms);

	while (!is_done(step)) {
		int left = clock_left_ms(deadline);
		uint64_t count;

		if (!left)
			return -ETIMEDOUT;
		if (poll(fds, 2, left) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents)
			return -EINTR;
		if (fds[0].revents && read(step->done, &count, sizeof(count)) < 0)
			return -errno;
	}
	return 0;
}

static void start_all(struct step *step, const struct round_settings *settings,
		      const struct round_pair *pair, const struct fleet *fleet)
{
	const struct fleet_node *from = &fleet->nodes[pair->from];
	const struct fleet_node *to = &fleet->nodes[pair->to];

	for (size_t i = 0; i < step->count; i++) {
		const struct pair_settings wanted = {
			.plan = settings->plan,
			.server = &settings->servers[pair->to],
			.who = to->name,
			.from = &from->rails[step->rails[i].from],
			.to = &to->rails[step->rails[i].to],
			.with_histograms = settings->with_histograms,
		};

		pair_start(&step->pairs[i], &wanted, step->done, &step->faults[i]);
	}
}

static struct fleet_pair *add_pair(struct fleet *fleet, const struct round_pair *pair,
				   const struct schedule_rails *rails)
{
	struct fleet_pair *found = fleet_add_pair(fleet);

	if (!found)
		return NULL;
	found->round = pair->round;
	found->from = pair->from;
	found->to = pair->to;
	found->from_rail = rails->from;
	found->to_rail = rails->to;
	found->retest = pair->retest;
	return found;
}

static int finish_all(struct step *step, const struct round_pair *pair, struct fleet *fleet,
		      struct error *error)
{
	int code = 0;

	for (size_t i = 0; i < step->count; i++) {
		struct fleet_pair *found = code ? NULL : add_pair(fleet, pair, &step->rails[i]);
		struct fleet_pair ignored = {0};

		if (!found)
			code = error_set_errno(error, -ENOMEM, "cannot store the figures");
		if (step->pairs[i]) {
			pair_finish(step->pairs[i], fleet, found ? found : &ignored);
		} else if (found) {
			found->status = FLEET_FAILED;
			found->error = strdup(step->faults[i].text);
		}
		fleet_clear_pair(&ignored);
	}
	return code;
}

/* Marks the failures from that pair on as not run. */
static void drop_failures(struct fleet *fleet, size_t first)
{
	for (size_t i = first; i < fleet->n_pairs; i++) {
		struct fleet_pair *pair = &fleet->pairs[i];

		if (pair->status != FLEET_FAILED)
			continue;
		pair->status = FLEET_NOT_RUN;
		free(pair->error);
		pair->error = NULL;
		free(pair->figures);
		pair->figures = NULL;
	}
}

static int run_step(struct step *step, const struct round_settings *settings,
		    const struct round_pair *pair, struct fleet *fleet, struct error *error)
{
	char reason[80];
	bool is_over;
	size_t first;
	int waited;
	int code;

	step->done = eventfd(0, EFD_CLOEXEC);
	if (step->done < 0)
		return error_set_errno(error, -errno, "cannot measure");
	start_all(step, settings, pair, fleet);
	waited = await(step, settings->timeout_ms, settings->stop);
	snprintf(reason, sizeof(reason), "not finished after %u s", settings->timeout_ms / 1000);
	if (waited) {
		stop_all(step, waited, waited == -EINTR ? "interrupted" : reason);
		await(step, ROUND_GRACE_MS, -1);
	}
	is_over = is_done(step);
	first = fleet->n_pairs;
	code = finish_all(step, pair, fleet, error);
	/* A signal says nothing about the pair. */
	if (waited == -EINTR)
		drop_failures(fleet, first);
	/* A measurement that is left behind may still write to it. */
	if (is_over)
		close(step->done);
	if (waited == -EINTR)
		return error_set(error, -EINTR, "interrupted");
	return code;
}

/* Returns the number of steps of a pair. */
static size_t count_steps(const struct round_settings *settings, const struct round_pair *pair,
			  const struct fleet *fleet)
{
	if (pair->retest)
		return 1;
	return schedule_steps(settings->schedule, fleet->nodes[pair->from].n_rails,
			      fleet->nodes[pair->to].n_rails);
}

static void open_step(struct step *step, const struct round_settings *settings,
		      const struct round_pair *pair, const struct fleet *fleet, size_t number)
{
	*step = (struct step){.count = 1};
	if (pair->retest)
		step->rails[0] = (struct schedule_rails){pair->from_rail, pair->to_rail};
	else
		step->count = schedule_step(settings->schedule, fleet->nodes[pair->from].n_rails,
					    fleet->nodes[pair->to].n_rails, number, step->rails);
}

int round_measure(const struct round_settings *settings, const struct round_pair *pair,
		  struct fleet *fleet, struct error *error)
{
	size_t n_steps = count_steps(settings, pair, fleet);
	struct step *step = malloc(sizeof(*step));
	int code = step ? 0 : error_set_errno(error, -ENOMEM, "cannot measure");

	for (size_t i = 0; i < n_steps && !code; i++) {
		open_step(step, settings, pair, fleet, i);
		code = run_step(step, settings, pair, fleet, error);
	}
	free(step);
	return code;
}

int round_fail(const struct round_settings *settings, const struct round_pair *pair,
	       const char *reason, struct fleet *fleet, struct error *error)
{
	size_t n_steps = count_steps(settings, pair, fleet);
	struct step *step = malloc(sizeof(*step));
	int code = step ? 0 : error_set_errno(error, -ENOMEM, "cannot store the failure");

	for (size_t i = 0; i < n_steps && !code; i++) {
		open_step(step, settings, pair, fleet, i);
		for (size_t j = 0; j < step->count && !code; j++) {
			struct fleet_pair *found = add_pair(fleet, pair, &step->rails[j]);

			if (!found) {
				code = error_set_errno(error, -ENOMEM, "cannot store the failure");
				break;
			}
			found->status = FLEET_FAILED;
			found->error = strdup(reason);
		}
	}
	free(step);
	return code;
}
