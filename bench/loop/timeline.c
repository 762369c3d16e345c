/* SPDX-License-Identifier: MIT */
#include "bench/loop/timeline.h"

int timeline_open(struct timeline *timeline, struct ibv_context *verbs, const struct clock *clock,
		  struct error *error)
{
	for (size_t i = 0; i < BREAKDOWN_PARTS; i++)
		hist_init(&timeline->seen.parts[i]);
	timeline->mult = clock->mult;
	return device_clock_open(&timeline->clock, verbs, clock->is_counter, error);
}

void timeline_clear(struct timeline *timeline)
{
	breakdown_clear(&timeline->seen);
	timeline->is_begun = false;
}

/* A timestamp is off by at most the larger error of its two readings, and by one cycle. */
static void note_error(struct timeline *timeline)
{
	struct breakdown *seen = &timeline->seen;
	double cycle_ns = seen->clock_hz > 0 ? (double)NS_PER_S / seen->clock_hz : 0;
	double error_ns = (double)clock_to_ns(timeline->last.off, timeline->mult) + cycle_ns;

	if (error_ns > seen->clock_error_ns)
		seen->clock_error_ns = error_ns;
}

int timeline_begin(struct timeline *timeline, struct error *error)
{
	if (device_clock_read(&timeline->clock, &timeline->last, error))
		return error->code;
	if (!timeline->is_begun)
		timeline->first = timeline->last;
	timeline->is_begun = true;
	note_error(timeline);
	return 0;
}

static uint64_t within(uint64_t tick, uint64_t from, uint64_t to)
{
	return tick < from ? from : tick > to ? to : tick;
}

/*
 * A device can complete an operation before the post returns: it then had no time of its own. Each
 * part is a difference of rounded times, so that the parts add up exactly.
 */
static void add_round(struct timeline *timeline, size_t i, uint64_t begin, uint64_t end,
		      uint64_t completed)
{
	uint64_t posted = within(timeline->posted[i], begin, end);
	uint64_t done = within(completed, posted, end);
	const uint64_t ends[BREAKDOWN_PARTS] = {
		[BREAKDOWN_POST] = posted,
		[BREAKDOWN_DEVICE] = done,
		[BREAKDOWN_WAKEUP] = within(timeline->woken[i], done, end),
		[BREAKDOWN_POLL] = end,
	};
	uint64_t before_ns = 0;

	for (size_t part = 0; part < BREAKDOWN_PARTS; part++) {
		uint64_t until_ns = clock_to_ns(ends[part] - begin, timeline->mult);

		hist_add(&timeline->seen.parts[part], until_ns - before_ns);
		before_ns = until_ns;
	}
}

static void note_rate(struct timeline *timeline)
{
	const struct device_clock_reading *first = &timeline->first;
	const struct device_clock_reading *last = &timeline->last;
	uint64_t cycles = (last->cycles - first->cycles) & timeline->clock.mask;
	uint64_t ns = clock_to_ns(last->ticks - first->ticks, timeline->mult);

	if (ns)
		timeline->seen.clock_hz = (double)cycles * (double)NS_PER_S / (double)ns;
}

int timeline_turn(struct timeline *timeline, const uint64_t *ticks, size_t n, struct error *error)
{
	struct device_clock_reading before = timeline->last;

	if (device_clock_read(&timeline->clock, &timeline->last, error))
		return error->code;
	for (size_t i = 0; i < n; i++)
		add_round(timeline, i, ticks[i], ticks[i + 1],
			  device_clock_ticks(&timeline->clock, &before, &timeline->last,
					     timeline->stamps[i]));
	note_rate(timeline);
	note_error(timeline);
	return 0;
}
