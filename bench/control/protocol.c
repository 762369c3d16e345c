/* SPDX-License-Identifier: MIT */
#include "bench/control/protocol.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "bench/plan/defaults.h"
#include "bench/plan/memory_name.h"
#include "bench/plan/rules.h"
#include "core/base/clock.h"
#include "core/base/printable.h"

json_t *protocol_reason(const char *type, const char *reason)
{
	char text[256];

	/* A quoted name may be cut inside a character, and JSON must be UTF-8. */
	printable_copy(text, sizeof(text), reason);
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

json_t *protocol_refusal(const char *reason)
{
	json_t *message = protocol_reason("refused", reason);

	json_object_set_new(message, "protocol", json_integer(PROTOCOL_NUMBER));
	json_object_set_new(message, "version", json_string(VERBMARK_VERSION));
	return message;
}

/* Turns a refusal into an error. If the peer has another protocol, says which end to upgrade. */
static int refused(const json_t *message, const char *who, const char *reason, struct error *error)
{
	const json_t *protocol = json_object_get(message, "protocol");
	const char *version = json_string_value(json_object_get(message, "version"));
	json_int_t number = json_integer_value(protocol);
	char text[32];

	if (!json_is_integer(protocol) || number == PROTOCOL_NUMBER || !version)
		return error_set(error, -ESHUTDOWN, "%s: %s", who, reason);
	printable_copy(text, sizeof(text), version);
	return error_set(error, -ESHUTDOWN,
			 "%s speaks protocol %" JSON_INTEGER_FORMAT
			 " (verbmark %s), this host speaks %d "
			 "(%s): upgrade %s",
			 who, number, text, PROTOCOL_NUMBER, VERBMARK_VERSION,
			 number < PROTOCOL_NUMBER ? who : "this host");
}

int protocol_expect(const json_t *message, const char *type, const char *who, struct error *error)
{
	const char *reason = json_string_value(json_object_get(message, "reason"));
	char text[200];

	if (protocol_is(message, type))
		return 0;
	printable_copy(text, sizeof(text), reason ? reason : "no reason given");
	if (protocol_is(message, "failed"))
		return error_set(error,
				 json_is_true(json_object_get(message, "unsupported"))
					 ? PROTOCOL_UNSUPPORTED
					 : -EREMOTEIO,
				 "%s: %s", who, text);
	if (protocol_is(message, "refused"))
		return refused(message, who, text, error);
	return error_set(error, -EPROTO, "%s sent an unexpected message instead of '%s'", who,
			 type);
}

json_t *protocol_hello(const char *nonce)
{
	return json_pack("{s:s, s:i, s:s, s:s*}", "type", "hello", "protocol", PROTOCOL_NUMBER,
			 "version", VERBMARK_VERSION, "nonce", nonce);
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
		return error_set(error, -EPROTO, "unexpected greeting: this is a verbmark server");
	printable_copy(text, sizeof(text), version);
	if (number != PROTOCOL_NUMBER)
		return error_set(error, -EPROTONOSUPPORT,
				 "the client speaks protocol %d (verbmark %s), the server speaks "
				 "%d (%s): upgrade the older one",
				 number, text, PROTOCOL_NUMBER, VERBMARK_VERSION);
	return 0;
}

json_t *protocol_describe(const struct result_end *server)
{
	return json_pack("{s:s, s:s, s:i}", "type", "describe", "device", server->device, "port",
			 (int)server->port);
}

json_t *protocol_note(bool with_noise)
{
	return json_pack("{s:s, s:b}", "type", "note", "noise", with_noise);
}

bool protocol_is_noise_wanted(const json_t *note)
{
	return !json_is_false(json_object_get(note, "noise"));
}

/* The name becomes part of a path: it must not leave its folder, or be longer than any device's. */
static bool is_name(const char *device)
{
	return !strchr(device, '/') && device[0] != '.' && strlen(device) < PROTOCOL_DEVICE_NAME;
}

int protocol_read_describe(json_t *message, struct protocol_describe *asked, struct error *error)
{
	const char *device;
	int port;

	if (json_unpack(message, "{s:s, s:i}", "device", &device, "port", &port) || port < 0 ||
	    !is_name(device))
		return error_set(error, -EPROTO, "malformed 'describe' message");
	*asked = (struct protocol_describe){device, (unsigned int)port};
	return 0;
}

/* Returns NULL if there is no memory. */
static json_t *encode(const struct parameters *wanted)
{
	json_t *object = json_object();

	if (object && parameters_encode(wanted, object)) {
		json_decref(object);
		object = NULL;
	}
	return object;
}

json_t *protocol_case(const struct parameters *wanted, const struct result_end *server)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:o}", "type", "case", "address", server->address,
			 "device", server->device, "port", (int)server->port, "parameters",
			 encode(wanted));
}

