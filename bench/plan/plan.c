/* SPDX-License-Identifier: MIT */
#include "bench/plan/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plan/applicable.h"
#include "bench/plan/defaults.h"
#include "bench/plan/memory_name.h"
#include "bench/plan/pattern.h"
#include "bench/plan/preset.h"
#include "bench/plan/rate.h"
#include "bench/plan/rules.h"
#include "bench/plan/unheard.h"
#include "reports/document/document.h"

#define BANDWIDTH_SIZE 65536 /* default of --metric bw */

static struct value_list *asked(struct plan *plan, const char *name)
{
	return product_list(&plan->asked, parameter_find(name));
}

static bool has_lists(const struct plan *plan)
{
	for (size_t i = 0; i < PARAMETERS; i++)
		if (plan->asked.lists[i].count && parameter_table[i].mark != parameters_effort)
			return true;
	return false;
}

/* Rejects --all, and sizes other than 8, if all operations are atomics. */
static int check_atomic_size(struct plan *plan, struct error *error)
{
	const struct value_list *ops = asked(plan, "op");
	const struct value_list *sizes = asked(plan, "size");
	bool is_wrong = plan->all_sizes;

	for (size_t i = 0; i < ops->count; i++)
		if (!operations[ops->item[i]].shape.is_atomic)
			return 0;
	for (size_t i = 0; i < sizes->count; i++)
		is_wrong = is_wrong || sizes->item[i] != OPERATION_ATOMIC_SIZE;
	if (!ops->count || !is_wrong)
		return 0;
	return error_set(error, -EINVAL, "--%s: %s always transfers 8 bytes; omit --%s",
			 plan->all_sizes ? "all" : "size", operation_names[ops->item[0]],
			 plan->all_sizes ? "all" : "size, or use 8");
}

/* Expands -a and -e, and the default metric of --pattern. */
static int expand(struct plan *plan, struct error *error)
{
	const char *wrong = NULL;

	if (asked(plan, "pattern")->count && !asked(plan, "metric")->count)
		wrong = value_list_parse(asked(plan, "metric"), parameter_find("metric"), "bw");

	if (plan->all_sizes && asked(plan, "size")->count)
		return error_set(error, -EINVAL, "--all and --size cannot be used together");
	if (check_atomic_size(plan, error))
		return error->code;
	if (plan->with_events && asked(plan, "cq")->count)
		return error_set(error, -EINVAL, "--events and --cq cannot be used together");
	if (asked(plan, "budget")->count && asked(plan, "trials")->count)
		return error_set(error, -EINVAL, "--budget and --trials cannot be used together");
	if (asked(plan, "iterations")->count && asked(plan, "duration")->count)
		return error_set(error, -EINVAL, "-n and -D cannot be used together");
	if (plan->all_sizes)
		wrong = value_list_parse(asked(plan, "size"), parameter_find("size"), "1:8m");
	if (plan->with_events && !wrong)
		wrong = value_list_parse(asked(plan, "cq"), parameter_find("cq"), "event");
	return wrong ? error_set(error, -EINVAL, "%s", wrong) : 0;
}

/* Replaces a result by the plan that it contains. */
static int take_plan(const char *path, json_t **whole, struct error *error)
{
	const char *schema = json_string_value(json_object_get(*whole, "schema"));
	json_t *carried;

	if (!schema || strcmp(schema, DOCUMENT_SCHEMA) != 0) {
		error_set(error, -EINVAL, "%s has a schema other than " DOCUMENT_SCHEMA, path);
		json_decref(*whole);
		*whole = NULL;
		return error->code;
	}
	carried = json_incref(json_object_get(json_object_get(*whole, "run"), "plan"));
	json_decref(*whole);
	*whole = carried;
	return carried ? 0 : error_set(error, -EINVAL, "%s contains no plan", path);
}

/* Turns a product, an array of products or a result into an array. Consumes whole. */
static int unfold(const char *path, json_t *whole, json_t **base, struct error *error)
{
	int code = json_object_get(whole, "schema") ? take_plan(path, &whole, error) : 0;

	if (code)
		return code;
	*base = json_is_array(whole) ? json_incref(whole) : json_pack("[O]", whole);
	json_decref(whole);
	if (!json_array_size(*base))
		return error_set(error, -EINVAL, "%s: the plan is empty", path);
	return 0;
}

