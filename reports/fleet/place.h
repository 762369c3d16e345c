/* SPDX-License-Identifier: MIT */
/* Names of nodes, rails and links for people. */
#ifndef REPORTS_FLEET_PLACE_H
#define REPORTS_FLEET_PLACE_H

#include "reports/fleet/fleet.h"

#define FLEET_PLACE   192
#define FLEET_CULPRIT ((size_t)2 * FLEET_PLACE)

/* Writes "n017 mlx5_3/1", or "n017" for all its rails. Returns text. */
const char *fleet_place(const struct fleet *fleet, uint32_t node, uint8_t rail,
			char text[static FLEET_PLACE]);

/* Writes the place that is to blame: a node, a rail, or "n001 mlx5_0/1 - n002 mlx5_0/1". */
const char *fleet_culprit_place(const struct fleet *fleet, const struct fleet_blame *blame,
				char text[static FLEET_CULPRIT]);

#endif
