/* SPDX-License-Identifier: MIT */
#include "reports/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/interval.h"
#include "reports/semantics.h"
#include "reports/statistic.h"

#define NS_PER_US 1000.0

/* Two bytes in UTF-8, and one column. */
#define PLUS_MINUS "\xc2\xb1"

struct table_unit {
	const char *name;
	double bytes;
};

/* The first one where nobody asks. M and G are powers of ten. */
static const struct table_unit units[] = {
	{"Gb/s",  1e9 / 8},
        {"Mb/s",  1e6 / 8},
        {"GB/s",  1e9    },
        {"MB/s",  1e6    },
        {"MiB/s", 1048576},
};

const char *table_parse_unit(const char *text, void *unit)
{
	for (size_t i = 0; i < ARRAY_LENGTH(units); i++) {
		if (strcmp(units[i].name, text) != 0)
			continue;
		*(const struct table_unit **)unit = &units[i];
		return NULL;
	}
	return "is none of Gb/s, Mb/s, GB/s, MB/s, MiB/s";
}

static void print_end(FILE *out, const struct result_end *end)
{
	fprintf(out, "%s %s/%u", end->host, end->device, end->port);
}

/* What runs on the link: of RoCE the version, where the port's GIDs are of one alone. */
static const char *network(const struct result_end *end)
{
	const json_t *types = json_object_get(json_object_get(end->facts, "port"), "gid_types");
	const char *type = json_string_value(json_array_get(types, 0));

	if (!type || strcmp(end->link_layer, "Ethernet") != 0)
		return end->link_layer;
	if (json_array_size(types) > 1)
		return "RoCE";
	return !strcmp(type, "RoCE v2") ? "RoCEv2" : "RoCEv1";
}

static bool has_same_qps(const struct result_case *one, const struct result_case *other)
{
	return json_equal(json_object_get(one->parameters, "qps"),
			  json_object_get(other->parameters, "qps"));
}

static bool has_same_transport(const struct result_case *one, const struct result_case *other)
{
	return !strcmp(one->transport, other->transport);
}

/* One of all cases that run, where they are alike; NULL: they are not, or there is none. */
static const struct result_case *find_common(const struct result *result,
					     bool (*are_alike)(const struct result_case *,
							       const struct result_case *))
{
	const struct result_case *first = NULL;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		if (line->status == RESULT_SKIPPED)
			continue;
		if (first && !are_alike(first, line))
			return NULL;
		first = first ? first : line;
	}
	return first;
}

void table_head(FILE *out, const struct result *result)
{
	const struct result_end *near = &result->client;
	const struct result_case *transport = find_common(result, has_same_transport);
	const struct result_case *qps = find_common(result, has_same_qps);

	print_end(out, near);
	fputs(" -> ", out);
	print_end(out, &result->server);
	fprintf(out, "  %s %g Gb/s MTU %u", network(near), (double)near->rate_mbps / 1000,
		near->mtu);
	if (transport)
		fprintf(out, " %s", transport->transport);
	if (qps)
		fprintf(out, " q%" JSON_INTEGER_FORMAT,
			json_integer_value(json_object_get(qps->parameters, "qps")));
	fputc('\n', out);
}

static double cpu_us(const struct result_cost *cost)
{
	uint64_t spent = cost->user_ns + cost->system_ns;

	return cost->messages ? (double)spent / (double)cost->messages / NS_PER_US : 0;
}

/* Half of what the interval of the median over trials spans; NAN without one. */
static double half_width(const double *values, size_t n_values)
{
	struct interval interval;
	struct error ignored = {0};

	if (interval_median(&interval, values, n_values, &ignored) || interval.confidence < 0.95)
		return (double)NAN;
	return (interval.high - interval.low) / 2;
}

static void print_value(FILE *out, int width, int digits, double value)
{
	if (isnan(value))
		fprintf(out, " %*s", width, "-");
	else
		fprintf(out, " %*.*f", width, digits, value);
}

/* Three digits that say something, whatever the scale. */
static int digits_for(double value)
{
	static const double steps[] = {1000, 10, 1, 0.1};
	int digits = 0;

	while (digits < (int)ARRAY_LENGTH(steps) && value < steps[digits])
		digits++;
	return digits;
}

/* Of microseconds: nothing is known below ten nanoseconds. */
static int latency_digits(double us)
{
	int digits = digits_for(us);

	return digits > 2 ? 2 : digits;
}

static double median_width(const struct result_case *line, size_t statistic)
{
	double *values = calloc(line->n_trials, sizeof(*values));
	double width;

	if (!values)
		return (double)NAN;
	for (size_t i = 0; i < line->n_trials; i++)
		values[i] = line->trials[i].latency[statistic];
	width = half_width(values, line->n_trials);
	free(values);
	return width;
}

static void head_latency(FILE *out)
{
	fprintf(out, "%-22s %8s %-14s %-10s", "LATENCY us", "bytes", "cq", "kind");
	for (size_t i = 0; i < STATISTICS; i++) {
		if (!statistics[i].title)
			continue;
		fprintf(out, " %8s", statistics[i].title);
		if (!strcmp(statistics[i].key, "p50"))
			fprintf(out, " %7s", PLUS_MINUS);
	}
	fprintf(out, "  %s\n", "CPU us/msg near/far");
}

