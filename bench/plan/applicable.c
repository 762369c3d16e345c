/* SPDX-License-Identifier: MIT */
#include "bench/plan/applicable.h"

#include <string.h>

#include "bench/plan/defaults.h"
#include "bench/plan/memory_name.h"

static void drop_if_host(uint64_t *memory)
{
	if (*memory != PARAMETER_AUTO && !strcmp(memory_name_text(*memory), "host"))
		*memory = PARAMETER_AUTO;
}

bool applicable_memory(const struct operation *op, const struct parameters *unused)
{
	return op->shape.registers || applicable_server_memory(op, unused);
}

bool applicable_server_memory(const struct operation *op, const struct parameters *unused)
{
	return !op->shape.is_granted && !op->shape.is_call && !operation_is_local(op);
}

static void keep_memory(const struct operation *op, struct parameters *wanted)
{
	/* Host memory is the default, which older servers know and older results omit. */
	drop_if_host(&wanted->memory);
	drop_if_host(&wanted->server_memory);
	if (!applicable_memory(op, wanted))
		wanted->memory = PARAMETER_AUTO;
	if (!applicable_server_memory(op, wanted))
		wanted->server_memory = PARAMETER_AUTO;
}

/* Windows are bound to ordinary pages, and nothing is sent. */
static void drop_of_windows(struct parameters *wanted)
{
	const struct parameters fallback = parameters_default();

	wanted->hugepages = fallback.hugepages;
	wanted->inline_size = fallback.inline_size;
	wanted->sge = fallback.sge;
	wanted->use_srq = fallback.use_srq;
}

/* Timed calls use only some of the parameters of messages, such as the size. */
static void drop_of_messages(const struct operation *op, struct parameters *wanted)
{
	const struct parameters fallback = parameters_default();

	wanted->server_cq = fallback.server_cq;
	wanted->cq_mod = fallback.cq_mod;
	if (!(op->takes & OPERATION_TAKES_CQ))
		wanted->cq = fallback.cq;
	if (!(op->takes & OPERATION_TAKES_TX))
		wanted->tx_depth = fallback.tx_depth;
	if (!(op->takes & OPERATION_TAKES_RX))
		wanted->rx_depth = fallback.rx_depth;
	if (!(op->takes & OPERATION_TAKES_INLINE))
		wanted->inline_size = fallback.inline_size;
	if (!(op->takes & OPERATION_TAKES_SGE))
		wanted->sge = fallback.sge;
	if (!(op->takes & OPERATION_TAKES_SRQ))
		wanted->use_srq = fallback.use_srq;
	if (!(op->takes & OPERATION_TAKES_SIZE))
		wanted->size = 1;
	if (!applicable_ordering(op, wanted))
		wanted->relaxed_ordering = fallback.relaxed_ordering;
}

/* An operation without messages has no completions to wait for, except poll-cq, which polls. */
bool applicable_moderation(const struct operation *op, const struct parameters *wanted)
{
	uint64_t server = wanted->server_cq == PARAMETER_AUTO ? wanted->cq : wanted->server_cq;

	return (wanted->cq != CQ_POLL || server != CQ_POLL) && !operation_is_timed_call(op) &&
	       !operation_is_local(op);
}

bool applicable_rate_limit(const struct operation *op, const struct parameters *unused)
{
	return !operation_is_timed_call(op) && !operation_is_local(op);
}

/* Only streams hold receives back. */
bool applicable_receives(const struct operation *op, const struct parameters *wanted)
{
	return wanted->metric != METRIC_LAT && op->is_received;
}

bool applicable_ordering(const struct operation *op, const struct parameters *wanted)
{
	return !op->shape.is_call || op->shape.registers;
}

bool applicable_registration(const struct operation *op, const struct parameters *wanted)
{
	return (op->takes & OPERATION_TAKES_REGISTRATION) && wanted->metric == METRIC_LAT;
}

bool applicable_breakdown(const struct operation *op, const struct parameters *wanted)
{
	return wanted->metric == METRIC_LAT && !operation_is_timed_call(op) &&
	       !operation_is_local(op) && !op->shape.is_granted &&
	       wanted->registration != REGISTRATION_EACH;
}

/* Other transports have no timers, retries, or numbers of READs and atomics to choose. */
static void drop_of_reliable(struct parameters *wanted)
{
	const struct parameters fallback = parameters_default();

	wanted->timeout = fallback.timeout;
	wanted->retries = fallback.retries;
	wanted->outstanding = fallback.outstanding;
}

void applicable_keep(const struct operation *op, struct parameters *wanted)
{
	bool is_load = wanted->metric == METRIC_LOAD;

	/* Trials of a load use one measured maximum, so they run one after another. */
	if (is_load || wanted->needs)
		wanted->budget_ns = PARAMETER_AUTO;
	if (wanted->budget_ns == PARAMETER_AUTO)
		wanted->precision = PARAMETER_AUTO;
	if (!transport_is_acknowledged((enum transport)wanted->transport))
		drop_of_reliable(wanted);
	if (!is_load)
		wanted->rate = wanted->burst = PARAMETER_AUTO;
	if (!is_load || wanted->arrivals == ARRIVALS_FIXED)
		wanted->arrivals = PARAMETER_AUTO;
	if (wanted->arrivals == PARAMETER_AUTO && !defaults_is_random(op, wanted))
		wanted->seed = PARAMETER_AUTO;
	if (!applicable_moderation(op, wanted))
		wanted->event_count = wanted->event_period_ns = PARAMETER_AUTO;
	if (!applicable_server_memory(op, wanted) || !wanted->mr_per_qp)
		wanted->mr_per_qp = PARAMETER_AUTO;
	if (!applicable_rate_limit(op, wanted))
		wanted->rate_limit = PARAMETER_AUTO;
	if (!applicable_receives(op, wanted))
		wanted->recv_post_list = PARAMETER_AUTO;
	if (!op->shape.rings)
		wanted->doorbell_every = PARAMETER_AUTO;
	if (!op->shape.registers)
		wanted->mr_access = PARAMETER_AUTO;
	if (!(op->takes & OPERATION_TAKES_PAGES))
		wanted->pages = PARAMETER_AUTO;
	if (!applicable_registration(op, wanted))
		wanted->registration = PARAMETER_AUTO;
	if (!op->shape.connects)
		wanted->step = PARAMETER_AUTO;
	/* The server does the same as the client by default. */
	if (wanted->server_gid_index == wanted->gid_index)
		wanted->server_gid_index = PARAMETER_AUTO;
	/*
	 * Strict is the default. Older servers do not know the parameter, and older results omit
	 * it.
	 */
	if (wanted->relaxed_ordering == ORDERING_STRICT)
		wanted->relaxed_ordering = PARAMETER_AUTO;
	keep_memory(op, wanted);
	if (operation_is_timed_call(op))
		drop_of_messages(op, wanted);
	if (operation_is_local(op))
		drop_of_windows(wanted);
	/* XRC and DC receive only from a shared receive queue. */
	if (!parameters_has(wanted, TRANSPORT_TWO_WAY))
		wanted->use_srq = 1;
}
