/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/import/perftest.h"
#include "reports/io/sum_check.h"

#define NS_PER_US      1000.0
#define PER_MILLION    1e6
#define BYTES_PER_MIB  1048576.0
#define BYTES_PER_GBIT 1.25e8
#define SIZE_MOST      1073741824
#define BYTES_MOST     0x1p62

/* Half of the last digit that is printed. */
#define HALF_OF_TWO_DIGITS 0.005
#define HALF_OF_SIX_DIGITS 0.0000005

/* perftest's own defaults, of a bandwidth and of a latency: they are in no id. */
#define TX_DEPTH_BANDWIDTH 128
#define TX_DEPTH_LATENCY   1
#define CQ_MODERATION      100
#define CQ_MODERATION_UPTO 8192 /* bytes; of larger messages each is signalled */

static double value(const struct perftest_row *row, enum perftest_column column)
{
	return row->values[column];
}

static int64_t parameter(const struct perftest_run *run, const char *name, int64_t fallback)
{
	const json_t *found = json_object_get(run->parameters, name);

	return json_is_integer(found) ? json_integer_value(found) : fallback;
}

static size_t add_mark(char *id, size_t size, size_t used, const char *mark, int64_t number)
{
	return used + (size_t)snprintf(id + used, size - used, "/%s%" PRIi64, mark, number);
}

static size_t add_size(char *id, size_t size, uint64_t bytes)
{
	static const char *const units[] = {"", "k", "m", "g"};
	size_t unit = 0;

	while (unit + 1 < ARRAY_LENGTH(units) && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	return (size_t)snprintf(id, size, "%" PRIu64 "%s", bytes, units[unit]);
}

/* As run would have it, where that has an option for it. */
static void make_id(char *id, size_t size, const struct perftest_run *run, uint64_t bytes)
{
	int64_t depth = run->is_bandwidth ? TX_DEPTH_BANDWIDTH : TX_DEPTH_LATENCY;
	int64_t list = parameter(run, "post-list", 1);
	int64_t usual = list > 1 ? list : bytes > CQ_MODERATION_UPTO ? 1 : CQ_MODERATION;
	const char *connect = json_string_value(json_object_get(run->parameters, "connect"));
	size_t used =
		(size_t)snprintf(id, size, "%s/%s/", run->op, run->is_bandwidth ? "bw" : "lat");

	used += add_size(id + used, size - used, bytes);
	used += (size_t)snprintf(id + used, size - used, "/%s%s%s",
				 run->has_events ? "event" : "poll",
				 strcmp(run->transport, "RC") != 0 ? "/" : "",
				 strcmp(run->transport, "RC") != 0 ? run->transport : "");
	if (parameter(run, "qps", 1) != 1)
		used = add_mark(id, size, used, "q", parameter(run, "qps", 1));
	if (parameter(run, "tx-depth", depth) != depth)
		used = add_mark(id, size, used, "t", parameter(run, "tx-depth", depth));
	if (parameter(run, "cq-mod", usual) != usual)
		used = add_mark(id, size, used, "Q", parameter(run, "cq-mod", usual));
	if (list != 1)
		used = add_mark(id, size, used, "l", list);
	if (run->is_bidirectional)
		used += (size_t)snprintf(id + used, size - used, "/bidirectional");
	if (connect && !strcmp(connect, "cm"))
		used += (size_t)snprintf(id + used, size - used, "/connect-cm");
	if (json_is_true(json_object_get(run->parameters, "use-srq")))
		snprintf(id + used, size - used, "/srq");
}

/* In their order, as far as they are there: each not above the next. */
static int check_order(const struct perftest_row *row, struct error *error)
{
	static const enum perftest_column order[] = {PERFTEST_MIN, PERFTEST_TYPICAL, PERFTEST_P99,
						     PERFTEST_P99_9, PERFTEST_MAX};
	double average = value(row, PERFTEST_AVERAGE);

	for (size_t i = 1; i < ARRAY_LENGTH(order); i++)
		if (value(row, order[i]) < value(row, order[i - 1]))
			return error_set(error, -EINVAL, "%s is below %s", perftest_keys[order[i]],
					 perftest_keys[order[i - 1]]);
	if (average < value(row, PERFTEST_MIN) || average > value(row, PERFTEST_MAX))
		return error_set(error, -EINVAL, "t_avg is not between t_min and t_max");
	return 0;
}

/*
 * With -C times are cycles, and the heading says microseconds all the same. Half of a whole
 * number of cycles, or a whole one, has no other hundredths than 00 and 50: times in
 * microseconds have none either in one row of some millions.
 */
static bool is_in_cycles(const struct perftest_row *row)
{
	static const enum perftest_column samples[] = {PERFTEST_MIN, PERFTEST_TYPICAL, PERFTEST_P99,
						       PERFTEST_P99_9, PERFTEST_MAX};

	if (value(row, PERFTEST_MIN) < 1)
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(samples); i++)
		if (isnan(value(row, samples[i])) || fmod(value(row, samples[i]), 0.5) != 0)
			return false;
	return true;
}

