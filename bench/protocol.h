/* SPDX-License-Identifier: MIT */
/*
 * What client and server say to each other on the control connection:
 *
 *	client				server
 *	hello (protocol, version)	welcome (version, host, devices), or refused
 *	case (what to run, address)	listening (address, port), or failed
 *	  both connect by RDMA		ready, or failed
 *	  the client measures
 *	stop				done (cost), or failed
 *	and so on with the next case
 *
 * A failed may come at any time during a case and ends it; a refused may come at any
 * time and ends everything. Only the protocol's number must match; the versions of
 * the tool may differ.
 */
#ifndef BENCH_PROTOCOL_H
#define BENCH_PROTOCOL_H

#include <jansson.h>

#include "bench/plan.h"

#define PROTOCOL_NUMBER 1

/* {"type": type} with a reason; of any type. */
json_t *protocol_reason(const char *type, const char *reason);

/* {"type": type} and nothing else. */
json_t *protocol_plain(const char *type);

bool protocol_is(const json_t *message, const char *type);

/*
 * The message must be of that type. Failed (-EREMOTEIO) and refused (-ESHUTDOWN)
 * become errors with their reason.
 */
int protocol_expect(const json_t *message, const char *type, struct error *error);

json_t *protocol_hello(void);
int protocol_check_hello(json_t *message, struct error *error);

/* address: the one of the server's device to listen on. */
json_t *protocol_case(const struct plan_case *wanted, const char *address);

/* *address is the message's own. */
int protocol_read_case(json_t *message, struct plan_case *wanted, const char **address,
		       struct error *error);

json_t *protocol_done(const struct result_cost *cost);
int protocol_read_done(json_t *message, struct result_cost *cost, struct error *error);

#endif
