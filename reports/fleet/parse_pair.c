/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/printable.h"
#include "reports/fleet/document.h"
#include "reports/fleet/member.h"
#include "reports/io/json_member.h"

#define COUNTERS_MOST 64
#define COUNTER_NAME  63
/* Positions in the array of a pair; those before are numbers. */
#define PAIR_OUTCOME    8
#define PAIR_COUNTERS   9
#define PAIR_HISTOGRAMS 10
#define PAIR_VALUES     11

static int parse_numbers(const struct fleet *fleet, struct fleet_pair *pair, const json_t *json,
			 struct error *error)
{
	const struct {
		const char *name;
		json_int_t limit;
	} numbers[PAIR_OUTCOME] = {
		{"round",     UINT32_MAX                },
		{"from",      (json_int_t)fleet->n_nodes},
		{"to",        (json_int_t)fleet->n_nodes},
		{"from_rail", FLEET_MOST_RAILS          },
		{"to_rail",   FLEET_MOST_RAILS          },
		{"retest",    3                         },
		{"status",    FLEET_SKIPPED + 1         },
		{"faults",    1 << FLEET_FAULTS         },
	};
	json_int_t values[PAIR_OUTCOME];

	for (size_t i = 0; i < PAIR_OUTCOME; i++) {
		const json_t *value = json_array_get(json, i);

		values[i] = json_integer_value(value);
		if (!json_is_integer(value) || values[i] < 0 || values[i] >= numbers[i].limit)
			return error_set(error, -EINVAL, "\"%s\" is not a number below %lld",
					 numbers[i].name, (long long)numbers[i].limit);
	}
	*pair = (struct fleet_pair){
		.round = (uint32_t)values[0],
		.from = (uint32_t)values[1],
		.to = (uint32_t)values[2],
		.from_rail = (uint8_t)values[3],
		.to_rail = (uint8_t)values[4],
		.retest = (uint8_t)values[5],
		.status = (uint8_t)values[6],
		.faults = (uint8_t)values[7],
	};
	return 0;
}

static int parse_figures(const struct fleet *fleet, struct fleet_pair *pair, const json_t *json,
			 struct error *error)
{
	if (pair->from_rail >= fleet->nodes[pair->from].n_rails ||
	    pair->to_rail >= fleet->nodes[pair->to].n_rails)
		return error_set(error, -EINVAL, "a rail was measured that its node does not have");
	if (!json_is_array(json) || json_array_size(json) != 2 * fleet->n_cases)
		return error_set(error, -EINVAL, "figures are not an array of %zu",
				 2 * fleet->n_cases);
	if (fleet_add_figures(fleet, pair))
		return error_set_errno(error, -ENOMEM, "cannot keep figures");
	for (size_t i = 0; i < 2 * fleet->n_cases; i++) {
		const json_t *figure = json_array_get(json, i);
		double value = json_number_value(figure);

		if (json_is_null(figure))
			continue;
		if (!json_is_number(figure) || !(value >= 0 && value < 0x1p63))
			return error_set(error, -EINVAL,
					 "figure %zu is not a number from 0 to 2^63", i);
		pair->figures[i] = value;
	}
	return 0;
}

static int parse_pair_error(struct fleet_pair *pair, const json_t *json, struct error *error)
{
	const char *text = json_string_value(json);

	if (json_is_null(json))
		return 0;
	if (!text || json_string_length(json) >= sizeof(error->text) ||
	    !json_member_is_printable(text))
		return error_set(error, -EINVAL,
				 "the error is not a printable text of at most %zu bytes",
				 sizeof(error->text) - 1);
	pair->error = strdup(text);
	if (!pair->error)
		return error_set_errno(error, -ENOMEM, "cannot keep an error");
	printable_copy(pair->error, strlen(text) + 1, pair->error);
	return 0;
}

