/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/document/parse.h"
#include "reports/gate/calibration.h"
#include "reports/gate/show.h"
#include "reports/io/json_member.h"
#include "reports/io/read_file.h"
#include "reports/result/banner.h"

/* A record of more than that is not read: 300 gates of 12 cases have some 20 MiB. */
#define BYTES_MOST  (256 << 20)
#define CASES_MOST  1000
#define ROUNDS_MOST 1000000
#define KIND        "a record of gates"

static json_t *make_dose(const struct calibration_dose *dose, const char *version)
{
	struct proportion found = proportion_of(dose->count.regressed, dose->count.gates);
	json_t *cases = json_object();

	for (size_t i = 0; i < dose->gate.n_cases; i++)
		json_object_set_new(cases, dose->gate.cases[i].id,
				    json_integer((json_int_t)dose->found[i]));
	return json_pack("{s:f, s:b, s:b, s:I, s:I, s:I, s:I, s:f, s:f, s:o, s:o*}", "percent",
			 dose->percent, "noisy", dose->is_noisy, "outlier", dose->has_outlier,
			 "gates", (json_int_t)dose->count.gates, "regressed",
			 (json_int_t)dose->count.regressed, "invalid",
			 (json_int_t)dose->count.invalid, "inconclusive",
			 (json_int_t)dose->count.inconclusive, "low", found.low, "high", found.high,
			 "regressed_in", cases, "record", gate_make(&dose->gate, version));
}

json_t *calibration_make(const struct calibration *calibration, const char *version)
{
	json_t *doses = json_array();

	for (size_t i = 0; i < calibration->n_doses; i++)
		json_array_append_new(doses, make_dose(&calibration->doses[i], version));
	return json_pack("{s:s, s:{s:s, s:s}, s:s, s:s, s:s, s:I, s:o}", "schema",
			 CALIBRATION_SCHEMA, "tool", "name", "verbmark", "version", version,
			 "started", calibration->started, "finished", calibration->finished,
			 "plant", calibration->plant, "rounds", (json_int_t)calibration->rounds,
			 "doses", doses);
}

static int take_values(double *values, const json_t *array, size_t count, struct error *error)
{
	for (size_t i = 0; i < count; i++) {
		const json_t *value = json_array_get(array, i);

		if (!json_is_number(value) && !json_is_null(value))
			return error_set(error, -EINVAL, "value %zu is no number", i + 1);
		values[i] = json_is_null(value) ? (double)NAN : json_number_value(value);
	}
	return 0;
}

static const json_t *values_of(const json_t *json, enum gate_figure figure)
{
	return json_object_get(json_object_get(json, "values"), gate_figure(figure)->key);
}

static int check_figure(const json_t *both, size_t count, struct error *error)
{
	for (enum gate_side arm = 0; arm < GATE_SIDES; arm++) {
		size_t found = json_array_size(json_object_get(both, gate_side_name(arm)));

		if (found != count)
			return error_set(error, -EINVAL, "%zu values of %zu rounds", found, count);
	}
	return 0;
}

static int read_figure(struct gate_values *values, const json_t *both, size_t count,
		       struct error *error)
{
	int code = 0;

	for (enum gate_side arm = 0; arm < GATE_SIDES && !code; arm++)
		code = take_values(values->values[arm], json_object_get(both, gate_side_name(arm)),
				   count, error);
	return code;
}

/* A case without its values: that they are there as they should be is known then. */
static int read_case(struct gate_case *line, const json_t *json, size_t n_rounds,
		     struct error *error)
{
	char metric[8];
	int code = json_member_text(json, "id", line->id, sizeof(line->id), error);

	if (!code)
		code = json_member_text(json, "metric", metric, sizeof(metric), error);
	if (!code)
		code = json_member_count(json, "iterations", &line->iterations, error);
	if (!code)
		code = json_member_figure(json, "resolution_ns", &line->resolution_ns, error);
	if (code)
		return code;
	line->is_bandwidth = !strcmp(metric, "bw");
	if (!line->is_bandwidth && strcmp(metric, "lat") != 0)
		return error_set(error, -EINVAL, "metric is neither lat nor bw");
	for (enum gate_figure figure = 0; figure < GATE_FIGURES && !code; figure++) {
		if (line->is_bandwidth == (figure == GATE_BANDWIDTH))
			code = check_figure(values_of(json, figure), n_rounds, error);
		if (code)
			error_wrap(error, "%s", gate_figure(figure)->key);
	}
	return code;
}

