/* SPDX-License-Identifier: MIT */
/*
 * The record of a gate: its two sides, the cases that both ran in turn, the figures of every pair
 * of runs, and the verdicts. Plain data: bench/gate fills it in; tables, documents and annotations
 * are made from it. gate_close releases it.
 */
#ifndef REPORTS_GATE_RECORD_H
#define REPORTS_GATE_RECORD_H

#include <jansson.h>

#include "reports/gate/judge.h"
#include "reports/result/case_id.h"

/* Figures that a gate judges. */
enum gate_figure {
	GATE_MEDIAN,
	GATE_TAIL,
	GATE_BANDWIDTH,
	GATE_FIGURES,
};

/* A figure's values by pair of runs: those of the first measurement, then the confirmation. */
struct gate_values {
	double *values[GATE_SIDES]; /* room for all pairs; NAN: missing */
};

struct gate_case {
	char id[CASE_ID];
	bool is_bandwidth;
	uint64_t iterations;          /* of each trial */
	size_t n_first;               /* pairs of the first measurement that include this case */
	size_t trials[GATE_SIDES];    /* all trials */
	size_t failures[GATE_SIDES];  /* trials without figures */
	size_t unsteady[GATE_SIDES];  /* trials whose warm-up did not stabilize */
	size_t troubled[GATE_SIDES];  /* trials in which loss counters rose */
	size_t lengthy[GATE_SIDES];   /* trials that exceeded their time */
	uint64_t took_ns[GATE_SIDES]; /* total time of the trials with figures */
	char errors[GATE_SIDES][256]; /* the first failure; or empty */
	double resolution_ns;         /* clock step of the latencies */
	struct gate_values figures[GATE_FIGURES];
};

/* A pair of runs: both sides, one after the other. */
struct gate_round {
	bool is_again; /* part of the confirmation */
	bool is_head_first;
	uint64_t began_ns; /* since the start of the gate */
	uint64_t took_ns[GATE_SIDES];
};

struct gate_side_record {
	char *words; /* the command, or the host */
	char version[64];
	char revision[64]; /* of the program, or empty */
	json_t *ends;      /* {"client", "server"}, as "hosts" in a result; NULL: unknown */
};

struct gate_record {
	char started[32]; /* ISO 8601, UTC */
	char finished[32];
	uint64_t seed;
	size_t asked;                /* requested pairs of runs, for each measurement */
	size_t more_first;           /* additional pairs for unclear figures */
	size_t more_again;           /* additional pairs for the confirmation */
	double floors[GATE_FIGURES]; /* thresholds; 0.05: 5 % */
	const char *banner;          /* heads every report; NULL: none */
	json_t *plan;                /* as in a plan file */
	json_t *notes;               /* sentences for the report */
	struct gate_side_record sides[GATE_SIDES];
	struct gate_case *cases;
	size_t n_cases;
	struct gate_round *rounds;
	size_t n_rounds;          /* of the first measurement, including spare ones */
	size_t n_again;           /* of the confirmation, including spare ones */
	struct judge_cell *cells; /* made by gate_judge */
	size_t n_cells;
	char (*reasons)[160]; /* of cells that are broken or invalid */
	char invalid[256];    /* why the whole gate is invalid; empty: it is valid */
};

/* Makes room for that many pairs of runs, first measurement and confirmation together. -ENOMEM. */
int gate_reserve(struct gate_record *gate, size_t n_rounds, struct error *error);

/*
 * Counts one more pair of runs. Returns the number of pairs due by now: each pair with a failed
 * trial adds one, up to the number of pairs that may fail.
 */
size_t gate_add_round(struct gate_record *gate, bool is_again, size_t due);

/* Returns the largest number of pairs due if that many are requested. */
size_t gate_due_most(size_t asked);

/* Returns the number of pairs of runs added to replace pairs with a failed trial. */
size_t gate_spare(const struct gate_record *gate, bool is_again);

/*
 * Whether a case takes part in the next pair of runs: at first every case does, then the unclear
 * ones, and in the confirmation those that have failed.
 */
bool gate_takes_part(const struct gate_record *gate, bool is_again, size_t number);

/* Returns the number of unclear figures. */
size_t gate_count_unclear(const struct gate_record *gate);

/* Returns the number of pairs of runs for the confirmation: the number that showed the failure. */
size_t gate_again_due(const struct gate_record *gate);

/* Makes the cells of the cases and judges the first measurement. -ENOMEM. */
int gate_judge(struct gate_record *gate, struct error *error);

/* Whether a cell of that case has failed. */
bool gate_has_failed(const struct gate_record *gate, size_t number);

/* Judges the failed cells by the confirmation. -ENOMEM. */
int gate_confirm(struct gate_record *gate, struct error *error);

/* Returns the headline: the worst verdict. */
enum verdict gate_end(const struct gate_record *gate);

/* Returns the verdict to show; in an invalid gate every cell is invalid. */
enum verdict gate_verdict(const struct gate_record *gate, const struct judge_cell *cell);

/* Returns the figure that every successful trial of a case has. */
enum gate_figure gate_first_figure(const struct gate_case *line);

const char *gate_figure_name(enum gate_figure figure);
const struct compared_figure *gate_figure(enum gate_figure figure);

/* Adds a note; if memory runs out, the note is lost. */
void gate_note(struct gate_record *gate, const char *format, ...) FORMAT(2, 3);

void gate_close(struct gate_record *gate);

#endif
