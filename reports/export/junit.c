/* SPDX-License-Identifier: MIT */
/*
 * JUnit XML for CI servers: a suite for each result, a test for each case. A failed case is a
 * failure, an interrupted one an error. Figures are properties of the suite, because tests cannot
 * have any: "send/lat/64/poll p50_ns".
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/export/export.h"
#include "reports/export/junit_suite.h"
#include "reports/export/xml.h"
#include "reports/finding/bounded.h"
#include "reports/io/json_member.h"
#include "reports/result/banner.h"

struct state {
	struct export_text text;
	size_t n_suites;
};

static void *open_junit(const struct export_choice *choice)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	if (export_text_open(&state->text)) {
		free(state);
		return NULL;
	}
	junit_begin(state->text.out);
	return state;
}

static void close_junit(void *owner)
{
	struct state *state = owner;

	if (!state)
		return;
	export_text_close(&state->text);
	free(state);
}

/* Prints a property of a case; its name starts with the id. */
static void print_property(FILE *out, const struct result_case *line, const char *key,
			   const char *value)
{
	char name[CASE_ID + 32];

	snprintf(name, sizeof(name), "%s %s", line->id, key);
	junit_property(out, name, value);
}

static void print_figure(FILE *out, const struct result_case *line, const char *key, double value)
{
	char text[32];

	if (!isfinite(value))
		return;
	snprintf(text, sizeof(text), "%.15g", value);
	print_property(out, line, key, text);
}

static void print_figures(FILE *out, const struct result_case *line)
{
	struct bounded figure;
	struct bounded rate;

	for (size_t i = 0; i < STATISTICS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s_ns", statistics[i].key);
		print_figure(out, line, name, result_statistic(line, i));
		if (strcmp(statistics[i].key, "p50") != 0)
			continue;
		bounded_latency(&figure, line, "p50");
		print_figure(out, line, "p50_low_ns", figure.low);
		print_figure(out, line, "p50_high_ns", figure.high);
	}
	if (result_has_latency(line))
		print_property(out, line, "kind", result_kind_name(line->kind));
	bounded_rate(&rate, line);
	figure = rate;
	bounded_scale(&figure, (double)line->size);
	print_figure(out, line, "bytes_per_s", figure.value);
	print_figure(out, line, "bytes_per_s_low", figure.low);
	print_figure(out, line, "bytes_per_s_high", figure.high);
	print_figure(out, line, "messages_per_s", rate.value);
	print_figure(out, line, "messages", (double)line->messages);
	print_figure(out, line, "trials", (double)line->n_trials);
}

static void print_case(FILE *out, const struct result_case *line)
{
	const char *status = result_status_name(line->status);
	const char *message = line->error[0] ? line->error : status;
	char class_name[64];

	snprintf(class_name, sizeof(class_name), "%s.%s", line->op, line->metric);
	junit_open_test(out, line->id, class_name, line->duration_ns);
	switch (line->status) {
	case RESULT_COMPLETE:
		break;
	case RESULT_FAILED:
		junit_ending(out, "failure", message, status);
		break;
	case RESULT_INTERRUPTED:
		junit_ending(out, "error", message, status);
		break;
	case RESULT_SKIPPED:
		junit_ending(out, "skipped", message, NULL);
		break;
	}
	junit_close_test(out);
}

static void print_end(FILE *out, const char *name, const struct result_end *end)
{
	char text[160];

	snprintf(text, sizeof(text), "%s %s/%u", end->host, end->device, end->port);
	junit_property(out, name, text);
}

/* Imported results have at most one side, and only its device. */
static void print_ends(FILE *out, const struct result *result)
{
	if (!result->imported) {
		print_end(out, "client", &result->client);
		print_end(out, "server", &result->server);
		return;
	}
	junit_property(out, "imported", json_member_or_empty(result->imported, "format"));
	if (result->client.device[0])
		junit_property(out, "client", result->client.device);
	if (result->server.device[0])
		junit_property(out, "server", result->server.device);
}

static void open_suite(FILE *out, const struct result *result, const char *name, size_t number)
{
	struct junit_suite suite = {
		.name = name,
		.number = number,
		.started = result->started,
		.finished = result->finished,
		.host = result->client.host,
		.tests = result->n_cases,
	};

	for (size_t i = 0; i < result->n_cases; i++) {
		suite.failures += result->cases[i].status == RESULT_FAILED;
		suite.errors += result->cases[i].status == RESULT_INTERRUPTED;
		suite.skipped += result->cases[i].status == RESULT_SKIPPED;
	}
	junit_open_suite(out, &suite);
}

static void print_properties(FILE *out, const struct result *result)
{
	junit_property(out, "verbmark", result->version);
	junit_property(out, "status", result_status_name(result->status));
	print_ends(out, result);
	if (banner_of(result))
		junit_property(out, "device", banner_of(result));
	for (size_t i = 0; i < result->n_cases; i++)
		if (result->cases[i].status == RESULT_COMPLETE && result->cases[i].n_trials)
			print_figures(out, &result->cases[i]);
}

static int add_junit(void *owner, const struct result *result, const char *name,
		     struct error *error)
{
	struct state *state = owner;
	FILE *out = state->text.out;

	open_suite(out, result, name, state->n_suites++);
	print_properties(out, result);
	junit_open_tests(out);
	for (size_t i = 0; i < result->n_cases; i++)
		print_case(out, &result->cases[i]);
	junit_open_output(out);
	if (banner_of(result))
		xml_print(out, banner_of(result));
	junit_close_suite(out);
	return ferror(out) ? export_no_memory(error) : 0;
}

static int finish_junit(void *owner, char **text, struct error *error)
{
	struct state *state = owner;

	junit_end(state->text.out);
	*text = export_text_take(&state->text);
	return *text ? 0 : export_no_memory(error);
}

const struct export_format export_junit = {
	.name = "junit",
	.has_banner = true,
	.open = open_junit,
	.add = add_junit,
	.finish = finish_junit,
	.close = close_junit,
};