static int read_values(struct gate_case *line, const json_t *json, size_t n_rounds,
		       struct error *error)
{
	int code = 0;

	for (enum gate_figure figure = 0; figure < GATE_FIGURES && !code; figure++) {
		if (line->is_bandwidth == (figure == GATE_BANDWIDTH))
			code = read_figure(&line->figures[figure], values_of(json, figure),
					   n_rounds, error);
		if (code)
			error_wrap(error, "%s", gate_figure(figure)->key);
	}
	return code;
}

/* As json has it, 0.05: 5 per cent; what is not there is not gated. */
static int read_floors(struct gate_record *gate, const json_t *record, struct error *error)
{
	json_t *floors;
	int code = json_member_object(record, "floors", &floors, error);

	for (enum gate_figure figure = 0; figure < GATE_FIGURES && !code; figure++) {
		const char *key = gate_figure(figure)->key;

		gate->floors[figure] = (double)NAN;
		if (json_object_get(floors, key))
			code = json_member_figure(floors, key, &gate->floors[figure], error);
	}
	return code;
}

static int read_cases(struct gate_record *gate, const json_t *cases, struct error *error)
{
	size_t count = json_array_size(cases);
	size_t n_rounds = gate->n_rounds;
	int code = 0;

	gate->cases = calloc(count + 1, sizeof(*gate->cases));
	if (!gate->cases)
		return error_set_errno(error, -ENOMEM, "cannot keep %zu cases", count);
	gate->n_cases = count;
	for (size_t i = 0; i < count && !code; i++)
		if (read_case(&gate->cases[i], json_array_get(cases, i), n_rounds, error))
			code = error_wrap(error, "case %zu", i + 1);
	if (code)
		return code;
	gate->n_rounds = 0;
	code = gate_reserve(gate, n_rounds, error);
	gate->n_rounds = n_rounds;
	for (size_t i = 0; i < count && !code; i++)
		if (read_values(&gate->cases[i], json_array_get(cases, i), n_rounds, error))
			code = error_wrap(error, "case %zu", i + 1);
	return code;
}

/* Only what gates are drawn from: the rounds' times are not needed for that. */
static int read_bout(struct gate_record *gate, const json_t *record, struct error *error)
{
	json_t *rounds;
	json_t *cases;
	int code = read_floors(gate, record, error);

	if (!code)
		code = json_member_array(record, "rounds", &rounds, error);
	if (!code)
		code = json_member_array(record, "cases", &cases, error);
	if (code)
		return code;
	if (json_array_size(rounds) > ROUNDS_MOST || json_array_size(cases) > CASES_MOST)
		return error_set(error, -EFBIG, "more than %d rounds, or %d cases", ROUNDS_MOST,
				 CASES_MOST);
	gate->n_rounds = json_array_size(rounds);
	if (json_is_string(json_object_get(record, "reason")) &&
	    json_member_text(record, "reason", gate->invalid, sizeof(gate->invalid), error))
		return error->code;
	if (!strcmp(json_member_or_empty(record, "banner"), BANNER_SOFT))
		gate->banner = BANNER_SOFT;
	return read_cases(gate, cases, error);
}

static bool is_same(double left, double right)
{
	return left == right || (isnan(left) && isnan(right));
}

static bool has_same_floors(const struct gate_record *left, const struct gate_record *right)
{
	for (enum gate_figure figure = 0; figure < GATE_FIGURES; figure++)
		if (!is_same(left->floors[figure], right->floors[figure]))
			return false;
	return true;
}

static bool has_same_cases(const struct gate_record *left, const struct gate_record *right)
{
	if (left->n_cases != right->n_cases)
		return false;
	for (size_t i = 0; i < left->n_cases; i++)
		if (strcmp(left->cases[i].id, right->cases[i].id) != 0)
			return false;
	return true;
}