/* Loads the plan that the command line's lists modify. */
static int load(struct plan *plan, const char *preset, json_t **base, struct error *error)
{
	json_t *whole;
	int code;

	if (plan->file && plan->preset)
		return error_set(error, -EINVAL, "--plan and --preset cannot be used together");
	if (!plan->file && !plan->preset && !has_lists(plan))
		plan->usual = preset;
	if (plan->file)
		code = preset_load(plan->file, &whole, error);
	else if (plan->preset || plan->usual)
		code = preset_find(plan->preset ? plan->preset : preset, &whole, error);
	else
		code = (whole = json_object()) ? 0 : -ENOMEM;
	return code ? code : unfold(plan->file, whole, base, error);
}

/*
 * Each case runs once. Duplicates arise because atomics have a single size, and because lists of
 * the command line can make parts of a preset equal.
 */
static bool is_new(json_t *ids, const char *id, size_t number)
{
	if (json_object_get(ids, id))
		return false;
	json_object_set_new(ids, id, json_integer((json_int_t)number));
	return true;
}

static void make_case(struct plan_case *made, const struct operation *op, struct parameters wanted)
{
	const char *refusal;

	applicable_keep(op, &wanted);
	*made = (struct plan_case){.op = op, .parameters = wanted};
	/* The server does the same as the client by default. */
	if (wanted.server_cq == wanted.cq)
		wanted.server_cq = PARAMETER_AUTO;
	if (op->shape.is_atomic)
		wanted.size = OPERATION_ATOMIC_SIZE;
	parameters_id(&wanted, made->id, sizeof(made->id));
	defaults_choose(op, &made->parameters);
	made->kind = operation_kind(op, &made->parameters);
	refusal = rules_refuse(op, &made->parameters);
	if (refusal)
		snprintf(made->skipped, sizeof(made->skipped), "%s", refusal);
}

static bool is_share(const struct parameters *wanted)
{
	return wanted->metric == METRIC_LOAD && wanted->rate != PARAMETER_AUTO &&
	       rate_unit(wanted->rate) == RATE_PER_CENT;
}

/* Returns the bandwidth case for a load; it signals and times each message as the load does. */
static struct parameters maximum_of(struct parameters wanted)
{
	wanted.metric = METRIC_BW;
	wanted.latencies = true;
	return wanted;
}

/* Returns the case with the same id, adding it if it is new. */
static struct plan_case *add_case(struct plan *plan, json_t *ids, struct parameters wanted)
{
	struct plan_case *made = &plan->cases[plan->n_cases];

	make_case(made, &operations[wanted.op], wanted);
	if (!is_new(ids, made->id, plan->n_cases))
		return &plan->cases[json_integer_value(json_object_get(ids, made->id))];
	plan->n_cases++;
	made->product = json_array_size(plan->made);
	made->is_maximum_alone = true;
	return made;
}

static bool is_refused(struct parameters wanted)
{
	struct plan_case made;

	make_case(&made, &operations[wanted.op], wanted);
	return made.skipped[0];
}

/*
 * Sets the case that this one is compared with. Looks it up by its id, which omits parameters that
 * do not affect it.
 */
static void compare(struct plan *plan, json_t *ids, const struct product *product, size_t number,
		    struct plan_case *made)
{
	const struct parameter *by;
	struct plan_case other;
	const json_t *number_of;
	size_t beside;

	if (made->parameters.interleave != 1 || !product_beside(product, number, &beside, &by))
		return;
	make_case(&other, made->op, product_case(product, beside));
	number_of = json_object_get(ids, other.id);
	beside = (size_t)json_integer_value(number_of);
	/* Only compare the same kind of latency, and cases that run alternately. */
	if (!number_of || &plan->cases[beside] == made || plan->cases[beside].kind != made->kind ||
	    plan->cases[beside].product != made->product)
		return;
	made->beside = beside;
	made->by = by;
}

