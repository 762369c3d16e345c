/* SPDX-License-Identifier: MIT */
/*
 * What a gate has seen: its two sides, the cases that both ran in turn, what each figure of
 * them was in every round, and how that is judged. Plain data, with no process in it: bench/
 * fills it in, the tables, documents and annotations are made of it. gate_close releases it.
 */
#ifndef REPORTS_GATE_RECORD_H
#define REPORTS_GATE_RECORD_H

#include <jansson.h>

#include "reports/gate/judge.h"
#include "reports/result/case_id.h"

/* Of a latency, of a bandwidth, of a tail: what a gate does not look at below it. */
enum gate_figure {
	GATE_MEDIAN,
	GATE_TAIL,
	GATE_BANDWIDTH,
	GATE_FIGURES,
};

/* The values of a figure in all rounds; the rounds of the second time are behind the first. */
struct gate_values {
	double *values[GATE_SIDES]; /* room for all of them; NAN: none */
};

struct gate_case {
	char id[CASE_ID];
	bool is_bandwidth;
	uint64_t iterations;          /* of each trial */
	size_t n_first;               /* pairs of runs of the first time that it had part in */
	size_t trials[GATE_SIDES];    /* that were tried, */
	size_t failures[GATE_SIDES];  /* of them without figures, */
	size_t unsteady[GATE_SIDES];  /* measured before the warm-up was steady, */
	size_t troubled[GATE_SIDES];  /* with counters of losses that moved, */
	size_t lengthy[GATE_SIDES];   /* and longer than one is to take; */
	uint64_t took_ns[GATE_SIDES]; /* all those with figures together */
	char errors[GATE_SIDES][256]; /* the first failure; or empty */
	double resolution_ns;         /* of its latencies: a step of the clock */
	struct gate_values figures[GATE_FIGURES];
};

/* One round: both sides, one after the other. */
struct gate_round {
	bool is_again; /* to confirm what was worse */
	bool is_head_first;
	uint64_t began_ns; /* since the gate did */
	uint64_t took_ns[GATE_SIDES];
};

struct gate_side_record {
	char *words; /* the command, or the host */
	char version[64];
	char revision[64]; /* of the program; or empty */
	json_t *ends;      /* {"client", "server"}, as a result has its hosts; NULL: unknown */
};

struct gate_record {
	char started[32]; /* ISO 8601, UTC */
	char finished[32];
	uint64_t seed;
	size_t asked;                /* pairs of runs, each of the two times, */
	size_t more_first;           /* and beyond them, for what they left unclear, */
	size_t more_again;           /* or to confirm what more of them had shown */
	double floors[GATE_FIGURES]; /* 0.05: 5 per cent */
	const char *banner;          /* over everything; NULL: none */
	json_t *plan;                /* as a plan file has it */
	json_t *notes;               /* sentences: what is to be known of it */
	struct gate_side_record sides[GATE_SIDES];
	struct gate_case *cases;
	size_t n_cases;
	struct gate_round *rounds;
	size_t n_rounds;          /* of the first time, and */
	size_t n_again;           /* of the second; either with some for others, which failed */
	struct judge_cell *cells; /* made by gate_judge */
	size_t n_cells;
	char (*reasons)[160]; /* of cells that are broken or invalid */
	char invalid[256];    /* why all of it is; empty: it is not */
};

/* Room for so many rounds, of the first time and the second together. -ENOMEM. */
int gate_reserve(struct gate_record *gate, size_t n_rounds, struct error *error);

/*
 * One more of those that were asked for, of the second time or not, has been run. How many are due
 * by now: for one in which a trial failed there is another one, up to as many as may fail.
 */
size_t gate_add_round(struct gate_record *gate, bool is_again, size_t due);

/* How many they are at most, where so many are asked for. */
size_t gate_due_most(size_t asked);

/* Returns how many pairs of runs were added for those in which a trial failed. */
size_t gate_spare(const struct gate_record *gate, bool is_again);

/*
 * Whether a case takes part in the next pair of runs: every case does at first, then those that are
 * unclear, and the second time those that have failed.
 */
bool gate_takes_part(const struct gate_record *gate, bool is_again, size_t number);

/* Returns how many figures their pairs of runs leave unclear. */
size_t gate_count_unclear(const struct gate_record *gate);

/* Returns how many pairs of runs confirm what has failed: as many as had shown it. */
size_t gate_again_due(const struct gate_record *gate);

/* Makes the cells of the cases and judges what the first rounds had. -ENOMEM. */
int gate_judge(struct gate_record *gate, struct error *error);

/* Whether that case has a cell that has failed. */
bool gate_has_failed(const struct gate_record *gate, size_t number);

/* Judges what has failed by the rounds of the second time. -ENOMEM. */
int gate_confirm(struct gate_record *gate, struct error *error);

/* The headline: the worst verdict. */
enum verdict gate_end(const struct gate_record *gate);

/* What is shown of a cell: no figure of a gate that is invalid has a verdict of its own. */
enum verdict gate_verdict(const struct gate_record *gate, const struct judge_cell *cell);

/* What every trial of a case has that has not failed. */
enum gate_figure gate_first_figure(const struct gate_case *line);

const char *gate_figure_name(enum gate_figure figure);
const struct compared_figure *gate_figure(enum gate_figure figure);

/* Keeps a sentence; without memory it is lost. */
void gate_note(struct gate_record *gate, const char *format, ...) FORMAT(2, 3);

void gate_close(struct gate_record *gate);

#endif
