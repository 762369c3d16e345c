/* SPDX-License-Identifier: MIT */
/* Writes documents of made-up fleets, one per line, for fleet_schema.py. */
#include "reports/fleet/document.h"
#include "reports/test/lib/checked_fleet.h"

static void print(void)
{
	json_t *document = checked_document(&fleet);

	json_dumpf(document, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(document);
}

int main(void)
{
	checked_open(NULL);
	print();
	fleet.nodes[N001].rails[0].is_soft = true;
	fleet.nodes[N001].fingerprint[0] = '\0';
	fleet.is_interrupted = true;
	snprintf(fleet.interruption, sizeof(fleet.interruption), "Interrupt");
	fleet.blames[0].culprit = FLEET_CULPRIT_LINK;
	fleet.blames[0].rail = 0;
	fleet.spreads[0].median = (double)NAN;
	print();
	checked_close(NULL);
	print();
	return 0;
}
