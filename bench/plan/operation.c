/* SPDX-License-Identifier: MIT */
#include "bench/plan/operation.h"

#include "bench/plan/memory_name.h"
#include "core/base/transport.h"

#define WRITES    TRANSPORT_WRITES
#define READS     TRANSPORT_READS
#define ATOMICS   TRANSPORT_ATOMICS
#define RELIABLE  TRANSPORT_RELIABLE
#define CONNECTED TRANSPORT_CONNECTED
#define TWO_WAY   TRANSPORT_TWO_WAY
/* Calls that are the same on all transports are measured on this one. */
#define DEFAULT TRANSPORT_DEFAULT

#define WORD(number, name, word, help) word,
const char *const operation_names[] = {OPERATION_LIST(WORD) NULL};

/* clang-format 14 crashes on this table. */
// clang-format off
const struct operation operations[] = {
	[OPERATION_SEND] = {
		.is_received = true, .fills_receives = true, .kind = RESULT_HALF,
	},
	[OPERATION_WRITE] = {.needs = WRITES, .polls_memory = true, .kind = RESULT_HALF},
	[OPERATION_READ] = {
		.needs = READS, .shape = {.is_read = true},
		.takes = OPERATION_TAKES_REGISTRATION, .kind = RESULT_FULL,
	},
	[OPERATION_WRITE_IMM] = {
		.needs = WRITES, .is_received = true, .has_immediate = true,
		.kind = RESULT_HALF,
	},
	[OPERATION_FETCH_ADD] = {
		.needs = ATOMICS, .shape = {.is_atomic = true}, .kind = RESULT_FULL,
	},
	[OPERATION_COMPARE_SWAP] = {
		.needs = ATOMICS, .shape = {.is_atomic = true}, .kind = RESULT_FULL,
	},
	[OPERATION_WRITE_NOTIFY] = {
		.needs = WRITES | RELIABLE, .shape = {.is_notified = true}, .is_received = true,
		.kind = RESULT_HALF,
	},
	[OPERATION_READ_NOTIFY] = {
		.needs = READS | RELIABLE, .shape = {.is_read = true, .is_notified = true},
		.is_received = true, .kind = RESULT_HALF,
	},
	[OPERATION_DOORBELL] = {
		.needs = WRITES | RELIABLE, .shape = {.rings = true}, .is_received = true,
		.has_immediate = true, .kind = RESULT_HALF,
	},
	[OPERATION_ALLOC] = {
		.needs = RELIABLE, .shape = {.is_granted = true}, .is_received = true,
		.kind = RESULT_FULL,
	},
	[OPERATION_REGISTER] = {
		.needs = DEFAULT, .shape = {.is_call = true, .registers = true},
		.takes = OPERATION_TAKES_SIZE | OPERATION_TAKES_PAGES, .kind = RESULT_CALL,
	},
	[OPERATION_DEREGISTER] = {
		.needs = DEFAULT, .shape = {.is_call = true, .registers = true},
		.takes = OPERATION_TAKES_SIZE, .kind = RESULT_CALL,
	},
	[OPERATION_CREATE_QP] = {
		.needs = TWO_WAY, .shape = {.is_call = true, .makes_pair = true},
		.takes = OPERATION_TAKES_PAIR, .kind = RESULT_CALL,
	},
	[OPERATION_CREATE_CQ] = {
		.needs = DEFAULT, .shape = {.is_call = true, .makes_cq = true},
		.takes = OPERATION_TAKES_CQ | OPERATION_TAKES_TX, .kind = RESULT_CALL,
	},
	[OPERATION_OPEN_DEVICE] = {
		.needs = DEFAULT, .shape = {.is_call = true}, .kind = RESULT_CALL,
	},
	[OPERATION_ALLOC_PD] = {
		.needs = DEFAULT, .shape = {.is_call = true}, .kind = RESULT_CALL,
	},
	[OPERATION_POST_SEND] = {
		.needs = CONNECTED,
		.takes = OPERATION_TAKES_SIZE | OPERATION_TAKES_INLINE | OPERATION_TAKES_SGE,
		.kind = RESULT_CALL,
	},
	[OPERATION_POST_RECV] = {
		.needs = CONNECTED | TWO_WAY,
		.shape = {.is_call = true, .makes_pair = true},
		.takes = OPERATION_TAKES_RX | OPERATION_TAKES_SGE, .kind = RESULT_CALL,
	},
	[OPERATION_POLL_CQ] = {.needs = CONNECTED, .kind = RESULT_CALL},
	[OPERATION_CONNECT] = {
		.needs = TRANSPORT_BY_CM,
		.shape = {.is_call = true, .makes_pair = true, .connects = true},
		.takes = OPERATION_TAKES_PAIR, .kind = RESULT_CALL,
	},
};
// clang-format on

enum result_kind operation_kind(const struct operation *op, const struct parameters *parameters)
{
	bool is_polled = parameters->cq == CQ_POLL && parameters->server_cq == CQ_POLL &&
			 memory_is_polled(memory_name_choice(parameters->memory)) &&
			 memory_is_polled(memory_name_choice(parameters->server_memory));

	/* A WRITE generates no completion at the target: only one that polls memory can reply. */
	return op->polls_memory && !is_polled ? RESULT_COMPLETION : op->kind;
}
