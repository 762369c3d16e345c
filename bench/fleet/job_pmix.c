/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pmix.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bench/fleet/job.h"
#include "core/base/clock.h"

struct job_link {
	pmix_proc_t self;
};

/*
 * A barrier in progress. PMIx may complete it after the caller has given it up, so both own it, and
 * the last one frees it.
 */
struct request {
	int done; /* eventfd */
	atomic_uint owners;
	pmix_status_t status;
};

static struct request *request_create(void)
{
	struct request *request = calloc(1, sizeof(*request));

	if (!request)
		return NULL;
	request->done = eventfd(0, EFD_CLOEXEC);
	if (request->done < 0) {
		free(request);
		return NULL;
	}
	atomic_init(&request->owners, 2);
	return request;
}

static void request_release(struct request *request)
{
	if (atomic_fetch_sub(&request->owners, 1) > 1)
		return;
	close(request->done);
	free(request);
}

static void fence_done(pmix_status_t status, void *owner)
{
	struct request *request = owner;
	uint64_t one = 1;

	request->status = status;
	if (write(request->done, &one, sizeof(one)) < 0)
		request->status = PMIX_ERROR;
	request_release(request);
}

/* Waits for the request. Fails with -EINTR on a signal, and with -ETIMEDOUT. */
static int request_await(struct request *request, int stop, unsigned int timeout_ms,
			 struct error *error)
{
	struct pollfd fds[] = {
		{.fd = request->done, .events = POLLIN},
		{.fd = stop,          .events = POLLIN},
	};
	uint64_t deadline = clock_deadline(timeout_ms);

	for (;;) {
		int left = clock_left_ms(deadline);

		if (poll(fds, 2, left) < 0 && errno != EINTR)
			return error_set_errno(error, -errno, "cannot wait for PMIx");
		if (fds[0].revents)
			break;
		if (fds[1].revents)
			return error_set(error, -EINTR, "interrupted");
		if (!left)
			return error_set(error, -ETIMEDOUT, "not all ranks came within %u s",
					 timeout_ms / 1000);
	}
	/* Open MPI's, if a rank died during the barrier. */
	if (request->status == PMIX_SUCCESS || request->status == PMIX_ERR_PARTIAL_SUCCESS)
		return 0;
	return error_set(error, -EIO, "PMIx_Fence failed: %s", PMIx_Error_string(request->status));
}

static int job_failed(pmix_status_t status, const char *what, struct error *error)
{
	return error_set(error, -EIO, "%s failed: %s", what, PMIx_Error_string(status));
}

/* Gets a number about this rank; returns false if the scheduler does not provide it. */
static bool get_number(const pmix_proc_t *proc, const char *key, uint32_t *number)
{
	pmix_value_t *value = NULL;
	bool is_known = false;

	if (PMIx_Get(proc, key, NULL, 0, &value) != PMIX_SUCCESS || !value)
		return false;
	if (value->type == PMIX_UINT32) {
		*number = value->data.uint32;
		is_known = true;
	} else if (value->type == PMIX_UINT16) {
		*number = value->data.uint16;
		is_known = true;
	}
	PMIX_VALUE_RELEASE(value);
	return is_known;
}

static void find_launcher(struct job *job)
{
	/* mpirun may run in an allocation of Slurm. */
	const char *name = getenv("OMPI_COMM_WORLD_SIZE")     ? "openmpi"
			   : getenv("SLURM_JOB_ID")           ? "slurm"
			   : getenv("PMIX_NAMESPACE") != NULL ? "pmix"
							      : "";
	const char *node = getenv("SLURMD_NODENAME");

	snprintf(job->launcher, sizeof(job->launcher), "%s", name);
	if (node)
		snprintf(job->host, sizeof(job->host), "%s", node);
	else
		gethostname(job->host, sizeof(job->host) - 1);
}

static int find_ranks(struct job *job, struct error *error)
{
	pmix_proc_t whole = job->link->self;

	whole.rank = PMIX_RANK_WILDCARD;
	if (!get_number(&whole, PMIX_JOB_SIZE, &job->size))
		return error_set(error, -EIO, "the scheduler does not report the number of ranks");
	job->rank = job->link->self.rank;
	job->local_size = 1;
	get_number(&whole, PMIX_LOCAL_SIZE, &job->local_size);
	get_number(&job->link->self, PMIX_LOCAL_RANK, &job->local_rank);
	return 0;
}

