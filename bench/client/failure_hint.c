/* SPDX-License-Identifier: MIT */
#include "bench/client/failure_hint.h"

#include <infiniband/verbs.h>
#include <inttypes.h>
#include <string.h>

/* A failure reported by either end contains the text of libibverbs. */
static bool is_silence(const struct error *fault)
{
	return strstr(fault->text, ibv_wc_status_str(IBV_WC_RETRY_EXC_ERR)) != NULL;
}

static bool is_same(const json_t *one, const json_t *other)
{
	return one == other || json_equal(one, other);
}

void failure_hint_size(const struct result *result, size_t number, unsigned int mtu,
		       struct error *fault)
{
	const struct result_case *failed = &result->cases[number];
	const json_t *asked = json_object_get(failed->parameters, "mtu");
	uint64_t passed = 0;

	if (!is_silence(fault))
		return;
	for (size_t i = 0; i < number; i++) {
		const struct result_case *other = &result->cases[i];

		/* Another MTU uses packets of another size, so it says nothing about this one. */
		if (!is_same(json_object_get(other->parameters, "mtu"), asked))
			continue;
		if (other->status == RESULT_COMPLETE && !strcmp(other->op, failed->op) &&
		    !strcmp(other->transport, failed->transport) && other->size > passed)
			passed = other->size;
	}
	/* The path is fine if full packets, or messages of this size, have arrived. */
	if (passed && passed < failed->size && passed < mtu)
		error_append(fault, "sizes up to %" PRIu64 " passed: does the switch carry MTU %u?",
			     passed, mtu);
}
