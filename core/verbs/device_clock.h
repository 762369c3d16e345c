/* SPDX-License-Identifier: MIT */
/*
 * The clock of a device's completion timestamps. It counts cycles from an arbitrary origin, at a
 * rate that is known only roughly. A reading pairs it with the host's clock for samples; a
 * timestamp between two readings is interpolated, so that neither rate nor origin matters.
 */
#ifndef CORE_VERBS_DEVICE_CLOCK_H
#define CORE_VERBS_DEVICE_CLOCK_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

struct device_clock {
	struct ibv_context *verbs;
	uint64_t mask;   /* the bits of a timestamp */
	bool is_counter; /* the host's clock; see clock_ticks */
};

struct device_clock_reading {
	uint64_t ticks;  /* of the host */
	uint64_t off;    /* maximum error of ticks */
	uint64_t cycles; /* of the device */
};

/* Returns the rate in kHz that the device reports, or 0 if it has no such clock. */
uint64_t device_clock_khz(struct ibv_context *verbs);

/* Fails with -EOPNOTSUPP if the device has no such clock. */
int device_clock_open(struct device_clock *clock, struct ibv_context *verbs, bool is_counter,
		      struct error *error);

/* Reads both clocks several times and keeps the reading with the least error. */
int device_clock_read(const struct device_clock *clock, struct device_clock_reading *reading,
		      struct error *error);

/*
 * Converts a timestamp to ticks of the host. One outside the readings, which only their errors can
 * cause, is moved to the nearer one.
 */
uint64_t device_clock_ticks(const struct device_clock *clock,
			    const struct device_clock_reading *from,
			    const struct device_clock_reading *to, uint64_t cycles);

#endif