/* Cases of one metric stay together, because they share a table. */
static void add_metric(struct plan *plan, const struct product *product, json_t *ids,
		       uint64_t metric)
{
	size_t count = product_count(product);

	for (size_t i = 0; i < count; i++) {
		struct parameters wanted = product_case(product, i);
		size_t maximum = 0;
		struct plan_case *made;

		/* The maximum must be measured before loads in percent of it run. */
		if (metric >= METRIC_BW && is_share(&wanted) && !is_refused(wanted))
			maximum = (size_t)(add_case(plan, ids, maximum_of(wanted)) - plan->cases);
		if (wanted.metric != metric)
			continue;
		made = add_case(plan, ids, wanted);
		made->maximum = maximum;
		/* A case that an earlier product has asked for belongs to that product. */
		if (made->product == json_array_size(plan->made))
			compare(plan, ids, product, i, made);
		made->is_maximum_alone = false;
	}
}

static int add_cases(struct plan *plan, const struct product *product, json_t *ids,
		     struct error *error)
{
	size_t count = product_count(product);
	struct plan_case *grown;

	if (!count || plan->n_cases + count > PRODUCT_MOST)
		return error_set(error, -EINVAL, "the plan has more than a million cases");
	grown = reallocarray(plan->cases, plan->n_cases + 2 * count + 1, sizeof(*grown));
	if (!grown)
		return error_set_errno(error, -ENOMEM, "cannot make the plan");
	plan->cases = grown;
	for (uint64_t metric = METRIC_LAT; metric <= METRIC_LOAD; metric++)
		add_metric(plan, product, ids, metric);
	return 0;
}

size_t plan_turns(const struct plan *plan, size_t number)
{
	const struct plan_case *first = &plan->cases[number];
	size_t count = 1;

	if (first->parameters.interleave != 1 || first->parameters.metric == METRIC_LOAD ||
	    first->parameters.needs)
		return 1;
	while (number + count < plan->n_cases && first[count].product == first->product &&
	       first[count].parameters.metric == first->parameters.metric)
		count++;
	return count;
}

void plan_drop_maxima(struct plan *plan)
{
	bool *is_needed = calloc(plan->n_cases, sizeof(*is_needed));

	for (size_t i = 0; i < plan->n_cases && is_needed; i++)
		if (is_share(&plan->cases[i].parameters) && !plan->cases[i].skipped[0])
			is_needed[plan->cases[i].maximum] = true;
	for (size_t i = 0; i < plan->n_cases && is_needed; i++)
		if (plan->cases[i].is_maximum_alone && !is_needed[i] && !plan->cases[i].skipped[0])
			snprintf(plan->cases[i].skipped, sizeof(plan->cases[i].skipped),
				 "not needed: every load that depends on it was skipped");
	free(is_needed);
}

int plan_check(const struct plan *plan, struct error *error)
{
	for (size_t i = 0; i < plan->n_cases; i++)
		if (!plan->cases[i].skipped[0])
			return 0;
	return error_set(error, -EINVAL, "no case can run: %.120s: %s", plan->cases[0].id,
			 plan->cases[0].skipped);
}

/* A given number of messages replaces a preset's duration, and vice versa. */
static void settle_effort(struct product *product, const struct product *by)
{
	static const char *const names[] = {"iterations", "duration"};

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		size_t asked = (size_t)(parameter_find(names[i]) - parameter_table);
		size_t other = (size_t)(parameter_find(names[!i]) - parameter_table);

		if (by->lists[asked].count && !by->lists[other].count)
			product->lists[other].count = 0;
	}
}

static bool has_list(const struct product *asked, const char *name)
{
	return asked->lists[parameter_find(name) - parameter_table].count;
}

static bool has_effort(const struct product *asked)
{
	return has_list(asked, "iterations") || has_list(asked, "duration");
}

/* A given effort replaces the budget of a preset or plan. */
static void settle_budget(struct product *product, const struct product *by)
{
	if (has_list(by, "budget") || (!has_effort(by) && !has_list(by, "trials")))
		return;
	product_list(product, parameter_find("budget"))->count = 0;
	if (!has_list(by, "precision"))
		product_list(product, parameter_find("precision"))->count = 0;
}

static bool has_load(const struct product *product)
{
	const struct value_list *metrics =
		&product->lists[parameter_find("metric") - parameter_table];

	for (size_t i = 0; i < metrics->count; i++)
		if (metrics->item[i] == METRIC_LOAD)
			return true;
	return false;
}

/* Sets the default rates, which cover the whole curve. */
static void choose_rates(struct product *product)
{
	struct value_list *rates = product_list(product, parameter_find("rate"));

	if (has_load(product) && !rates->count)
		value_list_parse(rates, parameter_find("rate"), "10%:100%");
}

