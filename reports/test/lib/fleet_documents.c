/* SPDX-License-Identifier: MIT */
/*
 * Writes documents of made-up fleets, one per line, for fleet_schema.py. With an argument, it reads
 * documents instead, and writes what the parser says about them.
 */
#include "reports/document/parse.h"
#include "reports/fleet/document.h"
#include "reports/test/lib/checked_fleet.h"

static void print(void)
{
	json_t *document = checked_document(&fleet);

	json_dumpf(document, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(document);
}

/* Reads documents, and prints what the parser says about each: "good", or an error. */
static void judge_lines(void)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	while ((length = getline(&line, &room, stdin)) > 0) {
		struct error error = {0};
		struct fleet read = {0};
		json_t *document;

		if (!parse_json(line, (size_t)length, "a fleet", &document, &error))
			fleet_document_parse(&read, document, &error);
		puts(error.code ? error.text : "good");
		json_decref(document);
		fleet_finish(&read);
	}
	free(line);
}

int main(int argc, char *argv[])
{
	if (argc > 1) {
		judge_lines();
		return 0;
	}
	checked_open(NULL);
	print();
	fleet.nodes[N001].rails[0].is_soft = true;
	fleet.nodes[N001].fingerprint[0] = '\0';
	fleet.is_interrupted = true;
	snprintf(fleet.interruption, sizeof(fleet.interruption), "Interrupt");
	fleet.blames[0].culprit = FLEET_CULPRIT_LINK;
	fleet.blames[0].rail = 0;
	fleet.spreads[0].median = (double)NAN;
	fleet.pairs[0].histograms = json_pack("[s, n, s, n]", "HISTFAAAAC14", "HISTFAAAAC14nA==");
	snprintf(fleet.nodes[N001].rails[0].gpu, sizeof(fleet.nodes[N001].rails[0].gpu),
		 "0000:18:00.0");
	print();
	checked_close(NULL);
	print();
	return 0;
}
