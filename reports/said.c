/* SPDX-License-Identifier: MIT */
#include "reports/said.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/crowd.h"
#include "reports/knee.h"

void said_knees(const struct result *result, said *say, void *owner)
{
	struct knees knees;
	struct crowds crowds;
	char text[512];

	knees_open(&knees, result);
	for (size_t i = 0; i < knees.count; i++) {
		knee_tell(&knees.knee[i], text);
		say(owner, text);
	}
	knees_close(&knees);
	crowds_open(&crowds, result);
	for (size_t i = 0; i < crowds.count; i++) {
		crowd_tell(&crowds.crowd[i], text);
		say(owner, text);
	}
	crowds_close(&crowds);
}

void said_printed(const struct result *result,
		  void (*print)(FILE *out, const struct result *result), said *say, void *owner)
{
	char *text = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&text, &length);
	char *rest = NULL;

	if (!memory)
		return;
	print(memory, result);
	if (!fclose(memory) && text)
		for (char *line = strtok_r(text, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest))
			say(owner, line);
	free(text);
}
