/* SPDX-License-Identifier: MIT */
#include "bench/plan/operation.h"

#include "core/base/transport.h"

#define ON_RC    (1U << TRANSPORT_RC)
#define ON_RC_UC (ON_RC | 1U << TRANSPORT_UC)
#define ON_ANY   (ON_RC_UC | 1U << TRANSPORT_UD)

#define WORD(number, name, word) word,
const char *const operation_names[] = {OPERATION_LIST(WORD) NULL};

/* clang-format 14 crashes on this table. */
// clang-format off
const struct operation operations[] = {
	[OPERATION_SEND] = {
		.transports = ON_ANY, .is_received = true, .fills_receives = true,
		.kind = RESULT_HALF,
	},
	[OPERATION_WRITE] = {.transports = ON_RC_UC, .polls_memory = true, .kind = RESULT_HALF},
	[OPERATION_READ] = {
		.transports = ON_RC, .shape = {.is_read = true},
		.takes = OPERATION_TAKES_REGISTRATION, .kind = RESULT_FULL,
	},
	[OPERATION_WRITE_IMM] = {
		.transports = ON_RC_UC, .is_received = true, .has_immediate = true,
		.kind = RESULT_HALF,
	},
	[OPERATION_FETCH_ADD] = {
		.transports = ON_RC, .shape = {.is_atomic = true}, .kind = RESULT_FULL,
	},
	[OPERATION_COMPARE_SWAP] = {
		.transports = ON_RC, .shape = {.is_atomic = true}, .kind = RESULT_FULL,
	},
	[OPERATION_WRITE_NOTIFY] = {
		.transports = ON_RC, .shape = {.is_notified = true}, .is_received = true,
		.kind = RESULT_HALF,
	},
	[OPERATION_READ_NOTIFY] = {
		.transports = ON_RC, .shape = {.is_read = true, .is_notified = true},
		.is_received = true, .kind = RESULT_HALF,
	},
	[OPERATION_DOORBELL] = {
		.transports = ON_RC, .shape = {.rings = true}, .is_received = true,
		.has_immediate = true, .kind = RESULT_HALF,
	},
	[OPERATION_ALLOC] = {
		.transports = ON_RC, .shape = {.is_granted = true}, .is_received = true,
		.kind = RESULT_FULL,
	},
	[OPERATION_REGISTER] = {
		.transports = ON_RC, .shape = {.is_call = true, .registers = true},
		.takes = OPERATION_TAKES_SIZE | OPERATION_TAKES_PAGES, .kind = RESULT_CALL,
	},
	[OPERATION_DEREGISTER] = {
		.transports = ON_RC, .shape = {.is_call = true, .registers = true},
		.takes = OPERATION_TAKES_SIZE, .kind = RESULT_CALL,
	},
	[OPERATION_CREATE_QP] = {
		.transports = ON_ANY, .shape = {.is_call = true, .makes_pair = true},
		.takes = OPERATION_TAKES_PAIR, .kind = RESULT_CALL,
	},
	[OPERATION_CREATE_CQ] = {
		.transports = ON_RC, .shape = {.is_call = true, .makes_cq = true},
		.takes = OPERATION_TAKES_CQ | OPERATION_TAKES_TX, .kind = RESULT_CALL,
	},
	[OPERATION_OPEN_DEVICE] = {
		.transports = ON_RC, .shape = {.is_call = true}, .kind = RESULT_CALL,
	},
	[OPERATION_ALLOC_PD] = {
		.transports = ON_RC, .shape = {.is_call = true}, .kind = RESULT_CALL,
	},
	[OPERATION_POST_SEND] = {
		.transports = ON_RC_UC,
		.takes = OPERATION_TAKES_SIZE | OPERATION_TAKES_INLINE | OPERATION_TAKES_SGE,
		.kind = RESULT_CALL,
	},
	[OPERATION_POST_RECV] = {
		.transports = ON_RC_UC, .shape = {.is_call = true, .makes_pair = true},
		.takes = OPERATION_TAKES_RX | OPERATION_TAKES_SGE, .kind = RESULT_CALL,
	},
	[OPERATION_POLL_CQ] = {.transports = ON_RC_UC, .kind = RESULT_CALL},
	[OPERATION_CONNECT] = {
		.transports = ON_RC,
		.shape = {.is_call = true, .makes_pair = true, .connects = true},
		.takes = OPERATION_TAKES_PAIR, .kind = RESULT_CALL,
	},
};
// clang-format on

enum result_kind operation_kind(const struct operation *op, const struct parameters *parameters)
{
	bool is_polled = parameters->cq == CQ_POLL && parameters->server_cq == CQ_POLL;

	/* A WRITE generates no completion at the target: only one that polls memory can reply. */
	return op->polls_memory && !is_polled ? RESULT_COMPLETION : op->kind;
}
