/* SPDX-License-Identifier: MIT */
#include "bench/server/receive_misses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void receive_misses_open(struct receive_misses *missed, const char *root, const char *device,
			 unsigned int n_ports)
{
	struct error ignored = {0};

	*missed = (struct receive_misses){.ports = calloc(n_ports, sizeof(struct counters))};
	missed->n_ports = missed->ports ? n_ports : 0;
	for (unsigned int i = 0; i < missed->n_ports; i++)
		counters_open(&missed->ports[i], root, device, i + 1, NULL, &ignored);
}

/* Appends the counters that changed. Returns how many counters of this kind exist. */
static unsigned int print_changed(json_t *moved, char *text, size_t size)
{
	unsigned int found = 0;
	const char *name;
	json_t *value;

	json_object_foreach(moved, name, value)
	{
		size_t used = strlen(text);

		if (counters_kind(name) != COUNTER_NOT_READY)
			continue;
		found++;
		if (json_integer_value(value))
			snprintf(text + used, size - used, "%s%s %" JSON_INTEGER_FORMAT,
				 used ? ", " : "", name, json_integer_value(value));
	}
	return found;
}

void receive_misses_tell(const struct receive_misses *missed, const char *root, const char *device,
			 char *text, size_t size)
{
	unsigned int found = 0;

	*text = '\0';
	for (unsigned int i = 0; i < missed->n_ports; i++) {
		struct error ignored = {0};
		struct counters now;
		json_t *moved;

		if (counters_open(&now, root, device, i + 1, &missed->ports[i], &ignored))
			continue;
		moved = counters_moved(&missed->ports[i], &now);
		found += print_changed(moved, text, size);
		json_decref(moved);
		counters_close(&now);
	}
	if (!*text)
		snprintf(text, size, "%s", found ? "never" : "the device does not count it");
}

void receive_misses_close(struct receive_misses *missed)
{
	for (unsigned int i = 0; i < missed->n_ports; i++)
		counters_close(&missed->ports[i]);
	free(missed->ports);
	*missed = (struct receive_misses){0};
}