static int check_times(const struct perftest_row *row, struct error *error)
{
	static const enum perftest_column times[] = {PERFTEST_MIN,     PERFTEST_MAX,
						     PERFTEST_TYPICAL, PERFTEST_AVERAGE,
						     PERFTEST_P99,     PERFTEST_P99_9};

	for (size_t i = 0; i < ARRAY_LENGTH(times); i++)
		if (value(row, times[i]) >= PERFTEST_US_MOST)
			return error_set(error, -EINVAL, "no message takes %g us, as %s says",
					 value(row, times[i]), perftest_keys[times[i]]);
	return 0;
}

static int check_latency(const struct perftest_row *row, struct error *error)
{
	if (isnan(value(row, PERFTEST_AVERAGE)))
		return error_set(error, -EINVAL, "there is no t_avg");
	if (!(value(row, PERFTEST_AVERAGE) > 0))
		return error_set(error, -EINVAL,
				 "t_avg is nothing that could be measured: it is 0.00");
	if (is_in_cycles(row))
		return error_set(
			error, -EINVAL,
			"all times are whole or half numbers, as -C prints cycles: without it "
			"perftest prints microseconds");
	if (check_times(row, error))
		return error->code;
	return check_order(row, error);
}

/* Only where so many samples lie beyond it that ours would be known. */
static void perftest_case_take(struct result_trial *trial, const char *key, double us)
{
	for (size_t i = 0; i < STATISTICS; i++) {
		const struct hist like = {.count = trial->messages};

		if (strcmp(statistics[i].key, key) != 0 ||
		    !statistics[i].is_known(&like, &statistics[i]))
			continue;
		trial->latency[i] = us * NS_PER_US;
	}
}

static void take_latency(struct import *import, struct result_trial *trial,
			 const struct perftest_row *row)
{
	if (row->hist) {
		statistic_fill(trial->latency, row->hist);
		return;
	}
	perftest_case_take(trial, "min", value(row, PERFTEST_MIN));
	perftest_case_take(trial, "mean", value(row, PERFTEST_AVERAGE));
	perftest_case_take(trial, "p50", value(row, PERFTEST_TYPICAL));
	perftest_case_take(trial, "p99", value(row, PERFTEST_P99));
	perftest_case_take(trial, "p99_9", value(row, PERFTEST_P99_9));
	/* Of -D there is the mean alone, which is of all. */
	if (!isnan(value(row, PERFTEST_MAX)))
		import->notes |= 1U << PERFTEST_TRIMMED;
	if (!isnan(value(row, PERFTEST_STDEV)))
		import->notes |= 1U << PERFTEST_NO_STDEV;
}

/* Whether both columns can be roundings of one rate. */
static bool go_together(const struct perftest_row *row, double unit)
{
	double size = value(row, PERFTEST_SIZE);
	double one = value(row, PERFTEST_BW_AVERAGE) * unit;
	double other = value(row, PERFTEST_MSG_RATE) * PER_MILLION * size;
	double slack = HALF_OF_TWO_DIGITS * unit + HALF_OF_SIX_DIGITS * PER_MILLION * size;

	return fabs(one - other) <= slack * 1.001;
}

