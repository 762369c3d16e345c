/* SPDX-License-Identifier: MIT */
/* The parts of rounds, with a made-up device whose clock is computed from the host's. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "bench/loop/timeline.h"
#include "core/test/lib/check.h"

#define MASK   UINT64_C(0xffffffff)
#define CYCLES 3 /* per tick, at first */

/* A clock of one tick per nanosecond. */
static const struct clock clock_of_test = {.is_counter = true, .mult = 1ULL << 32};
static const struct error none;

static struct verbs_context device;
static struct timeline timeline;
static struct error error;
/* A tick, the timestamp at that tick, and the cycles per tick since. */
static uint64_t base_tick;
static uint64_t base_cycles;
static uint64_t rate;
static uint64_t mask = MASK;

static uint64_t cycles_of(uint64_t tick)
{
	return base_cycles + (tick - base_tick) * rate;
}

static int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	assert_int_equal(values->comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	values->raw_clock = (struct timespec){.tv_nsec = (long)(cycles_of(clock_counter()) & MASK)};
	return 0;
}

static int query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	memset(attr, 0, size);
	attr->completion_timestamp_mask = mask;
	attr->hca_core_clock = 1;
	return 0;
}

static int set_up(void **unused)
{
	device.query_rt_values = query_rt_values;
	device.query_device_ex = query_device_ex;
	device.sz = sizeof(device);
	device.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	mask = MASK;
	error = none;
	base_tick = clock_counter();
	/* Timestamps wrap around within the first round. */
	base_cycles = MASK - 20000 * CYCLES;
	rate = CYCLES;
	memset(&timeline, 0, sizeof(timeline));
	assert_int_equal(timeline_open(&timeline, &device.context, &clock_of_test, &error), 0);
	timeline_clear(&timeline);
	assert_int_equal(timeline_begin(&timeline, &error), 0);
	return 0;
}

/* When a round began, in ticks after the first reading, and its moments; UINT64_MAX: no wake-up. */
struct moments {
	uint64_t begin, posted, completed, woken, end;
};

/* Adds a turn of one round, once all of its moments have passed. */
static void add(const struct moments *round)
{
	uint64_t from = timeline.last.ticks;
	const uint64_t ticks[] = {from + round->begin, from + round->end};

	timeline.posted[0] = from + round->posted;
	timeline.stamps[0] = cycles_of(from + round->completed) & MASK;
	timeline.woken[0] = round->woken == UINT64_MAX ? 0 : from + round->woken;
	while (clock_counter() < from + round->end + 10000)
		;
	assert_int_equal(timeline_turn(&timeline, ticks, 1, &error), 0);
}

static void check_part(enum breakdown_part part, uint64_t ns, double off)
{
	const struct hist *hist = &timeline.seen.parts[part];

	assert_int_equal(hist->count, 1);
	if (fabs((double)hist->sum - (double)ns) > off)
		fail_msg("%s: %" PRIu64 ", not %" PRIu64, breakdown_names[part], hist->sum, ns);
}

/* Only the timestamp has an error, which moves time between its two sides. */
static void test_parts(void **unused)
{
	static const struct {
		struct moments round;
		uint64_t parts[BREAKDOWN_PARTS];
		bool is_exact;
	} rows[] = {
		{{100, 600, 50600, 52600, 53600},      {500, 50000, 2000, 1000}, false},
		{{100, 600, 50600, UINT64_MAX, 53600}, {500, 50000, 0, 3000},    false},
 /* Woken by something else before the completion. */
		{{100, 600, 50600, 9000, 53600},       {500, 50000, 0, 3000},    false},
 /* Complete before the post returned, and seemingly after it was seen. */
		{{100, 50600, 600, UINT64_MAX, 53600}, {50500, 0, 0, 3000},      true },
		{{100, 600, 58600, UINT64_MAX, 53600}, {500, 53000, 0, 0},       true },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		uint64_t sum = 0;

		set_up(NULL);
		add(&rows[i].round);
		for (enum breakdown_part part = 0; part < BREAKDOWN_PARTS; part++) {
			check_part(part, rows[i].parts[part],
				   rows[i].is_exact ? 0 : timeline.seen.clock_error_ns + 1);
			sum += timeline.seen.parts[part].sum;
		}
		assert_int_equal(sum, rows[i].round.end - rows[i].round.begin);
		assert_true(timeline.seen.clock_error_ns > 0);
	}
}

/* Many turns, across the end of the range of timestamps. */
static void test_rate(void **unused)
{
	static const struct moments round = {100, 200, 300, UINT64_MAX, 400};

	for (int i = 0; i < 100; i++)
		add(&round);
	assert_int_equal(timeline.seen.parts[BREAKDOWN_POST].count, 100);
	assert_in_range(timeline.seen.clock_hz / 1e6, CYCLES * 1000 * 0.99, CYCLES * 1000 * 1.01);
	timeline_clear(&timeline);
	assert_int_equal(timeline.seen.parts[BREAKDOWN_POST].count, 0);
	assert_true(timeline.seen.clock_error_ns <= 0);
}

/* From 1000 to 2000 ticks, the device counts 100 cycles, the last 60 of them after the wrap. */
static void test_interpolation(void **unused)
{
	static const struct device_clock clock = {.mask = MASK};
	static const struct device_clock_reading from = {.ticks = 1000, .cycles = MASK - 39};
	static const struct device_clock_reading to = {.ticks = 2000, .cycles = 60};
	static const struct {
		uint64_t cycles;
		uint64_t ticks;
	} rows[] = {
		{MASK - 39,  1000},
                {MASK - 29,  1100},
                {MASK,       1390},
                {0,          1400},
		{59,         1990},
                {60,         2000},
                {61,         2000},
                {1000000,    2000},
		{MASK - 40,  1000},
                {MASK - 999, 1000},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		assert_int_equal(device_clock_ticks(&clock, &from, &to, rows[i].cycles),
				 rows[i].ticks);
}

/* Each turn is converted by its own two readings, so the rate may change. */
static void test_other_rate(void **unused)
{
	static const struct moments round = {100, 600, 50600, UINT64_MAX, 53600};

	add(&round);
	base_cycles = cycles_of(timeline.last.ticks);
	base_tick = timeline.last.ticks;
	rate = 10 * CYCLES;
	timeline.last.cycles = base_cycles & MASK;
	breakdown_clear(&timeline.seen);
	add(&round);
	check_part(BREAKDOWN_DEVICE, 50000, timeline.seen.clock_error_ns + 1);
}

static void test_no_clock(void **unused)
{
	mask = 0;
	assert_int_equal(device_clock_khz(&device.context), 0);
	assert_int_equal(timeline_open(&timeline, &device.context, &clock_of_test, &error),
			 -EOPNOTSUPP);
	assert_string_equal(error.text, "the device has no completion timestamps");
	mask = MASK;
	assert_int_equal(device_clock_khz(&device.context), 1);
	device.query_rt_values = NULL;
	assert_int_equal(device_clock_khz(&device.context), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_parts, set_up),
		cmocka_unit_test_setup(test_rate, set_up),
		cmocka_unit_test_setup(test_other_rate, set_up),
		cmocka_unit_test(test_interpolation),
		cmocka_unit_test_setup(test_no_clock, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
