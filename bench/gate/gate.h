/* SPDX-License-Identifier: MIT */
/*
 * A gate from its options to its record: runs both sides in turn, goes on with what is unclear,
 * runs once more what is worse, and judges everything. A side that cannot run, or an interrupt,
 * makes the record invalid and is no error.
 */
#ifndef BENCH_GATE_GATE_H
#define BENCH_GATE_GATE_H

#include "bench/gate/rounds.h"
#include "bench/plan/plan.h"

#define GATE_FACTS 18

struct gate_side_settings {
	const char *what;   /* a command, or a host */
	const char *device; /* NULL: that of both */
};

/* Sections of facts, ended by NULL; text is where their names are. */
struct gate_differs {
	const char *sections[GATE_FACTS + 1];
	char text[256];
};

struct gate_settings {
	struct gate_side_settings sides[GATE_SIDES];
	const char *host; /* of sides that are commands; NULL: this machine */
	const char *device;
	const char *server_device;
	const char *secret_file;
	uint16_t port;
	size_t rounds;
	double floors[GATE_FIGURES]; /* NAN: that figure is not gated */
	struct gate_differs differs;
	unsigned int limit_ms; /* 0: none */
	uint64_t seed;
	int stop;                 /* readable once it is to end */
	struct rounds_view *view; /* NULL: nobody looks */
};

#define GATE_DEFAULTS                                                                          \
	{                                                                                      \
		.rounds = 60, .floors = {0.05, 0.10, 0.05}, .differs = {.sections = {"tool"}}, \
	}

/* Parsers of options: of floors, of a struct gate_differs, and of the order's seed. */
const char *gate_parse_floors(const char *text, void *field);
const char *gate_parse_differs(const char *text, void *field);
const char *gate_parse_limit(const char *text, void *field);
const char *gate_parse_seed(const char *text, void *field);

/* Of an order that nobody asked for: another one each time. */
uint64_t gate_draw_seed(void);

/* Options of cases that no gate takes. */
bool gate_refuses(const struct option_row *row);

/* What --help says of one that is not as that of run; NULL: the same. */
const char *gate_says(const struct option_row *row);

/* Once its options are parsed: makes its cases, of the preset gate by themselves. */
int gate_check_plan(struct plan *plan, struct error *error);

/* The cases, and about how long it takes. */
int gate_print(const struct gate_settings *settings, const struct plan *plan, FILE *out,
	       struct error *error);

/* The caller zeroes the record before and calls gate_close after. -ENOMEM, -EINVAL of the plan. */
int gate_run(const struct gate_settings *settings, const struct plan *plan,
	     struct gate_record *gate, struct error *error);

#endif
