/* SPDX-License-Identifier: MIT */
/*
 * Merges several runs of the same cases into one result: histograms are added up, trials and
 * windows are concatenated. Nothing is averaged. A case that only some runs have is taken from
 * them. A case that failed in any run counts as failed, and has no figures. Runs on other hosts or
 * with other settings are rejected.
 */
#ifndef REPORTS_DOCUMENT_MERGE_H
#define REPORTS_DOCUMENT_MERGE_H

#include "core/base/error.h"
#include "reports/result/result.h"

/* Returns -EEXIST if both have the same trial: duplicates would make figures look more certain. */
int merge_check_new(const struct result *into, const struct result *from, struct error *error);

/*
 * Adds a run; into is zeroed at first. from does not change and may be finished afterwards, if its
 * texts are in from->texts or have static storage. The first run provides command line and plan.
 * -EINVAL: another version of verbmark, other hosts, another clock, or a case with other parameters
 * or another kind of latency. -EOVERFLOW: a sum overflows. After an error, into may only be passed
 * to result_finish.
 */
int merge_add(struct result *into, const struct result *from, struct error *error);

/*
 * Returns what must be the same in two results that are merged, cases aside; JSON null if the
 * result cannot be merged. NULL if memory runs out.
 */
json_t *merge_circumstances(const struct result *result);

#endif
