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

#define CALIBRATION_SCHEMA     "verbmark.gate-check/1"
#define CALIBRATION_DOSES_MOST 48

/* Gates that have ended so. */
struct calibration_count {
	size_t gates;
	size_t regressed;
	size_t invalid;
	size_t inconclusive; /* passed, with a figure that the rounds do not tell of */
};

/* One dose: what was planted, what came of it. */
struct calibration_dose {
	double percent;          /* worse by that; less than 0: better */
	bool is_noisy;           /* beside a neighbour that came and went */
	bool has_outlier;        /* in each so many rounds as a gate has, one run of the head's */
	struct gate_record gate; /* all rounds, none of them the second time */
	struct calibration_count count;
	size_t *found;   /* of each case: gates in which one of its figures regressed */
	double *planted; /* of each case: how many times worse its first figure was, over all */
};

struct calibration {
	char started[32];
	char finished[32];
	char plant[64]; /* how: "link" */
	size_t rounds;  /* of a gate */
	struct calibration_dose doses[CALIBRATION_DOSES_MOST];
	size_t n_doses;
};

/* Counts all gates that the rounds have room for. -ENOMEM. */
int calibration_judge(struct calibration *calibration, struct error *error);

/* What a dose is called. */
void calibration_tell_dose(char text[static 64], const struct calibration_dose *dose);

/*
 * A table for terminals, and for documentation; doses of one kind are a row together, the least
 * first.
 */
void calibration_table(FILE *out, const struct calibration *calibration);

/* The document, with all rounds. NULL: no memory. */
json_t *calibration_make(const struct calibration *calibration, const char *version);

/*
 * The other way round: its doses are added to those that there are, from gates of as many
 * rounds; what is no such document is refused with -EINVAL and a sentence. The worth was
 * zeroed before the first of them, and is calibration_close's whatever comes of it.
 */
int calibration_load(struct calibration *calibration, const char *path, struct error *error);
int calibration_read(struct calibration *calibration, const json_t *document, struct error *error);

void calibration_close(struct calibration *calibration);

#endif