/* Decodes parameters and fills in defaults. verbmark's own clients send only valid ones. */
static int decode(json_t *object, const struct operation **op, struct parameters *parameters,
		  struct error *error)
{
	const char *refusal;
	int code;

	if (!json_is_object(object))
		return error_set(error, -EPROTO,
				 "malformed case: its parameters are not an object");
	*parameters = parameters_default();
	code = parameters_decode(parameters, object, error);
	if (code)
		return error_wrap(error, "this server cannot run the case");
	*op = &operations[parameters->op];
	defaults_choose(*op, parameters);
	refusal = rules_refuse(*op, parameters);
	return refusal ? error_set(error, -EOPNOTSUPP, "%s", refusal) : 0;
}

int protocol_read_case(json_t *message, struct protocol_case *wanted, struct error *error)
{
	json_error_t fault;
	json_t *object;
	int port;

	*wanted = (struct protocol_case){.parameters = parameters_default()};
	if (json_unpack_ex(message, &fault, 0, "{s:s, s:s, s:i, s:o}", "address", &wanted->address,
			   "device", &wanted->device, "port", &port, "parameters", &object))
		return error_set(error, -EPROTO, "malformed case: %s", fault.text);
	if (!wanted->device[0] || !is_name(wanted->device))
		return error_set(error, -EPROTO, "malformed case: invalid device name");
	if (port < 1 || port > UINT8_MAX)
		return error_set(error, -EPROTO, "malformed case: invalid device port %d", port);
	wanted->port = (unsigned int)port;
	return decode(object, &wanted->op, &wanted->parameters, error);
}

void protocol_release_case(const struct protocol_case *wanted)
{
	memory_name_release(wanted->parameters.memory);
	memory_name_release(wanted->parameters.server_memory);
}

json_t *protocol_failure(const struct error *fault)
{
	json_t *message = protocol_reason("failed", fault->text);

	if (fault->code == -EOPNOTSUPP)
		json_object_set_new(message, "unsupported", json_true());
	return message;
}

json_t *protocol_stop(const struct protocol_stop *stop)
{
	return json_pack("{s:s, s:I, s:I, s:b}", "type", "stop", "from_ns",
			 (json_int_t)stop->from_ns, "until_ns", (json_int_t)stop->until_ns, "next",
			 stop->has_next);
}

struct protocol_stop protocol_read_stop(const json_t *message)
{
	json_int_t from = json_integer_value(json_object_get(message, "from_ns"));
	json_int_t until = json_integer_value(json_object_get(message, "until_ns"));
	bool has_next = json_is_true(json_object_get(message, "next"));

	if (until < 0 || from < until)
		return (struct protocol_stop){.has_next = has_next};
	return (struct protocol_stop){(uint64_t)from, (uint64_t)until, has_next};
}

json_t *protocol_done(const struct protocol_done *done)
{
	const struct result_cost *cost = &done->cost;
	json_t *message = json_pack(
		"{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "type", "done", "elapsed_ns",
		(json_int_t)done->elapsed_ns, "messages", (json_int_t)cost->messages, "user_ns",
		(json_int_t)cost->user_ns, "system_ns", (json_int_t)cost->system_ns,
		"voluntary_switches", (json_int_t)cost->voluntary_switches, "involuntary_switches",
		(json_int_t)cost->involuntary_switches, "cq_events", (json_int_t)cost->cq_events,
		"completions", (json_int_t)cost->completions, "arrived", (json_int_t)done->arrived);

	if (done->driven >= 0)
		json_object_set_new(message, "driven", json_real(done->driven));
	if (done->has_next)
		json_object_set_new(message, "next", json_true());
	return message;
}

/* A thousand trials of this value still add up to a valid JSON integer. */
#define FIGURE_MOST ((json_int_t)1 << 53)

