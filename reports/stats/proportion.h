/* SPDX-License-Identifier: MIT */
/* How often something happens, from how often it did: Clopper's and Pearson's interval. */
#ifndef REPORTS_STATS_PROPORTION_H
#define REPORTS_STATS_PROPORTION_H

#include <stddef.h>

struct proportion {
	double low; /* of 95 %, at least: neither bound is too far in more than one of forty */
	double high;
};

/* some <= all; of none at all it may be anything. */
struct proportion proportion_of(size_t some, size_t all);

#endif
