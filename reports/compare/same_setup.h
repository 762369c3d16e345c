/* SPDX-License-Identifier: MIT */
/*
 * Whether two results come from the same setup, so that a difference between their figures is due
 * to the change under test.
 */
#ifndef REPORTS_COMPARE_SAME_SETUP_H
#define REPORTS_COMPARE_SAME_SETUP_H

#include "core/base/error.h"
#include "reports/result/result.h"

struct same_setup {
	const struct result *result;
	const char *name; /* the file name */
};

/*
 * Returns -EXDEV if the setups differ; the error names the host, the fact, and its value in each
 * file. A fact that a result does not record is not a difference.
 */
int same_setup_check(const struct same_setup *before, const struct same_setup *now,
		     struct error *error);

#define SAME_SETUP_KEY 17

/*
 * Computes a key of 16 hexadecimal digits that is equal for results of the same setup. A host that
 * does not record its facts is identified by its name. Keys of imported results differ from all
 * others and include the parameters. -ENOMEM.
 */
int same_setup_key(char key[static SAME_SETUP_KEY], const struct result *result,
		   struct error *error);

/* Whether both hosts have recorded their facts. */
bool same_setup_is_known(const struct result *result);

#endif
