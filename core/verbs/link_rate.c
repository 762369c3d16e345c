/* SPDX-License-Identifier: MIT */
#include "core/verbs/link_rate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/sysfs.h"

/* More than any link will have, but without overflow. */
#define GBPS_MAX 1000000

/* Returns megabits per second of one lane, by the bit of active_speed. */
static uint64_t lane_mbps(uint8_t speed)
{
	static const uint64_t mbps[] = {2500, 5000, 10000, 10000, 14000, 25000, 50000, 100000};

	for (size_t i = 0; i < ARRAY_LENGTH(mbps); i++)
		if (speed == 1U << i)
			return mbps[i];
	return 0;
}

static uint64_t lanes(uint8_t width)
{
	switch (width) {
	case 1:
		return 1;
	case 2:
		return 4;
	case 4:
		return 8;
	case 8:
		return 12;
	case 16:
		return 2;
	default:
		return 0;
	}
}

static bool is_digit(char character)
{
	return character >= '0' && character <= '9';
}

uint64_t link_rate_parse(const char *text)
{
	uint64_t place = 1000;
	uint64_t mbps;
	char *end;

	if (!is_digit(*text))
		return 0;
	mbps = strtoull(text, &end, 10);
	if (mbps > GBPS_MAX)
		return 0;
	mbps *= place;
	if (*end == '.')
		while (is_digit(*++end))
			mbps += (uint64_t)(*end - '0') * (place /= 10);
	return strncmp(end, " Gb/sec", strlen(" Gb/sec")) != 0 ? 0 : mbps;
}

uint64_t link_rate_mbps(const char *root, const char *device, unsigned int port, uint8_t width,
			uint8_t speed)
{
	uint64_t product = lanes(width) * lane_mbps(speed);
	uint64_t reported = 0;
	char line[64];

	if (sysfs_line(root, line, sizeof(line), "/sys/class/infiniband/%s/ports/%u/rate", device,
		       port))
		reported = link_rate_parse(line);
	return reported > product ? reported : product;
}
