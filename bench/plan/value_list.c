/* SPDX-License-Identifier: MIT */
#include "bench/plan/value_list.h"

#include <string.h>

#include "bench/plan/rate.h"

/* A parsed member of a list. */
struct range {
	uint64_t low;
	uint64_t high;
	uint64_t step;
	uint64_t unit; /* of rates: part of each value, but not of the three above */
	bool is_sum;   /* step is added; otherwise values are multiplied by it */
	bool with_neighbors;
};

static const char *value_list_add(struct value_list *list, uint64_t value)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->item[i] == value)
			return NULL;
	if (list->count == VALUE_LIST_MOST)
		return "has too many values";
	list->item[list->count++] = value;
	return NULL;
}

static bool is_allowed(const struct parameter *parameter, uint64_t value)
{
	return value >= parameter->least && value <= parameter->most;
}

static const char *add_around(struct value_list *list, const struct parameter *parameter,
			      const struct range *range, uint64_t value)
{
	const char *wrong = NULL;

	if (range->with_neighbors && value && is_allowed(parameter, value - 1))
		wrong = value_list_add(list, range->unit | (value - 1));
	if (!wrong)
		wrong = value_list_add(list, range->unit | value);
	if (!wrong && range->with_neighbors && is_allowed(parameter, value + 1))
		wrong = value_list_add(list, range->unit | (value + 1));
	return wrong;
}

static const char *add_range(struct value_list *list, const struct parameter *parameter,
			     const struct range *range)
{
	uint64_t value = range->low;

	while (value <= range->high) {
		const char *wrong = add_around(list, parameter, range, value);
		uint64_t next;
		bool is_over = range->is_sum ? __builtin_add_overflow(value, range->step, &next)
					     : __builtin_mul_overflow(value, range->step, &next);

		if (wrong)
			return wrong;
		if (is_over || next <= value)
			break;
		value = next;
	}
	return NULL;
}

static const char *const endings[] = {"+-1", "\xc2\xb1"
					     "1"};

/* Removes a +-1 from the end. Returns whether there was one. */
static bool take_neighbors(char *member)
{
	size_t length = strlen(member);

	for (size_t i = 0; i < ARRAY_LENGTH(endings); i++) {
		size_t ending = strlen(endings[i]);

		if (length <= ending || strcmp(member + length - ending, endings[i]) != 0)
			continue;
		member[length - ending] = '\0';
		return true;
	}
	return false;
}

static const char *parse_step(const struct parameter *parameter, const char *text,
			      struct range *range)
{
	range->is_sum = text[0] == '+';
	if (range->is_sum) {
		struct parameter any = *parameter;

		any.least = 1;
		return parameter_parse(&any, text + 1, &range->step);
	}
	for (const char *digit = text; *digit; digit++)
		if (*digit < '0' || *digit > '9' || digit - text > 8)
			return "has a range whose factor is not a number";
	range->step = 0;
	for (const char *digit = text; *digit; digit++)
		range->step = range->step * 10 + (uint64_t)(*digit - '0');
	return range->step < 2 ? "has a range whose factor is below 2" : NULL;
}

/* Separates the unit from a range of rates. A range in percent has this default step. */
#define PER_CENT_STEP 10

static const char *take_unit(struct range *range, bool has_step)
{
	enum rate_unit unit = rate_unit(range->low);
	bool is_alike = unit == rate_unit(range->high) &&
			(!range->is_sum || unit == rate_unit(range->step));

	range->unit = range->low & RATE_UNIT;
	range->low = rate_amount(range->low);
	range->high = rate_amount(range->high);
	range->step = rate_amount(range->step);
	if (unit == RATE_PER_CENT && !has_step) {
		range->is_sum = true;
		range->step = PER_CENT_STEP;
	}
	return is_alike ? NULL : "has a range with two different units";
}

static const char *parse_range(const struct parameter *parameter, char *member, struct range *range)
{
	char *high = strchr(member, ':');
	char *step = high ? strchr(high + 1, ':') : NULL;
	const char *wrong;

	range->step = 2;
	if (step) {
		*step++ = '\0';
		wrong = parse_step(parameter, step, range);
		if (wrong)
			return wrong;
	}
	if (high)
		*high++ = '\0';
	wrong = parameter_parse(parameter, member, &range->low);
	range->high = range->low;
	if (!wrong && high)
		wrong = parameter_parse(parameter, high, &range->high);
	if (!wrong && parameter->type == PARAMETER_RATE)
		wrong = take_unit(range, step != NULL);
	if (!wrong && (!is_allowed(parameter, range->low) || !is_allowed(parameter, range->high)))
		return "has a range with a bound that is not a number";
	if (!wrong && range->high < range->low)
		return "has a range whose end is below its start";
	if (!wrong && !range->low && range->high && !range->is_sum)
		return "has a range that would never leave 0";
	return wrong;
}

