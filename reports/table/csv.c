/* SPDX-License-Identifier: MIT */
#include "reports/table/csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reports/io/json_member.h"

/* What all lines of a case begin with. */
struct rows {
	FILE *out;
	const char *name;
	const struct result_case *line;
	size_t trial; /* from 1; 0: of all trials together */
};

/* Parameters that are columns of their own, as the id alone has those that were asked for. */
static const char *const parameters[] = {"qps", "threads", "tx-depth"};

static void print_field(FILE *out, const char *before, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fprintf(out, "%s%s", before, text);
		return;
	}
	fprintf(out, "\"%s", before);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

void csv_field(FILE *out, const char *text)
{
	print_field(out, "", text);
}

/* The same file under a name that is no formula to a spreadsheet; "-" is none. */
static void print_file(FILE *out, const char *name)
{
	print_field(out, json_member_is_formula(name) && name[1] ? "./" : "", name);
}

static void print_parameter(FILE *out, const struct result_case *line, const char *name)
{
	const json_t *value = json_object_get(line->parameters, name);

	if (json_is_integer(value))
		fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
}

void csv_begin(FILE *out)
{
	fputs("file,case,op,metric,bytes,cq,server_cq,transport,qps,threads,tx_depth,kind,status,"
	      "trial,figure,unit,value\n",
	      out);
}

static void begin_row(const struct rows *rows)
{
	const struct result_case *line = rows->line;
	const char *const names[] = {line->id, line->op, line->metric};
	const char *const others[] = {line->cq, line->server_cq, line->transport};

	print_file(rows->out, rows->name);
	fputc(',', rows->out);
	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		csv_field(rows->out, names[i]);
		fputc(',', rows->out);
	}
	fprintf(rows->out, "%" PRIu64 ",", line->size);
	for (size_t i = 0; i < ARRAY_LENGTH(others); i++) {
		csv_field(rows->out, others[i]);
		fputc(',', rows->out);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(parameters); i++) {
		print_parameter(rows->out, line, parameters[i]);
		fputc(',', rows->out);
	}
	fprintf(rows->out, "%s,%s,", result_has_latency(line) ? result_kind_name(line->kind) : "",
		result_status_name(line->status));
	if (rows->trial)
		fprintf(rows->out, "%zu", rows->trial);
	fputc(',', rows->out);
}

/* As many digits as a double has right. */
static void add_row(const struct rows *rows, const char *figure, const char *unit, double value)
{
	if (isnan(value))
		return;
	begin_row(rows);
	fprintf(rows->out, "%s,%s,%.15g\n", figure, unit, value);
}

static void add_latency(const struct rows *rows, const double values[static STATISTICS])
{
	for (size_t i = 0; i < STATISTICS; i++)
		add_row(rows, statistics[i].key, "ns", values[i]);
}

/* What one message cost at an end. */
static void add_cost(const struct rows *rows, const char *figure, const struct result_cost *cost)
{
	add_row(rows, figure, "ns", result_cpu_ns(cost));
}

static void add_rates(const struct rows *rows, double bytes_per_s, double messages_per_s)
{
	if (!strcmp(rows->line->metric, "lat"))
		return;
	add_row(rows, "bytes_per_s", "B/s", bytes_per_s);
	add_row(rows, "messages_per_s", "1/s", messages_per_s);
}

static void add_losses(const struct rows *rows, uint64_t sent, uint64_t lost)
{
	if (!sent)
		return;
	add_row(rows, "sent", "1", (double)sent);
	add_row(rows, "lost", "1", (double)lost);
}

/* What a load was to be, and how much of it was never sent. */
static void add_pace(const struct rows *rows, const struct pace_trial *pace)
{
	if (!rows->line->pace)
		return;
	add_row(rows, "rate", "1/s", pace->rate);
	add_row(rows, "unsent", "1", (double)pace->unsent);
	add_row(rows, "saturated", "1", pace->is_saturated);
}

static void add_trials(struct rows *rows)
{
	for (size_t i = 0; i < rows->line->n_trials; i++) {
		const struct result_trial *trial = &rows->line->trials[i];

		rows->trial = i + 1;
		add_row(rows, "messages", "1", (double)trial->messages);
		if (trial->duration_ns)
			add_row(rows, "duration", "ns", (double)trial->duration_ns);
		if (result_has_latency(rows->line))
			add_latency(rows, trial->latency);
		add_rates(rows, trial->messages_per_s * (double)rows->line->size,
			  trial->messages_per_s);
		if (trial->has_far)
			add_row(rows, "far_messages_per_s", "1/s", trial->far_messages_per_s);
		add_pace(rows, &trial->pace);
		add_losses(rows, trial->sent, trial->lost);
		add_cost(rows, "client_cpu", &trial->client);
		add_cost(rows, "server_cpu", &trial->server);
	}
}

static void add_case(struct rows *rows)
{
	const struct result_case *line = rows->line;
	double rate = result_rate(line, false);

	if (line->status != RESULT_COMPLETE || !line->n_trials) {
		begin_row(rows);
		fputs(",,\n", rows->out);
		return;
	}
	add_row(rows, "messages", "1", (double)line->messages);
	if (line->duration_ns)
		add_row(rows, "duration", "ns", (double)line->duration_ns);
	for (size_t i = 0; i < STATISTICS; i++)
		add_row(rows, statistics[i].key, "ns", result_statistic(line, i));
	add_rates(rows, rate * (double)line->size, rate);
	add_cost(rows, "client_cpu", &line->client);
	add_cost(rows, "server_cpu", &line->server);
	if (line->pace) {
		add_row(rows, "rate", "1/s", pace_rate(line));
		add_row(rows, "saturated", "1", pace_is_saturated(line));
	}
	add_losses(rows, line->sent, line->lost);
	add_trials(rows);
}

void csv_add(FILE *out, const struct result *result, const char *name)
{
	for (size_t i = 0; i < result->n_cases; i++) {
		struct rows rows = {.out = out, .name = name, .line = &result->cases[i]};

		add_case(&rows);
	}
}
