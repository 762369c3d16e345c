/* SPDX-License-Identifier: MIT */
#include "reports/fleet/place.h"

#include <stdio.h>

const char *fleet_place(const struct fleet *fleet, uint32_t node, uint8_t rail,
			char text[static FLEET_PLACE])
{
	const struct fleet_node *owner = &fleet->nodes[node];

	if (rail == FLEET_ALL_RAILS)
		snprintf(text, FLEET_PLACE, "%s", owner->name);
	else if (rail < owner->n_rails)
		snprintf(text, FLEET_PLACE, "%s %s/%u", owner->name, owner->rails[rail].device,
			 owner->rails[rail].port);
	else
		snprintf(text, FLEET_PLACE, "%s rail %u", owner->name, rail);
	return text;
}

const char *fleet_culprit_place(const struct fleet *fleet, const struct fleet_blame *blame,
				char text[static FLEET_CULPRIT])
{
	char from[FLEET_PLACE];
	char to[FLEET_PLACE];

	fleet_place(fleet, blame->node, blame->rail, from);
	if (blame->culprit == FLEET_CULPRIT_LINK || blame->culprit == FLEET_CULPRIT_PAIR)
		snprintf(text, FLEET_CULPRIT, "%s - %s", from,
			 fleet_place(fleet, blame->peer, blame->peer_rail, to));
	else
		snprintf(text, FLEET_CULPRIT, "%s", from);
	return text;
}
