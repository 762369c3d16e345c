/* SPDX-License-Identifier: MIT */
/*
 * Converts the error conventions of verbs and rdma_cm (NULL and errno, -1 and errno, a
 * positive errno) to ours: 0 or a negative errno.
 */
#ifndef CORE_VERBS_VERBS_H
#define CORE_VERBS_VERBS_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "core/base/error.h"

/* Converts a result that is 0, -1 with errno set, or a positive errno. */
int verbs_result(int result);

/* Returns the code of a function that has just returned NULL. */
int verbs_null(void);

/* Returns what a failed completion means and what to do about it. */
const char *verbs_hint(enum ibv_wc_status status);

/* Sets "what: status: hint". */
int verbs_completion_error(struct error *error, const char *what, const struct ibv_wc *wc);

/*
 * Sets "cannot WHAT: reason" for an operation that locks memory, including creating queues.
 * Explains a memlock limit that is too small and how to raise it. Returns code.
 */
int verbs_memory_error(struct error *error, int code, const char *what);

/*
 * Registers memory. Sets -EOPNOTSUPP if the device rejects IBV_ACCESS_RELAXED_ORDERING. A
 * kernel that does not know the flag silently ignores it.
 */
struct ibv_mr *verbs_register(struct ibv_pd *pd, void *address, size_t length, int access,
			      struct error *error);

#endif
