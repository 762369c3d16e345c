/* SPDX-License-Identifier: MIT */
#include "bench/perftest.h"

#include <string.h>

#include "core/compiler.h"

#define ATOMICS  "--op fetch-add or compare-swap"
#define COUNTERS "leave it out, counters are in the document"
#define SAMPLES  "leave it out, the histogram is in the document"
#define UNSORTED "there is no list of samples, the histogram is in the document"
#define MARGIN   "leave it out, -D is measured whole"
#define NO_PEAK  "leave it out, no peak is computed"
#define RATE     "--fail-below 1.2Mmsg/s"
#define SOURCE   "-d, the device that has this address"
#define VERSION  "verbmark --version tells it"
#define ADDRESS  "leave it out, HOST may be an IPv6 address"

static const struct {
	const char *theirs;
	const char *ours;
} options[] = {
	{"A",		    ATOMICS						     },
	{"CPU-freq",             "leave it out, the clock is checked"                        },
	{"H",		    SAMPLES						     },
	{"N",		    NO_PEAK						     },
	{"U",		    UNSORTED						    },
	{"V",		    VERSION						     },
	{"W",		    COUNTERS						    },
	{"atomic_type",          ATOMICS						     },
	{"bidirectional",        "-b"							},
	{"bind_source_ip",       SOURCE						      },
	{"connection",           "-c"							},
	{"cpu_util",             "leave it out, processor time is always there"              },
	{"cqe_poll",             "leave it out, completions are polled for in batches"       },
	{"data_validation",      "--verify, of bw for send and read"                         },
	{"disable_numa",         "--numa off --pin off"                                      },
	{"disable_pcie_relaxed", "leave it out, that is how it is without --relaxed-ordering"},
	{"events",               "-e"							},
	{"f",		    MARGIN						      },
	{"gid-index",            "-x"							},
	{"ib-dev",               "-d"							},
	{"ib-port",              "-i"							},
	{"inline_size",          "-I"							},
	{"ipv6",		 ADDRESS						     },
	{"ipv6-addr",            ADDRESS						     },
	{"iters",                "-n"							},
	{"limit_bw",             "--fail-below 90Gb/s"                                       },
	{"limit_msgrate",        RATE							},
	{"margin",               MARGIN						      },
	{"noPeak",               NO_PEAK						     },
	{"numa_node",            "--numa, and --pin for its CPUs"                            },
	{"out_json",             "leave it out, --json FILE names the document"              },
	{"out_json_file",        "--json FILE"					       },
	{"output",               "leave it out, all figures are shown"                       },
	{"outs",		 "-o"							},
	{"perform_warm_up",      "leave it out, it is always done"                           },
	{"pin_cores",            "--pin"						     },
	{"post_list",            "-l"							},
	{"qp",		   "-q"							},
	{"qp-timeout",           "-u"							},
	{"rate_limit",           "--metric load --rate"                                      },
	{"rdma_cm",              "-R"							},
	{"report-both",          "-b, of which the document has both directions"             },
	{"report-counters",      COUNTERS						    },
	{"report-histogram",     SAMPLES						     },
	{"report-unsorted",      UNSORTED						    },
	{"report_gbits",         "leave it out, bandwidth is in Gb/s"                        },
	{"retry_count",          "--retries"						 },
	{"run_infinitely",       "-D 24h, the longest"                                       },
	{"source_ip",            SOURCE						      },
	{"tclass",               "-T"							},
	{"use_hugepages",        "--hugepages"					       },
	{"version",              VERSION						     },
	{"w",		    "--fail-below 90Gb/s"				       },
	{"write_with_imm",       "--op write-imm"					    },
	{"y",		    RATE							},
};

const char *perftest_option(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_LENGTH(options); i++)
		if (strlen(options[i].theirs) == length &&
		    !strncmp(options[i].theirs, name, length))
			return options[i].ours;
	return NULL;
}