/* Sets the default steps: all of them. */
static void choose_steps(struct product *product)
{
	struct value_list *steps = product_list(product, parameter_find("step"));
	const struct value_list *wanted = product_list(product, parameter_find("op"));
	bool has_connect = false;

	for (size_t i = 0; i < wanted->count; i++)
		has_connect |= operations[wanted->item[i]].shape.connects;
	if (has_connect && !steps->count)
		value_list_parse(steps, parameter_find("step"), "all");
}

/* Returns whether bandwidth uses its own default size: no size was chosen, and the default fits. */
static bool has_own_size(struct plan *plan, struct product *product)
{
	const struct value_list *wanted = product_list(product, parameter_find("transport"));
	const struct value_list *metrics = product_list(product, parameter_find("metric"));
	bool has_bandwidth = false;

	if (plan->file || plan->preset || plan->usual ||
	    product_list(product, parameter_find("size"))->count)
		return false;
	for (size_t i = 0; i < wanted->count; i++)
		if (!transport_has(wanted->item[i], TRANSPORT_CONNECTED))
			return false;
	for (size_t i = 0; i < metrics->count; i++)
		has_bandwidth = has_bandwidth || metrics->item[i] == METRIC_BW;
	return has_bandwidth;
}

static int add_product(struct plan *plan, struct product *product, json_t *ids, struct error *error)
{
	choose_rates(product);
	choose_steps(product);
	settle_effort(product, &plan->asked);
	settle_budget(product, &plan->asked);
	json_array_append_new(plan->made, product_encode(product));
	return add_cases(plan, product, ids, error);
}

/* Makes a product for each metric, so that bandwidth can have its own sizes. */
static int add_metrics(struct plan *plan, struct product *product, json_t *ids, struct error *error)
{
	struct value_list *list = product_list(product, parameter_find("metric"));
	struct value_list *sizes = product_list(product, parameter_find("size"));
	bool is_wanted[METRIC_LOAD + 1] = {false};
	int code = 0;

	for (size_t i = 0; i < list->count; i++)
		is_wanted[list->item[i]] = true;
	for (uint64_t metric = METRIC_LAT; metric <= METRIC_LOAD && !code; metric++) {
		if (!is_wanted[metric])
			continue;
		*list = (struct value_list){.item = {metric}, .count = 1};
		*sizes =
			(struct value_list){.item = {BANDWIDTH_SIZE}, .count = metric == METRIC_BW};
		code = add_product(plan, product, ids, error);
	}
	return code;
}

static int decode_part(const struct plan *plan, struct product *product, json_t *part,
		       struct error *error)
{
	int code = product_decode(product, part, error);

	return code && plan->file ? preset_blame(plan->file, error) : code;
}

/* Parts of a plan share the longest of their budgets. */
static void find_budget(struct plan *plan)
{
	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct plan_case *line = &plan->cases[i];

		if (plan_is_budgeted(line) && line->parameters.budget_ns > plan->budget_ns)
			plan->budget_ns = line->parameters.budget_ns;
	}
}

static int make_cases(struct plan *plan, json_t *base, struct error *error)
{
	struct product *product = malloc(sizeof(*product));
	json_t *ids = json_object();
	json_t *part;
	size_t i;
	int code = 0;

	plan->made = json_array();
	if (!product || !ids || !plan->made) {
		error_set_errno(error, -ENOMEM, "cannot make the plan");
		code = -ENOMEM;
	}
	json_array_foreach(base, i, part)
	{
		if (!code)
			code = decode_part(plan, product, part, error);
		if (code)
			break;
		/* Without a plan or preset, a given effort means a single trial by default. */
		if (!plan->file && !plan->preset && has_effort(&plan->asked))
			product_list(product, parameter_find("trials"))->count = 0;
		product_override(product, &plan->asked);
		plan->has_own_size = has_own_size(plan, product);
		code = (plan->has_own_size ? add_metrics : add_product)(plan, product, ids, error);
	}
	json_decref(ids);
	free(product);
	find_budget(plan);
	if (!code)
		code = plan_check_unheard(plan, error);
	return code ? code : plan_check(plan, error);
}

