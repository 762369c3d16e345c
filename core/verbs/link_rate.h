/* SPDX-License-Identifier: MIT */
/*
 * How fast the link of a port is, in 10^6 bits per second. Verbs have it as a width and a
 * speed, and the kernel says NDR there for whatever is faster; a file of its own has the
 * rate as it is.
 */
#ifndef CORE_VERBS_LINK_RATE_H
#define CORE_VERBS_LINK_RATE_H

#include <stdint.h>

/* The larger of what verbs say and what is below the root; 0: neither knows. */
uint64_t link_rate_mbps(const char *root, const char *device, unsigned int port, uint8_t width,
			uint8_t speed);

/* From that file, as in "2.5 Gb/sec (1X SDR)"; 0: it tells no rate. */
uint64_t link_rate_told(const char *text);

#endif
