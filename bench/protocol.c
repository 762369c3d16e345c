/* SPDX-License-Identifier: MIT */
#include "bench/protocol.h"

#include <errno.h>
#include <string.h>

#include "bench/wire.h"

/* As much as one message may ask a server for. */
#define SIZE_LIMIT (1LL << 30)

json_t *protocol_reason(const char *type, const char *reason)
{
	char text[256];

	/* Names that it quotes may be cut within a character, and JSON is UTF-8. */
	wire_printable(text, sizeof(text), reason);
	return json_pack("{s:s, s:s}", "type", type, "reason", text);
}

json_t *protocol_plain(const char *type)
{
	return json_pack("{s:s}", "type", type);
}

bool protocol_is(const json_t *message, const char *type)
{
	const char *found = json_string_value(json_object_get(message, "type"));

	return found && !strcmp(found, type);
}

int protocol_expect(const json_t *message, const char *type, struct error *error)
{
	const char *reason = json_string_value(json_object_get(message, "reason"));
	char text[200];

	if (protocol_is(message, type))
		return 0;
	wire_printable(text, sizeof(text), reason ? reason : "without a reason");
	if (protocol_is(message, "failed"))
		return error_set(error, -EREMOTEIO, "the server: %s", text);
	if (protocol_is(message, "refused"))
		return error_set(error, -ESHUTDOWN, "the server: %s", text);
	return error_set(error, -EPROTO, "the other end said something else than '%s'", type);
}

json_t *protocol_hello(void)
{
	return json_pack("{s:s, s:i, s:s}", "type", "hello", "protocol", PROTOCOL_NUMBER, "version",
			 VERBMARK_VERSION);
}

int protocol_check_hello(json_t *message, struct error *error)
{
	const char *version;
	json_error_t fault;
	char text[32];
	int number;

	if (!protocol_is(message, "hello") ||
	    json_unpack_ex(message, &fault, 0, "{s:i, s:s}", "protocol", &number, "version",
			   &version))
		return error_set(error, -EPROTO,
				 "this is verbmark, and that was no greeting of it");
	wire_printable(text, sizeof(text), version);
	if (number != PROTOCOL_NUMBER)
		return error_set(error, -EPROTONOSUPPORT,
				 "the client speaks protocol %d (verbmark %s), the server speaks "
				 "%d (%s): upgrade the older one",
				 number, text, PROTOCOL_NUMBER, VERBMARK_VERSION);
	return 0;
}

json_t *protocol_case(const struct plan_case *wanted, const char *address)
{
	return json_pack("{s:s, s:s, s:s, s:I, s:s, s:s, s:s}", "type", "case", "op",
			 wanted->op->name, "metric", "lat", "size", (json_int_t)wanted->size, "cq",
			 plan_mode_name(wanted->cq), "server_cq", plan_mode_name(wanted->server_cq),
			 "address", address);
}

int protocol_read_case(json_t *message, struct plan_case *wanted, const char **address,
		       struct error *error)
{
	const char *op;
	const char *metric;
	const char *cq;
	const char *server_cq;
	json_error_t fault;
	json_int_t size;

	if (json_unpack_ex(message, &fault, 0, "{s:s, s:s, s:I, s:s, s:s, s:s}", "op", &op,
			   "metric", &metric, "size", &size, "cq", &cq, "server_cq", &server_cq,
			   "address", address))
		return error_set(error, -EPROTO, "a malformed case: %s", fault.text);
	*wanted = (struct plan_case){.op = op_find(op), .size = (uint64_t)size};
	if (!wanted->op || strcmp(metric, "lat") != 0)
		return error_set(error, -EOPNOTSUPP, "this server cannot do %.20s/%.20s", op,
				 metric);
	if (size < 1 || size > SIZE_LIMIT)
		return error_set(error, -EINVAL, "a size of %lld is not from 1 to %lld",
				 (long long)size, SIZE_LIMIT);
	if (!plan_find_mode(cq, &wanted->cq) || !plan_find_mode(server_cq, &wanted->server_cq))
		return error_set(error, -EOPNOTSUPP, "this server knows no CQ mode %.20s or %.20s",
				 cq, server_cq);
	return 0;
}

json_t *protocol_done(const struct result_cost *cost)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "type", "done", "messages",
			 (json_int_t)cost->messages, "user_ns", (json_int_t)cost->user_ns,
			 "system_ns", (json_int_t)cost->system_ns, "voluntary_switches",
			 (json_int_t)cost->voluntary_switches, "involuntary_switches",
			 (json_int_t)cost->involuntary_switches, "cq_events",
			 (json_int_t)cost->cq_events, "completions", (json_int_t)cost->completions);
}

int protocol_read_done(json_t *message, struct result_cost *cost, struct error *error)
{
	json_int_t figure[7] = {0};
	json_error_t fault;
	int code = protocol_expect(message, "done", error);

	if (code)
		return code;
	if (json_unpack_ex(message, &fault, 0, "{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "messages",
			   &figure[0], "user_ns", &figure[1], "system_ns", &figure[2],
			   "voluntary_switches", &figure[3], "involuntary_switches", &figure[4],
			   "cq_events", &figure[5], "completions", &figure[6]))
		return error_set(error, -EPROTO, "a malformed report of the server: %s",
				 fault.text);
	*cost = (struct result_cost){.messages = (uint64_t)figure[0],
				     .user_ns = (uint64_t)figure[1],
				     .system_ns = (uint64_t)figure[2],
				     .voluntary_switches = (uint64_t)figure[3],
				     .involuntary_switches = (uint64_t)figure[4],
				     .cq_events = (uint64_t)figure[5],
				     .completions = (uint64_t)figure[6]};
	return 0;
}
