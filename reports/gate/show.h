/* SPDX-License-Identifier: MIT */
/* What becomes of a gate: each is one file here. Nothing fails but the stream. */
#ifndef REPORTS_GATE_SHOW_H
#define REPORTS_GATE_SHOW_H

#include <stdio.h>

#include "reports/gate/record.h"

#define GATE_SCHEMA "verbmark.gate/1"

/* A table for terminals and logs. */
void gate_table(FILE *out, const struct gate_record *gate);

/* For summaries of jobs, of no more than room bytes. */
void gate_markdown(FILE *out, const struct gate_record *gate, size_t room);

/*
 * A test for each figure: REGRESSED is a failure, INVALID an error, INCONCLUSIVE is skipped. Of a
 * gate that is invalid each is skipped, and the gate itself an error.
 */
void gate_junit(FILE *out, const struct gate_record *gate);

/* Lines that GitHub shows beside a job. */
void gate_annotations(FILE *out, const struct gate_record *gate);

/*
 * The document, with the values of all rounds. Figures have the verdicts that these would have
 * led to, also where the whole is INVALID. NULL: no memory.
 */
json_t *gate_make(const struct gate_record *gate, const char *version);

#endif
