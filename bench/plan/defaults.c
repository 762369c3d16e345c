/* SPDX-License-Identifier: MIT */
#include "bench/plan/defaults.h"

#include "bench/plan/address_walk.h"
#include "bench/plan/applicable.h"
#include "bench/plan/default_depths.h"
#include "bench/plan/pattern.h"
#include "core/base/clock.h"
#include "core/base/compiler.h"

/* Default effort: messages for latency, time for bandwidth and load. */
#define LAT_MESSAGES 5000
#define BW_NS        (100 * NS_PER_MS)
#define LOAD_NS      (200 * NS_PER_MS)

/* The default of Linux's mlx5_core for Ethernet. */
#define EVENT_PERIOD_NS (16 * NS_PER_US)

/* Percent. */
#define PRECISION 5

/* More than the CPU's caches hold, and more small pages than devices have translations for. */
#define WALKED_BYTES (64ULL << 20)
/* The default buffer: it exceeds the inner caches but fits a small limit on locked memory. */
#define SPREAD_BYTES (4ULL << 20)

static bool has_effort(const struct parameters *parameters)
{
	return parameters->duration_ns != PARAMETER_AUTO ||
	       parameters->iterations != PARAMETER_AUTO;
}

static bool has_budget(const struct parameters *parameters)
{
	return parameters->budget_ns != PARAMETER_AUTO;
}

static void choose_moderation(struct parameters *parameters)
{
	if (parameters->event_count != PARAMETER_AUTO)
		parameter_choose(&parameters->event_period_ns, EVENT_PERIOD_NS);
}

static void choose_load(struct parameters *parameters)
{
	parameter_choose(&parameters->arrivals, ARRIVALS_FIXED);
	if (parameters->arrivals == ARRIVALS_POISSON)
		parameter_choose(&parameters->seed, 1);
	if (!has_effort(parameters))
		parameters->duration_ns = LOAD_NS;
}

/*
 * With many messages in flight, a single address hides the cost of caches and translation tables.
 * With one message at a time, or a shared counter or flag, real programs use a single address,
 * too.
 */
static bool is_spread(const struct operation *op, const struct parameters *p)
{
	bool is_shared = p->use_srq && pattern_shares_receives(p) && op->fills_receives;

	return p->metric != METRIC_LAT && !op->shape.is_atomic && !op->shape.is_notified &&
	       !op->shape.binds && !p->verify && !p->needs && !is_shared;
}

/* Returns whether one place per queue pair and direction would exceed the largest buffer. */
static bool is_beyond_buffers(const struct operation *op, const struct parameters *p)
{
	return 2ULL * pattern_pairs(p) * address_walk_place(p, op->shape.is_atomic) >
	       PARAMETER_BUFFER_MOST;
}

bool defaults_is_random(const struct operation *op, const struct parameters *parameters)
{
	if (parameters->access != PARAMETER_AUTO)
		return parameters->access == ACCESS_RANDOM;
	/* With an explicit --buffer, messages use all of it. */
	return parameters->buffer != PARAMETER_AUTO ||
	       (is_spread(op, parameters) && !is_beyond_buffers(op, parameters));
}

static void choose_access(const struct operation *op, struct parameters *parameters)
{
	uint64_t bytes = parameters->access == PARAMETER_AUTO ? SPREAD_BYTES : WALKED_BYTES;
	uint64_t all;

	parameter_choose(&parameters->access,
			 defaults_is_random(op, parameters) ? ACCESS_RANDOM : ACCESS_SAME);
	if (parameters->access == ACCESS_RANDOM)
		parameter_choose(&parameters->seed, 1);
	if (!address_walk_is_on(parameters))
		return;
	all = pattern_pairs(parameters) * address_walk_ways(parameters) *
	      address_walk_place(parameters, op->shape.is_atomic);
	parameter_choose(&parameters->buffer,
			 min_u64(max_u64(bytes, 2 * all), PARAMETER_BUFFER_MOST));
}

/* Parameters that do not affect the call get a fixed value. */
static void choose_call(const struct operation *op, struct parameters *parameters)
{
	if (op->shape.registers)
		parameter_choose(&parameters->mr_access, MR_REMOTE);
	if (op->takes & OPERATION_TAKES_PAGES)
		parameter_choose(&parameters->pages, PAGES_TOUCHED);
	if (applicable_registration(op, parameters))
		parameter_choose(&parameters->registration, REGISTRATION_ONCE);
	if (op->shape.connects)
		parameter_choose(&parameters->step, STEP_WHOLE);
	if (operation_is_timed_call(op) && !(op->takes & OPERATION_TAKES_SIZE))
		parameters->size = 1;
	/* Signal every post, so that the queue is empty before the next one. */
	if (operation_is_timed_call(op) && !op->shape.is_call)
		parameters->cq_mod = 1;
}

void defaults_choose(const struct operation *op, struct parameters *parameters)
{
	bool is_bw = parameters->metric != METRIC_LAT;

	if (op->shape.is_atomic)
		parameters->size = OPERATION_ATOMIC_SIZE;
	choose_call(op, parameters);
	choose_access(op, parameters);
	choose_moderation(parameters);
	parameter_choose(&parameters->server_cq, parameters->cq);
	default_depths_choose(op, parameters);
	/* The device should gather the pieces, not the CPU. */
	if (parameters->sge > 1)
		parameter_choose(&parameters->inline_size, 0);
	parameter_choose(&parameters->connect,
			 parameters_need_pairs(parameters) ? CONNECT_QP : CONNECT_CM);
	/* A given effort is used exactly. */
	parameter_choose(&parameters->trials,
			 has_effort(parameters) && !has_budget(parameters) ? 1 : DEFAULTS_TRIALS);
	if (has_budget(parameters))
		parameter_choose(&parameters->precision, PRECISION);
	if (parameters->metric == METRIC_LOAD)
		choose_load(parameters);
	if (!has_effort(parameters)) {
		/* Operations that take between microseconds and seconds are limited by time. */
		if (is_bw || operation_is_serial(op))
			parameters->duration_ns = BW_NS;
		else
			parameters->iterations = LAT_MESSAGES;
	}
}
