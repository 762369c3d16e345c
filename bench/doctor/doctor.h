/* SPDX-License-Identifier: MIT */
/*
 * An examination of this host and, if one is named, of a server and of the path between
 * the two. What is wrong with them is a finding, not an error; an error is what keeps
 * it from looking. It takes about a second, in which nothing is measured: what counts
 * up meanwhile does so by itself, or by the few messages that prove the path. Where they
 * do not get through it takes longer.
 */
#ifndef BENCH_DOCTOR_DOCTOR_H
#define BENCH_DOCTOR_DOCTOR_H

#include <stdint.h>

#include "bench/doctor/server.h"
#include "bench/host/advice/advice.h"
#include "core/base/error.h"

struct doctor {
	json_t *findings; /* as advice_make gives them */
	json_t *near;     /* this host's facts */
	json_t *far;      /* the server's; NULL: none was asked or reached */
	json_t *counters; /* the device's that moved; NULL: there is no device */
};

/* Its device: DEVICE or DEVICE/PORT; NULL: the best. host: NULL for this one alone. */
int doctor_open(struct doctor *doctor, const struct doctor_server_wish *wish, struct error *error);
void doctor_close(struct doctor *doctor);

#endif
