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

static int64_t parameter(const struct perftest_run *run, const char *name, int64_t fallback)
{
	const json_t *found = json_object_get(run->parameters, name);

	return json_is_integer(found) ? json_integer_value(found) : fallback;
}

/* The id that run gives such a case; perftest's defaults are not part of it. */
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
	snprintf(id + used, size - used, "%s%s%s", run->is_bidirectional ? "/bidirectional" : "",
		 connect && !strcmp(connect, "cm") ? "/connect-cm" : "",
		 json_is_true(json_object_get(run->parameters, "use-srq")) ? "/srq" : "");
}

/*
 * With -C times are cycles although the heading says usec. Medians of cycles have no hundredths
 * but 00 and 50; five times in microseconds look like that once in millions of rows.
 */
static int check_latency(const double *values, struct error *error)
{
	static const enum perftest_column order[] = {PERFTEST_MIN, PERFTEST_TYPICAL, PERFTEST_P99,
						     PERFTEST_P99_9, PERFTEST_MAX};
	double average = values[PERFTEST_AVERAGE];
	bool is_whole = values[PERFTEST_MIN] >= 1;
	double last = 0;

	if (!(average > 0 && average < US_MOST) || average < values[PERFTEST_MIN] ||
	    average > values[PERFTEST_MAX])
		return error_set(error, -EINVAL, "t_avg is missing or impossible");
	for (size_t i = 0; i < ARRAY_LENGTH(order); i++) {
		double value = values[order[i]];

		is_whole = is_whole && fmod(value, 0.5) == 0;
		if (isnan(value))
			continue;
		if (value < last || value >= US_MOST)
			return error_set(error, -EINVAL, "%s is impossible: %g us",
					 perftest_keys[order[i]], value);
		last = value;
	}
	return is_whole ? error_set(error, -EINVAL, "the times are cycles: run perftest without -C")
			: 0;
}

/* Only statistics that have enough samples beyond them. */
static void take_latency(struct import *import, struct result_trial *trial, const double *values)
{
	static const struct {
		const char *key;
		enum perftest_column column;
	} taken[] = {
		{"min",   PERFTEST_MIN    },
		{"mean",  PERFTEST_AVERAGE},
		{"p50",   PERFTEST_TYPICAL},
		{"p99",   PERFTEST_P99    },
		{"p99_9", PERFTEST_P99_9  }
        };
	const struct hist like = {.count = trial->messages};

	for (size_t i = 0; i < STATISTICS; i++)
		for (size_t j = 0; j < ARRAY_LENGTH(taken); j++)
			if (!strcmp(statistics[i].key, taken[j].key) &&
			    statistics[i].is_known(&like, &statistics[i]))
				trial->latency[i] = values[taken[j].column] * 1000;
	if (!isnan(values[PERFTEST_MAX]))
		import->has_note[IMPORT_LATENCY] = true;
}

/* Bandwidth and message rate are one rate, printed with two and with six digits. */
static int find_rate(const struct perftest_row *row, double *rate, double *step,
		     struct error *error)
{
	const double units[] = {MEBIBYTE, GIGABIT};
	double size = row->values[PERFTEST_SIZE];
	double messages = row->values[PERFTEST_MSG_RATE] * 1e6;
	double bandwidth = row->values[PERFTEST_BW_AVERAGE];
	double found = 0;
	unsigned int n = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(units); i++)
		if ((row->unit == 0 || row->unit == units[i]) &&
		    fabs(bandwidth * units[i] - messages * size) <=
			    1.001 * (0.005 * units[i] + 0.5 * size)) {
			found = units[i];
			n++;
		}
	if (!n)
		return error_set(error, -EINVAL, "BW average and MsgRate do not match");
	*step = fmin(1, n == 1 ? 0.01 * found / size : 1);
	*rate = *step < 1 ? bandwidth * found / size : messages;
	return *rate > 0 ? 0 : error_set(error, -EINVAL, "the rate is below the printed digits");
}

