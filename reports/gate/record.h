/* SPDX-License-Identifier: MIT */
/*
 * What a gate has seen: its two arms, the cases that both ran in turn, what each figure of
 * them was in every round, and how that is judged. Plain data, with no process in it: bench/
 * fills it in, the tables, documents and annotations are made of it. bout_close releases it.
 */
#ifndef REPORTS_GATE_RECORD_H
#define REPORTS_GATE_RECORD_H

#include <jansson.h>

#include "reports/gate/judge.h"
#include "reports/result/case_id.h"

/* Of a latency, of a bandwidth, of a tail: what a gate does not look at below it. */
enum bout_figure {
	BOUT_MEDIAN,
	BOUT_TAIL,
	BOUT_BANDWIDTH,
	BOUT_FIGURES,
};

/* How a whole gate ends. */
enum bout_end {
	BOUT_PASSED,
	BOUT_REGRESSED,
	BOUT_INVALID,
};

/* The values of a figure in all rounds; the rounds of the second time are behind the first. */
struct bout_values {
	double *values[DUEL_ARMS]; /* room for all of them; NAN: none */
};

struct bout_case {
	char id[CASE_ID];
	bool is_bandwidth;
	uint64_t iterations;         /* of each trial */
	size_t trials[DUEL_ARMS];    /* that were tried, */
	size_t failures[DUEL_ARMS];  /* of them without figures, */
	size_t unsteady[DUEL_ARMS];  /* measured before the warm-up was steady, */
	size_t troubled[DUEL_ARMS];  /* with counters of losses that moved, */
	size_t lengthy[DUEL_ARMS];   /* and longer than one is to take; */
	uint64_t took_ns[DUEL_ARMS]; /* all those with figures together */
	char errors[DUEL_ARMS][256]; /* the first failure; or empty */
	double resolution_ns;        /* of its latencies: a step of the clock */
	struct bout_values figures[BOUT_FIGURES];
};

/* One round: both arms, one after the other. */
struct bout_round {
	bool is_again; /* of what had failed */
	bool is_head_first;
	bool has_outlier;  /* the head's run was another one's: see gate-check --outlier */
	uint64_t began_ns; /* since the gate did */
	uint64_t took_ns[DUEL_ARMS];
};

struct bout_arm {
	char *words; /* the command, or the host */
	char version[64];
	char revision[64]; /* of the program; or empty */
	json_t *ends;      /* {"client", "server"}, as a result has its hosts; NULL: unknown */
};

struct bout {
	char started[32]; /* ISO 8601, UTC */
	char finished[32];
	uint64_t seed;
	size_t asked;                /* rounds */
	double floors[BOUT_FIGURES]; /* 0.05: 5 per cent */
	const char *banner;          /* over everything; NULL: none */
	json_t *plan;                /* as a plan file has it */
	json_t *notes;               /* sentences: what is to be known of it */
	struct bout_arm arms[DUEL_ARMS];
	struct bout_case *cases;
	size_t n_cases;
	struct bout_round *rounds;
	size_t n_rounds;         /* of the first time, and */
	size_t n_again;          /* of the second; either with some for others, which failed */
	struct duel_cell *cells; /* made by bout_judge */
	size_t n_cells;
	char (*reasons)[160]; /* of cells that are broken or invalid */
	char invalid[256];    /* why all of it is; empty: it is not */
};

/* Room for so many rounds, of the first time and the second together. -ENOMEM. */
int bout_reserve(struct bout *bout, size_t n_rounds, struct error *error);

/*
 * One more of those that were asked for, of the second time or not, has been run. How many are due
 * by now: for one in which a trial failed there is another one, up to as many as may fail.
 */
size_t bout_add_round(struct bout *bout, bool is_again, size_t due);

/* How many they are at most, where so many are asked for. */
size_t bout_due_most(size_t asked);

/* How many of so many rounds are there for others. */
size_t bout_more(const struct bout *bout, size_t count);

/* Makes the cells of the cases and judges what the first rounds had. -ENOMEM. */
int bout_judge(struct bout *bout, struct error *error);

/* Whether that case has a cell that has failed. */
bool bout_has_failed(const struct bout *bout, size_t number);

/* Judges what has failed by the rounds of the second time. -ENOMEM. */
int bout_confirm(struct bout *bout, struct error *error);

enum bout_end bout_end(const struct bout *bout);

/* What is shown of a cell: no figure of a gate that is invalid has a verdict of its own. */
enum duel_verdict bout_verdict(const struct bout *bout, const struct duel_cell *cell);

const char *bout_end_name(enum bout_end end);
/* What every trial of a case has that has not failed. */
enum bout_figure bout_first_figure(const struct bout_case *line);

const char *bout_figure_name(enum bout_figure figure);
const struct figure *bout_figure(enum bout_figure figure);

/* Keeps a sentence; without memory it is lost. */
void bout_note(struct bout *bout, const char *format, ...) FORMAT(2, 3);

void bout_close(struct bout *bout);

#endif
