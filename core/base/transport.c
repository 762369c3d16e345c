/* SPDX-License-Identifier: MIT */
#include "core/base/transport.h"

/* Aligned as a table, the messages would exceed the line length. */
// clang-format off
const struct transport_row transports[] = {
	[TRANSPORT_RC] = {
		.has = TRANSPORT_WRITES | TRANSPORT_READS | TRANSPORT_ATOMICS |
		       TRANSPORT_CONNECTED | TRANSPORT_RELIABLE | TRANSPORT_BY_CM |
		       TRANSPORT_DEFAULT,
	},
	[TRANSPORT_UC] = {
		.has = TRANSPORT_WRITES | TRANSPORT_CONNECTED,
		.refusal = "UC supports only send, write and write-imm",
	},
	[TRANSPORT_UD] = {
		.has = TRANSPORT_DATAGRAM,
		.route = ROUTE_ADDRESS,
		.refusal = "UD supports only send",
	},
};
// clang-format on

#define TRANSPORT_WORD(name) #name,
const char *const transport_names[] = {TRANSPORT_LIST(TRANSPORT_WORD) NULL};
