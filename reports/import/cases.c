/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/import/perftest.h"
#include "reports/result/sum_check.h"

#define US_MOST    1e12 /* 11 days */
#define SIZE_MOST  1073741824
#define BYTES_MOST 0x1p62
#define MEBIBYTE   1048576.0
#define GIGABIT    1.25e8

/* Returns NAN if the row has no such number. */
static double find_number(const json_t *row, const char *name)
{
	const json_t *value = json_object_get(row, name);

	return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static int64_t parameter(const struct perftest_run *run, const char *name, int64_t fallback)
{
	const json_t *found = json_object_get(run->parameters, name);

	return json_is_integer(found) ? json_integer_value(found) : fallback;
}

/* Makes the id that run would give the case; perftest's defaults are omitted. */
static void make_id(char *id, size_t size, const struct perftest_run *run, uint64_t bytes)
{
	int64_t list = parameter(run, "post-list", 1);
	const struct {
		const char *name;
		const char *mark;
		int64_t usual;
	} marks[] = {
		{"qps",       "q", 1                          },
		{"tx-depth",  "t", run->is_bandwidth ? 128 : 1},
		{"cq-mod",    "Q",
		 list > 1       ? list
		 : bytes > 8192 ? 1
				: 100                         },
		{"post-list", "l", 1                          },
	};
	const char *group = json_string_value(json_object_get(run->parameters, "multicast"));
	const char *connect = json_string_value(json_object_get(run->parameters, "connect"));
	unsigned int unit = 0;
	size_t used;

	for (; unit < 3 && bytes % 1024 == 0; bytes /= 1024)
		unit++;
	used = (size_t)snprintf(id, size, "%s/%s/%" PRIu64 "%.*s/%s%s%s", run->op,
				run->is_bandwidth ? "bw" : "lat", bytes, unit > 0, &" kmg"[unit],
				run -> has_events ? "event" : "poll",
				strcmp(run->transport, "RC") != 0 ? "/" : "",
				strcmp(run->transport, "RC") != 0 ? run->transport : "");
	for (size_t i = 0; i < ARRAY_LENGTH(marks); i++) {
		int64_t value = parameter(run, marks[i].name, marks[i].usual);

		if (value != marks[i].usual)
			used += (size_t)snprintf(id + used, size - used, "/%s%" PRIi64,
						 marks[i].mark, value);
	}
	snprintf(id + used, size - used, "%s%s%s%s%s",
		 run->is_bidirectional ? "/bidirectional" : "", group ? "/multicast-" : "",
		 group ? group : "", connect && !strcmp(connect, "cm") ? "/connect-cm" : "",
		 json_is_true(json_object_get(run->parameters, "use-srq")) ? "/srq" : "");
}

/*
 * With -C, times are cycles although the heading says usec. Medians of cycles end in .00 or .50;
 * for five times in microseconds, that happens once in millions of rows.
 */
static int check_latency(const json_t *row, struct error *error)
{
	static const char *const order[] = {"t_min", "t_typical", "percentile_99",
					    "percentile_99.9", "t_max"};
	double average = find_number(row, "t_avg");
	bool is_whole = find_number(row, "t_min") >= 1;
	double last = 0;

	if (!(average > 0 && average < US_MOST) || average < find_number(row, "t_min") ||
	    average > find_number(row, "t_max"))
		return error_set(error, -EINVAL, "t_avg is missing or impossible");
	for (size_t i = 0; i < ARRAY_LENGTH(order); i++) {
		double value = find_number(row, order[i]);

		is_whole = is_whole && fmod(value, 0.5) == 0;
		if (isnan(value))
			continue;
		if (value < last || value >= US_MOST)
			return error_set(error, -EINVAL, "%s is impossible: %g us", order[i],
					 value);
		last = value;
	}
	return is_whole ? error_set(error, -EINVAL, "the times are cycles: run perftest without -C")
			: 0;
}

/* Takes the statistics that have enough samples beyond them. */
static void take_latency(struct import *import, struct result_trial *trial, const json_t *row)
{
	const struct hist like = {.count = trial->messages};

	for (size_t i = 0; i < STATISTICS; i++)
		for (size_t j = 0; j < PERFTEST_COLUMNS; j++)
			if (!strcmp(statistics[i].key, perftest_columns[j].statistic) &&
			    statistics[i].is_known(&like, &statistics[i]))
				trial->latency[i] =
					find_number(row, perftest_columns[j].name) * 1000;
	if (json_object_get(row, "t_max"))
		import->has_note[IMPORT_LATENCY] = true;
}

/* Bandwidth and message rate are the same rate, printed with two and six decimals. */
static int find_rate(const json_t *row, double unit, double *rate, double *step,
		     struct error *error)
{
	const double units[] = {MEBIBYTE, GIGABIT};
	double size = find_number(row, "MsgSize");
	double messages = find_number(row, "MsgRate") * 1e6;
	double bandwidth = find_number(row, "BW_average");
	double found = 0;
	unsigned int n = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(units); i++)
		if ((unit == 0 || unit == units[i]) &&
		    fabs(bandwidth * units[i] - messages * size) <=
			    1.001 * (0.005 * units[i] + 0.5 * size)) {
			found = units[i];
			n++;
		}
	if (!n)
		return error_set(error, -EINVAL, "BW average and MsgRate do not match");
	*step = fmin(1, n == 1 ? 0.01 * found / size : 1);
	*rate = *step < 1 ? bandwidth * found / size : messages;
	return *rate > 0
		       ? 0
		       : error_set(error, -EINVAL, "the rate is too small for the printed digits");
}