int plan_read(struct plan *plan, const char *text, size_t length, const char *path,
	      struct error *error)
{
	json_t *base = NULL;
	json_t *whole;
	int code;

	*plan = (struct plan){.file = path};
	code = preset_parse(text, length, path, &whole, error);
	if (!code)
		code = unfold(path, whole, &base, error);
	if (!code)
		code = make_cases(plan, base, error);
	json_decref(base);
	return code;
}

int plan_open(struct plan *plan, int argc, char *argv[], struct error *error)
{
	int code = plan_parse(plan, NULL, argc, argv, error);

	return code ? code : plan_complete(plan, error);
}

static int check_host(const char *host, struct error *error)
{
	if (!host || !strchr(host, ','))
		return 0;
	return error_set(error, -EINVAL,
			 "'%s' names several hosts: use 'srun verbmark fleet' to measure among "
			 "hosts; see verbmark-fleet(1)",
			 host);
}

int plan_finish(struct plan *plan, const char *preset, struct error *error)
{
	json_t *base = NULL;
	int code = check_host(plan->host, error);

	if (!code)
		code = expand(plan, error);
	if (!code)
		code = load(plan, preset, &base, error);
	if (!code)
		code = make_cases(plan, base, error);
	json_decref(base);
	return code;
}

int plan_parse(struct plan *plan, const char *preset, int argc, char *argv[], struct error *error)
{
	*plan = (struct plan){.preset = preset};
	return option_parse(preset ? &plan_preset_options : &plan_options, argc, argv, plan, error);
}

/* Returns whether no message of the plan is timed. */
static bool is_untimed(const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_cases; i++)
		if (plan->cases[i].parameters.metric != METRIC_BW ||
		    plan->cases[i].parameters.latencies)
			return false;
	return true;
}

/* Returns whether the client sends data of its own choice. */
static bool sends_payload(const struct operation *op)
{
	return !op->shape.is_read && !op->shape.is_atomic && !op->shape.is_granted &&
	       !op->shape.is_call && !operation_is_local(op);
}

static int check_payload(const struct plan *plan, struct error *error)
{
	bool is_sent = false;

	for (size_t i = 0; i < plan->n_cases; i++) {
		is_sent |= sends_payload(plan->cases[i].op);
		if (memory_is_null(memory_name_choice(plan->cases[i].parameters.memory)))
			return error_set(
				error, -EINVAL,
				"--payload and --memory null cannot be used together; omit one");
		if (plan->cases[i].parameters.verify)
			return error_set(error, -EINVAL,
					 "--payload and --verify cannot be used together: --verify "
					 "has data of its own");
	}
	return is_sent ? 0
		       : error_set(error, -EINVAL,
				   "--payload applies only to data that the client sends; use --op "
				   "send or write");
}

int plan_complete(struct plan *plan, struct error *error)
{
	int code = plan_finish(plan, "quick", error);

	if (!code && plan->no_save && plan->json)
		code = error_set(error, -EINVAL, "--no-save and --json cannot be used together");
	if (!code && plan->save_dir && (plan->no_save || plan->json))
		code = error_set(error, -EINVAL, "--save-dir and %s cannot be used together",
				 plan->json ? "--json" : "--no-save");
	if (!code && plan->samples && !strcmp(plan->samples, "-"))
		code = error_set(error, -EINVAL,
				 "--samples needs the path of a file: the table uses standard "
				 "output");
	if (!code && plan->samples && is_untimed(plan))
		code = error_set(error, -EINVAL,
				 "--samples needs latencies: add --latencies or --metric lat");
	if (!code && plan->payload)
		code = check_payload(plan, error);
	if (!code && plan->launch && !plan->host)
		code = error_set(error, -EINVAL,
				 "--launch needs HOST: without one, the server runs here");
	if (!code && plan->secret_file && (plan->launch || !plan->host))
		code = error_set(error, -EINVAL,
				 "--secret-file needs a server that is already running: a server "
				 "started by %s gets its own secret",
				 plan->launch ? "--launch" : "this run");
	return code;
}

uint16_t plan_port(const struct plan *plan)
{
	return plan->port ? plan->port : PLAN_PORT;
}

void plan_close(struct plan *plan)
{
	free(plan->cases);
	json_decref(plan->made);
	*plan = (struct plan){0};
}
