/* SPDX-License-Identifier: MIT */
#include "bench/loop/load.h"

/* Returns the size of a part of the expected messages. */
static uint64_t find_part(const struct load *load, const struct loop_run *run)
{
	double most = (double)(run->until - load->from) / load->arrival.ticks_per_message;
	double count = (double)run->messages < most ? (double)run->messages : most;

	return count < LOAD_PARTS ? 1 : (uint64_t)(count / LOAD_PARTS);
}

void load_turn(struct load *load)
{
	load->least_before = load->least;
	load->least = UINT64_MAX;
	load->part_left = ++load->part < LOAD_PARTS ? load->part_size : UINT64_MAX;
}

void load_begin(struct load *load, struct lane *lane, const struct loop_run *run)
{
	arrival_begin(&load->arrival, load->from);
	load->due = arrival_next(&load->arrival);
	if (load->due > run->until || !run->messages)
		load->due = UINT64_MAX;
	load->left = run->messages;
	load->part_size = find_part(load, run);
	load->part = 0;
	load->part_left = 0;
	load->least = load->least_before = 0;
	load->unsent = load->out = 0;
	load->flow = lane->flows;
	load->room = (uint64_t)lane->settings.tx_depth * lane->settings.n_flows;
	lane->result.last_tick = load->last = load->from;
}

void load_give_up(struct load *load, const struct loop_run *run)
{
	double count;

	if (load->due == UINT64_MAX)
		return;
	count = run->until == UINT64_MAX ? (double)load->left
					 : arrival_count(&load->arrival, run->until);
	load->unsent = count < (double)load->left ? (uint64_t)count : load->left;
	load->due = UINT64_MAX;
}

/* Sleeps for at most left_ns, minus the time that the loop spins itself. */
static int sleep_for(struct lane *lane, uint64_t left_ns, struct ibv_wc *wc, struct error *error)
{
	struct completion *completion = &lane->endpoint.completion;
	uint64_t spin_ns = completion->mode == RDMA_ADAPTIVE ? completion->spin_ns : 0;
	int got;

	if (left_ns <= spin_ns)
		return 0;
	got = completion_wait(completion, LOAD_BATCH, wc, left_ns - spin_ns, error);
	return got == -ETIMEDOUT ? 0 : got;
}

int load_idle(struct load *load, struct lane *lane, const struct loop_run *run, struct ibv_wc *wc,
	      struct error *error)
{
	bool is_due = load->room && load->due != UINT64_MAX;
	uint64_t now = clock_ticks(run->is_counter);
	uint64_t until = is_due ? load->due : now + load->stalled;

	if (unlikely(alarm_raised(&lane->endpoint.alarm)))
		return alarm_reason(&lane->endpoint.alarm, error);
	if (load->out && now - load->last > load->stalled)
		return lane_stalled(lane, error);
	if (now >= load->give_up)
		load_give_up(load, run);
	if (lane->endpoint.completion.mode == RDMA_POLL || now >= until)
		return 0;
	return sleep_for(lane, clock_to_ns(until - now, run->mult), wc, error);
}
