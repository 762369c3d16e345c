/* SPDX-License-Identifier: MIT */
/*
 * Restores histograms and throughput windows from a document. Inconsistent data is rejected with
 * -EINVAL: invalid, unordered or empty bins, counts and sums that the bins do not allow, figures
 * beyond the extremes.
 */
#ifndef REPORTS_DOCUMENT_RESTORE_H
#define REPORTS_DOCUMENT_RESTORE_H

#include <jansson.h>

#include "core/base/error.h"
#include "core/base/hist.h"
#include "reports/result/rate_windows.h"

/*
 * Restores a histogram from a case's latency_ns. Bins, count, over, minimum, maximum and sum are
 * exact. Documents have no sum of squares: it is restored so that hist_stddev returns the
 * document's stddev to the last digit. It is exact below 2^50 about the mean, else off by some
 * parts in 2^52. All other figures follow from the bins, whatever the document says. hist must be
 * initialized or zeroed; on failure it is empty.
 */
int restore_hist(struct hist *hist, const json_t *latency, struct error *error);

/*
 * Restores windows from a case's bandwidth. The messages of a window are computed from its rate:
 * exactly if the window is shorter than one second per byte of a message, else as the smallest
 * possible number. The remaining messages are in rest.
 */
int restore_windows(struct rate_windows *windows, const json_t *bandwidth, uint64_t message_bytes,
		    struct error *error);

#endif
