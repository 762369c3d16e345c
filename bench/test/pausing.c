/* SPDX-License-Identifier: MIT */
/*
 * The command with faults. Where a server that was told to think would compute for each
 * message, this one pauses 5 ms after each 200th; and the fifth byte of each 200th message
 * that is to be verified is wrong. The linker puts both in their places.
 */
#include <time.h>

#include "bench/lane.h"

#define PAUSE_EVERY 200
#define WRONG_EVERY 200
#define WRONG_BYTE  5
#define PAUSE_NS    5000000

void __wrap_lane_compute(uint64_t ns);
void __wrap_verify_fill(struct verify *verify);
void __real_verify_fill(struct verify *verify);

void __wrap_verify_fill(struct verify *verify)
{
	static unsigned int messages;

	__real_verify_fill(verify);
	if (++messages % WRONG_EVERY == 0)
		verify->sent[WRONG_BYTE] ^= 0xff;
}

void __wrap_lane_compute(uint64_t ns)
{
	static unsigned int messages;

	if (++messages % PAUSE_EVERY == 0)
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}
