/* SPDX-License-Identifier: MIT */
/* The formats of a gate, one file each. Only the stream can fail. */
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
 * One test for each figure: worse is a failure, invalid an error, unclear is skipped. In an
 * invalid gate every figure is skipped, and the gate itself is an error.
 */
void gate_junit(FILE *out, const struct gate_record *gate);

/* Lines that GitHub shows beside a job. */
void gate_annotations(FILE *out, const struct gate_record *gate);

/*
 * The document, with the values of all runs. Figures have the verdicts that these lead to, even if
 * the whole gate is invalid. NULL: no memory.
 */
json_t *gate_make(const struct gate_record *gate, const char *version);

#endif
