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

#define QP_LIMIT_FALL  0.8
#define QP_LIMIT_LEAST 3

struct qp_limit_point {
	uint64_t queue_pairs; /* of all threads */
	double rate;          /* messages per second: the median of the trials */
	const struct result_case *line;
};

struct qp_limit {
	struct qp_limit_point best; /* of those up to at */
	struct qp_limit_point at;
	bool has_beyond; /* else the rate does not fall up to at, which has most */
	struct qp_limit_point beyond;
	json_t *left_out; /* cases that are no points, and why */
};

struct qp_limits {
	struct qp_limit *crowd;
	size_t count;
};

/* Of points in the order of their numbers: how many lie before the fall. */
size_t qp_limit_count(const struct qp_limit_point *points, size_t n_points);

/* Of all in a result; none where there is no memory for them. */
void qp_limits_open(struct qp_limits *crowds, const struct result *result);
void qp_limits_close(struct qp_limits *crowds);

/* For tables. */
void qp_limit_tell(const struct qp_limit *crowd, char text[static 512]);

/* For documents; NULL: there is none. */
json_t *qp_limits_make(const struct result *result);

#endif
