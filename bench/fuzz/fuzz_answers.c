/* SPDX-License-Identifier: MIT */
/*
 * Messages of a server, one per line, as a client reads them. With any input, the client's table
 * can be printed, and its document can be loaded again. The second of several descriptions is used
 * as the client's own.
 */
#include <math.h>
#include <string.h>

#include "bench/control/protocol.h"
#include "bench/fuzz/lines.h"
#include "bench/host/advice/advice.h"
#include "bench/host/device_support.h"
#include "bench/host/inventory.h"
#include "bench/lane/connect.h"
#include "bench/plan/defaults.h"
#include "core/base/address.h"
#include "reports/document/document.h"
#include "reports/document/parse.h"
#include "reports/fuzz/mutate.h"
#include "reports/fuzz/nowhere.h"
#include "reports/table/table.h"

MUTATE_JSON('\n')

/* The maximum of bench/plan/rules.c. */
#define TRIALS_MOST 1000

/* The data received so far. */
struct heard {
	struct result result;
	struct result_case line;
	struct advice_end near;
	struct advice_end far;
	json_t *held; /* owns the data that the other members point to */
};

static void keep(struct heard *heard, const json_t **place, json_t *message, const char *name)
{
	json_array_append(heard->held, message);
	*place = json_object_get(message, name);
}

static void hear_devices(struct heard *heard, json_t *message)
{
	struct device_address address = {.prefix = 24, .interface = "eth0"};
	struct device_port port = {.device = "rxe0",
				   .port = 1,
				   .state = IBV_PORT_ACTIVE,
				   .link_layer = "Ethernet",
				   .rate_mbps = 10000,
				   .active_mtu = 1024,
				   .kind = DEVICE_KIND_RXE,
				   .addresses = &address,
				   .n_addresses = 1};
	const struct device_list local = {.ports = &port, .n_ports = 1};
	struct inventory_wish wish = {.host = "192.168.1.2", .who = "n02"};
	struct result_end *near = &heard->result.client;
	struct result_end *far = &heard->result.server;
	struct device_list remote;
	struct error error = {0};
	int code = inventory_decode(&remote, json_object_get(message, "devices"), &error);

	fuzz_check_error(code, &error);
	if (code)
		return;
	FUZZ_CHECK(address_parse(&address.address, "192.168.1.1"));
	wish.device_port = (uint8_t)json_is_true(json_object_get(message, "port"));
	wish.server_device = json_string_value(json_object_get(message, "wish"));
	wish.is_by_hand = json_is_true(json_object_get(message, "hand"));
	code = inventory_pair(&local, &remote, &wish, near, far, &error);
	fuzz_check_error(code, &error);
	fuzz_check_text(far->device);
	fuzz_check_text(far->address);
	device_list_close(&remote);
}

static void hear_target(json_t *message)
{
	json_t *ports = json_object_get(message, "ports");
	size_t count = json_array_size(ports);
	struct manual_qp_address pair;
	json_t *json;
	size_t i;

	json_array_foreach(json_object_get(message, "pairs"), i, json)
	{
		struct error error = {0};

		fuzz_check_error(lane_read_pair(&pair, json, &error), &error);
	}
	for (unsigned int flow = 0; flow <= count && flow < 64; flow++) {
		struct lane_target target;
		struct error error = {0};
		int code = lane_read_target(&target, message, flow, (unsigned int)count, &error);

		fuzz_check_error(code, &error);
		FUZZ_CHECK(code || (target.port && flow < count));
	}
}

/* Adds a trial of a bidirectional bandwidth case, with made-up results of the client. */
static void hear_done(struct heard *heard, json_t *message)
{
	struct result_case *line = &heard->line;
	struct result_trial trial = {.messages = 1000, .duration_ns = 10000000};
	struct rate_windows *windows;
	struct receivers receivers = {0};
	struct protocol_done done;
	struct error error = {0};
	int code = protocol_read_done(message, "n02", &done, &error);

	fuzz_check_error(code, &error);
	error = (struct error){0};
	fuzz_check_error(protocol_read_receivers(message, "n02", &receivers, 3, &error), &error);
	receivers_close(&receivers);
	error = (struct error){0};
	if (code || line->n_trials == TRIALS_MOST)
		return;
	trial.server = done.cost;
	trial.messages_per_s = 1e5;
	trial.bytes_per_s = 1e5 * (double)line->size;
	trial.has_far = done.driven >= 0;
	if (trial.has_far)
		trial.far_messages_per_s = done.driven * 1e9 / (double)trial.duration_ns;
	trial.sent = 1100;
	trial.lost = trial.sent > done.arrived ? trial.sent - done.arrived : 0;
	for (size_t i = 0; i < STATISTICS; i++)
		trial.latency[i] = (double)NAN;
	line->server_place = protocol_read_place(message);
	line->server_chosen = protocol_read_chosen(message);
	windows = malloc(sizeof(*windows));
	FUZZ_CHECK(windows);
	rate_windows_init(windows, 10000000);
	rate_windows_add(windows, 0, 1000);
	rate_windows_finish(windows, 10000000);
	FUZZ_CHECK(!result_add_trial(line, &trial, NULL, windows, &error));
	line->status = RESULT_COMPLETE;
	free(windows);
}