static int check_counters(json_t *counters, struct error *error)
{
	const char *name;
	json_t *value;

	if (!json_is_object(counters) || json_object_size(counters) > COUNTERS_MOST)
		return error_set(error, -EINVAL, "counters are not an object of at most %d",
				 COUNTERS_MOST);
	json_object_foreach(counters, name, value)
	{
		if (strlen(name) > COUNTER_NAME || !member_is_name(name))
			return error_set(error, -EINVAL, "the name of a counter is invalid");
		if (!json_is_integer(value) || json_integer_value(value) < 0)
			return error_set(error, -EINVAL, "the counter %s is not a count", name);
	}
	return 0;
}

/* The counters of each end, which the pair then shares with the document. */
static int parse_counters(struct fleet_pair *pair, json_t *json, struct error *error)
{
	const char *end;
	json_t *counters;

	if (json_is_null(json))
		return 0;
	if (!json_is_object(json))
		return error_set(error, -EINVAL, "counters are not an object");
	json_object_foreach(json, end, counters)
	{
		int code = strcmp(end, "from") == 0 || strcmp(end, "to") == 0
				   ? check_counters(counters, error)
				   : error_set(error, -EINVAL, "counters are of neither end");

		if (code)
			return code;
	}
	pair->errors = json_incref(json);
	return 0;
}

/* Whether a text looks like one that hdr_encode made. */
static bool is_histogram(const json_t *json)
{
	static const char start[] = "HISTF";
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *text = json_string_value(json);

	if (!text || json_string_length(json) > FLEET_HISTOGRAM ||
	    strncmp(text, start, strlen(start)) != 0)
		return false;
	text += strspn(text, digits);
	return strcmp(text, "") == 0 || strcmp(text, "=") == 0 || strcmp(text, "==") == 0;
}

/* The histograms, which the pair then shares with the document. */
static int parse_histograms(const struct fleet *fleet, struct fleet_pair *pair, json_t *json,
			    struct error *error)
{
	if (pair->status != FLEET_MEASURED)
		return error_set(error, -EINVAL, "it has histograms without figures");
	if (!json_is_array(json) || json_array_size(json) != 2 * fleet->n_cases)
		return error_set(error, -EINVAL, "histograms are not an array of %zu",
				 2 * fleet->n_cases);
	for (size_t i = 0; i < json_array_size(json); i++)
		if (!json_is_null(json_array_get(json, i)) &&
		    !is_histogram(json_array_get(json, i)))
			return error_set(
				error, -EINVAL,
				"histogram %zu is not an HdrHistogram string of at most %d "
				"characters",
				i, FLEET_HISTOGRAM);
	pair->histograms = json_incref(json);
	return 0;
}

static int parse_pair(const struct fleet *fleet, struct fleet_pair *pair, const json_t *json,
		      struct error *error)
{
	size_t size = json_array_size(json);
	int code;

	if (size <= PAIR_OUTCOME || size > PAIR_VALUES)
		return error_set(error, -EINVAL, "it is not an array of %d to %d values",
				 PAIR_OUTCOME + 1, PAIR_VALUES);
	code = parse_numbers(fleet, pair, json, error);
	if (!code && pair->status == FLEET_MEASURED)
		code = parse_figures(fleet, pair, json_array_get(json, PAIR_OUTCOME), error);
	else if (!code)
		code = parse_pair_error(pair, json_array_get(json, PAIR_OUTCOME), error);
	if (!code && size > PAIR_COUNTERS)
		code = parse_counters(pair, json_array_get(json, PAIR_COUNTERS), error);
	if (!code && size > PAIR_HISTOGRAMS)
		code = parse_histograms(fleet, pair, json_array_get(json, PAIR_HISTOGRAMS), error);
	return code;
}

int fleet_pair_parse(const struct fleet *fleet, struct fleet_pair *pair, const json_t *json,
		     struct error *error)
{
	int code;

	*pair = (struct fleet_pair){0};
	code = parse_pair(fleet, pair, json, error);
	if (code)
		fleet_clear_pair(pair);
	return code;
}
