/* SPDX-License-Identifier: MIT */
/*
 * Micro-benchmarks: the cost of the loops alone, on a provider that completes at once. The table
 * shows times on this machine; bench/micro/instructions counts instructions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/micro/calls.h"
#include "bench/micro/check.h"
#include "bench/micro/row.h"

#define REPEATS  25
#define MESSAGES (UINT64_C(128) * CALLS_ROUND)

static const char usage[] =
	"usage: micro                      nanoseconds per message\n"
	"       micro --check              check that each row does what it claims; TAP output\n"
	"       micro --list               the rows\n"
	"       micro --run ROW MESSAGES   run one row without timing\n"
	"       micro --calls ROW MESSAGES make only its calls to the provider\n";

/* Nanoseconds per message. */
struct times {
	double best;
	double median;
};

static int compare(const void *one, const void *other)
{
	double a = *(const double *)one;
	double b = *(const double *)other;

	return (a > b) - (a < b);
}

static int once(const struct row *row, struct bed *bed, const struct loop_run *run, bool is_calls,
		struct error *error)
{
	if (!is_calls)
		return row->run(bed, run, error);
	if (row->calls)
		row->calls(bed, run->messages);
	return 0;
}

static int repeat(const struct row *row, struct bed *bed, const struct clock *clock, bool is_calls,
		  struct times *times, struct error *error)
{
	struct loop_run run = bed_run(bed, MESSAGES);
	double each[REPEATS];

	run.is_counter = clock->is_counter;
	run.mult = clock->mult;
	for (size_t i = 0; i < REPEATS; i++) {
		uint64_t start;
		uint64_t ticks;

		bed_clear(bed);
		start = clock_ticks(clock->is_counter);
		if (once(row, bed, &run, is_calls, error))
			return error->code;
		ticks = clock_ticks(clock->is_counter) - start;
		each[i] = (double)clock_to_ns(ticks, clock->mult) / (double)MESSAGES;
	}
	qsort(each, REPEATS, sizeof(*each), compare);
	*times = (struct times){.best = each[0], .median = each[REPEATS / 2]};
	return 0;
}

static int measure(const struct row *row, struct bed *bed, const struct clock *clock,
		   struct error *error)
{
	struct times calls = {0};
	struct times all = {0};
	int code = bed_open(bed, &row->settings, error);

	if (!code)
		code = repeat(row, bed, clock, false, &all, error);
	if (!code && row->calls)
		code = repeat(row, bed, clock, true, &calls, error);
	bed_close(bed);
	if (!code)
		printf("%-36s %8.2f %8.2f %8.2f\n", row->name, all.best, all.median, calls.best);
	return code;
}

static int measure_all(struct bed *bed, struct error *error)
{
	struct clock clock;
	int code = 0;

	clock_init(&clock);
	printf("# ns per message: best and median of %d times %" PRIu64
	       ", and best of the calls alone; clock: %s\n",
	       REPEATS, MESSAGES, clock.kind);
	for (size_t i = 0; i < n_rows && !code; i++) {
		code = measure(&rows[i], bed, &clock, error);
		fflush(stdout);
	}
	return code;
}

static int run_one(const struct row *row, struct bed *bed, uint64_t messages, bool is_calls,
		   struct error *error)
{
	int code = bed_open(bed, &row->settings, error);

	if (!code) {
		struct loop_run run = bed_run(bed, messages);

		code = once(row, bed, &run, is_calls, error);
	}
	bed_close(bed);
	return code;
}

static void list(void)
{
	for (size_t i = 0; i < n_rows; i++)
		puts(rows[i].name);
}

/* Returns -EINVAL without setting the error for invalid arguments. */
static int run_command(int argc, char *argv[], struct bed *bed, struct error *error)
{
	const char *what = argc > 1 ? argv[1] : "";
	bool is_calls = !strcmp(what, "--calls");

	if (argc == 1)
		return measure_all(bed, error);
	if (argc == 2 && !strcmp(what, "--list")) {
		list();
		return 0;
	}
	if (argc == 4 && (is_calls || !strcmp(what, "--run"))) {
		const struct row *row = row_find(argv[2]);
		uint64_t messages = strtoull(argv[3], NULL, 10);

		if (!row)
			return error_set(error, -EINVAL, "unknown row '%s'", argv[2]);
		if (!messages || messages % CALLS_ROUND)
			return error_set(error, -EINVAL, "'%s' is not a multiple of %d", argv[3],
					 CALLS_ROUND);
		return run_one(row, bed, messages, is_calls, error);
	}
	return -EINVAL;
}

int main(int argc, char *argv[])
{
	static struct bed bed;
	struct error error = {0};
	int code;

	if (argc == 2 && !strcmp(argv[1], "--check"))
		return check_all() ? EXIT_FAILURE : EXIT_SUCCESS;
	code = run_command(argc, argv, &bed, &error);
	if (code)
		fputs(error.code ? error.text : usage, stderr);
	if (error.code)
		fputc('\n', stderr);
	return code ? 2 : EXIT_SUCCESS;
}
