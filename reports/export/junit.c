/* SPDX-License-Identifier: MIT */
/*
 * JUnit XML for CI servers: a suite for each result, a test for each case. A failed case is a
 * failure, an interrupted one an error. Figures are properties, named as in CSV with the unit.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/export/export.h"
#include "reports/export/xml.h"
#include "reports/finding/bounded.h"
#include "reports/io/json_member.h"
#include "reports/result/banner.h"

struct count {
	size_t tests;
	size_t failures;
	size_t errors;
	size_t skipped;
	uint64_t duration_ns;
};

struct state {
	struct export_text suites;
	struct count count;
};

static void *open_junit(const struct export_choice *choice)
{
	struct state *state = calloc(1, sizeof(*state));

	if (state && export_text_open(&state->suites)) {
		free(state);
		return NULL;
	}
	return state;
}

static void close_junit(void *owner)
{
	struct state *state = owner;

	if (!state)
		return;
	export_text_close(&state->suites);
	free(state);
}

static void print_property(FILE *out, const char *name, const char *value)
{
	fputs("<property", out);
	xml_attribute(out, "name", name);
	xml_attribute(out, "value", value);
	fputs("/>\n", out);
}

static void print_figure(FILE *out, const char *name, double value)
{
	char text[32];

	if (!isfinite(value))
		return;
	snprintf(text, sizeof(text), "%.15g", value);
	print_property(out, name, text);
}

static void print_figures(FILE *out, const struct result_case *line)
{
	struct bounded figure;
	struct bounded rate;

	fputs("<properties>\n", out);
	for (size_t i = 0; i < STATISTICS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s_ns", statistics[i].key);
		print_figure(out, name, result_statistic(line, i));
		if (strcmp(statistics[i].key, "p50") != 0)
			continue;
		bounded_latency(&figure, line, "p50");
		print_figure(out, "p50_low_ns", figure.low);
		print_figure(out, "p50_high_ns", figure.high);
	}
	if (result_has_latency(line))
		print_property(out, "kind", result_kind_name(line->kind));
	bounded_rate(&rate, line);
	figure = rate;
	bounded_scale(&figure, (double)line->size);
	print_figure(out, "bytes_per_s", figure.value);
	print_figure(out, "bytes_per_s_low", figure.low);
	print_figure(out, "bytes_per_s_high", figure.high);
	print_figure(out, "messages_per_s", rate.value);
	print_figure(out, "messages", (double)line->messages);
	print_figure(out, "trials", (double)line->n_trials);
	fputs("</properties>\n", out);
}

/* Prints the status of a case that did not complete. */
static void print_ending(FILE *out, const char *element, const struct result_case *line)
{
	const char *status = result_status_name(line->status);

	fprintf(out, "<%s", element);
	xml_attribute(out, "message", line->error[0] ? line->error : status);
	if (line->status != RESULT_SKIPPED)
		xml_attribute(out, "type", status);
	fputs("/>\n", out);
}

static void print_case(FILE *out, const struct result_case *line)
{
	fputs("<testcase", out);
	xml_attribute(out, "name", line->id);
	fputs(" classname=\"", out);
	xml_print(out, line->op);
	fputc('.', out);
	xml_print(out, line->metric);
	fprintf(out, "\" time=\"%.6f\">\n", (double)line->duration_ns / 1e9);
	switch (line->status) {
	case RESULT_COMPLETE:
		if (line->n_trials)
			print_figures(out, line);
		break;
	case RESULT_FAILED:
		print_ending(out, "failure", line);
		break;
	case RESULT_INTERRUPTED:
		print_ending(out, "error", line);
		break;
	case RESULT_SKIPPED:
		print_ending(out, "skipped", line);
		break;
	}
	fputs("</testcase>\n", out);
}

static void add_count(struct count *into, const struct count *from)
{
	into->tests += from->tests;
	into->failures += from->failures;
	into->errors += from->errors;
	into->skipped += from->skipped;
	into->duration_ns += from->duration_ns;
}

static struct count count_cases(const struct result *result)
{
	struct count count = {.tests = result->n_cases};

	for (size_t i = 0; i < result->n_cases; i++) {
		count.failures += result->cases[i].status == RESULT_FAILED;
		count.errors += result->cases[i].status == RESULT_INTERRUPTED;
		count.skipped += result->cases[i].status == RESULT_SKIPPED;
		count.duration_ns += result->cases[i].duration_ns;
	}
	return count;
}

static void print_count(FILE *out, const struct count *count)
{
	fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.6f\"",
		count->tests, count->failures, count->errors, count->skipped,
		(double)count->duration_ns / 1e9);
}

static void print_end(FILE *out, const char *name, const struct result_end *end)
{
	char text[160];

	snprintf(text, sizeof(text), "%s %s/%u", end->host, end->device, end->port);
	print_property(out, name, text);
}

/* Imported results have at most one side, and only its device. */
static void print_ends(FILE *out, const struct result *result)
{
	if (!result->imported) {
		print_end(out, "client", &result->client);
		print_end(out, "server", &result->server);
		return;
	}
	print_property(out, "imported", json_member_or_empty(result->imported, "format"));
	if (result->client.device[0])
		print_property(out, "client", result->client.device);
	if (result->server.device[0])
		print_property(out, "server", result->server.device);
}

/* JUnit timestamps have no time zone; ours are UTC. */
static void print_suite(FILE *out, const struct result *result, const char *name,
			const struct count *count)
{
	char time[sizeof(result->started)];

	memcpy(time, result->started, sizeof(time));
	time[strcspn(time, "Z")] = '\0';
	fputs("<testsuite", out);
	xml_attribute(out, "name", name);
	print_count(out, count);
	/* The start time of imported results may be unknown. */
	if (time[0])
		xml_attribute(out, "timestamp", time);
	if (result->client.host[0])
		xml_attribute(out, "hostname", result->client.host);
	fputs(">\n<properties>\n", out);
	print_property(out, "verbmark", result->version);
	print_property(out, "status", result_status_name(result->status));
	print_ends(out, result);
	if (banner_of(result))
		print_property(out, "device", banner_of(result));
	fputs("</properties>\n", out);
}

static int add_junit(void *owner, const struct result *result, const char *name,
		     struct error *error)
{
	struct state *state = owner;
	struct count count = count_cases(result);
	FILE *out = state->suites.out;

	print_suite(out, result, name, &count);
	for (size_t i = 0; i < result->n_cases; i++)
		print_case(out, &result->cases[i]);
	if (banner_of(result)) {
		fputs("<system-out>", out);
		xml_print(out, banner_of(result));
		fputs("</system-out>\n", out);
	}
	fputs("</testsuite>\n", out);
	add_count(&state->count, &count);
	return ferror(out) ? export_no_memory(error) : 0;
}

static int finish_junit(void *owner, char **text, struct error *error)
{
	struct state *state = owner;
	char *suites = export_text_take(&state->suites);
	struct export_text made = {0};

	*text = NULL;
	if (suites && !export_text_open(&made)) {
		fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"verbmark\"",
		      made.out);
		print_count(made.out, &state->count);
		fprintf(made.out, ">\n%s</testsuites>\n", suites);
		*text = export_text_take(&made);
	}
	export_text_close(&made);
	free(suites);
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
