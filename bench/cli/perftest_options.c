/* SPDX-License-Identifier: MIT */
#include "bench/cli/perftest_options.h"

#include <string.h>

#include "core/base/compiler.h"

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
#define CONTROL  "leave it out, both ends agree over TCP"
#define CYCLES   "leave it out, latencies are in nanoseconds"
#define NOTHING  "verbmark has nothing like it"

/* Its help writes two of them otherwise than it takes them: both are here. */
static const struct {
	const char *theirs;
	const char *ours;
} options[] = {
	{"A",		      ATOMICS						     },
	{"C",		      CYCLES						      },
	{"CPU-freq",               "leave it out, the clock is checked"                        },
	{"H",		      SAMPLES						     },
	{"L",		      NOTHING						     },
	{"M",		      NOTHING						     },
	{"MGID",		   NOTHING						     },
	{"N",		      NO_PEAK						     },
	{"O",		      NOTHING						     },
	{"U",		      UNSORTED						    },
	{"V",		      VERSION						     },
	{"W",		      COUNTERS						    },
	{"X",		      NOTHING						     },
	{"aes_block_size",         NOTHING						     },
	{"aes_xts",                NOTHING						     },
	{"atomic_type",            ATOMICS						     },
	{"bidirectional",          "-b"							},
	{"bind_source_ip",         SOURCE						      },
	{"burst_size",             NOTHING						     },
	{"com_rdma_cm",            CONTROL						     },
	{"comm_rdma_cm",           CONTROL						     },
	{"connection",             "-c"							},
	{"cpu_util",               "leave it out, processor time is always there"              },
	{"cqe_poll",               "leave it out, completions are polled for in batches"       },
	{"credentials_path",       NOTHING						     },
	{"data_enc_key_app_path",  NOTHING						     },
	{"data_enc_keys_number",   NOTHING						     },
	{"data_validation",        "--verify, of bw for send and read"                         },
	{"dest_ip",                NOTHING						     },
	{"dest_mac",               NOTHING						     },
	{"dest_port",              NOTHING						     },
	{"disable_numa",           "--numa off --pin off"                                      },
	{"disable_pcie_relaxed",   "leave it out, that is how it is without --relaxed-ordering"},
	{"dlid",		   NOTHING						     },
	{"dont_xchg_versions",     "leave it out, both ends have to speak one version"         },
	{"dualport",               NOTHING						     },
	{"encrypt_on_tx",          NOTHING						     },
	{"events",                 "-e"							},
	{"f",		      MARGIN						      },
	{"flow_label",             NOTHING						     },
	{"flows",		  NOTHING						     },
	{"flows_burst",            NOTHING						     },
	{"force-link",             "leave it out, the port tells its link"                     },
	{"g",		      NOTHING						     },
	{"gid-index",              "-x"							},
	{"hop_limit",              NOTHING						     },
	{"ib-dev",                 "-d"							},
	{"ib-port",                "-i"							},
	{"inline_recv",            NOTHING						     },
	{"inline_size",            "-I"							},
	{"ipv6",		   ADDRESS						     },
	{"ipv6-addr",              ADDRESS						     },
	{"iters",		  "-n"							},
	{"kek_path",               NOTHING						     },
	{"latency_gap",            "--metric load --rate, the inverse of a gap"                },
	{"limit_bw",               "--fail-below 90Gb/s"                                       },
	{"limit_msgrate",          RATE							},
	{"local_ip",               NOTHING						     },
	{"local_mac",              NOTHING						     },
	{"local_port",             NOTHING						     },
	{"log_active_dci_streams", NOTHING						     },
	{"log_dci_streams",        NOTHING						     },
	{"mac_fwd",                NOTHING						     },
	{"margin",                 MARGIN						      },
	{"mcg",		    NOTHING						     },
	{"mmap",		   NOTHING						     },
	{"mmap-offset",            NOTHING						     },
	{"mr_per_qp",              NOTHING						     },
	{"noPeak",                 NO_PEAK						     },
	{"no_lock",                NOTHING						     },
	{"numa_node",              "--numa, and --pin for its CPUs"                            },
	{"odp",		    NOTHING						     },
	{"out_json",               "leave it out, --json FILE names the document"              },
	{"out_json_file",          "--json FILE"					       },
	{"output",                 "leave it out, all figures are shown"                       },
	{"outs",		   "-o"							},
	{"payload_file_path",      NOTHING						     },
	{"perform_warm_up",        "leave it out, it is always done"                           },
	{"pin_cores",              "--pin"						     },
	{"pkey_index",             NOTHING						     },
	{"post_list",              "-l"							},
	{"promiscuous",            NOTHING						     },
	{"qp",		     "-q"							},
	{"qp-timeout",             "-u"							},
	{"rate_limit",             "--metric load --rate"                                      },
	{"rate_limit_type",        NOTHING						     },
	{"rate_units",             "--metric load --rate 10Gb/s, with its unit behind it"      },
	{"raw_ipv6",               NOTHING						     },
	{"raw_mcast",              NOTHING						     },
	{"rdma_cm",                "-R"							},
	{"recv_post_list",         NOTHING						     },
	{"remote_ip",              NOTHING						     },
	{"remote_mac",             NOTHING						     },
	{"remote_port",            NOTHING						     },
	{"reply_every",            NOTHING						     },
	{"report-both",            "-b, of which the document has both directions"             },
	{"report-counters",        COUNTERS						    },
	{"report-cycles",          CYCLES						      },
	{"report-histogram",       SAMPLES						     },
	{"report-histogrm",        SAMPLES						     },
	{"report-per-port",        NOTHING						     },
	{"report-unsorted",        UNSORTED						    },
	{"report_gbits",           "leave it out, bandwidth is in Gb/s"                        },
	{"retry_count",            "--retries"						 },
	{"reversed",               "verbmark serve here, and run there"                        },
	{"run_infinitely",         "-D 24h, the longest"                                       },
	{"send_with_imm",          NOTHING						     },
	{"sig_before",             NOTHING						     },
	{"sniffer",                NOTHING						     },
	{"source_ip",              SOURCE						      },
	{"source_mac",             NOTHING						     },
	{"source_port",            NOTHING						     },
	{"tclass",                 "-T"							},
	{"typical_pkt_size",       NOTHING						     },
	{"use_cuda",               NOTHING						     },
	{"use_cuda_dmabuf",        NOTHING						     },
	{"use_hl",                 NOTHING						     },
	{"use_hugepages",          "--hugepages"					       },
	{"use_neuron",             NOTHING						     },
	{"use_null_mr",            NOTHING						     },
	{"use_old_post_send",      NOTHING						     },
	{"use_rocm",               NOTHING						     },
	{"use_rss",                NOTHING						     },
	{"vector",                 NOTHING						     },
	{"version",                VERSION						     },
	{"vlan_en",                NOTHING						     },
	{"vlan_pcp",               NOTHING						     },
	{"w",		      "--fail-below 90Gb/s"				       },
	{"wait_destroy",           NOTHING						     },
	{"write_with_imm",         "--op write-imm"					    },
	{"y",		      RATE							},
	{"z",		      CONTROL						     },
};

const char *perftest_option(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_LENGTH(options); i++)
		if (strlen(options[i].theirs) == length &&
		    !strncmp(options[i].theirs, name, length))
			return options[i].ours;
	return NULL;
}
