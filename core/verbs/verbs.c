/* SPDX-License-Identifier: MIT */
#include "core/verbs/verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>

#include "core/base/free_memory.h"

int verbs_result(int result)
{
	if (!result)
		return 0;
	if (result > 0)
		return -result;
	if (result == -1)
		return errno ? -errno : -EIO;
	return result;
}

int verbs_null(void)
{
	return errno ? -errno : -ENOMEM;
}

static const char *const hints[] = {
	[IBV_WC_LOC_LEN_ERR] = "a message was longer than its receive",
	[IBV_WC_LOC_QP_OP_ERR] = "the queue pair does not support this; is the port down?",
	[IBV_WC_LOC_PROT_ERR] = "the local memory is not registered for this access",
	[IBV_WC_WR_FLUSH_ERR] = "the connection ended before the operation completed",
	[IBV_WC_MW_BIND_ERR] = "cannot bind the memory window",
	[IBV_WC_BAD_RESP_ERR] = "the peer sent an unexpected response",
	[IBV_WC_LOC_ACCESS_ERR] = "the peer wrote to memory without permission",
	[IBV_WC_REM_INV_REQ_ERR] = "the peer does not support this request",
	[IBV_WC_REM_ACCESS_ERR] = "the peer rejected the address, length or rkey",
	[IBV_WC_REM_OP_ERR] = "the peer failed to execute the operation",
	[IBV_WC_RETRY_EXC_ERR] =
		"no acknowledgment; is the peer alive, and does the path carry the MTU?",
	[IBV_WC_RNR_RETRY_EXC_ERR] = "the peer had no receive posted in time",
};

const char *verbs_hint(enum ibv_wc_status status)
{
	if ((size_t)status < ARRAY_LENGTH(hints) && hints[status])
		return hints[status];
	return "see the device's documentation";
}

int verbs_completion_error(struct error *error, const char *what, const struct ibv_wc *wc)
{
	char vendor[40] = "";

	/* Device-specific code; 0 is none. */
	if (wc->vendor_err)
		snprintf(vendor, sizeof(vendor), " (vendor error %#x)", wc->vendor_err);
	return error_set(error, -EIO, "%s: %s: %s%s", what, ibv_wc_status_str(wc->status),
			 verbs_hint(wc->status), vendor);
}

static const char *size_text(char *text, size_t size, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
	size_t unit = 0;

	while (unit + 1 < ARRAY_LENGTH(units) && bytes >= 1024 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	snprintf(text, size, "%" PRIu64 " %s", bytes, units[unit]);
	return text;
}

int verbs_memory_error(struct error *error, int code, const char *what)
{
	struct rlimit limit;
	char allowed[32];

	if (code != -ENOMEM)
		return error_set_errno(error, code, "cannot %s", what);
	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    free_memory_is_exempt("")) {
		error_set_errno(error, code, "cannot %s", what);
		return error_append(error, "the device may be out of memory");
	}
	return error_set(error, code,
			 "cannot %s: memlock is %s; set 'ulimit -l unlimited', or "
			 "LimitMEMLOCK=infinity for slurmd",
			 what, size_text(allowed, sizeof(allowed), limit.rlim_cur));
}

/* Libraries drop the flag on kernels that do not know it; a device may still reject it. */
static bool is_relaxing_refused(struct ibv_pd *pd, void *address, size_t length, int access)
{
	struct ibv_mr *mr = NULL;

	if (access & IBV_ACCESS_RELAXED_ORDERING)
		mr = ibv_reg_mr(pd, address, length, access & ~IBV_ACCESS_RELAXED_ORDERING);
	if (mr)
		ibv_dereg_mr(mr);
	return mr != NULL;
}

struct ibv_mr *verbs_register(struct ibv_pd *pd, void *address, size_t length, int access,
			      struct error *error)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, address, length, access);
	int code = verbs_null();
	char size[32];
	char what[48];

	if (mr)
		return mr;
	if (is_relaxing_refused(pd, address, length, access)) {
		error_set(error, -EOPNOTSUPP,
			  "the device does not support relaxed ordering; use "
			  "--relaxed-ordering off");
		return NULL;
	}
	snprintf(what, sizeof(what), "register %s", size_text(size, sizeof(size), length));
	verbs_memory_error(error, code, what);
	return NULL;
}
