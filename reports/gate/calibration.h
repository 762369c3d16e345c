/* SPDX-License-Identifier: MIT */
/*
 * What a gate is worth: rounds of two arms are recorded, of which one is made worse on
 * purpose, by so much or not at all; gates are drawn from them, one after another, none
 * with a round of another one, and how many of them say what is counted. Plain data; what
 * was recorded can be judged anew by other means at any time.
 */
#ifndef REPORTS_GATE_CALIBRATION_H
#define REPORTS_GATE_CALIBRATION_H

#include <stdio.h>

#include "reports/gate/record.h"
#include "reports/stats/proportion.h"

#define WORTH_SCHEMA     "verbmark.gate-check/1"
#define WORTH_DOSES_MOST 48

/* Gates that have ended so. */
struct worth_count {
	size_t gates;
	size_t regressed;
	size_t invalid;
	size_t inconclusive; /* passed, with a figure that the rounds do not tell of */
};

/* One dose: what was planted, what came of it. */
struct worth_dose {
	double percent;   /* worse by that; less than 0: better */
	bool is_noisy;    /* beside a neighbour that came and went */
	bool has_outlier; /* in each so many rounds as a gate has, one run of the head's */
	struct bout bout; /* all rounds, none of them the second time */
	struct worth_count count;
	size_t *found;   /* of each case: gates in which one of its figures regressed */
	double *planted; /* of each case: how many times worse its first figure was, over all */
};

struct worth {
	char started[32];
	char finished[32];
	char plant[64]; /* how: "link" */
	size_t rounds;  /* of a gate */
	struct worth_dose doses[WORTH_DOSES_MOST];
	size_t n_doses;
};

/* Counts all gates that the rounds have room for. -ENOMEM. */
int worth_judge(struct worth *worth, struct error *error);

/* What a dose is called. */
void worth_tell_dose(char text[static 64], const struct worth_dose *dose);

/*
 * A table for terminals, and for documentation; doses of one kind are a row together, the least
 * first.
 */
void worth_table(FILE *out, const struct worth *worth);

/* The document, with all rounds. NULL: no memory. */
json_t *worth_make(const struct worth *worth, const char *version);

/*
 * The other way round: its doses are added to those that there are, from gates of as many
 * rounds; what is no such document is refused with -EINVAL and a sentence. The worth was
 * zeroed before the first of them, and is worth_close's whatever comes of it.
 */
int worth_load(struct worth *worth, const char *path, struct error *error);
int worth_read(struct worth *worth, const json_t *document, struct error *error);

void worth_close(struct worth *worth);

#endif