int job_open(struct job *job, int stop, struct error *error)
{
	pmix_status_t status;
	int code;

	*job = (struct job){.size = 1, .local_size = 1, .stop = stop};
	find_launcher(job);
	/* Without a launcher, PMIx_Init would look for one, and wait. */
	if (!getenv("PMIX_NAMESPACE"))
		return 0;
	job->link = calloc(1, sizeof(*job->link));
	if (!job->link)
		return error_set_errno(error, -ENOMEM, "cannot join the job");
	status = PMIx_Init(&job->link->self, NULL, 0);
	if (status != PMIX_SUCCESS) {
		free(job->link);
		job->link = NULL;
		return job_failed(status, "PMIx_Init", error);
	}
	code = find_ranks(job, error);
	if (code)
		job_close(job);
	return code;
}

void job_close(struct job *job)
{
	if (!job->link)
		return;
	PMIx_Finalize(NULL, 0);
	free(job->link);
	job->link = NULL;
}

void job_end(struct job *job, int status)
{
	/* Open MPI would report a failure of this program, and its own exit status. */
	if (job->link && !strcmp(job->launcher, "slurm"))
		PMIx_Abort(status, "", NULL, 0);
}

int job_publish(struct job *job, const char *key, const char *text, struct error *error)
{
	pmix_value_t value;
	pmix_status_t status;

	if (!job->link)
		return 0;
	PMIX_VALUE_CONSTRUCT(&value);
	PMIX_VALUE_LOAD(&value, text, PMIX_STRING);
	status = PMIx_Put(PMIX_GLOBAL, key, &value);
	PMIX_VALUE_DESTRUCT(&value);
	if (status == PMIX_SUCCESS)
		status = PMIx_Commit();
	return status == PMIX_SUCCESS ? 0 : job_failed(status, "publishing to the job", error);
}

int job_meet(struct job *job, unsigned int timeout_ms, struct error *error)
{
	struct request *request;
	bool collects = true;
	pmix_status_t status;
	pmix_proc_t all;
	pmix_info_t info;
	int code;

	if (!job->link)
		return 0;
	request = request_create();
	if (!request)
		return error_set_errno(error, -ENOMEM, "cannot wait for other ranks");
	all = job->link->self;
	all.rank = PMIX_RANK_WILDCARD;
	PMIX_INFO_CONSTRUCT(&info);
	/* Under Slurm 22.05, a barrier that collects nothing returns at once. */
	PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collects, PMIX_BOOL);
	status = PMIx_Fence_nb(&all, 1, &info, 1, fence_done, request);
	if (status != PMIX_SUCCESS) {
		/* PMIx refused it, or completed it at once: it does not call fence_done. */
		request_release(request);
		request_release(request);
		return status == PMIX_OPERATION_SUCCEEDED ? 0
							  : job_failed(status, "PMIx_Fence", error);
	}
	code = request_await(request, job->stop, timeout_ms, error);
	request_release(request);
	return code;
}

int job_get(const struct job *job, uint32_t rank, const char *key, char **text, struct error *error)
{
	pmix_value_t *value = NULL;
	bool is_local = true;
	pmix_status_t status;
	pmix_proc_t proc;
	pmix_info_t info;

	*text = NULL;
	if (!job->link)
		return error_set(error, -ENODATA, "this process is not part of a job");
	proc = job->link->self;
	proc.rank = rank;
	/* The last barrier brought all values here; asking another node for one could hang. */
	PMIX_INFO_CONSTRUCT(&info);
	PMIX_INFO_LOAD(&info, PMIX_OPTIONAL, &is_local, PMIX_BOOL);
	status = PMIx_Get(&proc, key, &info, 1, &value);
	if (status == PMIX_SUCCESS && value && value->type == PMIX_STRING && value->data.string)
		*text = strdup(value->data.string);
	if (value)
		PMIX_VALUE_RELEASE(value);
	return *text ? 0 : error_set(error, -ENODATA, "rank %u has not reported", rank);
}