static bool are_figures(const json_int_t *figures, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (figures[i] < 0 || figures[i] > FIGURE_MOST)
			return false;
	return true;
}

int protocol_read_done(json_t *message, const char *who, struct protocol_done *done,
		       struct error *error)
{
	json_int_t figure[9] = {0};
	const json_t *driven;
	json_error_t fault;
	int code = protocol_expect(message, "done", who, error);

	if (code)
		return code;
	if (json_unpack_ex(message, &fault, 0, "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			   "messages", &figure[0], "user_ns", &figure[1], "system_ns", &figure[2],
			   "voluntary_switches", &figure[3], "involuntary_switches", &figure[4],
			   "cq_events", &figure[5], "completions", &figure[6], "elapsed_ns",
			   &figure[7], "arrived", &figure[8]))
		return error_set(error, -EPROTO, "%s: malformed 'done' message: %s", who,
				 fault.text);
	driven = json_object_get(message, "driven");
	if (!are_figures(figure, 9) || json_number_value(driven) > (double)FIGURE_MOST)
		return error_set(error, -EPROTO, "%s: 'done' message has a value out of range",
				 who);
	done->cost = (struct result_cost){.messages = (uint64_t)figure[0],
					  .user_ns = (uint64_t)figure[1],
					  .system_ns = (uint64_t)figure[2],
					  .voluntary_switches = (uint64_t)figure[3],
					  .involuntary_switches = (uint64_t)figure[4],
					  .cq_events = (uint64_t)figure[5],
					  .completions = (uint64_t)figure[6]};
	done->elapsed_ns = (uint64_t)figure[7];
	done->driven = json_is_number(driven) ? json_number_value(driven) : -1;
	done->has_next = json_is_true(json_object_get(message, "next"));
	done->arrived = (uint64_t)figure[8];
	return 0;
}

void protocol_add_place(json_t *done, const struct result_place *place)
{
	json_t *encoded = json_pack("{s:s}", "cpus", place->cpus);

	if (place->numa_node >= 0)
		json_object_set_new(encoded, "numa_node", json_integer(place->numa_node));
	json_object_set_new(done, "placement", encoded);
}

struct result_place protocol_read_place(const json_t *done)
{
	const json_t *encoded = json_object_get(done, "placement");
	const char *cpus = json_string_value(json_object_get(encoded, "cpus"));
	const json_t *node = json_object_get(encoded, "numa_node");
	struct result_place place = {.numa_node = -1};

	printable_copy(place.cpus, sizeof(place.cpus), cpus ? cpus : "");
	if (json_is_integer(node) && json_integer_value(node) >= 0 &&
	    json_integer_value(node) <= INT_MAX)
		place.numa_node = (int)json_integer_value(node);
	return place;
}

void protocol_add_receiver(json_t *done, uint64_t arrived)
{
	if (!json_object_get(done, "receivers"))
		json_object_set_new(done, "receivers", json_array());
	json_array_append_new(json_object_get(done, "receivers"),
			      json_integer((json_int_t)arrived));
}

int protocol_read_receivers(const json_t *done, const char *who, struct receivers *receivers,
			    size_t count, struct error *error)
{
	const json_t *list = json_object_get(done, "receivers");
	int code = 0;

	if (json_array_size(list) != count)
		return error_set(error, -EPROTO,
				 "%s: 'done' message has %zu receivers instead of %zu", who,
				 json_array_size(list), count);
	code = receivers_open(receivers, count, error);
	for (size_t i = 0; i < count && !code; i++) {
		json_int_t arrived = json_integer_value(json_array_get(list, i));

		if (!are_figures(&arrived, 1))
			return error_set(error, -EPROTO,
					 "%s: 'done' message has a value out of range", who);
		receivers->receiver[i].arrived = (uint64_t)arrived;
	}
	return code;
}

void protocol_add_chosen(json_t *done, const struct effective *chosen)
{
	json_t *encoded = effective_encode(chosen);

	if (encoded)
		json_object_set_new(done, "chosen", encoded);
}

struct effective protocol_read_chosen(const json_t *done)
{
	struct error ignored = {0};
	struct effective chosen;

	effective_decode(&chosen, json_object_get(done, "chosen"), &ignored);
	return chosen;
}
