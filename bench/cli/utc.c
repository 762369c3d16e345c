/* SPDX-License-Identifier: MIT */
#include "bench/cli/utc.h"

/* Uses clock_gettime(): time() reads a coarse clock that can be one tick late. */
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
