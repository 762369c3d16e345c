/* SPDX-License-Identifier: MIT */
#include "bench/cli/perftest_options.h"

#include <stdio.h>
#include <string.h>

#include "core/base/compiler.h"

#define ATOMICS  "use --op fetch-add or compare-swap"
#define BATCHES  "omit it: completions are polled in batches"
#define COUNTERS "omit it: results always have the counters"
#define SAMPLES  "omit it: results always have the histogram"
#define UNSORTED "use --samples FILE"
#define MARGIN   "omit it: all of -D is measured"
#define NO_PEAK  "omit it: verbmark computes no peak"
#define RATE     "use --fail-below 1.2Mmsg/s"
#define SOURCE   "use -d, the device that has this address"
#define VERSION  "use 'verbmark --version'"
#define ADDRESS  "omit it: HOST may be an IPv6 address"
#define CONTROL  "omit it: client and server always negotiate over TCP"
#define CYCLES   "omit it: latencies are in nanoseconds"
#define GROUP    "use --multicast GROUP"
#define RAILS    "use 'verbmark fleet --rails same', which measures all ports of two hosts"
#define NOTHING  "verbmark has no equivalent"

/* The options as perftest accepts them, and two as its help spells them. */
static const struct {
	const char *theirs;
	const char *instead;
} options[] = {
	{"A",		       ATOMICS							 },
	{"B",		       NOTHING							 },
	{"C",		       CYCLES							  },
	{"CPU-freq",                "omit it: verbmark checks the clock"                            },
	{"E",		       NOTHING							 },
	{"H",		       SAMPLES							 },
	{"J",		       NOTHING							 },
	{"K",		       NOTHING							 },
	{"L",		       "use --hop-limit"					       },
	{"M",		       GROUP							   },
	{"MGID",		    GROUP							   },
	{"N",		       NO_PEAK							 },
	{"O",		       RAILS							   },
	{"P",		       NOTHING							 },
	{"U",		       UNSORTED							},
	{"V",		       VERSION							 },
	{"W",		       COUNTERS							},
	{"X",		       NOTHING							 },
	{"Z",		       NOTHING							 },
	{"aes_block_size",          NOTHING							 },
	{"aes_xts",                 NOTHING							 },
	{"atomic_type",             ATOMICS							 },
	{"bidirectional",           "use -b"							},
	{"bind_source_ip",          SOURCE							  },
	{"burst_size",              "use --metric load --rate --burst"                              },
	{"client",                  NOTHING							 },
	{"com_rdma_cm",             CONTROL							 },
	{"comm_rdma_cm",            CONTROL							 },
	{"congest_type",            NOTHING							 },
	{"connection",              "use -c"							},
	{"connectionless",          GROUP							   },
	{"cpu_id",                  NOTHING							 },
	{"cpu_util",                "omit it: results always have the CPU time"                     },
	{"cqe_poll",                BATCHES							 },
	{"credentials_path",        NOTHING							 },
	{"cuda_mem_type",           "use --memory cuda:N or cuda-managed:N"                         },
	{"data_enc_key_app_path",   NOTHING							 },
	{"data_enc_keys_number",    NOTHING							 },
	{"data_validation",         "use --verify"						  },
	{"data_validation_debug",   "omit it: --verify reports the wrong byte"                      },
	{"dest_ip",                 NOTHING							 },
	{"dest_mac",                NOTHING							 },
	{"dest_port",               NOTHING							 },
	{"disable_dynamic_polling", BATCHES							 },
	{"disable_numa",            "use --numa off --pin off"                                      },
	{"disable_pcie_relaxed",    "omit it: ordering is strict without --relaxed-ordering"        },
	{"dlid",		    "use --path-bits, which adds a number to the LIDs of both sides"},
	{"dont_xchg_versions",      "omit it: client and server must have the same protocol version"},
	{"dualport",                RAILS							   },
	{"encrypt_on_tx",           NOTHING							 },
	{"ethertype",               NOTHING							 },
	{"events",                  "use -e"							},
	{"f",		       MARGIN							  },
	{"flow_label",              "use --flow-label"					      },
	{"flows",		   NOTHING							 },
	{"flows_burst",             NOTHING							 },
	{"force-link",              "omit it: the port determines the link type"                    },
	{"g",		       GROUP							   },
	{"gid-index",               "use -x"							},
	{"gpu_touch",               NOTHING							 },
	{"hop_limit",               "use --hop-limit"					       },
	{"ib-dev",                  "use -d"							},
	{"ib-port",                 "use -i"							},
	{"inline_recv",             "omit it: libibverbs has no attribute for it"                   },
	{"inline_size",             "use -I"							},
	{"ipv6",		    ADDRESS							 },
	{"ipv6-addr",               ADDRESS							 },
	{"iters",		   "use -n"							},
	{"j",		       SOURCE							  },
	{"k",		       NOTHING							 },
	{"kek_path",                NOTHING							 },
	{"latency_gap",             "use --metric load --rate, with a rate instead of a gap"        },
	{"limit_bw",                "use --fail-below 90Gb/s"                                       },
	{"limit_msgrate",           RATE							    },
	{"local_ip",                NOTHING							 },
	{"local_mac",               NOTHING							 },
	{"local_port",              NOTHING							 },
	{"log_active_dci_streams",  NOTHING							 },
	{"log_dci_streams",         NOTHING							 },
	{"mac_fwd",                 NOTHING							 },
	{"margin",                  MARGIN							  },
	{"mcg",		     GROUP							   },
	{"mmap",		    "use --memory file:PATH"                                        },
	{"mmap-offset",             "use --memory file:PATH,offset=BYTES"                           },
	{"mr_per_qp",               "use --mr-per-qp"					       },
	{"noPeak",                  NO_PEAK							 },
	{"no_ddp",                  NOTHING							 },
	{"no_enhanced_reorder",     NOTHING							 },
	{"no_lock",                 NOTHING							 },
	{"numa_node",               "use --numa, and --pin for the CPUs"                            },
	{"odp",		     "use --memory odp"					      },
	{"opencl_platform_id",      NOTHING							 },
	{"out_json",                "use --json FILE"					       },
	{"out_json_file",           "use --json FILE"					       },
	{"output",                  "omit it: all figures are shown"                                },
	{"outs",		    "use -o"							},
	{"payload_file_path",       "use --payload FILE"                                            },
	{"perform_warm_up",         "omit it: verbmark always warms up"                             },
	{"ph",		      NOTHING							 },
	{"pin_cores",               "use --pin"						     },
	{"pkey_index",              "use --pkey-index"					      },
	{"post_list",               "use -l"							},
	{"promiscuous",             NOTHING							 },
	{"qp",		      "use -q"							},
	{"qp-timeout",              "use -u"							},
	{"rate_limit",              "use --metric load --rate, or --rate-limit"                     },
	{"rate_limit_type",         "use --metric load --rate (SW) or --rate-limit (PP)"            },
	{"rate_units",              "use a unit in --rate, for example --metric load --rate 10Gb/s" },
	{"raw_ipv6",                NOTHING							 },
	{"raw_mcast",               NOTHING							 },
	{"rdma_cm",                 "use -R"							},
	{"recv_post_list",          "use --recv-post-list"                                          },
	{"remote_ip",               NOTHING							 },
	{"remote_mac",              NOTHING							 },
	{"remote_port",             NOTHING							 },
	{"reply_every",             NOTHING							 },
	{"report-both",             "use -b: results have both directions"                          },
	{"report-counters",         COUNTERS							},
	{"report-cycles",           CYCLES							  },
	{"report-histogram",        SAMPLES							 },
	{"report-histogrm",         SAMPLES							 },
	{"report-per-port",         NOTHING							 },
	{"report-unsorted",         UNSORTED							},
	{"report_gbits",            "omit it: bandwidth is in Gb/s by default"                      },
	{"retry_count",             "use --retries"						 },
	{"reversed",                "run 'verbmark serve' here and 'verbmark run' on the other host"},
	{"run_infinitely",          "use -D 24h, the maximum"                                       },
	{"send_with_imm",           "use --op send-imm"					     },
	{"server",                  NOTHING							 },
	{"sig_before",              NOTHING							 },
	{"sig_offload",             NOTHING							 },
	{"sniffer",                 NOTHING							 },
	{"source_ip",               SOURCE							  },
	{"source_mac",              NOTHING							 },
	{"source_port",             NOTHING							 },
	{"tclass",                  "use -T"							},
	{"tcp",		     NOTHING							 },
	{"tph_mem",                 NOTHING							 },
	{"typical_pkt_size",        NOTHING							 },
	{"unsolicited_write",       NOTHING							 },
	{"use-null-mr",             "use --memory null"					     },
	{"use_cuda",                "use --memory cuda:N, and --server-memory"                      },
	{"use_cuda_bus_id",         "use --memory cuda:N, with the number of the GPU"               },
	{"use_cuda_dmabuf",         "use --memory cuda:N,path=dmabuf"                               },
	{"use_cuda_pcie_mapping",   NOTHING							 },
	{"use_data_direct",         NOTHING							 },
	{"use_hl",                  NOTHING							 },
	{"use_hugepages",           "use --hugepages"					       },
	{"use_ib_dm_dmabuf",        "use --memory nic"                                              },
	{"use_mlu",                 NOTHING							 },
	{"use_mlu_dmabuf",          NOTHING							 },
	{"use_musa",                NOTHING							 },
	{"use_musa_bus_id",         NOTHING							 },
	{"use_musa_dmabuf",         NOTHING							 },
	{"use_musa_pcie_mapping",   NOTHING							 },
	{"use_neuron",              NOTHING							 },
	{"use_neuron_dmabuf",       NOTHING							 },
	{"use_old_post_send",       NOTHING							 },
	{"use_ooo",                 NOTHING							 },
	{"use_opencl",              NOTHING							 },
	{"use_rocm",                "use --memory rocm:N, and --server-memory"                      },
	{"use_rocm_dmabuf",         "use --memory rocm:N"                                           },
	{"use_rss",                 NOTHING							 },
	{"v",		       NOTHING							 },
	{"vector",                  NOTHING							 },
	{"version",                 VERSION							 },
	{"vlan_en",                 NOTHING							 },
	{"vlan_pcp",                NOTHING							 },
	{"w",		       "use --fail-below 90Gb/s"				       },
	{"wait_destroy",            NOTHING							 },
	{"write_with_imm",          "use --op write-imm"                                            },
	{"y",		       RATE							    },
	{"z",		       CONTROL							 },
};

const char *perftest_option(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_LENGTH(options); i++)
		if (strlen(options[i].theirs) == length &&
		    !strncmp(options[i].theirs, name, length))
			return options[i].instead;
	return NULL;
}

bool perftest_command(const char *name, char *instead, size_t size)
{
	static const char *const operations[][2] = {
		{"ib_send_",   "send"     },
		{"ib_write_",  "write"    },
		{"ib_read_",   "read"     },
		{"ib_atomic_", "fetch-add"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(operations); i++) {
		size_t length = strlen(operations[i][0]);
		const char *metric = name + length;

		if (strncmp(name, operations[i][0], length) != 0 ||
		    (strcmp(metric, "lat") != 0 && strcmp(metric, "bw") != 0))
			continue;
		snprintf(instead, size, "run --op %s --metric %s", operations[i][1], metric);
		return true;
	}
	return false;
}
