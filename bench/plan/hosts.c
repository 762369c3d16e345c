/* SPDX-License-Identifier: MIT */
#include "bench/plan/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/cli/value.h"

bool hosts_are_several(const char *text)
{
	return text && strchr(text, ',');
}

/* Returns the port in NAME:PORT or [ADDRESS]:PORT, or NULL. */
static const char *port_of(const char *label)
{
	const char *colon = strrchr(label, ':');

	if (!colon || (label[0] == '[' ? colon[-1] != ']' : strchr(label, ':') != colon))
		return NULL;
	return colon + 1;
}

static int parse_one(struct host *host, uint16_t port, struct error *error)
{
	const char *digits = port_of(host->label);
	size_t length = strlen(host->label);
	const char *from = host->label;
	uint64_t number = port;

	if (digits && !value_count(digits, 1, UINT16_MAX, &number))
		return error_set(error, -EINVAL, "%s: invalid port '%s'", host->label, digits);
	if (digits)
		length = (size_t)(digits - 1 - from);
	if (from[0] == '[' && length > 2 && from[length - 1] == ']') {
		from++;
		length -= 2;
	}
	if (!length)
		return error_set(error, -EINVAL, "a host in the list has no name");
	snprintf(host->name, sizeof(host->name), "%.*s", (int)length, from);
	host->port = (uint16_t)number;
	return 0;
}

int hosts_parse(struct hosts *hosts, const char *text, uint16_t port, struct error *error)
{
	bool is_more = true;
	int code = 0;

	hosts->count = 0;
	while (is_more && !code) {
		struct host *host = &hosts->host[hosts->count];
		size_t length = strcspn(text, ",");

		if (hosts->count == HOSTS_MOST)
			return error_set(error, -EINVAL, "too many hosts: the limit is %d",
					 HOSTS_MOST);
		if (length >= sizeof(host->label))
			return error_set(error, -EINVAL,
					 "a host name is longer than %zu characters",
					 sizeof(host->label) - 1);
		snprintf(host->label, sizeof(host->label), "%.*s", (int)length, text);
		code = parse_one(host, port, error);
		hosts->count++;
		is_more = text[length];
		text += length + is_more;
	}
	return code;
}

/* Returns whether flow.from drives flow.to. */
static bool is_flow(enum pattern pattern, size_t n_hosts, struct hosts_flow flow)
{
	switch (pattern) {
	case PATTERN_ONE_TO_ONE:
		return flow.from % 2 == 0 && flow.to == flow.from + 1;
	case PATTERN_MANY_TO_ONE:
		return flow.to == n_hosts - 1;
	case PATTERN_ONE_TO_MANY:
		return flow.from == 0;
	case PATTERN_ALL_TO_ALL:
		break;
	}
	return true;
}

size_t hosts_flows(enum pattern pattern, size_t n_hosts, struct hosts_flow *flows)
{
	size_t count = 0;

	if (pattern == PATTERN_ONE_TO_ONE && n_hosts % 2)
		return 0;
	for (size_t from = 0; from < n_hosts; from++)
		for (size_t to = 0; to < n_hosts; to++) {
			struct hosts_flow flow = {from, to};

			if (from != to && is_flow(pattern, n_hosts, flow))
				flows[count++] = flow;
		}
	return count;
}
