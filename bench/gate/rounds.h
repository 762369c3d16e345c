/* SPDX-License-Identifier: MIT */
/*
 * The pairs of runs of a gate. In each pair both sides run all cases, each side in a fresh
 * process, one right after the other. The side that runs first is drawn for every two pairs, so
 * that each is first equally often. The order of cases is drawn for each pair and is the same on
 * both sides. The number of messages of a case is calibrated once on the base and used for both
 * sides.
 */
#ifndef BENCH_GATE_ROUNDS_H
#define BENCH_GATE_ROUNDS_H

#include "bench/gate/one_case_plans.h"
#include "bench/gate/runner.h"
#include "reports/gate/record.h"

struct rounds_view {
	/* Called before a pair of runs, numbered from 0. count may grow. */
	void (*begins)(struct rounds_view *view, size_t number, size_t count);
};

struct rounds {
	struct runner sides[GATE_SIDES]; /* opened by the caller */
	struct one_case_plan_list singles;
	struct gate_record *gate;
	uint64_t measure_ns; /* approximate duration of a trial */
	uint64_t warmup_ns;  /* at most */
	uint64_t until_ns;   /* monotonic time after which no pair of runs starts; 0: no limit */
	int stop;            /* a descriptor that becomes readable when the gate is to end */
	const char *const
		*forgiven; /* NULL-terminated sections of facts that may differ between the sides */
	struct rounds_view *view; /* may be NULL */
	uint64_t random; /* the members from here on are set by rounds_open and rounds_run */
	uint64_t start_ns;
	json_t *noise;             /* noise of this host at the start */
	size_t n_lost[GATE_SIDES]; /* consecutive runs without a result */
	char fingerprints[GATE_SIDES][2][FINGERPRINT_TEXT];
};

/*
 * Runs both sides once, to check that they can run, that they are alike, and how fast the cases
 * are. A case that the base cannot run is skipped with a note. Returns -EXDEV if the sides are not
 * alike.
 */
int rounds_open(struct rounds *rounds, struct error *error);

/*
 * Runs `count` more pairs of runs for the cases that take part (gate_takes_part), and one more for
 * each that fails (gate_add_round). Returns 0 even if the time limit ends it early, -EINTR if
 * interrupted, or -ECHILD if a side gives no more results. The record keeps every pair that
 * completed.
 */
int rounds_run(struct rounds *rounds, size_t count, bool is_again, struct error *error);

/* Returns whether the time limit has been reached. */
bool rounds_are_over(const struct rounds *rounds);

/* Marks the record as invalid if this host was disturbed during the gate. */
void rounds_finish(struct rounds *rounds);

void rounds_close(struct rounds *rounds);

#endif