static int take_bandwidth(struct import *import, struct result_trial *trial,
			  const struct perftest_run *run, const json_t *row, double *step,
			  struct error *error)
{
	double ns;

	if (find_rate(row, run->unit, &trial->messages_per_s, step, error))
		return error->code;
	if (run->is_bidirectional) {
		trial->has_far = true;
		trial->messages_per_s /= 2;
		trial->far_messages_per_s = trial->messages_per_s;
		*step /= 2;
	}
	ns = (double)trial->messages * 1e9 / trial->messages_per_s;
	trial->bytes_per_s = trial->messages_per_s * find_number(row, "MsgSize");
	if (ns < 1 || ns >= 0x1p62 || trial->bytes_per_s >= BYTES_MOST / 2)
		return error_set(error, -EINVAL, "the rate is impossible");
	trial->duration_ns = (uint64_t)(ns + 0.5);
	import->has_note[IMPORT_RATE] = true;
	return 0;
}

static int check_run(struct import *import, const struct perftest_run *run, const json_t *row,
		     struct error *error)
{
	struct result_end *end = &import->result.client;
	double size = find_number(row, "MsgSize");
	double iterations = find_number(row, "n_iterations");

	if (++import->n_rows > IMPORT_ROWS_MOST)
		return error_set(error, -E2BIG, "more than %d rows of figures", IMPORT_ROWS_MOST);
	if (!run->transport)
		return error_set(error, -EINVAL, "the connection type is missing");
	if (!(size >= 1 && size <= SIZE_MOST && fmod(size, 1) == 0))
		return error_set(error, -EINVAL, "the message size is missing or impossible");
	if (!(iterations >= 1 && size * iterations < BYTES_MOST && fmod(iterations, 1) == 0))
		return error_set(error, -EINVAL,
				 "the number of iterations is missing or impossible");
	if ((end->device[0] && strcmp(end->device, run->device) != 0) ||
	    (end->mtu && end->mtu != run->mtu) ||
	    (end->link_layer && end->link_layer != run->link_layer))
		return error_set(error, -EINVAL,
				 "device, link or MTU differ from an earlier run; import this run "
				 "separately");
	memcpy(end->device, run->device, sizeof(end->device));
	end->mtu = run->mtu;
	end->link_layer = run->link_layer;
	return 0;
}

