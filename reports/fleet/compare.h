/* SPDX-License-Identifier: MIT */
/*
 * Compares two checks of a fleet. Nodes are matched by name, rails by device and port,
 * and cases by id. A figure has changed if it did so by more than 5 %, and by more than the spread
 * of all changes explains. The fleets must outlive the comparison.
 */
#ifndef REPORTS_FLEET_COMPARE_H
#define REPORTS_FLEET_COMPARE_H

#include "reports/fleet/figure.h"
#include "reports/verdict/verdict.h"

#define FLEET_COMPARISON_SCHEMA "verbmark.fleet-comparison/1"

/* A figure of both fleets. Node, rail and case numbers are those of NEW. */
struct fleet_change {
	struct fleet_figure figure; /* of NEW */
	double base;                /* NAN: failed */
	double ratio;               /* new / base; NAN: either one failed */
	double z;                   /* robust z-score of the ratio against no change */
	enum verdict verdict;
	const char *error; /* why the measurement of NEW failed; NULL: it did not */
};

/* The ratios of all figures of a case. */
struct fleet_shift {
	uint32_t number; /* of the case in NEW */
	size_t count;
	double median;
	double spread; /* robust standard deviation of the logarithms */
	size_t n_verdicts[VERDICTS];
};

struct fleet_comparison {
	const struct fleet *base;
	const struct fleet *now;
	struct fleet_change *changes; /* worst first */
	size_t n_changes;
	struct fleet_shift *shifts;
	size_t n_shifts;
	size_t n_verdicts[VERDICTS];
	size_t n_unmatched; /* figures of NEW without one in BASE */
	size_t n_vanished;  /* figures of BASE without one in NEW */
	json_t *notes;      /* array of strings: nodes that vanished, cases that differ, ... */
};

/*
 * Compares. Returns 0 or a negative errno. -ENODATA: the fleets have nothing in common; the error
 * says why. The caller calls fleet_comparison_finish in any case.
 */
int fleet_compare(struct fleet_comparison *comparison, const struct fleet *base,
		  const struct fleet *now, struct error *error);
void fleet_comparison_finish(struct fleet_comparison *comparison);

/* Whether every figure is the same or better. */
bool fleet_comparison_has_passed(const struct fleet_comparison *comparison);

#endif
