/* SPDX-License-Identifier: MIT */
/*
 * The one place that meets the conventions of verbs and rdma_cm: NULL and errno,
 * -1 and errno, a positive errno. Ours is 0 or a negative errno.
 */
#ifndef CORE_VERBS_VERBS_H
#define CORE_VERBS_VERBS_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "core/base/error.h"

/* Of a function that returns 0, -1 and errno, or a positive errno. */
int verbs_result(int result);

/* The code of a function that has just returned NULL. */
int verbs_null(void);

/* What a failed completion means, and what to do about it. */
const char *verbs_hint(enum ibv_wc_status status);

/* Sets "what: status by name: hint". */
int verbs_completion_error(struct error *error, const char *what, const struct ibv_wc *wc);

/*
 * "cannot WHAT: reason" for what pins memory: a memlock that is too small is told with
 * its mend. Devices take it for queues, too. Returns code.
 */
int verbs_memory_error(struct error *error, int code, const char *what);

/*
 * Registers memory. -EOPNOTSUPP where it is IBV_ACCESS_RELAXED_ORDERING that the device does
 * not take; a kernel that does not know the flag is not asked for it, and nobody tells.
 */
struct ibv_mr *verbs_register(struct ibv_pd *pd, void *address, size_t length, int access,
			      struct error *error);

#endif
