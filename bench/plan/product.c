/* SPDX-License-Identifier: MIT */
#include "bench/plan/product.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli/spelling.h"
#include "core/base/printable.h"

/* Characters of an invalid value that are printed. */
#define VALUE_MOST 24

struct value_list *product_list(struct product *product, const struct parameter *parameter)
{
	return &product->lists[parameter - parameter_table];
}

static size_t length(const struct value_list *list)
{
	return list->count ? list->count : 1;
}

size_t product_count(const struct product *product)
{
	size_t count = 1;

	for (size_t i = 0; i < PARAMETERS; i++) {
		count *= length(&product->lists[i]);
		if (count > PRODUCT_MOST)
			return 0;
	}
	return count;
}

struct parameters product_case(const struct product *product, size_t number)
{
	struct parameters made = parameters_default();

	for (size_t i = PARAMETERS; i-- > 0;) {
		const struct value_list *list = &product->lists[i];

		if (list->count)
			parameter_set(&made, &parameter_table[i], list->item[number % list->count]);
		number /= length(list);
	}
	return made;
}

static bool is_compared(const struct parameter *parameter)
{
	static const char *const subjects[] = {"op", "metric", "size", "step"};

	for (size_t i = 0; i < ARRAY_LENGTH(subjects); i++)
		if (!strcmp(parameter->option.name, subjects[i]))
			return false;
	return parameter->mark != parameters_effort;
}

bool product_beside(const struct product *product, size_t number, size_t *beside,
		    const struct parameter **by)
{
	size_t weight = 1;
	size_t n_others = 0;

	for (size_t i = PARAMETERS; i-- > 0;) {
		size_t digit = number / weight % length(&product->lists[i]);

		if (digit && is_compared(&parameter_table[i])) {
			n_others++;
			*by = &parameter_table[i];
			*beside = number - digit * weight;
		}
		weight *= length(&product->lists[i]);
	}
	return n_others == 1;
}

void product_override(struct product *product, const struct product *by)
{
	for (size_t i = 0; i < PARAMETERS; i++)
		if (by->lists[i].count)
			product->lists[i] = by->lists[i];
}

/* Returns the key that was probably meant, or NULL: that of an option's letter, or the nearest. */
static const char *similar_key(const char *name)
{
	struct spelling search;

	spelling_begin(&search, name);
	for (size_t i = 0; i < PARAMETERS; i++) {
		const struct option_row *row = &parameter_table[i].option;

		if (row->letter && row->letter == name[0] && !name[1])
			return row->name;
		spelling_try(&search, row->name);
	}
	return search.nearest;
}

static int no_such_key(const char *name, struct error *error)
{
	const char *near = similar_key(name);
	char text[41];

	/* The plan is untrusted, and the error is printed on a terminal. */
	printable_copy(text, sizeof(text), name);
	if (near)
		return error_set(error, -EINVAL, "unknown plan key \"%s\"; did you mean \"%s\"?",
				 text, near);
	return error_set(error, -EINVAL, "unknown plan key \"%s\"", text);
}

/* Reports an invalid value as the plan has it, shortened if necessary. */
static int no_such_value(const char *name, const json_t *value, const char *wrong,
			 struct error *error)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII);
	bool is_long = text && strlen(text) > VALUE_MOST;
	char shown[VALUE_MOST + 1];

	printable_copy(shown, sizeof(shown), text ? text : "");
	error_set(error, -EINVAL, "\"%s\": %s%s %s", name, shown, is_long ? "..." : "", wrong);
	free(text);
	return -EINVAL;
}

static bool has_number(const json_t *json)
{
	const json_t *member;
	size_t i;

	json_array_foreach(json, i, member)
	{
		if (!json_is_string(member))
			return true;
	}
	return !json_is_array(json) && !json_is_string(json);
}

int product_decode(struct product *product, json_t *object, struct error *error)
{
	const char *name;
	json_t *json;

	*product = (struct product){0};
	if (!json_is_object(object))
		return error_set(error, -EINVAL,
				 "a plan must be an object of lists, or an array of such objects");
	json_object_foreach(object, name, json)
	{
		const struct parameter *parameter = parameter_of_key(name);
		const json_t *culprit;
		const char *wrong;

		/* Hand-written plans may contain times as text, such as "duration": "10s". */
		if (!parameter && !has_number(json))
			parameter = parameter_find(name);
		if (!parameter && parameter_find(name))
			return no_such_value(name, json, "is not a time (e.g. \"10s\")", error);
		if (!parameter)
			return no_such_key(name, error);
		wrong = value_list_decode(product_list(product, parameter), parameter, json,
					  &culprit);
		if (wrong)
			return no_such_value(name, culprit, wrong, error);
	}
	return 0;
}

json_t *product_encode(const struct product *product)
{
	json_t *object = json_object();

	for (size_t i = 0; i < PARAMETERS; i++) {
		char key[PARAMETER_KEY];

		parameter_key(key, &parameter_table[i]);
		if (product->lists[i].count)
			json_object_set_new(
				object, key,
				value_list_encode(&product->lists[i], &parameter_table[i]));
	}
	return object;
}
