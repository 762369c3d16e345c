/* SPDX-License-Identifier: MIT */
/*
 * Whether two results are of alike circumstances, so that a difference between their
 * figures is one of what was to be compared.
 */
#ifndef REPORTS_COMPARE_SAME_SETUP_H
#define REPORTS_COMPARE_SAME_SETUP_H

#include "core/base/error.h"
#include "reports/result/result.h"

struct same_setup {
	const struct result *result;
	const char *name; /* of its file */
};

/*
 * -EXDEV: they are not; the sentence names an end, and what of it is what in which file.
 * What a result does not tell is no difference.
 */
int same_setup_check(const struct same_setup *before, const struct same_setup *now,
		     struct error *error);

#define SAME_SETUP_KEY 17

/*
 * The same for results that are alike, as long as they tell all their circumstances, and
 * another one for others: 16 hexadecimal digits. Where an end does not tell them, it is its
 * name that has to be the same. What was imported is like nothing that verbmark has measured,
 * and has its parameters in the key. -ENOMEM.
 */
int same_setup_key(char key[static SAME_SETUP_KEY], const struct result *result,
		   struct error *error);

/* Whether both ends have told their circumstances. */
bool same_setup_is_known(const struct result *result);

#endif
