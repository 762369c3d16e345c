/* SPDX-License-Identifier: MIT */
#include "bench/product.h"

#include <errno.h>
#include <string.h>

#include "bench/wire.h"

struct list *product_list(struct product *product, const struct parameter *parameter)
{
	return &product->lists[parameter - parameter_table];
}

static size_t length(const struct list *list)
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
		const struct list *list = &product->lists[i];

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

static int no_such_option(const char *name, struct error *error)
{
	char text[41];

	/* The plan may be from anywhere, and this goes to a terminal. */
	wire_printable(text, sizeof(text), name);
	return error_set(error, -EINVAL, "there is no option --%s for a plan", text);
}

int product_decode(struct product *product, json_t *object, struct error *error)
{
	const char *name;
	json_t *json;

	*product = (struct product){0};
	if (!json_is_object(object))
		return error_set(error, -EINVAL,
				 "a plan is an object of lists, or an array of them");
	json_object_foreach(object, name, json)
	{
		const struct parameter *parameter = parameter_find(name);
		const char *wrong;

		if (!parameter)
			return no_such_option(name, error);
		wrong = list_decode(product_list(product, parameter), parameter, json);
		if (wrong)
			return error_set(error, -EINVAL, "\"%s\" %s", name, wrong);
	}
	return 0;
}

json_t *product_encode(const struct product *product)
{
	json_t *object = json_object();

	for (size_t i = 0; i < PARAMETERS; i++)
		if (product->lists[i].count)
			json_object_set_new(object, parameter_table[i].option.name,
					    list_encode(&product->lists[i], &parameter_table[i]));
	return object;
}
