/* SPDX-License-Identifier: MIT */
/*
 * Examines this host and, if given, a server and the path to it. Problems become findings; an
 * error is only returned if the examination itself fails. It takes about a second and measures
 * nothing: counters that change meanwhile do so on their own or because of the few messages that
 * test the path. If those do not arrive it takes longer.
 */
#ifndef BENCH_DOCTOR_DOCTOR_H
#define BENCH_DOCTOR_DOCTOR_H

#include <stdint.h>

#include "bench/doctor/server.h"
#include "bench/host/advice/advice.h"
#include "core/base/error.h"

struct doctor {
	json_t *findings; /* as returned by advice_make */
	json_t *near;     /* this host's facts */
	json_t *far;      /* the server's facts; NULL: no server given or reached */
	json_t *counters; /* the device counters that changed; NULL: no device */
};

/*
 * Runs the examination. wish->device is DEVICE or DEVICE/PORT, or NULL for the best one.
 * wish->host is NULL to examine only this host.
 */
int doctor_open(struct doctor *doctor, const struct doctor_server_wish *wish, struct error *error);
void doctor_close(struct doctor *doctor);

#endif
