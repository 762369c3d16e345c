/* SPDX-License-Identifier: MIT */
#include "bench/perftest.h"

#include <string.h>

#include "core/compiler.h"

static const struct {
	const char *theirs;
	const char *ours;
} options[] = {
	{"A",	       "--op fetch-add or compare-swap"      },
	{"CPU-freq",        "nothing: the clock is checked"       },
	{"H",	       "nothing: histograms are always there"},
	{"U",	       "nothing: histograms are always there"},
	{"atomic_type",     "--op fetch-add or compare-swap"      },
	{"bidirectional",   "-b"				  },
	{"connection",      "-c"				  },
	{"cpu_util",        "nothing: it is always there"         },
	{"data_validation", "--verify"                            },
	{"events",          "-e"				  },
	{"gid-index",       "-x"				  },
	{"ib-dev",          "-d"				  },
	{"ib-port",         "-i"				  },
	{"inline_size",     "-I"				  },
	{"iters",           "-n"				  },
	{"limit_bw",        "--fail-below"                        },
	{"out_json",        "nothing: --json FILE names it"       },
	{"out_json_file",   "--json FILE"                         },
	{"outs",            "-o"				  },
	{"perform_warm_up", "nothing: it is always done"          },
	{"post_list",       "-l"				  },
	{"qp",              "-q"				  },
	{"qp-timeout",      "-u"				  },
	{"rate_limit",      "--metric load --rate"                },
	{"rdma_cm",         "-R"				  },
	{"report_gbits",    "nothing: bandwidth is in Gb/s"       },
	{"retry_count",     "--retries"                           },
	{"run_infinitely",  "-D, with a long time"                },
	{"use_hugepages",   "--hugepages"                         },
	{"w",	       "--fail-below"                        },
	{"write_with_imm",  "--op write-imm"                      },
};

const char *perftest_option(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_LENGTH(options); i++)
		if (strlen(options[i].theirs) == length &&
		    !strncmp(options[i].theirs, name, length))
			return options[i].ours;
	return NULL;
}