/* The bytes of the unit; 0: nobody knows, and the other column alone will do. */
static int find_unit(const struct perftest_row *row, double *unit, struct error *error)
{
	static const double units[] = {
		[PERFTEST_MIB] = BYTES_PER_MIB, [PERFTEST_GBIT] = BYTES_PER_GBIT};
	bool is_mib = row->unit != PERFTEST_GBIT && go_together(row, BYTES_PER_MIB);
	bool is_gbit = row->unit != PERFTEST_MIB && go_together(row, BYTES_PER_GBIT);

	if (!is_mib && !is_gbit)
		return error_set(error, -EINVAL,
				 "BW average and MsgRate are not of one rate of %.0f bytes each",
				 value(row, PERFTEST_SIZE));
	*unit = is_mib && is_gbit ? 0 : units[is_mib ? PERFTEST_MIB : PERFTEST_GBIT];
	return 0;
}

/* Of both columns, the bandwidth has more digits. */
static bool is_by_bandwidth(const struct perftest_row *row, double unit)
{
	double bandwidth = value(row, PERFTEST_BW_AVERAGE);
	double messages = value(row, PERFTEST_MSG_RATE);

	return unit > 0 && bandwidth > 0 &&
	       HALF_OF_TWO_DIGITS * messages < HALF_OF_SIX_DIGITS * bandwidth;
}

/* Messages per second, by the column that has more digits. */
static int find_rate(const struct perftest_row *row, double *rate, struct error *error)
{
	double bandwidth = value(row, PERFTEST_BW_AVERAGE);
	double messages = value(row, PERFTEST_MSG_RATE);
	double unit = 0;
	int code;

	if (isnan(bandwidth) || isnan(messages))
		return error_set(error, -EINVAL, "there is no BW average, or no MsgRate");
	code = find_unit(row, &unit, error);
	if (code)
		return code;
	if (is_by_bandwidth(row, unit))
		*rate = bandwidth * unit / value(row, PERFTEST_SIZE);
	else
		*rate = messages * PER_MILLION;
	return *rate > 0 ? 0
			 : error_set(error, -EINVAL, "the rate is below the digits that it has");
}

/* What the last digit of the rate of one end makes, in messages per second. */
static double find_rate_step(const struct perftest_run *run, const struct perftest_row *row)
{
	double step = 2 * HALF_OF_SIX_DIGITS * PER_MILLION;
	struct error ignored = {0};
	double unit = 0;

	if (row->has_both)
		return step;
	if (!find_unit(row, &unit, &ignored) && is_by_bandwidth(row, unit))
		step = 2 * HALF_OF_TWO_DIGITS * unit / value(row, PERFTEST_SIZE);
	return run->is_bidirectional ? step / 2 : step;
}

/* Of the two ends, or half of their sum for each. */
static int split(struct import *import, struct result_trial *trial, const struct perftest_row *row,
		 double rate, struct error *error)
{
	double sum = (row->both[0] + row->both[1]) * PER_MILLION;

	trial->has_far = true;
	trial->messages_per_s = trial->far_messages_per_s = rate / 2;
	if (!row->has_both) {
		import->notes |= 1U << PERFTEST_HALVES;
		return 0;
	}
	if (!(row->both[0] > 0) || fabs(sum - rate) > rate * 0.01 + 2)
		return error_set(error, -EINVAL,
				 "local and remote results do not add up to that of both");
	trial->messages_per_s = row->both[0] * PER_MILLION;
	trial->far_messages_per_s = row->both[1] * PER_MILLION;
	return 0;
}

static int take_bandwidth(struct import *import, struct result_trial *trial,
			  const struct perftest_run *run, const struct perftest_row *row,
			  struct error *error)
{
	double both;
	double ns;
	int code = find_rate(row, &trial->messages_per_s, error);

