/* SPDX-License-Identifier: MIT */
/*
 * Histograms and windows as they were before a document was made of them. What does
 * not add up is refused with -EINVAL: bins that are not ours, out of order or empty,
 * counts and sums that the bins cannot have, figures beyond the extremes.
 */
#ifndef REPORTS_DOCUMENT_RESTORE_H
#define REPORTS_DOCUMENT_RESTORE_H

#include <jansson.h>

#include "core/base/error.h"
#include "core/base/hist.h"
#include "reports/result/rate_windows.h"

/*
 * From a case's latency_ns. Bins, count, over, minimum, maximum and sum are as they
 * were. A document has no squares: theirs is the sum from which hist_stddev has the
 * document's own figure again, to the last digit, and it is the very sum as long as
 * that is below 2^50 about the mean, else off by some parts in 2^52. All other figures
 * follow from the bins, whatever the document says of them. hist was initialised, or is zeroed,
 * and is empty where it is refused.
 */
int restore_hist(struct hist *hist, const json_t *latency, struct error *error);

/*
 * From a case's bandwidth. The rates of the windows come from whole messages, and lead
 * back to them: to the very number where a window is shorter than a second for each
 * byte of a message, else to the least one of that rate. All others are in rest.
 */
int restore_windows(struct rate_windows *windows, const json_t *bandwidth, uint64_t message_bytes,
		    struct error *error);

#endif
