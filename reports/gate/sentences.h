/* SPDX-License-Identifier: MIT */
/* What all that shows a gate has alike: its table's cells, and sentences told to say. */
#ifndef REPORTS_GATE_SENTENCES_H
#define REPORTS_GATE_SENTENCES_H

#include "reports/gate/record.h"
#include "reports/table/cells.h"
#include "reports/table/sentences.h"

#define GATE_TEXT 768

void gate_cells_title(struct cells *cells);
void gate_cells_fill(struct cells *cells, const struct gate_record *gate,
		     const struct judge_cell *cell);

/*
 * "send/lat/64/poll p50 us of the head is 9.8 % more than the base's (+8.7 to +11.0 %)", and why
 * a verdict is what it is.
 */
void gate_tell_cell(char text[static GATE_TEXT], const struct judge_cell *cell);

/* Whether that is to be told. Of a gate that is invalid only what fails is, which is no figure. */
bool gate_is_told(const struct gate_record *gate, const struct judge_cell *cell);

/* What is to be known of all other cells together. */
void gate_say_others(const struct gate_record *gate, said *say, void *owner);

/* The banner, and both arms. */
void gate_say_head(const struct gate_record *gate, said *say, void *owner);

/* All that, and what else is to be known. */
void gate_say_notes(const struct gate_record *gate, said *say, void *owner);

/* How it ends, of how many cells and rounds. */
void gate_sum(const struct gate_record *gate, char text[static GATE_TEXT]);

#endif
