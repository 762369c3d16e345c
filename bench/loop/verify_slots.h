/* SPDX-License-Identifier: MIT */
/*
 * Verified streams: each sent payload has its own slot, and each received payload is verified
 * before its slot is reused. Call only on the lane's thread. Each queue pair counts its own
 * messages.
 */
#ifndef BENCH_LOOP_VERIFY_SLOTS_H
#define BENCH_LOOP_VERIFY_SLOTS_H

#include "bench/lane/lane.h"

/* Points a flow's next post at its slot. Fills the slot, unless it is read into. */
void verify_slots_fill(const struct lane *lane, struct flow *flow, struct post_work *work);

/* Verifies the messages among completions. Returns -EBADMSG for a wrong byte. */
int verify_slots_check(struct lane *lane, const struct ibv_wc *wc, int n_wc, struct error *error);

/* Verifies `count` completed READs of a flow. Does nothing for other operations. */
int verify_slots_check_reads(const struct lane *lane, struct flow *flow, uint32_t count,
			     struct error *error);

#endif
