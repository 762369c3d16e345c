/* SPDX-License-Identifier: MIT */
#include "bench/fleet/floors.h"

#include <stdlib.h>
#include <string.h>

#include "bench/cli/value.h"

#define DEFAULT_SHARE 0.9

/* Parses a bandwidth as bits or bytes per second. */
static bool parse_bandwidth(const char *text, double *bytes_per_s)
{
	static const struct {
		const char *name;
		double bytes_per_s;
	} units[] = {
		{"gb/s",   1e9 / 8},
                {"mb/s",   1e6 / 8},
                {"gbit/s", 1e9 / 8}
        };
	char *end;
	double value = strtod(text, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcasecmp(end, units[i].name) && end[1] == 'b') {
			*bytes_per_s = value * units[i].bytes_per_s;
			return value > 0;
		}
	if (strcmp(end, "GB/s") != 0)
		return false;
	*bytes_per_s = value * 1e9;
	return value > 0;
}

const char *floors_parse(const char *text, void *field)
{
	struct floors *floors = field;
	char *end;
	double share = strtod(text, &end);
	uint64_t ns;

	if (!strcmp(text, "off")) {
		floors->share = floors->bytes_per_s = floors->latency_ns = (double)NAN;
		return NULL;
	}
	if (end != text && (!strcmp(end, "%") || !strcmp(end, "%line")) && share > 0 &&
	    share <= 100) {
		floors->share = share / 100;
		return NULL;
	}
	if (parse_bandwidth(text, &floors->bytes_per_s))
		return NULL;
	if (value_time(text, &ns) && ns) {
		floors->latency_ns = (double)ns;
		return NULL;
	}
	return "is not a share of the line rate (90%line), a bandwidth (350Gb/s), a latency (5us) "
	       "or off";
}

static bool has_hardware(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n_nodes; i++)
		for (size_t j = 0; j < fleet->nodes[i].n_rails; j++)
			if (!fleet->nodes[i].rails[j].is_soft)
				return true;
	return false;
}

double floors_share(const struct floors *floors, bool is_hardware)
{
	if (!isinf(floors->share))
		return floors->share;
	return is_hardware ? DEFAULT_SHARE : (double)NAN;
}

void floors_set(const struct floors *floors, struct fleet *fleet)
{
	double share = floors_share(floors, has_hardware(fleet));

	for (size_t i = 0; i < fleet->n_cases; i++) {
		struct fleet_case *one = &fleet->cases[i];

		if (one->is_latency) {
			one->floor = floors->latency_ns;
			continue;
		}
		one->floor_is_line = isnan(floors->bytes_per_s);
		one->floor = one->floor_is_line ? share : floors->bytes_per_s;
	}
}
