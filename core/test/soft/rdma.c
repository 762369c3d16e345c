/* SPDX-License-Identifier: MIT */
/*
 * A replacement of rdma(8) for soft0, with the same output. rdma [-j] resource show prints the
 * number of objects of all processes, rdma statistic show the number of packets they sent. Rejects
 * all other commands.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/soft/peer/registry.h"

static const char *const titles[SOFT_KINDS] = {
	[SOFT_KIND_PD] = "pd",       [SOFT_KIND_CQ] = "cq", [SOFT_KIND_QP] = "qp",
	[SOFT_KIND_CM_ID] = "cm_id", [SOFT_KIND_MR] = "mr", [SOFT_KIND_SRQ] = "srq",
};

static void show_resources(const struct soft_registry *registry, bool is_json)
{
	uint32_t sum[SOFT_KINDS];

	soft_registry_sum(registry, sum);
	fputs(is_json ? "[{\"ifindex\":0,\"ifname\":\"soft0\"" : "0: soft0:", stdout);
	for (size_t i = 0; i < ARRAY_LENGTH(sum); i++)
		printf(is_json ? ",\"%s\":%" PRIu32 : " %s %" PRIu32, titles[i], sum[i]);
	puts(is_json ? "}]" : "");
}

int main(int argc, char **argv)
{
	bool is_json = argc > 1 && !strcmp(argv[1], "-j");
	char **words = argv + 1 + is_json;
	struct soft_registry registry;

	if (argc != 3 + is_json || strcmp(words[1], "show") != 0) {
		fputs("rdma: not supported on soft0\n", stderr);
		return 1;
	}
	if (soft_registry_open(&registry)) {
		fputs("rdma: cannot open the registry of soft0\n", stderr);
		return 1;
	}
	if (!strcmp(words[0], "resource"))
		show_resources(&registry, is_json);
	else
		printf("link soft0/1 sent_pkts %" PRIu64 "\n", soft_registry_sent(&registry));
	soft_registry_close(&registry);
	return 0;
}
