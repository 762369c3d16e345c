/* SPDX-License-Identifier: MIT */
/*
 * Time. Deadlines are nanoseconds of CLOCK_MONOTONIC. Samples are ticks: of the
 * TSC where the kernel itself trusts it (arm64: the generic timer), else
 * nanoseconds of CLOCK_MONOTONIC_RAW. struct clock turns ticks into nanoseconds
 * by a multiplication; it is made once and const afterwards.
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
	bool is_counter;     /* a counter of the processor, not a system call */
	const char *kind;    /* "tsc", "cntvct" or "monotonic_raw" */
	uint64_t hz;         /* ticks per second */
	uint64_t mult;       /* nanoseconds per tick, in units of 2^-32 */
	uint64_t cost_ns;    /* of one reading, undisturbed */
	uint64_t first_tick; /* where calibration began */
	uint64_t first_ns;
	uint64_t first_off; /* ticks by which the two may be apart */
};

static inline uint64_t clock_read(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* For deadlines. */
static inline uint64_t clock_now_ns(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

static inline uint64_t clock_deadline(unsigned int timeout_ms)
{
	return clock_now_ns() + timeout_ms * NS_PER_MS;
}

/* What is left until a deadline, in milliseconds for poll(2), rounded up. */
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

/* Reads the clock of samples. is_counter is clock.is_counter. */
static ALWAYS_INLINE uint64_t clock_ticks(bool is_counter)
{
	return likely(is_counter) ? clock_counter() : clock_read(CLOCK_MONOTONIC_RAW);
}

/* mult is clock.mult, or half of it where a sample is half a round trip. */
static ALWAYS_INLINE uint64_t clock_to_ns(uint64_t ticks, uint64_t mult)
{
	return (uint64_t)(((unsigned __int128)ticks * mult + (1ULL << 31)) >> 32);
}

/*
 * Chooses the clock and calibrates it: for some 2 ms, for 20 where reading it takes long.
 * What is done between begin and finish is not waited for.
 */
void clock_begin(struct clock *clock);
void clock_finish(struct clock *clock);

/* Both in turn. */
void clock_init(struct clock *clock);

/*
 * Measures the rate again over all the time since it began, and returns by how
 * many parts per million it differs from the one in use.
 */
double clock_drift_ppm(const struct clock *clock);

/* The least step that it can show: a tick of the counter, or what the kernel tells. */
double clock_resolution_ns(const struct clock *clock);

#endif
