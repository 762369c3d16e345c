/* SPDX-License-Identifier: MIT */
#include "bench/gate/one_case_plans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plan/pattern.h"

/* Returns one case of a product; the last list varies fastest, as in product_case. */
static json_t *one_case_plans_take(const struct product *product, size_t number,
				   struct product *room)
{
	*room = *product;
	for (size_t i = PARAMETERS; i-- > 0;) {
		struct value_list *list = &room->lists[i];
		size_t count = list->count;

		if (!count)
			continue;
		list->item[0] = list->item[number % count];
		list->count = 1;
		number /= count;
	}
	return product_encode(room);
}

/* Moves the effort options out of the product: the gate sets them per run. 0: not in the plan. */
static void take_effort(struct one_case_plan *single, json_t *product)
{
	struct parameters effort = {0};

	for (size_t i = 0; i < PARAMETERS; i++) {
		const struct parameter *parameter = &parameter_table[i];
		const json_t *values;
		char key[PARAMETER_KEY];
		uint64_t value;

		parameter_key(key, parameter);
		values = json_object_get(product, key);
		if (!values || parameter->mark != parameters_effort)
			continue;
		if (!parameter_decode(parameter, json_array_get(values, 0), &value))
			parameter_set(&effort, parameter, value);
		json_object_del(product, key);
	}
	single->iterations = effort.iterations;
	single->duration_ns = effort.duration_ns;
	single->warmup_ns = effort.warmup_ns;
}

static bool is_there(const struct one_case_plan_list *list, const char *id)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->singles[i].id, id))
			return true;
	return false;
}

static void note_skipped(struct one_case_plan_list *list, const struct plan_case *skipped)
{
	if (!list->n_skipped++)
		snprintf(list->skipped, sizeof(list->skipped), "%.120s: %s", skipped->id,
			 skipped->skipped);
}

static int check_gated(const struct plan_case *found, struct error *error)
{
	if (found->parameters.metric == METRIC_LOAD)
		return error_set(
			error, -EINVAL,
			"%s: gate supports only lat and bw; use 'verbmark compare' for loads",
			found->id);
	if (pattern_is_on(&found->parameters))
		return error_set(error, -EINVAL,
				 "%s: gate does not support --pattern; use 'verbmark compare'",
				 found->id);
	if (found->parameters.needs)
		return error_set(error, -EINVAL,
				 "%s: gate does not support --needs; use 'verbmark run'",
				 found->id);
	return 0;
}

/* Checks all cases, because a load in percent adds a bandwidth case before itself. */
static int check_all_gated(const struct plan *plan, struct error *error)
{
	int code = 0;

	for (size_t i = 0; i < plan->n_cases && !code; i++)
		code = check_gated(&plan->cases[i], error);
	return code;
}

/* Adds a case. A plan is made of it alone, to learn its id and whether it can run. */
static int one_case_plans_add(struct one_case_plan_list *list, json_t *product, struct error *error)
{
	struct one_case_plan *single = &list->singles[list->count];
	struct error unused = {0};
	char *text = json_dumps(product, 0);
	struct plan plan;
	int code = text ? plan_read(&plan, text, strlen(text), "a case", &unused) : -ENOMEM;

	free(text);
	if (code == -ENOMEM)
		return error_set_errno(error, code, "cannot make the plan");
	/* A plan whose only case cannot run fails. */
	if (plan.n_cases && plan.cases[0].skipped[0]) {
		note_skipped(list, &plan.cases[0]);
	} else if (!code && !check_all_gated(&plan, error) && !is_there(list, plan.cases[0].id)) {
		*single = (struct one_case_plan){
			.is_bandwidth = plan.cases[0].parameters.metric == METRIC_BW,
			.threads = plan.cases[0].parameters.threads,
			.product = json_incref(product),
		};
		snprintf(single->id, sizeof(single->id), "%s", plan.cases[0].id);
		take_effort(single, product);
		list->count++;
	}
	plan_close(&plan);
	return error->code;
}

static int add_product(struct one_case_plan_list *list, const struct product *product,
		       struct product *room, struct error *error)
{
	size_t count = product_count(product);
	struct one_case_plan *grown =
		reallocarray(list->singles, list->count + count + 1, sizeof(*grown));
	int code = 0;

	if (!grown)
		return error_set_errno(error, -ENOMEM, "cannot make the plan");
	list->singles = grown;
	for (size_t i = 0; i < count && !code; i++) {
		json_t *taken = one_case_plans_take(product, i, room);

		code = taken ? one_case_plans_add(list, taken, error)
			     : error_set_errno(error, -ENOMEM, "cannot make the plan");
		json_decref(taken);
	}
	return code;
}

int one_case_plan_open(struct one_case_plan_list *list, const struct plan *plan,
		       struct error *error)
{
	struct product *product = malloc(2 * sizeof(*product));
	json_t *part;
	size_t i;
	int code = 0;

	*list = (struct one_case_plan_list){0};
	if (!product)
		return error_set_errno(error, -ENOMEM, "cannot make the plan");
	json_array_foreach(plan->made, i, part)
	{
		if (!code)
			code = product_decode(product, part, error);
		if (!code)
			code = add_product(list, product, product + 1, error);
	}
	free(product);
	if (!code && !list->count)
		code = error_set(error, -EINVAL, "no case can run: %s", list->skipped);
	if (code)
		one_case_plan_close(list);
	return code;
}

bool one_case_plan_skipped(const struct one_case_plan_list *list,
			   char text[static ONE_CASE_PLAN_TEXT])
{
	bool is_one = list->n_skipped == 1;

	snprintf(text, ONE_CASE_PLAN_TEXT, "%zu case%s skipped because %s cannot run%s %s",
		 list->n_skipped, is_one ? "" : "s", is_one ? "it" : "they",
		 is_one ? ":" : ", e.g.", list->skipped);
	return list->n_skipped;
}

void one_case_plan_close(struct one_case_plan_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		json_decref(list->singles[i].product);
	free(list->singles);
	*list = (struct one_case_plan_list){0};
}