static bool is_place(const struct parameter *parameter)
{
	return parameter->type == PARAMETER_PLACE || parameter->type == PARAMETER_PIN;
}

static bool has_ranges(const struct parameter *parameter)
{
	return parameter->type == PARAMETER_SIZE || parameter->type == PARAMETER_COUNT ||
	       parameter->type == PARAMETER_TIME || parameter->type == PARAMETER_RATE ||
	       is_place(parameter);
}

/* Returns whether the member is a word, which has no range and no neighbors. */
static bool is_place_word(const struct parameter *parameter, const char *member)
{
	uint64_t value;

	return is_place(parameter) && !parameter_parse(parameter, member, &value) &&
	       !is_allowed(parameter, value);
}

static const char *take_member(struct value_list *list, const struct parameter *parameter,
			       char *member)
{
	struct range range = {0};
	uint64_t value;
	const char *wrong;

	if (has_ranges(parameter) && !is_place_word(parameter, member)) {
		range.with_neighbors = take_neighbors(member);
		wrong = parse_range(parameter, member, &range);
		return wrong ? wrong : add_range(list, parameter, &range);
	}
	if (parameter->option.values.has_all && !strcmp(member, "all")) {
		wrong = NULL;
		/* "stride=SIZE" stands for many values. */
		for (uint64_t i = 0; i < parameter->option.values.count && !wrong; i++)
			if (!strchr(option_value_at(&parameter->option.values, i)->name, '='))
				wrong = value_list_add(list, i);
		return wrong;
	}
	wrong = parameter_parse(parameter, member, &value);
	return wrong ? wrong : value_list_add(list, value);
}

/* Rejects several values of an effort, because the cases would have the same id. */
static const char *check_count(const struct value_list *list, const struct parameter *parameter)
{
	if (parameter->mark == parameters_effort && list->count > 1)
		return "has more than one value";
	return NULL;
}

/* A kind of memory continues after a comma with KEY=VALUE: cuda:0,path=dmabuf. */
static size_t member_length(const struct parameter *parameter, const char *text)
{
	size_t length = strcspn(text, ",");

	while (parameter->type == PARAMETER_MEMORY && text[length] == ',') {
		const char *key = text + length + 1;

		if (key[strcspn(key, "=,:")] != '=')
			break;
		length += 1 + strcspn(key, ",");
	}
	return length;
}

const char *value_list_parse(struct value_list *list, const struct parameter *parameter,
			     const char *text)
{
	char member[PARAMETER_TEXT];

	list->count = 0;
	for (;;) {
		size_t length = member_length(parameter, text);
		const char *wrong;

		if (length >= sizeof(member))
			return "has a value that is too long";
		memcpy(member, text, length);
		member[length] = '\0';
		wrong = take_member(list, parameter, member);
		if (wrong)
			return wrong;
		if (!text[length])
			return check_count(list, parameter);
		text += length + 1;
	}
}

static const char *decode_member(struct value_list *list, const struct parameter *parameter,
				 const json_t *json)
{
	char member[PARAMETER_TEXT];
	const char *text = json_string_value(json);
	const char *wrong;
	uint64_t value;

	/* Hand-written plans may contain sizes and ranges as text. */
	if (text && strlen(text) < sizeof(member) && parameter->type != PARAMETER_FLAG) {
		memcpy(member, text, strlen(text) + 1);
		return take_member(list, parameter, member);
	}
	wrong = parameter_decode(parameter, json, &value);
	return wrong ? wrong : value_list_add(list, value);
}

const char *value_list_decode(struct value_list *list, const struct parameter *parameter,
			      const json_t *json, const json_t **culprit)
{
	const char *wrong = NULL;
	const json_t *member;
	size_t i;

	*culprit = json;
	list->count = 0;
	if (!json_is_array(json))
		wrong = decode_member(list, parameter, json);
	json_array_foreach(json, i, member)
	{
		wrong = decode_member(list, parameter, member);
		if (wrong) {
			*culprit = member;
			return wrong;
		}
	}
	if (!wrong && !list->count)
		wrong = "is an empty list";
	return wrong ? wrong : check_count(list, parameter);
}

json_t *value_list_encode(const struct value_list *list, const struct parameter *parameter)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(array, parameter_encode(parameter, list->item[i]));
	return array;
}
