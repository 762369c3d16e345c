/* SPDX-License-Identifier: MIT */
#include "core/verbs/device_clock.h"

#include <errno.h>

#include "core/base/clock.h"
#include "core/verbs/verbs.h"

/* An interrupt or an update of the clock can disturb some of these. */
#define TRIES 3

/* Providers that report cycles do so as nanoseconds, which may exceed a second. */
static int read_cycles(struct ibv_context *verbs, uint64_t *cycles)
{
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
	int code = verbs_result(ibv_query_rt_values_ex(verbs, &values));

	if (code)
		return code;
	if (!(values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK))
		return -EOPNOTSUPP;
	*cycles = (uint64_t)values.raw_clock.tv_sec * NS_PER_S + (uint64_t)values.raw_clock.tv_nsec;
	return 0;
}

uint64_t device_clock_khz(struct ibv_context *verbs)
{
	struct ibv_device_attr_ex attr = {0};
	uint64_t cycles;

	if (verbs_result(ibv_query_device_ex(verbs, NULL, &attr)) ||
	    !attr.completion_timestamp_mask || read_cycles(verbs, &cycles))
		return 0;
	return attr.hca_core_clock;
}

int device_clock_open(struct device_clock *clock, struct ibv_context *verbs, bool is_counter,
		      struct error *error)
{
	struct ibv_device_attr_ex attr = {0};
	int code = verbs_result(ibv_query_device_ex(verbs, NULL, &attr));

	if (code)
		return error_set_errno(error, code, "cannot query the device");
	if (!attr.completion_timestamp_mask)
		return error_set(error, -EOPNOTSUPP, "the device has no completion timestamps");
	*clock = (struct device_clock){
		.verbs = verbs, .mask = attr.completion_timestamp_mask, .is_counter = is_counter};
	return 0;
}

int device_clock_read(const struct device_clock *clock, struct device_clock_reading *reading,
		      struct error *error)
{
	reading->off = UINT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		uint64_t before = clock_ticks(clock->is_counter);
		uint64_t cycles;
		uint64_t took;
		int code = read_cycles(clock->verbs, &cycles);

		if (code)
			return error_set_errno(error, code, "cannot read the device's clock");
		took = clock_ticks(clock->is_counter) - before;
		if (took / 2 + 1 >= reading->off)
			continue;
		*reading = (struct device_clock_reading){
			.ticks = before + took / 2, .off = took / 2 + 1, .cycles = cycles};
	}
	return 0;
}

/* Returns whether a difference of timestamps is negative: at least half of their range. */
static bool is_negative(const struct device_clock *clock, uint64_t cycles)
{
	return cycles > clock->mask / 2;
}

uint64_t device_clock_ticks(const struct device_clock *clock,
			    const struct device_clock_reading *from,
			    const struct device_clock_reading *to, uint64_t cycles)
{
	uint64_t span = (to->cycles - from->cycles) & clock->mask;
	uint64_t since = (cycles - from->cycles) & clock->mask;

	if (is_negative(clock, since))
		return from->ticks;
	if (since >= span)
		return to->ticks;
	return from->ticks +
	       (uint64_t)((unsigned __int128)(to->ticks - from->ticks) * since / span);
}
