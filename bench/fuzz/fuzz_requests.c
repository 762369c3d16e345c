/* SPDX-License-Identifier: MIT */
/*
 * Messages of a client, one per line, as a server reads them. The answer to a rejected message is
 * one that the client can read and show.
 */
#include <errno.h>
#include <string.h>

#include "bench/control/protocol.h"
#include "bench/fuzz/lines.h"
#include "bench/host/device_support.h"
#include "bench/lane/connect.h"
#include "bench/plan/pin.h"
#include "bench/plan/rules.h"
#include "reports/fuzz/mutate.h"

MUTATE_JSON('\n')

/* Checks that a client can read the answer. */
static void check_answer(json_t *answer, const char *type)
{
	struct error error = {0};
	size_t length;
	uint8_t *frame = frame_encode(answer, &length);
	int code;

	FUZZ_CHECK(frame);
	code = protocol_expect(answer, "ready", "n02", &error);
	fuzz_check_error(code, &error);
	FUZZ_CHECK(code && protocol_is(answer, type) && !protocol_expect(answer, type, "", NULL));
	free(frame);
	json_decref(answer);
}

static void try_hello(json_t *message)
{
	struct error error = {0};
	int code = protocol_check_hello(message, &error);

	fuzz_check_error(code, &error);
	if (code)
		check_answer(protocol_refusal(error.text), "refused");
}

static void try_describe(json_t *message)
{
	struct protocol_describe asked;
	struct error error = {0};
	int code = protocol_read_describe(message, &asked, &error);

	fuzz_check_error(code, &error);
	FUZZ_CHECK(code || (!strchr(asked.device, '/') && strcmp(asked.device, "..") != 0 &&
			    asked.port <= INT32_MAX));
}

static void try_stop(json_t *message)
{
	struct protocol_stop stop = protocol_read_stop(message);
	json_t *again = protocol_stop(&stop);
	struct protocol_stop same = protocol_read_stop(again);

	FUZZ_CHECK(stop.from_ns >= stop.until_ns);
	FUZZ_CHECK(same.from_ns == stop.from_ns && same.until_ns == stop.until_ns);
	json_decref(again);
}

static void try_pairs(json_t *message)
{
	json_t *json;
	size_t i;

	json_array_foreach(json_object_get(message, "pairs"), i, json)
	{
		struct manual_qp_address pair;
		struct error error = {0};

		fuzz_check_error(lane_read_pair(&pair, json, &error), &error);
	}
}

/* The CPUs of several threads can be printed and parsed again. */
static void check_pin(uint64_t value)
{
	uint64_t again;
	char text[64];

	pin_print(value, text, sizeof(text));
	FUZZ_CHECK(pin_parse(text, &again) && again == value);
}

static void check_values(const struct parameters *from)
{
	for (size_t i = 0; i < PARAMETERS; i++) {
		const struct parameter *parameter = &parameter_table[i];
		uint64_t value = parameter_get(from, parameter);

		if (value == PARAMETER_AUTO || value == PARAMETER_OFF ||
		    parameter->type == PARAMETER_MEMORY ||
		    (parameter->type == PARAMETER_PIN && value == PARAMETER_FAR))
			continue;
		if (parameter->type == PARAMETER_WORD ||
		    (parameter->type == PARAMETER_ACCESS && value < ACCESS_STRIDE))
			FUZZ_CHECK(value < parameter->option.values.count);
		else if (parameter->type == PARAMETER_PIN && value > parameter->most)
			check_pin(value);
		else
			FUZZ_CHECK(value >= parameter->least && value <= parameter->most);
	}
}

/* A case is the same after encoding and decoding it again. */
static void check_again(const struct protocol_case *wanted)
{
	struct protocol_case again;
	struct result_end end = {.port = wanted->port};
	struct error error = {0};
	json_t *message;

	snprintf(end.device, sizeof(end.device), "%s", wanted->device);
	message = protocol_case(&wanted->parameters, &end);
	FUZZ_CHECK(message && !protocol_read_case(message, &again, &error));
	FUZZ_CHECK(again.op == wanted->op && again.port == wanted->port);
	FUZZ_CHECK(!strcmp(again.device, wanted->device) && !strchr(wanted->device, '/'));
	FUZZ_CHECK(!memcmp(&again.parameters, &wanted->parameters, sizeof(again.parameters)));
	protocol_release_case(&again);
	json_decref(message);
}

static void try_case(json_t *message)
{
	/* A device without known limits, which therefore supports everything. */
	const struct result_end end = {.device = "rxe0", .port = 1};
	struct device_support capacity;
	struct limits limits;
	struct protocol_case wanted;
	struct error error = {0};
	int code = protocol_read_case(message, &wanted, &error);

	fuzz_check_error(code, &error);
	try_pairs(message);
	if (code) {
		check_answer(protocol_failure(&error), "failed");
		protocol_release_case(&wanted);
		return;
	}
	check_values(&wanted.parameters);
	check_again(&wanted);
	device_support_read(&capacity, &end, true, "the server");
	limits = lane_limits(&wanted.parameters, &wanted.op->shape, true);
	code = device_support_check(&capacity, wanted.op, &wanted.parameters, &limits, &error);
	fuzz_check_error(code, &error);
	protocol_release_case(&wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const uint8_t *end = bytes + size;

	while (bytes < end) {
		json_t *message = lines_next(&bytes, end);

		if (!message)
			continue;
		if (protocol_is(message, "describe"))
			try_describe(message);
		else if (protocol_is(message, "stop"))
			try_stop(message);
		else if (protocol_is(message, "case"))
			try_case(message);
		else
			try_hello(message);
		json_decref(message);
	}
	return 0;
}
