/* SPDX-License-Identifier: MIT */
#include "bench/plan/unheard.h"

#include <errno.h>
#include <string.h>

#include "bench/plan/applicable.h"

static bool is_asked(const struct plan *plan, const char *name)
{
	return plan->asked.lists[parameter_find(name) - parameter_table].count;
}

/* Checks the options of loads if no case is a load. */
static int check_load(const struct plan *plan, struct error *error)
{
	static const char *const names[] = {"rate", "arrivals", "burst"};
	bool has_seed = false;

	for (size_t i = 0; i < plan->n_cases; i++) {
		if (plan->cases[i].parameters.metric == METRIC_LOAD)
			return 0;
		has_seed |= plan->cases[i].parameters.seed != PARAMETER_AUTO;
	}
	if (!has_seed && is_asked(plan, "seed"))
		return error_set(error, -EINVAL, "--seed applies only to bw, load and --buffer");
	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		if (is_asked(plan, names[i]))
			return error_set(error, -EINVAL, "--%s applies only to --metric load",
					 names[i]);
	return 0;
}

static bool rings(const struct operation *op, const struct parameters *unused)
{
	return op->shape.rings;
}

static bool registers(const struct operation *op, const struct parameters *unused)
{
	return op->shape.registers;
}

static bool connects(const struct operation *op, const struct parameters *unused)
{
	return op->shape.connects;
}

static bool has_budget(const struct operation *unused, const struct parameters *parameters)
{
	return parameters->budget_ns != PARAMETER_AUTO;
}

static bool is_reliable(const struct operation *unused, const struct parameters *parameters)
{
	return parameters_has(parameters, TRANSPORT_RELIABLE);
}

static bool takes_pages(const struct operation *op, const struct parameters *unused)
{
	return op->takes & OPERATION_TAKES_PAGES;
}

/* Checks the options of certain operations if no case has one of them. */
static int check_operations(const struct plan *plan, struct error *error)
{
	static const struct {
		const char *name;
		bool (*affects)(const struct operation *op, const struct parameters *parameters);
		const char *for_what;
	} named[] = {
		{"doorbell-every",   rings,                    "--op doorbell"                         },
		{"event-count",      applicable_moderation,
		 "messages, with --cq event or adaptive; use --cq event"                               },
		{"event-period",     applicable_moderation,
		 "messages, with --cq event or adaptive; use --cq event"                               },
		{"recv-post-list",   applicable_receives,
		 "--metric bw or load of operations that consume receives"                             },
		{"mr-per-qp",        applicable_server_memory, "messages"                              },
		{"rate-limit",       applicable_rate_limit,    "messages"                              },
		{"mr-access",        registers,                "--op register and deregister"          },
		{"pages",            takes_pages,              "--op register"                         },
		{"registration",     applicable_registration,  "--op read with --metric lat"           },
		{"memory",           applicable_memory,        "messages, --op register and deregister"},
		{"server-memory",    applicable_server_memory, "messages"                              },
		{"relaxed-ordering", applicable_ordering,      "messages, --op register and deregister"},
		{"step",             connects,                 "--op connect"                          },
		{"budget",           has_budget,               "lat and bw, without --needs"           },
		{"precision",        has_budget,               "cases with a --budget"                 },
		{"outstanding",      is_reliable,              "-c RC"                                 },
		{"timeout",          is_reliable,              "-c RC"                                 },
		{"retries",          is_reliable,              "-c RC"                                 },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(named); i++) {
		bool is_used = !is_asked(plan, named[i].name);

		for (size_t j = 0; j < plan->n_cases && !is_used; j++)
			is_used = named[i].affects(plan->cases[j].op, &plan->cases[j].parameters);
		if (!is_used)
			return error_set(error, -EINVAL, "--%s applies only to %s", named[i].name,
					 named[i].for_what);
	}
	return 0;
}

static const char *const of_budget[] = {"budget", "precision"};

bool plan_is_of_budget(const struct option_row *row)
{
	return !strcmp(row->name, of_budget[0]) || !strcmp(row->name, of_budget[1]);
}

int plan_refuse_budget(const struct plan *plan, const char *instead, struct error *error)
{
	for (size_t i = 0; i < ARRAY_LENGTH(of_budget); i++)
		if (is_asked(plan, of_budget[i]))
			return error_set(error, -EINVAL,
					 "--%s: this command runs the same number of trials of "
					 "all cases; use %s",
					 of_budget[i], instead);
	return 0;
}

int plan_check_unheard(const struct plan *plan, struct error *error)
{
	int code = check_load(plan, error);

	return code ? code : check_operations(plan, error);
}
