/* SPDX-License-Identifier: MIT */
/*
 * A histogram as HdrHistogram's V2 compressed string ("HISTF..."), which HdrHistogram libraries in
 * all languages read: 3 significant digits, values from 1 to the last bin, and the same bins as
 * struct hist. The string has only the counts of the bins: not the samples in over, and not the
 * exact minimum, maximum and sum.
 */
#ifndef REPORTS_DOCUMENT_HDR_H
#define REPORTS_DOCUMENT_HDR_H

#include "core/base/error.h"
#include "core/base/hist.h"

/* Encodes a histogram; the caller frees the string. Returns NULL and sets the error on failure. */
char *hdr_encode(const struct hist *hist, struct error *error);

/*
 * Decodes untrusted text. A text that is not such a string, or has samples beyond our bins or other
 * digits, is rejected with -EINVAL, and hist is empty then. Minimum and maximum of the decoded
 * histogram are the edges of its outermost bins; sum and squares assume every sample in the middle
 * of its bin, as HdrHistogram does.
 */
int hdr_decode(struct hist *hist, const char *text, struct error *error);

#endif
