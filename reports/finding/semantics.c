/* SPDX-License-Identifier: MIT */
#include "reports/finding/semantics.h"

#include <math.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/result/banner.h"
#include "reports/result/statistic.h"

#define NS_PER_US  1000.0
#define PAIR_WIDTH 9

/* What is to be done, by which operation, and what one of it is made of. */
static const struct row {
	const char *task;
	const char *how;
	const char *op;
	const char *far_cq; /* of the cases that are timed, the near end polling */
	enum {
		ROW_TOLD,     /* half a round trip; the way back goes to an idle end */
		ROW_ANSWERED, /* a whole one, of two messages */
		ROW_ALONE,    /* to the own completion: the far end takes no part */
	} way;
} rows[] = {
	{"tell",  "send",         "send",         "poll",  ROW_TOLD    },
	{"tell",  "write-imm",    "write-imm",    "poll",  ROW_TOLD    },
	{"tell",  "write-notify", "write-notify", "poll",  ROW_TOLD    },
	{"tell",  "write+poll",   "write",        "poll",  ROW_TOLD    },
	{"leave", "write",        "write",        "event", ROW_ALONE   },
	{"fetch", "read",         "read",         "event", ROW_ALONE   },
	{"fetch", "read-notify",  "read-notify",  "poll",  ROW_TOLD    },
	{"fetch", "send+reply",   "send",         "poll",  ROW_ANSWERED},
};

static const char note[] =
	"RQ, buffer: tried with an empty receive queue, and with receives without buffers. "
	"CQE, events,\nfar CPU: one at a time, both ends sleeping for events. us: median, both ends "
	"polling, until\nthe other program knows, or until the data are there or "
	"here.\n";
static const char short_note[] =
	"RQ, buffer: tried with an empty receive queue, and with receives without buffers. "
	"CQE, events:\none at a time, both ends sleeping for events. Times of a software device "
	"choose no operation:\nthey are not shown.\n";

/* The cases that a row is made of; NULL: there is none. */
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

static const char *think_of(const struct result_case *line)
{
	const char *text = json_string_value(json_object_get(line->parameters, "think"));

	/* A time, and nothing else: a document may be anybody's. */
	if (!text || text[0] == '0' || text[strspn(text, "0123456789.numsh")])
		return NULL;
	return text;
}

/* What a table is of. */
struct subject {
	uint64_t size;
	const char *think; /* of the busy end; NULL: none is */
};

static struct sources find_sources(const struct result *result, const struct subject *subject,
				   const struct row *row)
{
	const char *metric = row->way == ROW_ANSWERED ? "lat" : "bw";
	struct sources found = {0};

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		const char *think = think_of(line);

		if (line->size != subject->size)
			continue;
		if (is_like(line, row->op, metric, "event") &&
		    (line->needs || row->way == ROW_ANSWERED))
			found.counts = line;
		if (!is_like(line, row->op, "lat", "poll") ||
		    strcmp(line->server_cq, row->far_cq) != 0)
			continue;
		if (!think)
			found.idle = line;
		else if (!strcmp(think, subject->think))
			found.busy = line;
	}
	return found;
}

/* What an operation needs was found by the case that streams it. */
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

/* Few is not none. */
static void count_text(uint64_t count, uint64_t messages, char text[16])
{
	double each = (double)count / (double)messages;

	if (count && each < 0.01)
		snprintf(text, 16, "<.01");
	else
		snprintf(text, 16, "%.2g", each);
}

static void print_pair(FILE *out, const struct sources *sources, uint64_t near, uint64_t far,
		       int width)
{
	const struct result_case *counts = sources->counts;
	char here[16];
	char there[16];
	char text[40] = "-";

	if (counts) {
		count_text(near, counts->client.messages, here);
		count_text(far, counts->server.messages, there);
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
	if (isnan(us))
		fprintf(out, " %9s", "-");
	else
		fprintf(out, " %9.1f", us);
}

/* The far program's processor time for one operation. */
static double far_cpu_us(const struct row *row, const struct sources *sources)
{
	/* An end that polls its memory spends all its time so, for both messages of a round. */
	bool is_polled = row->way == ROW_TOLD && !strcmp(row->op, "write");
	const struct result_case *line = is_polled ? sources->idle : sources->counts;

	return line ? result_cpu_ns(&line->server) / NS_PER_US / (is_polled ? 2 : 1) : (double)NAN;
}

static void print_times(FILE *out, const struct row *row, const struct sources *sources)
{
	double idle = median_us(sources->idle);
	double busy = median_us(sources->busy);

	print_us(out, far_cpu_us(row, sources));
	print_us(out, row->way == ROW_ANSWERED ? 2 * idle : idle);
	/* What is measured is half of a round trip, of which one way is as when idle. */
	if (row->way == ROW_TOLD)
		print_us(out, 2 * busy - idle);
	else
		print_us(out, row->way == ROW_ANSWERED ? 2 * busy : busy);
}

static void print_row(FILE *out, const struct result *result, const struct subject *subject,
		      const struct row *row)
{
	struct sources sources = find_sources(result, subject, row);
	const struct result_case *counts = sources.counts;
	const json_t *needs = find_needs(result, row->op);
	bool has_times = semantics_has_times(result);

	if (!counts && !sources.idle)
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

/* What the software device has of it. */
static void print_short_head(FILE *out, const struct subject *subject)
{
	char title[64];

	snprintf(title, sizeof(title), "SEMANTICS, %llu B", (unsigned long long)subject->size);
	fprintf(out, "%-19s %-5s %-7s %-9s %s\n", title, "RQ", "buffer", "CQE", "events");
	fprintf(out, "%-6s %-12s %-5s %-7s %-9s %s\n", "task", "how", "used", "posted", "near/far",
		"near/far");
}

static void print_head(FILE *out, const struct subject *subject)
{
	char title[64];
	char busy[32] = "busy";

	if (subject->think)
		snprintf(busy, sizeof(busy), "busy %s", subject->think);
	snprintf(title, sizeof(title), "SEMANTICS, %llu B", (unsigned long long)subject->size);
	fprintf(out, "%-19s %-5s %-7s %-9s %-9s %9s %9s %9s\n", title, "RQ", "buffer", "CQE",
		"events", "far CPU", "us", "us, far");
	fprintf(out, "%-6s %-12s %-5s %-7s %-9s %-9s %9s %9s %9s\n", "task", "how", "used",
		"posted", "near/far", "near/far", "us/op", "idle", busy);
}

bool semantics_has_times(const struct result *result)
{
	bool has_asked = false;

	for (size_t i = 0; i < result->n_cases && !has_asked; i++)
		has_asked = result->cases[i].needs ||
			    json_is_true(json_object_get(result->cases[i].parameters, "needs"));
	return !has_asked || !banner_of(result);
}

void semantics_print(FILE *out, const struct result *result)
{
	const struct result_case *first = NULL;
	struct subject subject = {0};

	for (size_t i = 0; i < result->n_cases && !first; i++)
		first = result->cases[i].needs ? &result->cases[i] : NULL;
	if (!first)
		return;
	subject.size = first->size;
	for (size_t i = 0; i < result->n_cases && !subject.think; i++)
		subject.think = think_of(&result->cases[i]);
	if (semantics_has_times(result))
		print_head(out, &subject);
	else
		print_short_head(out, &subject);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		print_row(out, result, &subject, &rows[i]);
	fputs(semantics_has_times(result) ? note : short_note, out);
}
