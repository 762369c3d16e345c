/* SPDX-License-Identifier: MIT */
/*
 * Several runs of the same cases as one result: histograms added up, trials one after
 * another, windows behind each other. Nothing is averaged. A case that only some of
 * them have run is taken as it is; one that failed in any of them is a failed one, and
 * those have no figures. What ran elsewhere, or otherwise, is refused.
 */
#ifndef REPORTS_DOCUMENT_MERGE_H
#define REPORTS_DOCUMENT_MERGE_H

#include "core/base/error.h"
#include "reports/result/result.h"

/* Counted twice, trials would say that they are more certain than they are: -EEXIST. */
int merge_check_new(const struct result *into, const struct result *from, struct error *error);

/*
 * into is zeroed at first; from stays as it is, and may be finished afterwards if its
 * texts are in from->texts or the program's. Command line and plan are the first one's.
 * -EINVAL: another version of verbmark, other ends, another clock, or a case of that id
 * with other parameters or another kind of latency; -EOVERFLOW: more than can be
 * counted. into is only good for result_finish then.
 */
int merge_add(struct result *into, const struct result *from, struct error *error);

/*
 * What has to be the same of two results so that they can be merged, cases aside; JSON null of what
 * never can be. NULL: no memory.
 */
json_t *merge_circumstances(const struct result *result);

#endif
