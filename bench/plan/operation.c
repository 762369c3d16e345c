/* SPDX-License-Identifier: MIT */
#include "bench/plan/operation.h"

#include "bench/plan/memory_name.h"
#include "core/base/transport.h"

#define WORD(number, name, word, help, ...) word,
const char *const operation_names[] = {OPERATION_LIST(WORD) NULL};

#define ROW(number, name, word, help, ...) [OPERATION_##number] = {__VA_ARGS__},
const struct operation operations[] = {OPERATION_LIST(ROW)};

enum result_kind operation_kind(const struct operation *op, const struct parameters *parameters)
{
	bool is_polled = parameters->cq == CQ_POLL && parameters->server_cq == CQ_POLL &&
			 memory_is_polled(memory_name_choice(parameters->memory)) &&
			 memory_is_polled(memory_name_choice(parameters->server_memory));

	/* A WRITE generates no completion at the target: only one that polls memory can reply. */
	return op->polls_memory && !is_polled ? RESULT_COMPLETION : op->kind;
}