static int take_bandwidth(struct import *import, struct result_trial *trial, bool is_bidirectional,
			  const struct perftest_row *row, double *step, struct error *error)
{
	double ns;

	if (find_rate(row, &trial->messages_per_s, step, error))
		return error->code;
	if (is_bidirectional) {
		trial->has_far = true;
		trial->messages_per_s /= 2;
		trial->far_messages_per_s = trial->messages_per_s;
		*step /= 2;
	}
	ns = (double)trial->messages * 1e9 / trial->messages_per_s;
	trial->bytes_per_s = trial->messages_per_s * row->values[PERFTEST_SIZE];
	if (ns < 1 || ns >= 0x1p62 || trial->bytes_per_s >= BYTES_MOST / 2)
		return error_set(error, -EINVAL, "the rate is impossible");
	trial->duration_ns = (uint64_t)(ns + 0.5);
	import->has_note[IMPORT_RATE] = true;
	return 0;
}

static int check_run(struct import *import, const struct perftest_run *run, const double *values,
		     struct error *error)
{
	struct result_end *end = &import->result.client;
	double size = values[PERFTEST_SIZE];
	double iterations = values[PERFTEST_ITERATIONS];

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
		return error_set(
			error, -EINVAL,
			"device, link or MTU differ from a run before: import it separately");
	memcpy(end->device, run->device, sizeof(end->device));
	end->mtu = run->mtu;
	end->link_layer = run->link_layer;
	return 0;
}

/* The case of that id, made if there is none; its parameters must be those of the run. */
static struct result_case *open_case(struct result *result, const struct perftest_run *run,
				     uint64_t size, struct error *error)
{
	char id[sizeof(result->cases->id)];
	struct result_case *line;
	json_t *parameters = json_deep_copy(run->parameters);

	make_id(id, sizeof(id), run, size);
	if (!parameters || json_object_set_new(parameters, "imported", json_array()) ||
	    (run->is_bidirectional &&
	     json_object_set_new(parameters, "bidirectional", json_true())))
		goto fail;
	for (size_t i = 0; i < result->n_cases; i++) {
		line = &result->cases[i];
		if (strcmp(line->id, id) != 0)
			continue;
		json_object_set(parameters, "imported",
				json_object_get(line->parameters, "imported"));
		if (!json_equal(parameters, line->parameters)) {
			json_decref(parameters);
			error_set(error, -EINVAL,
				  "%s: options differ from a run before: import it separately", id);
			return NULL;
		}
		json_decref(parameters);
		return line;
	}
	line = reallocarray(result->cases, result->n_cases + 1, sizeof(*line));
	if (!line)
		goto fail;
	result->cases = line;
	line += result->n_cases++;
	*line = (struct result_case){
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
		.parameters = parameters,
	};
	memcpy(line->id, id, sizeof(id));
	return line;
fail:
	json_decref(parameters);
	error_set_errno(error, -ENOMEM, "cannot keep the case");
	return NULL;
}

static int add_trial(struct result_case *line, const struct result_trial *trial,
		     const struct perftest_row *row, double step, struct error *error)
{
	struct rate_windows *windows = calloc(1, sizeof(*windows));
	json_t *printed = json_object();
	bool is_bandwidth = step > 0;
	int code = 0;

	for (size_t i = 0; i < PERFTEST_COLUMNS; i++)
		if (!isnan(row->values[i]))
			json_object_set_new(printed, perftest_keys[i],
					    i <= PERFTEST_ITERATIONS
						    ? json_integer((json_int_t)row->values[i])
						    : json_real(row->values[i]));
	if (is_bandwidth)
		json_object_set_new(printed, IMPORT_RATE_STEP, json_real(step));
	if (!windows ||
	    json_array_append_new(json_object_get(line->parameters, "imported"), printed))
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

int perftest_add(struct import *import, const struct perftest_run *run,
		 const struct perftest_row *row, struct error *error)
{
	struct result_trial trial = {0};
	struct result_case *line;
	double step = 0;
	int code = check_run(import, run, row->values, error);

	if (code)
		return code;
	for (size_t i = 0; i < STATISTICS; i++)
		trial.latency[i] = (double)NAN;
	trial.messages = (uint64_t)row->values[PERFTEST_ITERATIONS];
	if (run->is_bandwidth)
		code = take_bandwidth(import, &trial, run->is_bidirectional, row, &step, error);
	else if (!(code = check_latency(row->values, error)))
		take_latency(import, &trial, row->values);
	if (code)
		return code;
	line = open_case(&import->result, run, (uint64_t)row->values[PERFTEST_SIZE], error);
	return line ? add_trial(line, &trial, row, step, error) : error->code;
}
