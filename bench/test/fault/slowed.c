/* SPDX-License-Identifier: MIT */
/*
 * verbmark whose server takes SLOWED percent longer over --think than requested, wrapped in by
 * the linker: a regression of the server that no option of the client shows.
 */
#include <stdlib.h>

#include "bench/lane/lane.h"

void __wrap_lane_compute(uint64_t ns);
void __real_lane_compute(uint64_t ns);

static uint64_t of_100 = 100;

static void __attribute__((constructor)) read_slowed(void)
{
	const char *slowed = getenv("SLOWED");

	if (slowed)
		of_100 = (uint64_t)(100 + strtol(slowed, NULL, 10));
}

void __wrap_lane_compute(uint64_t ns)
{
	__real_lane_compute(ns * of_100 / 100);
}
