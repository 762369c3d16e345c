/* SPDX-License-Identifier: MIT */
/*
 * Runs a gate, from its options to its record: runs both sides alternately, adds runs while the
 * verdict is unclear, confirms regressions with more runs, and judges the outcome. If a side
 * cannot run, or on an interrupt, the record is invalid; this is not an error.
 */
#ifndef BENCH_GATE_GATE_H
#define BENCH_GATE_GATE_H

#include "bench/gate/rounds.h"
#include "bench/plan/plan.h"

#define GATE_FACTS 18

struct gate_side_settings {
	const char *what;   /* a command, or a host */
	const char *device; /* NULL: the device of both sides */
};

/* NULL-terminated sections of facts; text holds their names. */
struct gate_differs {
	const char *sections[GATE_FACTS + 1];
	char text[256];
};

struct gate_settings {
	struct gate_side_settings sides[GATE_SIDES];
	const char *host; /* for sides that are commands; NULL: this machine */
	const char *device;
	const char *server_device;
	const char *secret_file;
	uint16_t port;
	size_t rounds;
	double floors[GATE_FIGURES]; /* NAN: the figure is not gated */
	struct gate_differs differs;
	unsigned int limit_ms; /* 0: none */
	uint64_t seed;
	int stop;                 /* a descriptor that becomes readable when the gate is to end */
	struct rounds_view *view; /* may be NULL */
};

#define GATE_DEFAULTS                                                                          \
	{                                                                                      \
		.rounds = 60, .floors = {0.05, 0.10, 0.05}, .differs = {.sections = {"tool"}}, \
	}

/* Parse options: floors, a struct gate_differs, a time limit, and the seed of the order. */
const char *gate_parse_floors(const char *text, void *field);
const char *gate_parse_differs(const char *text, void *field);
const char *gate_parse_limit(const char *text, void *field);
const char *gate_parse_seed(const char *text, void *field);

/* Returns a random seed, for when none was given. */
uint64_t gate_draw_seed(void);

/* Returns whether a gate rejects this option of cases. */
bool gate_refuses(const struct option_row *row);

/* Returns the gate's help text for an option if it differs from that of run, or NULL. */
const char *gate_says(const struct option_row *row);

/* Makes the cases once the options are parsed. The default preset is "gate". */
int gate_check_plan(struct plan *plan, struct error *error);

/* Prints the cases and the estimated duration. */
int gate_print(const struct gate_settings *settings, const struct plan *plan, FILE *out,
	       struct error *error);

/*
 * Runs the gate. The caller zeroes the record first and calls gate_close afterwards. Returns
 * -ENOMEM, or -EINVAL for an invalid plan.
 */
int gate_run(const struct gate_settings *settings, const struct plan *plan,
	     struct gate_record *gate, struct error *error);

#endif
