/* SPDX-License-Identifier: MIT */
/* Replaces job_pmix.c in builds without libpmix. */
#include <errno.h>

#include "bench/fleet/job.h"

int job_open(struct job *job, int stop, struct error *error)
{
	return error_set(error, -EOPNOTSUPP,
			 "this build has no PMIx: install libpmix-dev (Debian) or pmix-devel, and "
			 "build verbmark again");
}

void job_close(struct job *job)
{
}

void job_end(struct job *job, int status)
{
}

int job_publish(struct job *job, const char *key, const char *text, struct error *error)
{
	return -EOPNOTSUPP;
}

int job_meet(struct job *job, unsigned int timeout_ms, struct error *error)
{
	return -EOPNOTSUPP;
}

int job_get(const struct job *job, uint32_t rank, const char *key, char **text, struct error *error)
{
	*text = NULL;
	return -EOPNOTSUPP;
}
