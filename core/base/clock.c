/* SPDX-License-Identifier: MIT */
#include "core/base/clock.h"

#include <limits.h>
#include <string.h>

#include "core/base/sysfs.h"

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* Calibration ends at this accuracy, or after this time. */
#define UNSURE_PPM     20
#define CALIBRATION_NS (20 * NS_PER_MS)
#define READINGS       64
#define ROUNDS         16

int clock_left_ms(uint64_t deadline_ns)
{
	uint64_t now = clock_now_ns();
	uint64_t left;

	if (now >= deadline_ns)
		return 0;
	left = (deadline_ns - now + NS_PER_MS - 1) / NS_PER_MS;
	return left > INT_MAX ? INT_MAX : (int)left;
}

/*
 * The kernel compares the TSC with other clocks and stops using it if it is unstable. Its
 * choice is more reliable than the flags in /proc/cpuinfo.
 */
static bool kernel_trusts(const char *name)
{
	char line[32];

	return sysfs_line("", line, sizeof(line), CLOCKSOURCE) && !strcmp(line, name);
}

/*
 * Reads both clocks at the same moment: of several tries, keeps the one with the smallest
 * gap. Returns the maximum error, half the gap and one tick, in ticks.
 */
static uint64_t read_both(uint64_t *tick, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < READINGS; i++) {
		uint64_t before = clock_counter();
		uint64_t now = clock_read(CLOCK_MONOTONIC_RAW);
		uint64_t after = clock_counter();

		if (after - before < best) {
			best = after - before;
			*tick = before + (after - before) / 2;
			*ns = now;
		}
	}
	return best / 2 + 1;
}

static uint64_t rate(const struct clock *clock, uint64_t tick, uint64_t ns)
{
	return (uint64_t)((unsigned __int128)(tick - clock->first_tick) * NS_PER_S /
			  (ns - clock->first_ns));
}

static uint64_t ticks_of_readings(bool is_counter)
{
	uint64_t start = clock_ticks(is_counter);

	for (int i = 1; i < READINGS; i++)
		clock_ticks(is_counter);
	return clock_ticks(is_counter) - start;
}

/* Returns the minimum of several tries, since interruptions only add time. */
static uint64_t measure_cost(const struct clock *clock)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t ticks = ticks_of_readings(clock->is_counter);

		best = ticks < best ? ticks : best;
	}
	return clock_to_ns(best, clock->mult) / READINGS;
}

void clock_begin(struct clock *clock)
{
	*clock = (struct clock){.kind = "monotonic_raw", .hz = NS_PER_S};
#if defined(__x86_64__)
	clock->is_counter = kernel_trusts("tsc");
	if (clock->is_counter)
		clock->kind = "tsc";
#elif defined(__aarch64__)
	clock->is_counter = kernel_trusts("arch_sys_counter");
	if (clock->is_counter)
		clock->kind = "cntvct";
#endif
	if (clock->is_counter)
		clock->first_off = read_both(&clock->first_tick, &clock->first_ns);
}

/*
 * Every run waits for calibration: one that takes a few milliseconds should not take 20 ms
 * more.
 */
static uint64_t calibrate(const struct clock *clock)
{
	uint64_t tick = 0;
	uint64_t ns = 0;
	uint64_t off;

	do
		off = clock->first_off + read_both(&tick, &ns);
	while (off * 1000000 > (tick - clock->first_tick) * UNSURE_PPM &&
	       ns - clock->first_ns < CALIBRATION_NS);
	return rate(clock, tick, ns);
}

void clock_finish(struct clock *clock)
{
	if (clock->is_counter)
		clock->hz = calibrate(clock);
	clock->mult = (uint64_t)(((unsigned __int128)NS_PER_S << 32) / clock->hz);
	clock->cost_ns = measure_cost(clock);
}

void clock_init(struct clock *clock)
{
	clock_begin(clock);
	clock_finish(clock);
}

double clock_drift_ppm(const struct clock *clock)
{
	uint64_t tick = 0;
	uint64_t ns = 0;

	if (!clock->is_counter)
		return 0;
	read_both(&tick, &ns);
	return ((double)rate(clock, tick, ns) / (double)clock->hz - 1) * 1e6;
}

double clock_resolution_ns(const struct clock *clock)
{
	struct timespec step = {0};

	if (clock->is_counter)
		return (double)NS_PER_S / (double)clock->hz;
	clock_getres(CLOCK_MONOTONIC_RAW, &step);
	return (double)step.tv_sec * (double)NS_PER_S + (double)step.tv_nsec;
}
