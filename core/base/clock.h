/* SPDX-License-Identifier: MIT */
/*
 * Deadlines are nanoseconds of CLOCK_MONOTONIC. Samples are ticks of the TSC if the kernel
 * trusts it (on arm64: of the generic timer), or else nanoseconds of CLOCK_MONOTONIC_RAW.
 * struct clock converts ticks to nanoseconds with one multiplication. It is initialized
 * once and constant afterwards.
 */
#ifndef CORE_BASE_CLOCK_H
#define CORE_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "core/base/compiler.h"

#define NS_PER_S  1000000000ULL
#define NS_PER_MS 1000000ULL
#define NS_PER_US 1000ULL

struct clock {
	bool is_counter;     /* a CPU counter, not a system call */
	const char *kind;    /* "tsc", "cntvct" or "monotonic_raw" */
	uint64_t hz;         /* ticks per second */
	uint64_t mult;       /* nanoseconds per tick, in units of 2^-32 */
	uint64_t cost_ns;    /* of one undisturbed read */
	uint64_t first_tick; /* where calibration began */
	uint64_t first_ns;
	uint64_t first_off; /* maximum error of first_tick, in ticks */
};

static inline uint64_t clock_read(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Returns the clock for deadlines. */
static inline uint64_t clock_now_ns(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

static inline uint64_t clock_deadline(unsigned int timeout_ms)
{
	return clock_now_ns() + timeout_ms * NS_PER_MS;
}

/* Returns the milliseconds until a deadline, rounded up, for poll(2). */
int clock_left_ms(uint64_t deadline_ns);

static inline uint64_t clock_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t count;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(count));
	return count;
#else
	return clock_read(CLOCK_MONOTONIC_RAW);
#endif
}

/* Reads the clock for samples. is_counter is clock.is_counter. */
static ALWAYS_INLINE uint64_t clock_ticks(bool is_counter)
{
	return likely(is_counter) ? clock_counter() : clock_read(CLOCK_MONOTONIC_RAW);
}

/* Converts ticks to nanoseconds. mult is clock.mult, or half of it for half round trips. */
static ALWAYS_INLINE uint64_t clock_to_ns(uint64_t ticks, uint64_t mult)
{
	return (uint64_t)(((unsigned __int128)ticks * mult + (1ULL << 31)) >> 32);
}

/*
 * Choose the clock and calibrate it, for about 2 ms, or 20 ms if reads are slow. Work done
 * between clock_begin and clock_finish counts toward that time.
 */
void clock_begin(struct clock *clock);
void clock_finish(struct clock *clock);

/* Calls clock_begin and clock_finish. */
void clock_init(struct clock *clock);

/*
 * Measures the rate again over the time since calibration began. Returns the difference
 * from the rate in use, in parts per million.
 */
double clock_drift_ppm(const struct clock *clock);

/*
 * Returns the smallest step of the clock: a tick of the counter, or what clock_getres(2)
 * reports.
 */
double clock_resolution_ns(const struct clock *clock);

#endif
