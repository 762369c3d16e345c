/* SPDX-License-Identifier: MIT */
#include "reports/finding/semantics.h"

#include <math.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/result/banner.h"
#include "reports/result/digits.h"
#include "reports/result/statistic.h"

#define NS_PER_US  1000.0
#define PAIR_WIDTH 9

/* A row of the table: a task, an operation for it, and how its latency is derived. */
static const struct row {
	const char *task;
	const char *how;
	const char *op;
	const char *server_cq; /* in the timed cases; the client polls */
	enum {
		ROW_HALF,  /* half a round trip; the way back goes to an idle client */
		ROW_FULL,  /* a full round trip of two messages */
		ROW_LOCAL, /* until the local completion; the server's CPU takes no part */
	} way;
} rows[] = {
	{"tell",  "send",         "send",         "poll",  ROW_HALF },
	{"tell",  "send-imm",     "send-imm",     "poll",  ROW_HALF },
	{"tell",  "write-imm",    "write-imm",    "poll",  ROW_HALF },
	{"tell",  "write-notify", "write-notify", "poll",  ROW_HALF },
	{"tell",  "write+poll",   "write",        "poll",  ROW_HALF },
	{"leave", "write",        "write",        "event", ROW_LOCAL},
	{"fetch", "read",         "read",         "event", ROW_LOCAL},
	{"fetch", "read-notify",  "read-notify",  "poll",  ROW_HALF },
	{"fetch", "send+reply",   "send",         "poll",  ROW_FULL },
};

static const char note[] =
	"RQ, buffer: probed with an empty receive queue and with receives without buffers. "
	"CQE, events,\nsrv CPU: one operation at a time, both sides waiting for events. us: "
	"median, both sides polling,\nuntil the server's program is notified or the data has "
	"arrived.\n";
static const char short_note[] =
	"RQ, buffer: probed with an empty receive queue and with receives without buffers. "
	"CQE, events:\none operation at a time, both sides waiting for events. Times are not "
	"shown: those of a software\ndevice say nothing about hardware.\n";

/* The cases that a row is computed from; NULL: not measured. */
struct sources {
	const struct result_case *counts; /* one at a time, with events */
	const struct result_case *idle;
	const struct result_case *busy;
};

static bool is_like(const struct result_case *line, const char *op, const char *metric,
		    const char *cq)
{
	return line->status == RESULT_COMPLETE && line->n_trials && !strcmp(line->op, op) &&
	       !strcmp(line->metric, metric) && !strcmp(line->cq, cq);
}

static json_int_t think_of(const struct result_case *line)
{
	return json_integer_value(json_object_get(line->parameters, "think_ns"));
}

/* The parameters that the rows of a table share. */
struct subject {
	uint64_t size;
	json_int_t think_ns; /* of the busy server; 0: no case has a busy server */
};

static struct sources find_sources(const struct result *result, const struct subject *subject,
				   const struct row *row)
{
	const char *metric = row->way == ROW_FULL ? "lat" : "bw";
	struct sources found = {0};

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		json_int_t think_ns = think_of(line);

		if (line->size != subject->size)
			continue;
		if (is_like(line, row->op, metric, "event") &&
		    (line->needs || row->way == ROW_FULL))
			found.counts = line;
		if (!is_like(line, row->op, "lat", "poll") ||
		    strcmp(line->server_cq, row->server_cq) != 0)
			continue;
		if (!think_ns)
			found.idle = line;
		else if (think_ns == subject->think_ns)
			found.busy = line;
	}
	return found;
}

/* The bandwidth case of an operation has probed its needs. */
static const json_t *find_needs(const struct result *result, const char *op)
{
	for (size_t i = 0; i < result->n_cases; i++)
		if (result->cases[i].needs && !strcmp(result->cases[i].op, op))
			return result->cases[i].needs;
	return NULL;
}

static const char *yes_or_no(const json_t *needs, const char *name)
{
	const json_t *found = json_object_get(needs, name);

	return !found ? "-" : json_is_true(found) ? "yes" : "no";
}

/* A small count must not be shown as 0. */
static void count_text(uint64_t count, uint64_t messages, char text[16])
{
	double each = (double)count / (double)messages;

	if (count && each < 0.01)
		snprintf(text, 16, "<.01");
	else
		snprintf(text, 16, "%.2g", each);
}

static void print_pair(FILE *out, const struct sources *sources, uint64_t client, uint64_t server,
		       int width)
{
	const struct result_case *counts = sources->counts;
	char here[16];
	char there[16];
	char text[40] = "-";

	if (counts) {
		count_text(client, counts->client.messages, here);
		count_text(server, counts->server.messages, there);
		snprintf(text, sizeof(text), "%s/%s", here, there);
	}
	fprintf(out, " %-*s", width, text);
}

