/* SPDX-License-Identifier: MIT */
/*
 * How many queue pairs a device serves at its full rate. Of bandwidths that differ in nothing
 * else but the number of queue pairs, their depths included, the largest number before the rate of
 * messages falls for good: the next one and all above it have less than 0.8 times the best
 * rate of those below. That is where what a device, or its host, keeps of queue pairs has no
 * room any more. Below three numbers nothing is said. A number whose case has failed, or
 * could not be run, is no point, and told beside it.
 */
#ifndef REPORTS_FINDING_QP_LIMIT_H
#define REPORTS_FINDING_QP_LIMIT_H

#include "reports/result/result.h"

#define CROWD_FALL  0.8
#define CROWD_LEAST 3

struct crowd_point {
	uint64_t queue_pairs; /* of all threads */
	double rate;          /* messages per second: the median of the trials */
	const struct result_case *line;
};

struct crowd {
	struct crowd_point best; /* of those up to at */
	struct crowd_point at;
	bool has_beyond; /* else the rate does not fall up to at, which has most */
	struct crowd_point beyond;
	json_t *left_out; /* cases that are no points, and why */
};

struct crowds {
	struct crowd *crowd;
	size_t count;
};

/* Of points in the order of their numbers: how many lie before the fall. */
size_t crowd_count(const struct crowd_point *points, size_t n_points);

/* Of all in a result; none where there is no memory for them. */
void crowds_open(struct crowds *crowds, const struct result *result);
void crowds_close(struct crowds *crowds);

/* For tables. */
void crowd_tell(const struct crowd *crowd, char text[static 512]);

/* For documents; NULL: there is none. */
json_t *crowds_make(const struct result *result);

#endif