static void hear_facts(struct heard *heard, json_t *message)
{
	struct parameters parameters = parameters_default();
	bool is_near = heard->far.facts != NULL;
	struct advice_end *end = is_near ? &heard->near : &heard->far;
	struct result_end *told = is_near ? &heard->result.client : &heard->result.server;
	const struct operation *op = &operations[parameters.op];
	struct device_support capacity;
	struct limits limits;
	struct error error = {0};

	keep(heard, &end->facts, message, "facts");
	keep(heard, &end->before, message, "noise");
	json_decref(told->facts);
	told->facts = json_incref(json_object_get(message, "facts"));
	fingerprint_hard(told->facts, told->fingerprint);
	device_support_read(&capacity, told, true, "n02");
	defaults_choose(op, &parameters);
	limits = lane_limits(&parameters, &op->shape, true);
	fuzz_check_error(device_support_check(&capacity, op, &parameters, &limits, &error), &error);
}

static void hear_note(struct heard *heard, json_t *message)
{
	json_t *counters = json_object_get(message, "counters");
	json_t *sum = NULL;

	keep(heard, &heard->far.after, message, "noise");
	if (!json_is_object(counters))
		return;
	if (!heard->line.counters)
		heard->line.counters = json_object();
	sum = json_incref(json_object_get(heard->line.counters, "server"));
	result_add_counters(&sum, counters);
	heard->far.counters = sum;
	json_object_set_new(heard->line.counters, "server", sum);
}

static void hear(struct heard *heard, json_t *message)
{
	struct error error = {0};
	int code = protocol_expect(message, "ready", "n02", &error);

	fuzz_check_error(code, &error);
	if (protocol_is(message, "welcome"))
		hear_devices(heard, message);
	else if (protocol_is(message, "listening"))
		hear_target(message);
	else if (protocol_is(message, "done"))
		hear_done(heard, message);
	else if (protocol_is(message, "description"))
		hear_facts(heard, message);
	else if (protocol_is(message, "noted"))
		hear_note(heard, message);
	else if (code)
		snprintf(heard->line.error, sizeof(heard->line.error), "%s", error.text);
}

static void check_warnings(const json_t *warnings)
{
	const json_t *finding;
	const char *key;
	json_t *value;
	size_t i;

	json_array_foreach(warnings, i, finding) json_object_foreach(
		(json_t *)(uintptr_t)finding, key, value) if (json_is_string(value))
		fuzz_check_text(json_string_value(value));
}

/* Makes all outputs of the client. */
static void show(struct heard *heard)
{
	struct result *result = &heard->result;
	struct error error = {0};
	struct result again;
	struct table table;
	json_t *document;

	result->warnings = advice_make(&heard->near, &heard->far);
	check_warnings(result->warnings);
	table_open(&table, &(struct terminal){.out = nowhere()}, NULL, result);
	table_line(&table, result->cases);
	table_foot(&table);
	document = document_make(result);
	if (parse_document(&again, document, &error)) {
		fprintf(stderr, "%s\n", error.text);
		FUZZ_CHECK(!"our own document is rejected");
	}
	result_finish(&again);
	json_decref(document);
}

static void begin(struct heard *heard)
{
	heard->held = json_array();
	heard->result = (struct result){
		.version = "0.1.0",
		.started = "2026-01-02T03:04:05Z",
		.finished = "2026-01-02T03:04:06Z",
		.clock = "tsc",
		.clock_hz = 1000000000,
		.command = json_array(),
		.client = {.host = "n01", .link_layer = "Ethernet"},
		.server = {.host = "n02", .link_layer = "Ethernet"},
		.cases = &heard->line,
		.n_cases = 1
        };
	heard->line = (struct result_case){.id = "write/bw/64/poll",
					   .op = "write",
					   .metric = "bw",
					   .cq = "poll",
					   .server_cq = "poll",
					   .transport = "RC",
					   .size = 64,
					   .parameters = json_object(),
					   .client_place = {.numa_node = -1},
					   .server_place = {.numa_node = -1}};
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const uint8_t *end = bytes + size;
	struct heard heard = {0};
	bool has_heard = false;

	begin(&heard);
	while (bytes < end) {
		json_t *message = lines_next(&bytes, end);

		if (!message)
			continue;
		hear(&heard, message);
		has_heard = true;
		json_decref(message);
	}
	if (has_heard)
		show(&heard);
	heard.result.cases = NULL;
	heard.result.n_cases = 0;
	result_drop_trials(&heard.line);
	json_decref(heard.line.parameters);
	json_decref(heard.line.counters);
	free(heard.line.text);
	result_finish(&heard.result);
	json_decref(heard.held);
	return 0;
}
