/* SPDX-License-Identifier: MIT */
#include "bench/cli/utc.h"

/* As others read the clock: that of time() goes by ticks, and is late by one now and then. */
struct tm utc_now(void)
{
	struct timespec now;
	struct tm utc;

	clock_gettime(CLOCK_REALTIME, &now);
	return *gmtime_r(&now.tv_sec, &utc);
}

void utc_stamp(char text[static 32])
{
	struct tm utc = utc_now();

	strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
