/* SPDX-License-Identifier: MIT */
/*
 * A histogram as HdrHistogram's V2 compressed string ("HISTF..."), which its readers
 * in every language take: 3 significant digits, values from 1 to the last bin, whose
 * bins are index for index those of struct hist. It tells how many samples are in
 * which bin and no more: those in over, and the exact minimum, maximum and sum, are
 * not in it.
 */
#ifndef REPORTS_DOCUMENT_HDR_H
#define REPORTS_DOCUMENT_HDR_H

#include "core/base/error.h"
#include "core/base/hist.h"

/* The caller frees it. NULL: the error says why. */
char *hdr_encode(const struct hist *hist, struct error *error);

/*
 * Takes any text, also a hostile one: what is no such string, or has samples beyond
 * our bins or other digits, is refused with -EINVAL, and hist is empty then. The
 * minimum and the maximum of what is decoded are the edges of its outermost bins; sum
 * and squares are as if every sample were the middle of its bin, as HdrHistogram has
 * it.
 */
int hdr_decode(struct hist *hist, const char *text, struct error *error);

#endif