/* Finds the run's case of that size, whose parameters must be equal, or adds it. */
static struct result_case *open_case(struct result *result, const struct perftest_run *run,
				     uint64_t size, struct error *error)
{
	struct result_case made = {
		.is_imported = true,
		.status = RESULT_COMPLETE,
		.op = run->op,
		.metric = run->is_bandwidth ? "bw" : "lat",
		.cq = run->has_events ? "event" : "poll",
		.server_cq = run->has_events ? "event" : "poll",
		.transport = run->transport,
		.size = size,
		.kind = !strcmp(run->op, "send") || !strcmp(run->op, "write") ? RESULT_HALF
									      : RESULT_FULL,
		.parameters = json_deep_copy(run->parameters),
	};
	struct result_case *line = NULL;
	json_t *trials;

	make_id(made.id, sizeof(made.id), run, size);
	for (size_t i = 0; i < result->n_cases && !line; i++)
		line = strcmp(result->cases[i].id, made.id) ? NULL : &result->cases[i];
	trials = line ? json_incref(json_object_get(line->parameters, "imported")) : json_array();
	if (json_object_set_new(made.parameters, "imported", trials) ||
	    (run->is_bidirectional &&
	     json_object_set_new(made.parameters, "bidirectional", json_true())))
		goto fail;
	if (line) {
		if (!json_equal(made.parameters, line->parameters)) {
			error_set(error, -EINVAL,
				  "%s: options differ from an earlier run; import this run "
				  "separately",
				  made.id);
			line = NULL;
		}
		json_decref(made.parameters);
		return line;
	}
	line = reallocarray(result->cases, result->n_cases + 1, sizeof(*line));
	if (!line)
		goto fail;
	result->cases = line;
	line += result->n_cases++;
	*line = made;
	return line;
fail:
	json_decref(made.parameters);
	error_set_errno(error, -ENOMEM, "cannot keep the case");
	return NULL;
}

static int add_trial(struct result_case *line, const struct result_trial *trial, json_t *row,
		     double step, struct error *error)
{
	struct rate_windows *windows = calloc(1, sizeof(*windows));
	bool is_bandwidth = step > 0;
	int code = 0;

	if (!windows ||
	    (is_bandwidth && json_object_set_new(row, IMPORT_RATE_STEP, json_real(step))) ||
	    json_array_append(json_object_get(line->parameters, "imported"), row))
		code = error_set_errno(error, -ENOMEM, "cannot keep the trial");
	else if (line->messages + trial->messages > INT64_MAX / line->size ||
		 sum_check_are_beyond(line->duration_ns, trial->duration_ns))
		code = error_set(error, -EOVERFLOW, "the sums overflow");
	if (!code) {
		rate_windows_init(windows, 1);
		rate_windows_forget(windows, trial->messages);
		code = result_add_trial(line, trial, NULL, is_bandwidth ? windows : NULL, error);
	}
	free(windows);
	return code;
}

int perftest_add(struct import *import, const struct perftest_run *run, json_t *row,
		 struct error *error)
{
	struct result_trial trial = {0};
	struct result_case *line;
	double step = 0;
	int code = check_run(import, run, row, error);

	if (code)
		return code;
	for (size_t i = 0; i < STATISTICS; i++)
		trial.latency[i] = (double)NAN;
	trial.messages = (uint64_t)find_number(row, "n_iterations");
	if (run->is_bandwidth)
		code = take_bandwidth(import, &trial, run, row, &step, error);
	else if (!(code = check_latency(row, error)))
		take_latency(import, &trial, row);
	if (code)
		return code;
	line = open_case(&import->result, run, (uint64_t)find_number(row, "MsgSize"), error);
	return line ? add_trial(line, &trial, row, step, error) : error->code;
}