	if (!code && run->is_bidirectional)
		code = split(import, trial, row, trial->messages_per_s, error);
	if (code)
		return code;
	ns = (double)trial->messages * 1e9 / trial->messages_per_s;
	if (ns < 1 || ns >= 0x1p62)
		return error_set(error, -EINVAL, "nothing has taken %.0f ns", ns);
	trial->duration_ns = (uint64_t)(ns + 0.5);
	trial->bytes_per_s = trial->messages_per_s * value(row, PERFTEST_SIZE);
	both = trial->bytes_per_s + trial->far_messages_per_s * value(row, PERFTEST_SIZE);
	if (both >= BYTES_MOST)
		return error_set(error, -EINVAL, "nothing carries %g bytes per second", both);
	import->notes |= 1U << PERFTEST_DERIVED;
	return 0;
}

static int check_counts(const struct perftest_run *run, const struct perftest_row *row,
			struct error *error)
{
	double size = value(row, PERFTEST_SIZE);
	double iterations = value(row, PERFTEST_ITERATIONS);

	if (!run->transport)
		return error_set(error, -EINVAL, "the connection type is not told");
	if (isnan(size) || isnan(iterations))
		return error_set(error, -EINVAL,
				 "the size or the number of messages is missing: --output leaves "
				 "them out, and such a figure is of nothing");
	if (size < 1 || size > SIZE_MOST || fmod(size, 1) != 0)
		return error_set(error, -EINVAL, "%g bytes are no size of a message", size);
	if (iterations < 1 || size * iterations >= 0x1p62 || fmod(iterations, 1) != 0)
		return error_set(error, -EINVAL, "%g is no number of messages", iterations);
	return 0;
}

/* As they were printed, under their names in JSON; and in which steps a rate comes. */
static json_t *make_printed(const struct perftest_run *run, const struct perftest_row *row)
{
	static const char *const ends[] = {[PERFTEST_ANY_END] = NULL,
					   [PERFTEST_CLIENT] = "client",
					   [PERFTEST_SERVER] = "server"};
	json_t *printed = json_object();

	for (size_t i = 0; i < PERFTEST_COLUMNS; i++) {
		double number = row->values[i];

		if (isnan(number))
			continue;
		json_object_set_new(printed, perftest_keys[i],
				    i <= PERFTEST_ITERATIONS ? json_integer((json_int_t)number)
							     : json_real(number));
	}
	if (run->is_bandwidth)
		json_object_set_new(printed, IMPORT_RATE_STEP, json_real(find_rate_step(run, row)));
	if (ends[run->end])
		json_object_set_new(printed, "end", json_string(ends[run->end]));
	return printed;
}

/* What a case has that its runs have not told. */
static bool is_ours(const char *name)
{
	return !strcmp(name, "bidirectional") || !strcmp(name, "imported");
}

/* Runs of one case were made in one way: those of two ways need a file each. */
static int check_parameters(const struct result_case *line, const struct perftest_run *run,
			    struct error *error)
{
	const char *other = NULL;
	const char *name;
	json_t *value;

	json_object_foreach(run->parameters, name, value)
	{
		if (!json_equal(value, json_object_get(line->parameters, name)))
			other = name;
	}
	/* Not to be told of it is another way, too. */
	json_object_foreach(line->parameters, name, value)
	{
		if (!is_ours(name) && !json_object_get(run->parameters, name))
			other = name;
	}
	if (!other)
		return 0;
	return error_set(error, -EINVAL,
			 "the %s is another than in a run before: import the two into two results",
			 other);
}

static int open_case(struct result_case *line, const struct perftest_run *run, uint64_t size,
		     struct error *error)
{
	if (line->parameters)
		return check_parameters(line, run, error);
	line->op = run->op;
	line->metric = run->is_bandwidth ? "bw" : "lat";
	line->cq = line->server_cq = run->has_events ? "event" : "poll";
	line->transport = run->transport;
	line->size = size;
	line->kind =
		!strcmp(run->op, "send") || !strcmp(run->op, "write") ? RESULT_HALF : RESULT_FULL;
	line->parameters = json_deep_copy(run->parameters);
	if (!line->parameters ||
	    (run->is_bidirectional &&
	     json_object_set_new(line->parameters, "bidirectional", json_true())) ||
	    json_object_set_new(line->parameters, "imported", json_array()))
		return error_set_errno(error, -ENOMEM, "cannot keep the case");
	return 0;
}

