/* SPDX-License-Identifier: MIT */
/* Parses the nodes of a fleet document. */
#ifndef REPORTS_FLEET_PARSE_NODE_H
#define REPORTS_FLEET_PARSE_NODE_H

#include "reports/fleet/fleet.h"

/* Adds the nodes with their rails and fingerprints. Returns 0 or a negative errno. */
int fleet_nodes_parse(struct fleet *fleet, const json_t *document, struct error *error);

#endif
