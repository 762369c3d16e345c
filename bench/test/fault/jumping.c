/* SPDX-License-Identifier: MIT */
/*
 * Preloaded in front of libc: each reading of the wall clock is off by up to a day in either
 * direction. JUMPING_SEED seeds the jumps.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define DAY 86400UL

static time_t jump(void)
{
	static uint64_t state;
	uint64_t mixed;

	if (!state) {
		const char *seed = getenv("JUMPING_SEED");

		state = seed ? strtoull(seed, NULL, 10) : 1;
	}
	/* A step of splitmix64. Which thread gets which value does not matter. */
	mixed = __atomic_add_fetch(&state, 0x9e3779b97f4a7c15ULL, __ATOMIC_RELAXED);
	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
	return (time_t)((mixed >> 32) % (2 * DAY)) - (time_t)DAY;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int code = (int)syscall(SYS_clock_gettime, clock, now);

	if (!code && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		now->tv_sec += jump();
	return code;
}

int gettimeofday(struct timeval *restrict now, void *restrict unused)
{
	struct timespec time = {0};
	int code = clock_gettime(CLOCK_REALTIME, &time);

	now->tv_sec = time.tv_sec;
	now->tv_usec = time.tv_nsec / 1000;
	return code;
}

time_t time(time_t *into)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_REALTIME, &now);
	if (into)
		*into = now.tv_sec;
	return now.tv_sec;
}
