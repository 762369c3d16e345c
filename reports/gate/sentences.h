/* SPDX-License-Identifier: MIT */
/* The table, and the sentences, that all formats of a gate share. */
#ifndef REPORTS_GATE_SENTENCES_H
#define REPORTS_GATE_SENTENCES_H

#include "reports/gate/record.h"
#include "reports/table/cells.h"
#include "reports/table/sentences.h"

#define GATE_TEXT 768

/* Its table. */
void gate_grid(struct grid *grid, const struct gate_record *gate);

/* "send/lat/64/poll p50 us: worse: 9.8 % more (+8.7 to +11.0 %)", or why it has that verdict. */
void gate_tell_cell(char text[static GATE_TEXT], const struct judge_cell *cell);

/* Whether that is to be told. Of a gate that is invalid only what fails is, which is no figure. */
bool gate_is_told(const struct gate_record *gate, const struct judge_cell *cell);

/* Says what concerns all other cells together. */
void gate_say_others(const struct gate_record *gate, said *say, void *owner);

/* The banner, and both sides. */
void gate_say_head(const struct gate_record *gate, said *say, void *owner);

/* All that, and what else is to be known. */
void gate_say_notes(const struct gate_record *gate, said *say, void *owner);

/* The headline, and how many figures have which verdict. */
void gate_sum(const struct gate_record *gate, char text[static GATE_TEXT]);

#endif