static double median_us(const struct result_case *line)
{
	return line && line->latency ? hist_quantile(line->latency, 500000) / NS_PER_US
				     : (double)NAN;
}

static void print_us(FILE *out, double us)
{
	char text[DIGITS_TEXT];

	digits_print(text, us, DIGITS_US);
	fprintf(out, " %9s", text);
}

/* Returns the server's CPU time per operation. */
static double server_cpu_us(const struct row *row, const struct sources *sources)
{
	/* A server that polls memory is always busy, for both messages of a round trip. */
	bool is_polled = row->way == ROW_HALF && !strcmp(row->op, "write");
	const struct result_case *line = is_polled ? sources->idle : sources->counts;

	return line ? result_cpu_ns(&line->server) / NS_PER_US / (is_polled ? 2 : 1) : (double)NAN;
}

static void print_times(FILE *out, const struct row *row, const struct sources *sources)
{
	double idle = median_us(sources->idle);
	double busy = median_us(sources->busy);

	print_us(out, server_cpu_us(row, sources));
	print_us(out, row->way == ROW_FULL ? 2 * idle : idle);
	/* The figure is half a round trip, but the way back is as fast as when idle. */
	if (row->way == ROW_HALF)
		print_us(out, 2 * busy - idle);
	else
		print_us(out, row->way == ROW_FULL ? 2 * busy : busy);
}

static bool has_row(const struct result *result, const struct subject *subject,
		    const struct row *row)
{
	struct sources sources = find_sources(result, subject, row);

	return sources.counts || sources.idle;
}

/* Cases that wait by polling have needs, but the table counts events. */
static bool would_have_row(const struct result_case *line)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		if (!strcmp(rows[i].op, line->op))
			return strcmp(line->cq, "event") != 0;
	return false;
}

static void print_row(FILE *out, const struct result *result, const struct subject *subject,
		      const struct row *row)
{
	struct sources sources = find_sources(result, subject, row);
	const struct result_case *counts = sources.counts;
	const json_t *needs = find_needs(result, row->op);
	bool has_times = banner_allows_times(result);

	if (!has_row(result, subject, row))
		return;
	fprintf(out, "%-6s %-12s %-5s %-7s", row->task, row->how, yes_or_no(needs, "receive"),
		yes_or_no(needs, "buffer"));
	print_pair(out, &sources, counts ? counts->client.completions : 0,
		   counts ? counts->server.completions : 0, PAIR_WIDTH);
	print_pair(out, &sources, counts ? counts->client.cq_events : 0,
		   counts ? counts->server.cq_events : 0, has_times ? PAIR_WIDTH : 0);
	if (has_times)
		print_times(out, row, &sources);
	fputc('\n', out);
}

/* On a software device the table has no times. */
static void print_short_head(FILE *out, const struct subject *subject)
{
	char title[64];

	snprintf(title, sizeof(title), "SEMANTICS, %llu B", (unsigned long long)subject->size);
	fprintf(out, "%-19s %-5s %-7s %-9s %s\n", title, "RQ", "buffer", "CQE", "events");
	fprintf(out, "%-6s %-12s %-5s %-7s %-9s %s\n", "task", "how", "used", "posted", "cli/srv",
		"cli/srv");
}

static void print_head(FILE *out, const struct subject *subject)
{
	char title[64];
	char busy[32] = "busy";

	if (subject->think_ns)
		snprintf(busy, sizeof(busy), "busy %gus", (double)subject->think_ns / NS_PER_US);
	snprintf(title, sizeof(title), "SEMANTICS, %llu B", (unsigned long long)subject->size);
	fprintf(out, "%-19s %-5s %-7s %-9s %-9s %9s %9s %9s\n", title, "RQ", "buffer", "CQE",
		"events", "srv CPU", "us", "us, srv");
	fprintf(out, "%-6s %-12s %-5s %-7s %-9s %-9s %9s %9s %9s\n", "task", "how", "used",
		"posted", "cli/srv", "cli/srv", "us/op", "idle", busy);
}

void semantics_print(FILE *out, const struct result *result)
{
	const struct result_case *first = NULL;
	struct subject subject = {0};
	bool has_rows = false;

	for (size_t i = 0; i < result->n_cases && !first; i++)
		first = result->cases[i].needs ? &result->cases[i] : NULL;
	if (!first)
		return;
	subject.size = first->size;
	for (size_t i = 0; i < result->n_cases && !subject.think_ns; i++)
		subject.think_ns = think_of(&result->cases[i]);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		has_rows |= has_row(result, &subject, &rows[i]);
	if (!has_rows) {
		if (would_have_row(first))
			fputs("needs are shown with --cq event\n", out);
		return;
	}
	if (banner_allows_times(result))
		print_head(out, &subject);
	else
		print_short_head(out, &subject);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		print_row(out, result, &subject, &rows[i]);
	fputs(banner_allows_times(result) ? note : short_note, out);
}
