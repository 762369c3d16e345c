/* SPDX-License-Identifier: MIT */
#include "bench/host/advice/loss.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/host/advice/advice.h"

#define MEND "use a larger --rx-depth, or -c RC, which makes the sender wait"
/* Nothing makes the sender of a multicast group wait. */
#define MEND_GROUP    "use a larger --rx-depth, a larger --size, or fewer receivers (-q)"
#define MEND_RECEIVER "use a larger --rx-depth or a larger --size"

/* A receiver that falls behind only now and then loses less than this. */
#define LOST_PER_MILLE 500

/* Per mille of messages lost. Excludes latency cases, where the client waited for each message. */
static uint64_t lost_of(const struct result_case *line, const void *unused)
{
	if (strcmp(line->metric, "bw") != 0 || !line->sent || line->lost > line->sent)
		return 0;
	return (uint64_t)((unsigned __int128)line->lost * 1000 / line->sent);
}

static const char *mend_of(size_t receivers)
{
	if (!receivers)
		return MEND;
	return receivers > 1 ? MEND_GROUP : MEND_RECEIVER;
}

void advice_loss(const struct result *result, json_t *findings)
{
	uint64_t most;
	const struct result_case *worst =
		advice_worst(result, lost_of, NULL, LOST_PER_MILLE, &most);
	char what[256];
	char why[128];

	if (!worst)
		return;
	snprintf(what, sizeof(what),
		 "%" PRIu64 ".%" PRIu64 " %% of the messages were lost, e.g. in %.100s: they are "
		 "sent faster than they are received",
		 most / 10, most % 10, worst->id);
	snprintf(why, sizeof(why),
		 "%.8s drops messages that find no receive, and the sender does not wait",
		 worst->transport);
	json_array_append_new(findings, advice_finding(ADVICE_LOSS, true, result->server.host, what,
						       why, mend_of(worst->receivers.count)));
}
