/* SPDX-License-Identifier: MIT */
/*
 * Streams whose payloads are verified: what is sent is filled in a slot of its own, and
 * what has come is looked at before its slot is given away again. For the thread of the
 * lane; each queue pair counts its own messages.
 */
#ifndef BENCH_LOOP_VERIFY_SLOTS_H
#define BENCH_LOOP_VERIFY_SLOTS_H

#include "bench/lane/lane.h"

/* Points the next post of a flow at its slot, which is filled; or read into. */
void verify_slots_fill(const struct lane *lane, struct flow *flow, struct post_work *work);

/* Looks at the messages among completions. -EBADMSG is a wrong byte. */
int verify_slots_check(struct lane *lane, const struct ibv_wc *wc, int n_wc, struct error *error);

/* Looks at so many reads of a flow, which are complete; of other operations at nothing. */
int verify_slots_check_reads(const struct lane *lane, struct flow *flow, uint32_t count,
			     struct error *error);

#endif
