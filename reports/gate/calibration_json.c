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

static json_t *make_dose(const struct worth_dose *dose, const char *version)
{
	struct proportion found = proportion_of(dose->count.regressed, dose->count.gates);
	json_t *cases = json_object();

	for (size_t i = 0; i < dose->bout.n_cases; i++)
		json_object_set_new(cases, dose->bout.cases[i].id,
				    json_integer((json_int_t)dose->found[i]));
	return json_pack("{s:f, s:b, s:b, s:I, s:I, s:I, s:I, s:f, s:f, s:o, s:o*}", "percent",
			 dose->percent, "noisy", dose->is_noisy, "outlier", dose->has_outlier,
			 "gates", (json_int_t)dose->count.gates, "regressed",
			 (json_int_t)dose->count.regressed, "invalid",
			 (json_int_t)dose->count.invalid, "inconclusive",
			 (json_int_t)dose->count.inconclusive, "low", found.low, "high", found.high,
			 "regressed_in", cases, "record", bout_make(&dose->bout, version));
}

json_t *worth_make(const struct worth *worth, const char *version)
{
	json_t *doses = json_array();

	for (size_t i = 0; i < worth->n_doses; i++)
		json_array_append_new(doses, make_dose(&worth->doses[i], version));
	return json_pack("{s:s, s:{s:s, s:s}, s:s, s:s, s:s, s:I, s:o}", "schema", WORTH_SCHEMA,
			 "tool", "name", "verbmark", "version", version, "started", worth->started,
			 "finished", worth->finished, "plant", worth->plant, "rounds",
			 (json_int_t)worth->rounds, "doses", doses);
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

static const json_t *values_of(const json_t *json, enum bout_figure figure)
{
	return json_object_get(json_object_get(json, "values"), bout_figure(figure)->key);
}

static int check_figure(const json_t *both, size_t count, struct error *error)
{
	for (enum duel_arm arm = 0; arm < DUEL_ARMS; arm++) {
		size_t found = json_array_size(json_object_get(both, duel_arm_name(arm)));

		if (found != count)
			return error_set(error, -EINVAL, "%zu values of %zu rounds", found, count);
	}
	return 0;
}

static int read_figure(struct bout_values *values, const json_t *both, size_t count,
		       struct error *error)
{
	int code = 0;

	for (enum duel_arm arm = 0; arm < DUEL_ARMS && !code; arm++)
		code = take_values(values->values[arm], json_object_get(both, duel_arm_name(arm)),
				   count, error);
	return code;
}

/* A case without its values: that they are there as they should be is known then. */
static int read_case(struct bout_case *line, const json_t *json, size_t n_rounds,
		     struct error *error)
{
	char metric[8];
	int code = member_text(json, "id", line->id, sizeof(line->id), error);

	if (!code)
		code = member_text(json, "metric", metric, sizeof(metric), error);
	if (!code)
		code = member_count(json, "iterations", &line->iterations, error);
	if (!code)
		code = member_figure(json, "resolution_ns", &line->resolution_ns, error);
	if (code)
		return code;
	line->is_bandwidth = !strcmp(metric, "bw");
	if (!line->is_bandwidth && strcmp(metric, "lat") != 0)
		return error_set(error, -EINVAL, "metric is neither lat nor bw");
	for (enum bout_figure figure = 0; figure < BOUT_FIGURES && !code; figure++) {
		if (line->is_bandwidth == (figure == BOUT_BANDWIDTH))
			code = check_figure(values_of(json, figure), n_rounds, error);
		if (code)
			error_wrap(error, "%s", bout_figure(figure)->key);
	}
	return code;
}

static int read_values(struct bout_case *line, const json_t *json, size_t n_rounds,
		       struct error *error)
{
	int code = 0;

	for (enum bout_figure figure = 0; figure < BOUT_FIGURES && !code; figure++) {
		if (line->is_bandwidth == (figure == BOUT_BANDWIDTH))
			code = read_figure(&line->figures[figure], values_of(json, figure),
					   n_rounds, error);
		if (code)
			error_wrap(error, "%s", bout_figure(figure)->key);
	}
	return code;
}

/* As json has it, 0.05: 5 per cent; what is not there is not gated. */
static int read_floors(struct bout *bout, const json_t *record, struct error *error)
{
	json_t *floors;
	int code = member_object(record, "floors", &floors, error);

	for (enum bout_figure figure = 0; figure < BOUT_FIGURES && !code; figure++) {
		const char *key = bout_figure(figure)->key;

		bout->floors[figure] = (double)NAN;
		if (json_object_get(floors, key))
			code = member_figure(floors, key, &bout->floors[figure], error);
	}
	return code;
}

static int read_cases(struct bout *bout, const json_t *cases, struct error *error)
{
	size_t count = json_array_size(cases);
	size_t n_rounds = bout->n_rounds;
	int code = 0;

	bout->cases = calloc(count + 1, sizeof(*bout->cases));
	if (!bout->cases)
		return error_set_errno(error, -ENOMEM, "cannot keep %zu cases", count);
	bout->n_cases = count;
	for (size_t i = 0; i < count && !code; i++)
		if (read_case(&bout->cases[i], json_array_get(cases, i), n_rounds, error))
			code = error_wrap(error, "case %zu", i + 1);
	if (code)
		return code;
	bout->n_rounds = 0;
	code = bout_reserve(bout, n_rounds, error);
	bout->n_rounds = n_rounds;
	for (size_t i = 0; i < count && !code; i++)
		if (read_values(&bout->cases[i], json_array_get(cases, i), n_rounds, error))
			code = error_wrap(error, "case %zu", i + 1);
	return code;
}

/* Only what gates are drawn from: the rounds' times are not needed for that. */
static int read_bout(struct bout *bout, const json_t *record, struct error *error)
{
	json_t *rounds;
	json_t *cases;
	int code = read_floors(bout, record, error);

	if (!code)
		code = member_array(record, "rounds", &rounds, error);
	if (!code)
		code = member_array(record, "cases", &cases, error);
	if (code)
		return code;
	if (json_array_size(rounds) > ROUNDS_MOST || json_array_size(cases) > CASES_MOST)
		return error_set(error, -EFBIG, "more than %d rounds, or %d cases", ROUNDS_MOST,
				 CASES_MOST);
	bout->n_rounds = json_array_size(rounds);
	if (json_is_string(json_object_get(record, "reason")) &&
	    member_text(record, "reason", bout->invalid, sizeof(bout->invalid), error))
		return error->code;
	if (!strcmp(member_or_empty(record, "banner"), BANNER_SOFT))
		bout->banner = BANNER_SOFT;
	return read_cases(bout, cases, error);
}

static bool is_same(double left, double right)
{
	return left == right || (isnan(left) && isnan(right));
}

static bool has_same_floors(const struct bout *left, const struct bout *right)
{
	for (enum bout_figure figure = 0; figure < BOUT_FIGURES; figure++)
		if (!is_same(left->floors[figure], right->floors[figure]))
			return false;
	return true;
}

static bool has_same_cases(const struct bout *left, const struct bout *right)
{
	if (left->n_cases != right->n_cases)
		return false;
	for (size_t i = 0; i < left->n_cases; i++)
		if (strcmp(left->cases[i].id, right->cases[i].id) != 0)
			return false;
	return true;
}

/* Of the same cases: no two are the same to the last digit. */
static bool has_same_values(const struct bout *left, const struct bout *right)
{
	enum bout_figure figure = left->n_cases ? bout_first_figure(left->cases) : 0;

	if (!left->n_cases || left->n_rounds != right->n_rounds)
		return false;
	for (enum duel_arm arm = 0; arm < DUEL_ARMS; arm++)
		for (size_t i = 0; i < left->n_rounds; i++)
			if (!is_same(left->cases->figures[figure].values[arm][i],
				     right->cases->figures[figure].values[arm][i]))
				return false;
	return left->n_rounds > 0;
}

/* Gates that are counted together are gates of one kind, and each is counted once. */
static int check_beside(const struct worth *worth, const struct worth_dose *dose,
			struct error *error)
{
	for (const struct worth_dose *other = worth->doses; other < dose; other++) {
		if (!has_same_floors(&other->bout, &dose->bout))
			return error_set(error, -EINVAL,
					 "its floors are not those of what is before it");
		if (!has_same_cases(&other->bout, &dose->bout))
			return error_set(error, -EINVAL,
					 "its cases are not those of what is before it");
		if (has_same_values(&other->bout, &dose->bout))
			return error_set(error, -EINVAL, "its rounds are there already");
	}
	return 0;
}

static int read_dose(struct worth_dose *dose, const json_t *json, struct error *error)
{
	json_t *record;
	int code = member_number(json, "percent", &dose->percent, error);

	if (!code)
		code = member_flag(json, "noisy", &dose->is_noisy, error);
	/* Those before there was such a thing tell of none. */
	if (!code && json_object_get(json, "outlier"))
		code = member_flag(json, "outlier", &dose->has_outlier, error);
	if (!code)
		code = member_object(json, "record", &record, error);
	return code ? code : read_bout(&dose->bout, record, error);
}

int worth_read(struct worth *worth, const json_t *document, struct error *error)
{
	json_t *doses;
	char plant[sizeof(worth->plant)];
	uint64_t rounds = 0;
	int code;

	if (strcmp(member_or_empty(document, "schema"), WORTH_SCHEMA) != 0)
		return error_set(error, -EINVAL, "it is no document of " WORTH_SCHEMA);
	code = member_count(document, "rounds", &rounds, error);
	if (!code)
		code = member_text(document, "plant", plant, sizeof(plant), error);
	if (!code)
		code = member_array(document, "doses", &doses, error);
	if (!code && (rounds < DUEL_ROUNDS_LEAST || rounds > ROUNDS_MOST))
		code = error_set(error, -EINVAL, "gates of %" JSON_INTEGER_FORMAT " rounds",
				 (json_int_t)rounds);
	if (!code && worth->n_doses && rounds != worth->rounds)
		code = error_set(error, -EINVAL, "gates of %zu rounds, those before it of %zu",
				 (size_t)rounds, worth->rounds);
	if (!code && worth->n_doses && strcmp(plant, worth->plant) != 0)
		code = error_set(error, -EINVAL, "planted by %s, those before it by %s", plant,
				 worth->plant);
	if (!code && json_array_size(doses) > WORTH_DOSES_MOST - worth->n_doses)
		code = error_set(error, -EINVAL, "more than %d doses", WORTH_DOSES_MOST);
	if (!code) {
		worth->rounds = rounds;
		memcpy(worth->plant, plant, sizeof(plant));
	}
	for (size_t i = 0; !code && i < json_array_size(doses); i++) {
		struct worth_dose *dose = &worth->doses[worth->n_doses++];

		code = read_dose(dose, json_array_get(doses, i), error);
		if (!code)
			code = check_beside(worth, dose, error);
		if (code)
			error_wrap(error, "dose %zu", i + 1);
	}
	return code;
}

int worth_load(struct worth *worth, const char *path, struct error *error)
{
	json_t *document = NULL;
	size_t length;
	char *text;
	int code = slurp_file(path, KIND, BYTES_MOST, &text, &length, error);

	if (code) {
		free(text);
		return code;
	}
	code = load_json(text, length, KIND, &document, error);
	free(text);
	if (!code)
		code = worth_read(worth, document, error);
	json_decref(document);
	return code ? error_wrap(error, "%s", slurp_name(path)) : 0;
}
