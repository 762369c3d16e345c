/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "reports/gate/sentences.h"
#include "reports/gate/show.h"
#include "reports/io/json_make.h"

static json_t *make_side(const struct gate_side_record *side)
{
	return json_pack("{s:o, s:s, s:s, s:O*}", "words",
			 json_make_text(side->words ? side->words : ""), "version", side->version,
			 "revision", side->revision, "hosts", side->ends);
}

static json_t *make_finding(const struct judge_finding *finding)
{
	json_t *made = json_pack("{s:I}", "rounds", (json_int_t)finding->pairs);
	const struct {
		const char *name;
		double value;
	} members[] = {
		{"base",        finding->pairs ? finding->medians[GATE_BASE] : (double)NAN},
		{"head",        finding->pairs ? finding->medians[GATE_HEAD] : (double)NAN},
		{"ratio",       finding->judged.ratio                                     },
		{"low",         finding->judged.low                                       },
		{"high",        finding->judged.high                                      },
		{"p",           finding->chance					   },
		{"p_corrected", finding->pairs && !finding->judged.is_invalid
					? finding->judged.worse
					: (double)NAN      },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(members); i++) {
		json_t *number = json_make_number(members[i].value);

		if (number)
			json_object_set_new(made, members[i].name, number);
	}
	return made;
}

static json_t *make_cell(const struct judge_cell *cell)
{
	const struct judge_finding *last = cell->again.count ? &cell->confirmed : &cell->finding;
	bool is_unclear = cell->verdict == VERDICT_UNCLEAR && !cell->why[0];

	return json_pack("{s:s, s:s, s:s, s:f, s:o, s:o*, s:o*, s:s, s:o*}", "case", cell->id,
			 "figure", cell->figure->key, "unit", cell->figure->measure, "floor",
			 cell->threshold, "first", make_finding(&cell->finding), "again",
			 cell->again.count ? make_finding(&cell->confirmed) : NULL, "detectable",
			 is_unclear ? json_make_number(verdict_detectable(&last->judged)) : NULL,
			 "verdict", verdict_name(cell->verdict), "reason",
			 cell->why[0] ? json_make_text(cell->why) : NULL);
}

static json_t *make_values(const double *values, size_t count)
{
	json_t *made = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(made,
				      isfinite(values[i]) ? json_real(values[i]) : json_null());
	return made;
}

static json_t *make_tries(const struct gate_case *line, enum gate_side side)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:o*}", "trials", (json_int_t)line->trials[side],
			 "failed", (json_int_t)line->failures[side], "not_steady",
			 (json_int_t)line->unsteady[side], "with_losses",
			 (json_int_t)line->troubled[side], "error",
			 line->errors[side][0] ? json_make_text(line->errors[side]) : NULL);
}

static json_t *make_case(const struct gate_record *gate, const struct gate_case *line)
{
	size_t count = gate->n_rounds + gate->n_again;
	json_t *values = json_object();

	for (enum gate_figure figure = 0; figure < GATE_FIGURES; figure++) {
		double *const *both = line->figures[figure].values;

		if (line->is_bandwidth == (figure == GATE_BANDWIDTH))
			json_object_set_new(values, gate_figure(figure)->key,
					    json_pack("{s:o, s:o}", "base",
						      make_values(both[GATE_BASE], count), "head",
						      make_values(both[GATE_HEAD], count)));
	}
	return json_pack("{s:s, s:s, s:I, s:f, s:o, s:o, s:o}", "id", line->id, "metric",
			 line->is_bandwidth ? "bw" : "lat", "iterations",
			 (json_int_t)line->iterations, "resolution_ns", line->resolution_ns, "base",
			 make_tries(line, GATE_BASE), "head", make_tries(line, GATE_HEAD), "values",
			 values);
}

static json_t *make_round(const struct gate_round *round)
{
	return json_pack("{s:b, s:s, s:I, s:I, s:I}", "again", round->is_again, "first",
			 gate_side_name(round->is_head_first ? GATE_HEAD : GATE_BASE), "began_ns",
			 (json_int_t)round->began_ns, "base_ns",
			 (json_int_t)round->took_ns[GATE_BASE], "head_ns",
			 (json_int_t)round->took_ns[GATE_HEAD]);
}

static void add_lists(json_t *made, const struct gate_record *gate)
{
	json_t *cells = json_array();
	json_t *cases = json_array();
	json_t *rounds = json_array();

	for (size_t i = 0; i < gate->n_cells; i++)
		json_array_append_new(cells, make_cell(&gate->cells[i]));
	for (size_t i = 0; i < gate->n_cases; i++)
		json_array_append_new(cases, make_case(gate, &gate->cases[i]));
	for (size_t i = 0; i < gate->n_rounds + gate->n_again; i++)
		json_array_append_new(rounds, make_round(&gate->rounds[i]));
	json_object_set_new(made, "figures", cells);
	json_object_set_new(made, "cases", cases);
	json_object_set_new(made, "rounds", rounds);
}

static json_t *make_floors(const struct gate_record *gate)
{
	json_t *made = json_object();

	for (enum gate_figure figure = 0; figure < GATE_FIGURES; figure++)
		if (!isnan(gate->floors[figure]))
			json_object_set_new(made, gate_figure(figure)->key,
					    json_real(gate->floors[figure]));
	return made;
}

json_t *gate_make(const struct gate_record *gate, const char *version)
{
	json_t *notes = gate->notes ? json_incref(gate->notes) : json_array();
	/* JSON integers are signed: the seed appears as it was given. */
	json_t *made = json_pack(
		"{s:s, s:{s:s, s:s}, s:s*, s:s, s:s, s:s, s:o*, s:I, s:I, s:f, s:o, s:o, s:o, "
		"s:O*, s:o}",
		"schema", GATE_SCHEMA, "tool", "name", "verbmark", "version", version, "banner",
		gate->banner, "started", gate->started, "finished", gate->finished, "verdict",
		verdict_name(gate_end(gate)), "reason",
		gate->invalid[0] ? json_make_text(gate->invalid) : NULL, "seed",
		(json_int_t)gate->seed, "asked_rounds", (json_int_t)gate->asked, "level",
		VERDICT_LEVEL, "floors", make_floors(gate), "base",
		make_side(&gate->sides[GATE_BASE]), "head", make_side(&gate->sides[GATE_HEAD]),
		"plan", gate->plan, "notes", notes);

	if (made)
		add_lists(made, gate);
	return made;
}
