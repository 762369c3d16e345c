/* SPDX-License-Identifier: MIT */
/* The formats of a gate, one file each. Where a function returns nothing, only the stream can fail. */
#ifndef REPORTS_GATE_SHOW_H
#define REPORTS_GATE_SHOW_H

#include <stdio.h>

#include "reports/gate/record.h"
#include "reports/table/terminal.h"

#define GATE_SCHEMA "verbmark.gate/1"

/* Prints a table for terminals and logs. */
void gate_table(const struct terminal *terminal, const struct gate_record *gate);

/* Prints a job summary of at most room bytes. */
void gate_markdown(FILE *out, const struct gate_record *gate, size_t room);

/* Prints a page. -ENOMEM. */
int gate_page(FILE *out, const struct gate_record *gate);

/*
 * Prints one test for each figure: worse is a failure, invalid an error, unclear is skipped. In an
 * invalid gate every figure is skipped, and the gate itself is an error.
 */
void gate_junit(FILE *out, const struct gate_record *gate);

/* Prints annotations for GitHub. */
void gate_annotations(FILE *out, const struct gate_record *gate);

/*
 * Makes the document, with the values of all runs. Figures keep their own verdicts even if the
 * whole gate is invalid. Returns NULL if memory runs out.
 */
json_t *gate_make(const struct gate_record *gate, const char *version);

#endif
