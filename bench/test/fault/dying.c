/* SPDX-License-Identifier: MIT */
/*
 * verbmark with a signal that the linker wraps around its functions: a rank of fleet raises it
 * before the barrier or the report that DYING names. For example, meet#2:9 is SIGKILL before the
 * second barrier, report#1:19 is SIGSTOP before the first report.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/fleet/job.h"
#include "bench/fleet/meeting.h"

int __wrap_job_meet(struct job *job, unsigned int timeout_ms, struct error *error);
int __real_job_meet(struct job *job, unsigned int timeout_ms, struct error *error);
int __wrap_meeting_report(struct meeting *meeting, uint32_t rank, json_t *pairs, bool is_last,
			  struct error *error);
int __real_meeting_report(struct meeting *meeting, uint32_t rank, json_t *pairs, bool is_last,
			  struct error *error);

static void pass(const char *stage, int number)
{
	const char *wanted = getenv("DYING");
	char passed[32];

	snprintf(passed, sizeof(passed), "%s#%d:", stage, number);
	if (wanted && !strncmp(wanted, passed, strlen(passed)))
		raise(atoi(wanted + strlen(passed)));
}

int __wrap_job_meet(struct job *job, unsigned int timeout_ms, struct error *error)
{
	static int number;

	pass("meet", ++number);
	return __real_job_meet(job, timeout_ms, error);
}

int __wrap_meeting_report(struct meeting *meeting, uint32_t rank, json_t *pairs, bool is_last,
			  struct error *error)
{
	static int number;

	pass("report", ++number);
	return __real_meeting_report(meeting, rank, pairs, is_last, error);
}
