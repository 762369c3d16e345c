/* SPDX-License-Identifier: MIT */
/*
 * Link rate of a port, in 10^6 bits per second. Verbs report it as a width and a speed, but
 * the kernel reports NDR for anything faster; sysfs has the exact rate.
 */
#ifndef CORE_VERBS_LINK_RATE_H
#define CORE_VERBS_LINK_RATE_H

#include <stdint.h>

/* Returns the larger of verbs' and sysfs' (below root) rates, or 0 if both are unknown. */
uint64_t link_rate_mbps(const char *root, const char *device, unsigned int port, uint8_t width,
			uint8_t speed);

/* Parses the sysfs text, such as "2.5 Gb/sec (1X SDR)". Returns 0 if it has no rate. */
uint64_t link_rate_parse(const char *text);

#endif
