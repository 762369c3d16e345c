/* SPDX-License-Identifier: MIT */
#include "core/base/transport.h"

/* Aligned as a table, the messages would exceed the line length. */
// clang-format off
const struct transport_row transports[] = {
	[TRANSPORT_RC] = {
		.has = TRANSPORT_WRITES | TRANSPORT_READS | TRANSPORT_ATOMICS |
		       TRANSPORT_CONNECTED | TRANSPORT_RELIABLE | TRANSPORT_BY_CM |
		       TRANSPORT_DEFAULT | TRANSPORT_TWO_WAY | TRANSPORT_ORDERED |
		       TRANSPORT_STANDARD,
	},
	[TRANSPORT_UC] = {
		.has = TRANSPORT_WRITES | TRANSPORT_CONNECTED | TRANSPORT_TWO_WAY |
		       TRANSPORT_ORDERED | TRANSPORT_STANDARD,
		.refusal = "UC supports only sends and writes",
	},
	[TRANSPORT_UD] = {
		.has = TRANSPORT_DATAGRAM | TRANSPORT_TWO_WAY | TRANSPORT_ORDERED |
		       TRANSPORT_STANDARD,
		.route = ROUTE_ADDRESS,
		.refusal = "UD supports only sends",
	},
	[TRANSPORT_XRC] = {
		.has = TRANSPORT_WRITES | TRANSPORT_READS | TRANSPORT_ATOMICS |
		       TRANSPORT_CONNECTED | TRANSPORT_RELIABLE | TRANSPORT_ORDERED,
		.route = ROUTE_SRQ,
		.refusal = "XRC supports neither memory windows nor timed calls other than "
			   "post-send and poll-cq; use -c RC",
	},
	[TRANSPORT_DC] = {
		.has = TRANSPORT_WRITES | TRANSPORT_READS | TRANSPORT_ATOMICS |
		       TRANSPORT_CONNECTED | TRANSPORT_RELIABLE | TRANSPORT_ORDERED,
		.route = ROUTE_TARGET,
		.refusal = "DC supports neither memory windows nor timed calls other than "
			   "post-send and poll-cq; use -c RC",
#ifndef HAVE_MLX5DV
		.unavailable = "DC needs libmlx5, and verbmark was built without it; install "
			       "its header infiniband/mlx5dv.h and build again",
#endif
	},
	[TRANSPORT_SRD] = {
		.has = TRANSPORT_WRITES | TRANSPORT_READS | TRANSPORT_RELIABLE | TRANSPORT_TWO_WAY,
		.route = ROUTE_SRD,
		.refusal = "SRD supports only sends, reads and writes without notification",
#ifndef HAVE_EFADV
		.unavailable = "SRD needs libefa, and verbmark was built without it; install its "
			       "header infiniband/efadv.h and build again",
#endif
	},
};
// clang-format on

#define TRANSPORT_WORD(name) #name,
const char *const transport_names[] = {TRANSPORT_LIST(TRANSPORT_WORD) NULL};
