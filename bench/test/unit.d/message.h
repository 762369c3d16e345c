/* SPDX-License-Identifier: MIT */
/* Messages of the control channel, for the tests. */
#ifndef BENCH_TEST_UNIT_D_MESSAGE_H
#define BENCH_TEST_UNIT_D_MESSAGE_H

#include <jansson.h>

#include "core/test/lib/check.h"

/* Parses a message as it comes from the peer. */
static inline json_t *message_load(const char *text)
{
	json_t *message = json_loads(text, 0, NULL);

	assert_non_null(message);
	return message;
}

#endif
