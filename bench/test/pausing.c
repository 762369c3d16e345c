/* SPDX-License-Identifier: MIT */
/*
 * The command with a fault: where a server that was told to think would compute for each
 * message, this one pauses 5 ms after each 200th. The linker puts it in that place.
 */
#include <time.h>

#include "bench/lane.h"

#define PAUSE_EVERY 200
#define PAUSE_NS    5000000

void __wrap_lane_compute(uint64_t ns);

void __wrap_lane_compute(uint64_t ns)
{
	static unsigned int messages;

	if (++messages % PAUSE_EVERY == 0)
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}
