/* SPDX-License-Identifier: MIT */
/* Tables and sentences shared by all formats of a gate. */
#ifndef REPORTS_GATE_SENTENCES_H
#define REPORTS_GATE_SENTENCES_H

#include "reports/gate/record.h"
#include "reports/table/cells.h"
#include "reports/table/sentences.h"

#define GATE_TEXT 768

/* Fills the table of figures. */
void gate_grid(struct grid *grid, const struct gate_record *gate);

/* Writes "send/lat/64/poll p50 us: worse: 9.8 % more (+8.7 to +11.0 %)", or the reason. */
void gate_describe_cell(char text[static GATE_TEXT], const struct judge_cell *cell);

/* Whether to list the cell. In an invalid gate only cells with a fault are listed. */
bool gate_is_listed(const struct gate_record *gate, const struct judge_cell *cell);

/* Reports what applies to all cells that are not listed. */
void gate_say_others(const struct gate_record *gate, said *say, void *owner);

/* Reports the banner and both sides. */
void gate_say_head(const struct gate_record *gate, said *say, void *owner);

/* Reports all listed cells and all notes. */
void gate_say_notes(const struct gate_record *gate, said *say, void *owner);

/* Writes the headline and the counts of verdicts. */
void gate_sum(const struct gate_record *gate, char text[static GATE_TEXT]);

#endif
