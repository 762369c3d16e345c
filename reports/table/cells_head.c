/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/io/json_member.h"
#include "reports/result/banner.h"
#include "reports/table/cells.h"

/* Returns the network type; for RoCE with its version, if all GIDs of the port have the same. */
static const char *network(const struct result_end *end)
{
	const json_t *types = json_object_get(json_object_get(end->facts, "port"), "gid_types");
	const char *type = json_string_value(json_array_get(types, 0));

	if (!type || strcmp(end->link_layer, "Ethernet") != 0)
		return end->link_layer;
	if (json_array_size(types) > 1)
		return "RoCE";
	return !strcmp(type, "RoCE v2") ? "RoCEv2" : "RoCEv1";
}

static bool has_same_qps(const struct result_case *one, const struct result_case *other)
{
	return json_equal(json_object_get(one->parameters, "qps"),
			  json_object_get(other->parameters, "qps"));
}

static bool has_same_mtu(const struct result_case *one, const struct result_case *other)
{
	const json_t *mtu = json_object_get(one->parameters, "mtu");
	const json_t *another = json_object_get(other->parameters, "mtu");

	return mtu == another || json_equal(mtu, another);
}

static bool has_same_access(const struct result_case *one, const struct result_case *other)
{
	const json_t *access = json_object_get(one->parameters, "access");
	const json_t *another = json_object_get(other->parameters, "access");

	return access == another || json_equal(access, another);
}

static bool has_same_transport(const struct result_case *one, const struct result_case *other)
{
	return !strcmp(one->transport, other->transport);
}

/* Returns the first case that is not skipped, if all such cases are alike, otherwise NULL. */
static const struct result_case *find_common(const struct result *result,
					     bool (*are_alike)(const struct result_case *,
							       const struct result_case *))
{
	const struct result_case *first = NULL;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		if (line->status == RESULT_SKIPPED)
			continue;
		if (first && !are_alike(first, line))
			return NULL;
		first = first ? first : line;
	}
	return first;
}

static uint64_t lesser(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

/* Returns the MTU that was requested, otherwise the largest that both ports support. */
static unsigned int mtu_of(const struct result *result, const struct result_case *line)
{
	const json_t *asked = json_object_get(line->parameters, "mtu");

	if (json_is_integer(asked))
		return (unsigned int)json_integer_value(asked);
	return (unsigned int)lesser(result->client.mtu, result->server.mtu);
}

/* Returns the access pattern, or NULL for older documents, which do not have it. */
static const char *access_of(const struct result_case *line)
{
	return json_string_value(json_object_get(line->parameters, "access"));
}

/* Returns the access pattern of a metric's cases that are not skipped, or NULL if they differ. */
static const char *metric_access(const struct result *result, const char *metric)
{
	const struct result_case *first = NULL;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		if (line->status == RESULT_SKIPPED || strcmp(line->metric, metric) != 0)
			continue;
		if (first && !has_same_access(first, line))
			return NULL;
		first = first ? first : line;
	}
	return first ? access_of(first) : NULL;
}

/* Formats the access pattern of all cases; if they differ, the pattern of each metric. */
static void add_access(char *text, size_t size, const struct result *result)
{
	static const char *const metrics[] = {"lat", "bw", "load"};
	const struct result_case *all = find_common(result, has_same_access);
	const char *access = all ? access_of(all) : NULL;
	const char *between = " access";
	size_t length = 0;

	if (access)
		length = (size_t)snprintf(text, size, "%s %.32s", between, access);
	for (size_t i = 0; !all && i < ARRAY_LENGTH(metrics) && length < size; i++) {
		access = metric_access(result, metrics[i]);
		if (!access)
			continue;
		length += (size_t)snprintf(text + length, size - length, "%s %s %.32s", between,
					   metrics[i], access);
		between = ",";
	}
}

uint64_t cells_line_mbps(const struct result *result)
{
	return banner_of(result) ? 0 : result_line_mbps(result);
}

void cells_pair(char text[static CELLS_ENDS], const struct result *result)
{
	const struct result_end *near = &result->client;
	const struct result_end *far = &result->server;

	if (result->imported)
		snprintf(text, CELLS_ENDS, "imported from %.32s: %s",
			 json_member_or_empty(result->imported, "format"),
			 near->device[0] ? near->device : far->device);
	else
		snprintf(text, CELLS_ENDS, "%s %s/%u -> %s %s/%u", near->host, near->device,
			 near->port, far->host, far->device, far->port);
}

void cells_head(char text[static CELLS_HEAD], const struct result *result)
{
	const struct result_end *near = &result->client;
	uint64_t mbps = cells_line_mbps(result);
	char ends[CELLS_ENDS];
	const struct result_case *transport = find_common(result, has_same_transport);
	const struct result_case *qps = find_common(result, has_same_qps);
	const struct result_case *mtu = find_common(result, has_same_mtu);
	char common[3][64] = {"", "", ""};
	char access[128] = "";
	char rate[32] = "";

	if (mtu && mtu_of(result, mtu))
		snprintf(common[2], sizeof(common[2]), " MTU %u", mtu_of(result, mtu));
	if (transport)
		snprintf(common[0], sizeof(common[0]), " %s", transport->transport);
	if (qps && json_object_get(qps->parameters, "qps")) {
		json_int_t count = json_integer_value(json_object_get(qps->parameters, "qps"));

		snprintf(common[1], sizeof(common[1]), " %" JSON_INTEGER_FORMAT " QP%s", count,
			 count == 1 ? "" : "s");
	}
	add_access(access, sizeof(access), result);
	cells_pair(ends, result);
	if (mbps)
		snprintf(rate, sizeof(rate), " %g Gb/s", (double)mbps / 1000);
	snprintf(text, CELLS_HEAD, "%s  %s%s%s%s%s%s", ends, network(near), rate, common[2],
		 common[0], common[1], access);
}
