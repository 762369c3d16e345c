/* SPDX-License-Identifier: MIT */
#include "bench/plan/pattern_rules.h"

#include <errno.h>
#include <stdlib.h>

#include "bench/plan/hosts.h"

/* The "many" of a pattern are threads of one host, or several hosts. */
static const char *refuse_pattern(const struct parameters *p, const struct hosts *hosts,
				  struct hosts_flow *flows)
{
	if (hosts->count && !pattern_is_on(p))
		return "several hosts need --pattern, which says who talks to whom";
	if (!pattern_is_on(p))
		return NULL;
	if (!hosts->count)
		return p->threads > 1 ? NULL
				      : "--pattern needs several hosts, or --threads above 1";
	/* While one flow waits for the others, traffic that the server drives would time out. */
	if (p->latencies || p->needs || p->interleave == 1 || p->bidirectional)
		return "--latencies, --needs, --interleave and -b work only with one HOST";
	return hosts_flows((enum pattern)p->pattern, hosts->count, flows)
		       ? NULL
		       : "one-to-one needs an even number of hosts";
}

/* Devices cannot be chosen here: each server offers its own. */
static int parse_hosts(const struct plan *plan, struct hosts *hosts, struct error *error)
{
	if (plan->server_device || plan->device_port || (plan->device && !plan->launch))
		return error_set(
			error, -EINVAL,
			"--device, --device-port and --server-device work only with one HOST; "
			"with several, use 'serve --device' on each");
	return hosts_parse(hosts, plan->host, plan_port(plan), error);
}

static int check_cases(struct plan *plan, struct hosts *hosts, struct hosts_flow *flows,
		       struct error *error)
{
	int code = hosts_are_several(plan->host) ? parse_hosts(plan, hosts, error) : 0;

	for (size_t i = 0; i < plan->n_cases && !code; i++) {
		struct plan_case *wanted = &plan->cases[i];
		const char *refusal = refuse_pattern(&wanted->parameters, hosts, flows);

		if (refusal && !wanted->skipped[0])
			snprintf(wanted->skipped, sizeof(wanted->skipped), "%s", refusal);
	}
	return code;
}

int plan_check_patterns(struct plan *plan, struct error *error)
{
	struct hosts *hosts = calloc(1, sizeof(*hosts));
	struct hosts_flow *flows = calloc(HOSTS_FLOWS, sizeof(*flows));
	int code = hosts && flows ? check_cases(plan, hosts, flows, error)
				  : error_set_errno(error, -ENOMEM, "cannot make the plan");

	free(hosts);
	free(flows);
	return code;
}
