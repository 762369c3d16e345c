/* SPDX-License-Identifier: MIT */
/* What becomes of a gate: each is one file here. Nothing fails but the stream. */
#ifndef REPORTS_GATE_SHOW_H
#define REPORTS_GATE_SHOW_H

#include <stdio.h>

#include "reports/gate/record.h"

#define BOUT_SCHEMA "verbmark.gate/1"

/* A table for terminals and logs. */
void bout_table(FILE *out, const struct bout *bout);

/* For summaries of jobs, of no more than room bytes. */
void bout_markdown(FILE *out, const struct bout *bout, size_t room);

/*
 * A test for each figure: REGRESSED is a failure, INVALID an error, INCONCLUSIVE is skipped. Of a
 * gate that is invalid each is skipped, and the gate itself an error.
 */
void bout_junit(FILE *out, const struct bout *bout);

/* Lines that GitHub shows beside a job. */
void bout_annotations(FILE *out, const struct bout *bout);

/*
 * The document, with the values of all rounds. Figures have the verdicts that these would have
 * led to, also where the whole is INVALID. NULL: no memory.
 */
json_t *bout_make(const struct bout *bout, const char *version);

#endif