/* Of the same cases: no two are the same to the last digit. */
static bool has_same_values(const struct gate_record *left, const struct gate_record *right)
{
	enum gate_figure figure = left->n_cases ? gate_first_figure(left->cases) : 0;

	if (!left->n_cases || left->n_rounds != right->n_rounds)
		return false;
	for (enum gate_side arm = 0; arm < GATE_SIDES; arm++)
		for (size_t i = 0; i < left->n_rounds; i++)
			if (!is_same(left->cases->figures[figure].values[arm][i],
				     right->cases->figures[figure].values[arm][i]))
				return false;
	return left->n_rounds > 0;
}

/* Gates that are counted together are gates of one kind, and each is counted once. */
static int check_beside(const struct calibration *calibration, const struct calibration_dose *dose,
			struct error *error)
{
	for (const struct calibration_dose *other = calibration->doses; other < dose; other++) {
		if (!has_same_floors(&other->gate, &dose->gate))
			return error_set(error, -EINVAL,
					 "its floors are not those of what is before it");
		if (!has_same_cases(&other->gate, &dose->gate))
			return error_set(error, -EINVAL,
					 "its cases are not those of what is before it");
		if (has_same_values(&other->gate, &dose->gate))
			return error_set(error, -EINVAL, "its rounds are there already");
	}
	return 0;
}

static int read_dose(struct calibration_dose *dose, const json_t *json, struct error *error)
{
	json_t *record;
	int code = json_member_number(json, "percent", &dose->percent, error);

	if (!code)
		code = json_member_flag(json, "noisy", &dose->is_noisy, error);
	/* Those before there was such a thing tell of none. */
	if (!code && json_object_get(json, "outlier"))
		code = json_member_flag(json, "outlier", &dose->has_outlier, error);
	if (!code)
		code = json_member_object(json, "record", &record, error);
	return code ? code : read_bout(&dose->gate, record, error);
}

int calibration_read(struct calibration *calibration, const json_t *document, struct error *error)
{
	json_t *doses;
	char plant[sizeof(calibration->plant)];
	uint64_t rounds = 0;
	int code;

	if (strcmp(json_member_or_empty(document, "schema"), CALIBRATION_SCHEMA) != 0)
		return error_set(error, -EINVAL, "it is no document of " CALIBRATION_SCHEMA);
	code = json_member_count(document, "rounds", &rounds, error);
	if (!code)
		code = json_member_text(document, "plant", plant, sizeof(plant), error);
	if (!code)
		code = json_member_array(document, "doses", &doses, error);
	if (!code && (rounds < JUDGE_ROUNDS_LEAST || rounds > ROUNDS_MOST))
		code = error_set(error, -EINVAL, "gates of %" JSON_INTEGER_FORMAT " rounds",
				 (json_int_t)rounds);
	if (!code && calibration->n_doses && rounds != calibration->rounds)
		code = error_set(error, -EINVAL, "gates of %zu rounds, those before it of %zu",
				 (size_t)rounds, calibration->rounds);
	if (!code && calibration->n_doses && strcmp(plant, calibration->plant) != 0)
		code = error_set(error, -EINVAL, "planted by %s, those before it by %s", plant,
				 calibration->plant);
	if (!code && json_array_size(doses) > CALIBRATION_DOSES_MOST - calibration->n_doses)
		code = error_set(error, -EINVAL, "more than %d doses", CALIBRATION_DOSES_MOST);
	if (!code) {
		calibration->rounds = rounds;
		memcpy(calibration->plant, plant, sizeof(plant));
	}
	for (size_t i = 0; !code && i < json_array_size(doses); i++) {
		struct calibration_dose *dose = &calibration->doses[calibration->n_doses++];

		code = read_dose(dose, json_array_get(doses, i), error);
		if (!code)
			code = check_beside(calibration, dose, error);
		if (code)
			error_wrap(error, "dose %zu", i + 1);
	}
	return code;
}

int calibration_load(struct calibration *calibration, const char *path, struct error *error)
{
	json_t *document = NULL;
	size_t length;
	char *text;
	int code = read_whole_file(path, KIND, BYTES_MOST, &text, &length, error);

	if (code) {
		free(text);
		return code;
	}
	code = parse_json(text, length, KIND, &document, error);
	free(text);
	if (!code)
		code = calibration_read(calibration, document, error);
	json_decref(document);
	return code ? error_wrap(error, "%s", read_file_name(path)) : 0;
}
