/* SPDX-License-Identifier: MIT */
/*
 * The rounds of a gate: in each of them both sides run all cases, each in a fresh process, one
 * right after the other. Which is first is drawn for every two rounds, so that each is first
 * as often as the other; the order of cases is drawn for each round and is that of both. How
 * many messages a case has is found once, from the base, and the same for both.
 */
#ifndef BENCH_GATE_ROUNDS_H
#define BENCH_GATE_ROUNDS_H

#include "bench/gate/one_case_plans.h"
#include "bench/gate/runner.h"
#include "reports/gate/record.h"

struct rounds_view {
	/* Before a round, from 0 on; there may be more than before. */
	void (*begins)(struct rounds_view *view, size_t number, size_t count);
};

struct rounds {
	struct runner sides[GATE_SIDES]; /* opened by the caller */
	struct one_case_plan_list singles;
	struct gate_record *gate;
	uint64_t measure_ns; /* of each trial, roughly */
	uint64_t warmup_ns;  /* at most */
	uint64_t until_ns;   /* on the monotonic clock: later no round begins; 0: any time */
	int stop;            /* readable once it is to end */
	const char *const *forgiven; /* sections of facts in which the sides may differ, to NULL */
	struct rounds_view *view;    /* NULL: nobody looks */
	uint64_t random;             /* from here on it is kept by rounds_run */
	uint64_t start_ns;
	json_t *noise;             /* of this host, before */
	size_t n_lost[GATE_SIDES]; /* runs in a row without any result */
	char fingerprints[GATE_SIDES][2][FINGERPRINT_TEXT];
};

/*
 * Runs both sides once: that they can, that they are alike, and how fast the cases are. A case
 * that the base cannot run is left out, with a note. -EXDEV: they are not alike.
 */
int rounds_open(struct rounds *rounds, struct error *error);

/*
 * Runs count more pairs of the cases that take part (gate_takes_part), and one more for each that
 * fails (gate_add_round). Ends early and well when the time is over, and with -EINTR or -ECHILD (a
 * side gives no more results); the record keeps every pair that ended.
 */
int rounds_run(struct rounds *rounds, size_t count, bool is_again, struct error *error);

/* Whether the time is over. */
bool rounds_are_over(const struct rounds *rounds);

/* Makes the record invalid if this host was disturbed meanwhile. */
void rounds_finish(struct rounds *rounds);

void rounds_close(struct rounds *rounds);

#endif
