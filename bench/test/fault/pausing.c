/* SPDX-License-Identifier: MIT */
/*
 * verbmark with faults that the linker wraps around its functions: instead of computing for
 * --think, the server pauses for 5 ms after every 200th message and prints the number of pauses
 * at exit; the fifth byte of every 200th message to verify is wrong; and joining a thread takes
 * 200 ms longer, so that several threads end at noticeably different times.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "bench/lane/lane.h"

#define PAUSE_EVERY 200
#define WRONG_EVERY 200
#define WRONG_BYTE  5
#define PAUSE_NS    5000000
#define JOIN_NS     200000000

void __wrap_lane_compute(uint64_t ns);
void __wrap_verify_fill(struct verify *verify);
void __real_verify_fill(struct verify *verify);
int __wrap_pthread_join(pthread_t thread, void **result);
int __real_pthread_join(pthread_t thread, void **result);

int __wrap_pthread_join(pthread_t thread, void **result)
{
	int code = __real_pthread_join(thread, result);

	nanosleep(&(struct timespec){.tv_nsec = JOIN_NS}, NULL);
	return code;
}

void __wrap_verify_fill(struct verify *verify)
{
	static unsigned int messages;

	__real_verify_fill(verify);
	if (++messages % WRONG_EVERY == 0)
		memory_poke(verify->memory, verify->sent + WRONG_BYTE,
			    memory_peek(verify->memory, verify->sent + WRONG_BYTE) ^ 0xff);
}

static struct {
	uint64_t messages;
	uint64_t paused;
} seen;

static void __attribute__((destructor)) print_pauses(void)
{
	if (seen.messages)
		fprintf(stderr, "paused %" PRIu64 " times\n", seen.paused);
}

void __wrap_lane_compute(uint64_t ns)
{
	if (++seen.messages % PAUSE_EVERY)
		return;
	seen.paused++;
	nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}
