/* SPDX-License-Identifier: MIT */
#include "bench/lane/cpu_cost.h"

#include <sys/resource.h>

static uint64_t nanoseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_usec * NS_PER_US;
}

struct result_cost cpu_cost_now(const struct lane *lane)
{
	struct rusage usage = {0};

	/* This updates the thread's counters, which otherwise lag by up to a tick. */
	clock_read(CLOCK_THREAD_CPUTIME_ID);
	getrusage(RUSAGE_THREAD, &usage);
	return (struct result_cost){
		.messages = lane->result.messages,
		.user_ns = nanoseconds(&usage.ru_utime),
		.system_ns = nanoseconds(&usage.ru_stime),
		.voluntary_switches = (uint64_t)usage.ru_nvcsw,
		.involuntary_switches = (uint64_t)usage.ru_nivcsw,
		.cq_events = lane->endpoint.completion.events,
		.completions = lane->result.completions,
	};
}

struct result_cost cpu_cost_since(const struct lane *lane, const struct result_cost *before)
{
	struct result_cost now = cpu_cost_now(lane);

	return (struct result_cost){
		.messages = now.messages - before->messages,
		.user_ns = now.user_ns - before->user_ns,
		.system_ns = now.system_ns - before->system_ns,
		.voluntary_switches = now.voluntary_switches - before->voluntary_switches,
		.involuntary_switches = now.involuntary_switches - before->involuntary_switches,
		.cq_events = now.cq_events - before->cq_events,
		.completions = now.completions - before->completions,
	};
}
