/* SPDX-License-Identifier: MIT */
#include "reports/table.h"

#include <inttypes.h>
#include <string.h>

#include "reports/statistic.h"

#define NS_PER_US 1000.0

static void print_end(FILE *out, const struct result_end *end)
{
	fprintf(out, "%s %s/%u", end->host, end->device, end->port);
}

void table_head(FILE *out, const struct result *result)
{
	const struct result_end *near = &result->client;

	print_end(out, near);
	fputs(" -> ", out);
	print_end(out, &result->server);
	fprintf(out, "  %s %g Gb/s MTU %u RC\n", near->link_layer, (double)near->rate_mbps / 1000,
		near->mtu);
	fprintf(out, "%-14s %8s %-14s %-10s", "LATENCY us", "bytes", "cq", "kind");
	for (size_t i = 0; i < n_statistics; i++)
		if (statistics[i].title)
			fprintf(out, " %9s", statistics[i].title);
	fprintf(out, "  %s\n", "CPU us/msg near/far");
}

static double cpu_us(const struct result_cost *cost)
{
	uint64_t spent = cost->user_ns + cost->system_ns;

	return cost->messages ? (double)spent / (double)cost->messages / NS_PER_US : 0;
}

static void print_latency(FILE *out, const struct hist *hist)
{
	for (size_t i = 0; i < n_statistics; i++) {
		const struct statistic *statistic = &statistics[i];

		if (!statistic->title)
			continue;
		if (statistic->is_known(hist, statistic))
			fprintf(out, " %9.2f", statistic->value(hist, statistic) / NS_PER_US);
		else
			fprintf(out, " %9s", "-");
	}
}

void table_line(FILE *out, const struct result_case *line)
{
	char cq[32];

	if (line->status != RESULT_COMPLETE || !line->latency) {
		fprintf(out, "%s: %s\n", line->id,
			line->error[0] ? line->error : result_status_name(line->status));
		return;
	}
	if (!strcmp(line->cq, line->server_cq))
		snprintf(cq, sizeof(cq), "%s", line->cq);
	else
		snprintf(cq, sizeof(cq), "%s/%s", line->cq, line->server_cq);
	fprintf(out, "%-14s %8" PRIu64 " %-14s %-10s", line->op, line->size, cq,
		result_kind_name(line->kind));
	print_latency(out, line->latency);
	fprintf(out, "  %.2f/%.2f\n", cpu_us(&line->client), cpu_us(&line->server));
}