static int add_trial(struct result_case *line, const struct result_trial *trial,
		     const struct perftest_run *run, const struct perftest_row *row,
		     struct error *error)
{
	json_t *printed = json_object_get(line->parameters, "imported");
	struct rate_windows *windows = NULL;
	int code;

	if (line->n_trials && !line->latency != !row->hist)
		return error_set(error, -EINVAL,
				 "a run of it has all samples and another one none: import the "
				 "two into two results");
	if (line->messages + trial->messages > INT64_MAX / line->size ||
	    sum_check_are_beyond(line->duration_ns, trial->duration_ns) ||
	    (line->latency && sum_check_are_beyond(line->latency->sum, row->hist->sum)))
		return error_set(error, -EOVERFLOW, "these are more than can be counted");
	if (run->is_bandwidth) {
		windows = calloc(1, sizeof(*windows));
		if (!windows)
			return error_set_errno(error, -ENOMEM, "cannot keep the rates");
		rate_windows_init(windows, 1);
		rate_windows_forget(windows, trial->messages);
	}
	code = result_add_trial(line, trial, row->hist, windows, error);
	free(windows);
	if (!code && json_array_append_new(printed, make_printed(run, row)))
		code = error_set_errno(error, -ENOMEM, "cannot keep what was printed");
	return code;
}

/* Which of the ends has printed it, and what that has told of itself. */
static int take_end(struct import *import, const struct perftest_run *run, struct error *error)
{
	struct result_end *end = &import->result.client;
	const struct result_end *other = &import->result.server;

	if (run->end == PERFTEST_SERVER) {
		end = &import->result.server;
		other = &import->result.client;
		import->notes |= 1U << PERFTEST_AT_SERVER;
	}
	if (other->device[0] || (end->device[0] && strcmp(end->device, run->device) != 0) ||
	    (end->mtu && end->mtu != run->mtu) ||
	    (end->link_layer && run->link_layer && strcmp(end->link_layer, run->link_layer) != 0))
		return error_set(error, -EINVAL,
				 "it is of another device, link, MTU or end than what was before: "
				 "import the two into two results");
	memcpy(end->device, run->device, sizeof(end->device));
	end->mtu = run->mtu;
	end->link_layer = run->link_layer;
	return 0;
}

static int count_row(struct import *import, const struct perftest_row *row, struct error *error)
{
	import->n_sampled += row->hist != NULL;
	if (++import->n_rows > IMPORT_ROWS_MOST)
		return error_set(error, -E2BIG, "there are more than %d rows of figures",
				 IMPORT_ROWS_MOST);
	if (import->n_sampled > IMPORT_SAMPLED_MOST)
		return error_set(error, -E2BIG, "there are more than %d rows with samples",
				 IMPORT_SAMPLED_MOST);
	return 0;
}

int perftest_add(struct import *import, const struct perftest_run *run,
		 const struct perftest_row *row, struct error *error)
{
	struct result_trial trial = {0};
	struct result_case *line;
	char id[sizeof(line->id)];
	int code = count_row(import, row, error);

	for (size_t i = 0; i < STATISTICS; i++)
		trial.latency[i] = (double)NAN;
	if (!code)
		code = check_counts(run, row, error);
	if (!code && !run->is_bandwidth)
		code = check_latency(row, error);
	if (code)
		return code;
	trial.messages = row->hist ? row->hist->count : (uint64_t)value(row, PERFTEST_ITERATIONS);
	if (!run->is_bandwidth)
		take_latency(import, &trial, row);
	else
		code = take_bandwidth(import, &trial, run, row, error);
	if (!code)
		code = take_end(import, run, error);
	if (code)
		return code;
	make_id(id, sizeof(id), run, (uint64_t)value(row, PERFTEST_SIZE));
	line = import_case(import, id, error);
	if (!line)
		return error->code;
	code = open_case(line, run, (uint64_t)value(row, PERFTEST_SIZE), error);
	if (!code)
		code = add_trial(line, &trial, run, row, error);
	return code ? error_wrap(error, "%s", id) : 0;
}