static void print_latency(FILE *out, const struct result_case *line)
{
	fprintf(out, " %-10s", result_kind_name(line->kind));
	for (size_t i = 0; i < STATISTICS; i++) {
		const struct statistic *statistic = &statistics[i];
		double value = (double)NAN;

		if (!statistic->title)
			continue;
		if (statistic->is_known(line->latency, statistic))
			value = statistic->value(line->latency, statistic) / NS_PER_US;
		print_value(out, 8, latency_digits(value), value);
		if (!strcmp(statistic->key, "p50"))
			print_value(out, 6, latency_digits(value),
				    median_width(line, i) / NS_PER_US);
	}
}

static void head_bandwidth(FILE *out, const struct table_unit *unit)
{
	fprintf(out, "%-22s %8s %-14s %9s %8s %6s %9s %17s  %s\n", "BANDWIDTH", "bytes", "cq",
		unit->name, PLUS_MINUS, "%line", "Mmsg/s", "windows", "CPU us/msg near/far");
}

static double rate_width(const struct result_case *line)
{
	double *values = calloc(line->n_trials, sizeof(*values));
	double width;

	if (!values)
		return (double)NAN;
	for (size_t i = 0; i < line->n_trials; i++)
		values[i] = line->trials[i].bytes_per_s;
	width = half_width(values, line->n_trials);
	free(values);
	return width;
}

static void print_windows(FILE *out, const struct table_unit *unit, const struct result_case *line)
{
	uint64_t least = UINT64_MAX;
	uint64_t most = 0;
	uint64_t messages = 0;
	char text[32] = "-";

	for (size_t i = 0; i < line->windows->count; i++) {
		uint64_t rate = windows_rate(line->windows, i, line->size);

		least = rate < least ? rate : least;
		most = rate > most ? rate : most;
		messages += line->windows->messages[i];
	}
	/* Windows too short for the messages say nothing. */
	if (messages && messages >= WINDOWS_MESSAGES * line->windows->count) {
		double low = (double)least / unit->bytes;
		double high = (double)most / unit->bytes;

		snprintf(text, sizeof(text), "%.*f..%.*f", digits_for(high), low, digits_for(high),
			 high);
	}
	fprintf(out, " %17s", text);
}

static void print_bandwidth(FILE *out, const struct table_unit *unit, const struct result *result,
			    const struct result_case *line)
{
	double seconds = (double)line->duration_ns / 1e9;
	double bytes_per_s = (double)(line->messages * line->size) / seconds;
	double rate = bytes_per_s / unit->bytes;
	uint64_t line_mbps = result->client.rate_mbps < result->server.rate_mbps
				     ? result->client.rate_mbps
				     : result->server.rate_mbps;

	print_value(out, 9, digits_for(rate), rate);
	print_value(out, 7, digits_for(rate), rate_width(line) / unit->bytes);
	print_value(out, 6, 1, line_mbps ? bytes_per_s * 8e-4 / (double)line_mbps : (double)NAN);
	print_value(out, 9, 3, (double)line->messages / seconds / 1e6);
	print_windows(out, unit, line);
}

static void print_titles(FILE *out, const struct table_unit *unit, const struct result_case *line)
{
	if (line->windows)
		head_bandwidth(out, unit);
	else
		head_latency(out);
}

/* The operation, and whatever of the case is not at its default. */
static void print_name(FILE *out, const struct result_case *line)
{
	const char *extras = line->id;
	char cq[32];
	char name[160];

	for (int i = 0; i < 4 && extras; i++)
		extras = strchr(extras + (i > 0), '/');
	if (!strcmp(line->cq, line->server_cq)) {
		snprintf(cq, sizeof(cq), "%s", line->cq);
	} else {
		snprintf(cq, sizeof(cq), "%s/%s", line->cq, line->server_cq);
		extras = extras ? strchr(extras + 1, '/') : NULL;
	}
	snprintf(name, sizeof(name), "%s%s", line->op, extras ? extras : "");
	fprintf(out, "%-22s %8" PRIu64 " %-14s", name, line->size, cq);
}

void table_line(FILE *out, const struct table_unit *unit, const struct result *result,
		const struct result_case *line)
{
	const struct result_case *before = line > result->cases ? line - 1 : NULL;

	if (line->status != RESULT_COMPLETE || !line->n_trials) {
		fprintf(out, "%s: %s\n", line->id,
			line->error[0] ? line->error : result_status_name(line->status));
		return;
	}
	unit = unit ? unit : &units[0];
	while (before && before->status != RESULT_COMPLETE)
		before = before > result->cases ? before - 1 : NULL;
	if (!before || !before->windows != !line->windows)
		print_titles(out, unit, line);
	print_name(out, line);
	if (line->windows)
		print_bandwidth(out, unit, result, line);
	else
		print_latency(out, line);
	fprintf(out, "  %.2f/%.2f", cpu_us(&line->client), cpu_us(&line->server));
	if (line->lost)
		fprintf(out, "  lost %" PRIu64 " of %" PRIu64, line->lost, line->sent);
	fputc('\n', out);
}

struct table_count table_foot(FILE *out, const struct result *result)
{
	struct table_count count = {0};

	semantics_print(out, result);
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		count.complete += line->status == RESULT_COMPLETE;
		count.wanted += line->status != RESULT_SKIPPED;
		if (line->status == RESULT_SKIPPED)
			fprintf(out, "%s: skipped: %s\n", line->id, line->error);
	}
	return count;
}

static const char *member(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

void table_warnings(FILE *out, const struct result *result)
{
	const json_t *warning;
	size_t i;

	json_array_foreach(result->warnings, i, warning)
	{
		const char *mend = member(warning, "mend");

		if (json_is_true(json_object_get(warning, "spoils")))
			fprintf(out, "! %s: %s%s%s\n", member(warning, "host"),
				member(warning, "what"), *mend ? "; mend: " : "", mend);
	}
}
