/* SPDX-License-Identifier: MIT */
#include "bench/host/device_support.h"
#include "bench/lane/lane.h"
#include "bench/plan/defaults.h"
#include "bench/plan/rules.h"
#include "bench/test/unit.d/asked.h"
#include "bench/test/unit.d/made_up_json.h"
#include "core/test/lib/made_up.h"

#define OWN "n02's made_up0/2: "

/* A device whose limits the tests reach and exceed. */
static const char made_up_device[] =
	"{'device':{'max_qp':16, 'max_qp_wr':1000, 'max_sge':4, 'max_sge_rd':3, 'max_cqe':4000, 'max_cq':12, 'max_mr':14, 'max_srq':1,"
	" 'max_srq_wr':500, 'max_srq_sge':2, 'max_qp_rd_atom':16, 'max_qp_init_rd_atom':8,"
	" 'max_mr_size':1048576, 'atomics':'hca', 'max_inline':{'RC':100, 'UC':120, 'UD':60}},"
	" 'port':{'max_msg_sz':65536, 'gids':[0, 3, 255], 'pkeys':4, 'lids':8}}";

static struct result_end made_up_end(const char *facts)
{
	return (struct result_end){
		.device = "made_up0",
		.port = 2,
		.link_layer = "Ethernet",
		.mtu = 1024,
		.facts = facts ? made_up_json(facts) : NULL,
	};
}

static void check_as(const struct result_end *end, bool is_server, const char *text,
		     const char *sentence)
{
	struct parameters wanted = asked(text);
	const struct operation *op = &operations[wanted.op];
	struct device_support capacity;
	struct limits limits;
	struct error error = {0};

	defaults_choose(op, &wanted);
	/* Limits of the plan are tested elsewhere. */
	assert_null(rules_refuse(op, &wanted));
	device_support_read(&capacity, end, is_server, "n02");
	limits = lane_limits(&wanted, &op->shape, is_server);
	if (!!device_support_check(&capacity, op, &wanted, &limits, &error) != !!sentence)
		print_error("%s: %s\n", text, error.text);
	assert_string_equal(error.text, sentence ? sentence : "");
	assert_int_equal(error.code < 0, sentence != NULL);
}

static void check_end(const struct result_end *end, const char *text, const char *sentence)
{
	check_as(end, true, text, sentence);
}

static void check(const char *facts, const char *text, const char *sentence)
{
	struct result_end end = made_up_end(facts);

	check_end(&end, text, sentence);
	json_decref(end.facts);
}

static void test_within_limits(void **unused)
{
	static const char *const texts[] = {
		"",
		"op=fetch-add",
		"op=read outstanding=8",
		"access=same metric=bw qps=16 tx-depth=8 rx-depth=8",
		"access=same metric=bw tx-depth=1000 rx-depth=1000",
		/* All share one completion queue: 4 * (500 + 500). */
		"access=same metric=bw qps=4 tx-depth=500 rx-depth=500",
		/* Each operation needs two posts, and the receives come on top. */
		"op=write-notify metric=bw tx-depth=500 rx-depth=1000",
		"use-srq=1 rx-depth=500",
		/* Each lane has its own completion queue, as deep as with one lane. */
		"threads=12",
		"access=same metric=bw qps=4 threads=4 tx-depth=500 rx-depth=500",
		/* Receives of a shared queue do not count for a queue pair. */
		"access=same metric=bw use-srq=1 rx-depth=500 tx-depth=1000",
		"op=write size=64k",
		"inline=100",
		"inline=120 transport=UC",
		"inline=0",
		"transport=UD size=1024",
		"transport=UD size=256 mtu=256",
		"mtu=1024",
		"gid-index=3",
		"gid-index=255",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
		check(made_up_device, texts[i], NULL);
}

static void test_scatter_gather_entries(void **unused)
{
	check(made_up_device, "sge=4", NULL);
	check(made_up_device, "sge=5",
	      OWN "number of scatter/gather entries 5 exceeds the device's limit 4");
	check(made_up_device, "sge=2 use-srq=1 rx-depth=500", NULL);
	check(made_up_device, "sge=3 use-srq=1 rx-depth=500",
	      OWN "number of scatter/gather entries 3 exceeds the device's limit 2");
}

/* The server attaches a queue pair for each receiver, and both join from the port's address. */
static void test_multicast(void **unused)
{
	static const char v4[] = "metric=bw transport=UD multicast=239.1.2.3 qps=3";
	static const char v6[] = "metric=bw transport=UD multicast=ff0e::7";
	struct result_end end =
		made_up_end("{'device':{'max_mcast_grp':1, 'max_mcast_qp_attach':2}}");

	check_as(&end, true, v6, NULL);
	strcpy(end.address, "192.0.2.1");
	check_as(&end, true, v4, OWN "number of receivers 3 exceeds the device's limit 2");
	check_as(&end, false, v4, NULL);
	check_as(&end, false, v6,
		 OWN
		 "group ff0e::7 is IPv6, but the port's address is 192.0.2.1; use an IPv4 group");
	strcpy(end.address, "2001:db8::1");
	check_as(&end, true, v6, NULL);
	check_as(&end, false, v4,
		 OWN "group 239.1.2.3 is IPv4, but the port's address is 2001:db8::1; use an IPv6 "
		     "group");
	json_decref(end.facts);
	end = made_up_end("{'device':{'max_mcast_grp':0}}");
	check_as(&end, false, v4, OWN "the device does not support multicast");
	json_decref(end.facts);
}

static void check_side(bool is_server, const char *text, const char *sentence)
{
	struct result_end end = made_up_end(made_up_device);

	check_as(&end, is_server, text, sentence);
	json_decref(end.facts);
}

/* Reads have their own limit, which does not apply to the side that answers. */
static void test_scatter_gather_entries_of_reads(void **unused)
{
	static const char sentence[] =
		OWN "number of scatter/gather entries of a read 4 exceeds the device's limit 3";

	check_side(false, "op=read sge=3", NULL);
	check_side(false, "op=read sge=4", sentence);
	check_side(false, "op=read-notify sge=4", sentence);
	check_side(false, "op=write sge=4", NULL);
	check_side(true, "op=read sge=4", NULL);
	check_side(true, "op=read metric=bw sge=4 bidirectional=1 access=same", sentence);
	check("{'device':{'max_sge_rd':0}}", "op=read metric=bw sge=4 bidirectional=1", NULL);
}

/* Each thread of the client creates another queue pair or completion queue. */
static void test_set_up_calls(void **unused)
{
	static const char queue_pairs[] =
		OWN "number of queue pairs 18 exceeds the device's limit 16";
	static const char *const rows[][2] = {
		{"op=create-qp threads=8",     NULL                                },
		{"op=create-qp threads=9",     queue_pairs                         },
		{"op=post-recv threads=8",     NULL                                },
		{"op=post-recv threads=9",     queue_pairs                         },
		{"op=connect threads=8",       NULL                                },
		{"op=create-cq tx-depth=4000", NULL                                },
		{"op=create-cq tx-depth=4001",
		 OWN "completion queue depth 4001 exceeds the device's limit 4000" },
		{"op=create-cq threads=6",     NULL                                },
		{"op=create-cq threads=7",
		 OWN "number of completion queues 14 exceeds the device's limit 12"},
		{"op=open-device threads=12",  NULL                                },
		{"op=alloc-pd threads=12",     NULL                                },
		{"op=poll-cq threads=12",      NULL                                },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		check_side(false, rows[i][0], rows[i][1]);
		if (strncmp(rows[i][0], "op=connect", 10) != 0)
			check_side(true, rows[i][0], NULL);
	}
}

/* The client's device must support the rights of the memory that it registers. */
static void test_memory_rights(void **unused)
{
	static const char without[] = "{'device':{'atomics':'none'}}";
	struct result_end end = made_up_end(without);

	check_as(&end, false, "op=register mr-access=atomic",
		 OWN "the device does not support atomics");
	check_as(&end, false, "op=deregister mr-access=atomic",
		 OWN "the device does not support atomics");
	check_as(&end, false, "op=register mr-access=remote", NULL);
	check_as(&end, true, "op=register mr-access=atomic", NULL);
	json_decref(end.facts);
}

/* Client and server check the GID index in their own table. */
static void test_gid_indexes(void **unused)
{
	static const char lacks[] = OWN "the port has no GID at index 1; available: 0, 3, 255";

	check_side(false, "gid-index=3 server-gid-index=1", NULL);
	check_side(true, "gid-index=3 server-gid-index=1", lacks);
	check_side(false, "gid-index=1 server-gid-index=3", lacks);
	check_side(true, "gid-index=1 server-gid-index=3", NULL);
	check_side(false, "server-gid-index=1", NULL);
	check_side(true, "server-gid-index=1", lacks);
}

static void test_partitions_and_paths(void **unused)
{
	check(made_up_device, "pkey-index=3", NULL);
	check(made_up_device, "pkey-index=4",
	      OWN "--pkey-index 4: the port's P_Key table has 4 entries, numbered from 0");
	check(made_up_device, "path-bits=7", NULL);
	check(made_up_device, "path-bits=8",
	      OWN "--path-bits 8: the port has 8 LIDs, numbered from 0");
	check("{'port':{'lids':0}}", "path-bits=0",
	      OWN "--path-bits 0: the port has no LIDs, as it is not InfiniBand");
	/* Documents of hosts that do not say have no limit. */
	check("{}", "pkey-index=65535 path-bits=127", NULL);
}

static void test_event_moderation(void **unused)
{
	static const char limited[] = "{'device':{'max_cq_count':100, 'max_cq_period':20}}";
	struct result_end none = made_up_end("{'device':{'max_cq_count':0, 'max_cq_period':0}}");

	check(limited, "cq=event event-count=100 event-period=20us", NULL);
	check(limited, "cq=event event-count=101",
	      OWN "--event-count 101 exceeds the device's limit 100");
	check(limited, "cq=event event-count=1 event-period=21us",
	      OWN "--event-period 21us exceeds the device's limit 20us");
	/* A side that polls needs no moderation. */
	check_as(&none, true, "cq=event server-cq=poll event-count=1", NULL);
	check_as(&none, false, "cq=event server-cq=poll event-count=1",
		 OWN "the device does not moderate completion events; omit --event-count");
	check("{}", "cq=event event-count=65535 event-period=65535us", NULL);
	json_decref(none.facts);
}

static void test_rate_limits(void **unused)
{
	static const char limited[] =
		"{'device':{'qp_rate_limit_min':10, 'qp_rate_limit_max':2000, 'qp_rate_limit_types':4}}";
	static const char low[] =
		OWN "--rate-limit 9kbit exceeds the device's limits, 10kbit to 2mbit";
	static const char high[] =
		OWN "--rate-limit 2001kbit exceeds the device's limits, 10kbit to 2mbit";

	check(limited, "rate-limit=10kb/s", NULL);
	check(limited, "rate-limit=2Mb/s", NULL);
	check(limited, "rate-limit=9kb/s", low);
	check(limited, "rate-limit=2001kb/s", high);
	/* The type of RC is 2, that of UC 3. */
	check(limited, "transport=UC rate-limit=10kb/s",
	      OWN "the device does not limit the rate of UC queue pairs; omit --rate-limit");
	check("{}", "transport=UC rate-limit=4Tb/s", NULL);
}

/* Only the client reads timestamps. */
static void test_timestamps(void **unused)
{
	struct result_end without = made_up_end("{'device':{'hca_core_clock':0}}");
	struct result_end with = made_up_end("{'device':{'hca_core_clock':156250}}");

	check_as(&without, false, "breakdown=1",
		 OWN "--breakdown: the device has no completion timestamps");
	check_as(&without, false, "", NULL);
	check_as(&without, true, "breakdown=1", NULL);
	check_as(&with, false, "breakdown=1", NULL);
	json_decref(without.facts);
	json_decref(with.facts);
}

static void test_above_limits(void **unused)
{
	static const char *const rows[][2] = {
		{"access=same metric=bw qps=17 tx-depth=8 rx-depth=8",
		 OWN "number of queue pairs 17 exceeds the device's limit 16"										},
 /* For each lane. */
		{"threads=17",							     OWN "number of queue pairs 17 exceeds the device's limit 16"      },
		{"access=same metric=bw qps=6 threads=3 tx-depth=8 rx-depth=8",
		 OWN "number of queue pairs 18 exceeds the device's limit 16"										},
 /* Each thread creates and destroys another one. */
		{"op=connect threads=9",
		 OWN "number of queue pairs 18 exceeds the device's limit 16"										},
		{"threads=13",							     OWN "number of completion queues 13 exceeds the device's limit 12"},
		{"use-srq=1 threads=2",
		 OWN "number of shared receive queues 2 exceeds the device's limit 1"                                                                        },
		{"access=same metric=bw tx-depth=1001",
		 OWN "send queue depth 1001 exceeds the device's limit 1000"										 },
		{"op=write-notify metric=bw tx-depth=501",
		 OWN "send queue depth 1002 exceeds the device's limit 1000"										 },
		{"tx-depth=600 cq-mod=600",
		 OWN "send queue depth 1200 exceeds the device's limit 1000"										 },
		{"rx-depth=1001",							  OWN "receive queue depth 1001 exceeds the device's limit 1000"    },
		{"access=same metric=bw qps=4 tx-depth=500 rx-depth=501",
		 OWN "completion queue depth 4004 exceeds the device's limit 4000"                                                                           },
		{"use-srq=1 rx-depth=501",
		 OWN "shared receive queue depth 501 exceeds the device's limit 500"                                                                         },
 /* The smaller of the limits for requesting and answering. */
		{"op=read outstanding=9",
		 OWN "number of outstanding reads 9 exceeds the device's limit 8"                                                                            },
		{"op=write size=65537",						    OWN "message size 65537 exceeds the device's limit 65536"         },
 /* Each queue pair has two areas of 60 KiB and a page for notifications. */
		{"access=same op=write metric=bw qps=16 tx-depth=4 rx-depth=4 size=60000",
		 OWN "size of registered memory 2031616 exceeds the device's limit 1048576"                                                                  },
		{"inline=101",							     OWN "inline size 101 exceeds the device's limit 100"              },
		{"inline=121 transport=UC",						OWN "inline size 121 exceeds the device's limit 120"              },
		{"inline=61 transport=UD",						 OWN "inline size 61 exceeds the device's limit 60"                },
		{"transport=UD size=1025",
		 OWN "message size 1025 exceeds the MTU 1024, the limit of a datagram"                                                                       },
		{"transport=UD size=257 mtu=256",
		 OWN "message size 257 exceeds the MTU 256, the limit of a datagram"                                                                         },
		{"mtu=2048",							       OWN "MTU 2048 exceeds the port's MTU 1024"                        },
		{"gid-index=1",							    OWN "the port has no GID at index 1; available: 0, 3, 255"        },
		{"gid-index=254",							  OWN "the port has no GID at index 254; available: 0, 3, 255"      },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check(made_up_device, rows[i][0], rows[i][1]);
}

static void test_missing_features(void **unused)
{
	static const char *const rows[][3] = {
		{"{'device':{'atomics':'none'}}",                                             "op=fetch-add",
		 OWN "the device does not support atomics"															   },
		{"{'device':{'atomics':'none'}}",                                             "op=compare-swap metric=bw",
		 OWN "the device does not support atomics"															   },
		{"{'device':{'atomics':'none'}}",                                             "op=read",                   NULL                                                      },
		{"{'device':{'atomics':'global'}}",                                           "op=fetch-add",              NULL                                                      },
		{"{'device':{'max_srq':0}}",						  "use-srq=1",
		 OWN "the device does not support shared receive queues"													     },
		{"{'device':{'max_srq':0}}",						  "",                          NULL						      },
		{"{'device':{'max_qp_rd_atom':0}}",                                           "op=read",
		 OWN "number of outstanding reads 1 exceeds the device's limit 0"												    },
		{"{'device':{'max_qp_init_rd_atom':0}}",                                      "op=fetch-add",
		 OWN "number of outstanding reads 1 exceeds the device's limit 0"												    },
		{"{'device':{'max_qp_rd_atom':0}}",                                           "op=write",                  NULL                                                      },
		{"{'device':{'max_inline':{'RC':0, 'UD':9}}}",                                "transport=UC",
		 OWN "the device does not support UC"																},
		{"{'device':{'max_inline':{'RC':0, 'UD':9}}}",                                "transport=UD",              NULL                                                      },
		{"{'device':{'max_inline':{'RC':0, 'UD':9}}}",                                "transport=XRC use-srq=1",
		 OWN "the device does not support XRC"															       },
		{"{'device':{'max_inline':{'RC':0, 'XRC':9}, 'max_qp':4}}",
		 "transport=XRC use-srq=1 qps=2 metric=bw",								NULL                                                      },
		{"{'device':{'max_inline':{'RC':0, 'XRC':9}, 'max_qp':3}}",
		 "transport=XRC use-srq=1 qps=2 metric=bw",								OWN "number of queue pairs 4 exceeds the device's limit 3"},
		{"{'device':{'max_inline':{'SRD':9}, 'srd':{'reads':true, 'max_bytes':64}}}",
		 "transport=SRD op=read",										  NULL						      },
		{"{'device':{'max_inline':{'SRD':9}, 'srd':{'reads':true, 'max_bytes':63}}}",
		 "transport=SRD op=read",										  OWN "message size 64 exceeds the device's limit 63"       },
		{"{'device':{'max_inline':{'SRD':9}, 'srd':{'reads':true}}}",
		 "transport=SRD op=write-imm",									     OWN "the device does not support writes on SRD"           },
		{"{'device':{'max_inline':{'RC':0, 'DC':9}, 'max_qp':3, 'max_qp_wr':200}}",
		 "transport=DC use-srq=1 qps=2 metric=bw tx-depth=100",                                                    NULL                                                      },
		{"{'device':{'max_inline':{'RC':0, 'DC':9}, 'max_qp':2}}",
		 "transport=DC use-srq=1 qps=2 metric=bw",								 OWN "number of queue pairs 3 exceeds the device's limit 2"},
		{"{'device':{'max_inline':{'RC':0, 'DC':9}, 'max_qp_wr':199}}",
		 "transport=DC use-srq=1 qps=2 metric=bw tx-depth=100",						    OWN "send queue depth 200 exceeds the device's limit 199" },
		{"{'device':{'max_inline':{'RC':0, 'UD':9}}}",                                "inline=0",                  NULL                                                      },
		{"{'device':{'max_inline':{'RC':0, 'UD':9}}}",                                "inline=1",
		 OWN "inline size 1 exceeds the device's limit 0"														    },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check(rows[i][0], rows[i][1], rows[i][2]);
	/* Only sends of SRD are inline. */
	check("{'device':{'max_inline':{'SRD':9}, 'srd':{'writes':true, 'max_bytes':64}}}",
	      "transport=SRD op=write-imm inline=1",
	      OWN "inline size 1 exceeds the device's limit 0");
	check("{'device':{'max_inline':{'SRD':9}}}", "transport=SRD inline=9", NULL);
}

/* The memory of all lanes counts: a page to send, one to receive and one for notifications each. */
static void test_memory_of_the_device(void **unused)
{
	static const char facts[] = "{'device':{'max_dm_size':24576}}";
	struct result_end end = made_up_end(facts);

	check(facts, "op=write metric=bw access=same size=4000 server-memory=nic threads=2", NULL);
	check(facts, "op=write metric=bw access=same size=4000 server-memory=host threads=3", NULL);
	check(facts, "op=write metric=bw access=same size=4000 server-memory=nic threads=3",
	      OWN "buffers need 36864 bytes of the device's memory, which has 24576; use a smaller "
		  "--size or --buffer, or fewer --threads");
	/* Memory to register comes on top, also if each message registers its own buffer. */
	check_as(&end, false, "op=register size=4096 memory=nic", NULL);
	check_as(&end, false, "op=register size=16384 memory=nic",
		 OWN "buffers need 28672 bytes of the device's memory, which has 24576; use a "
		     "smaller --size or --buffer, or fewer --threads");
	json_decref(end.facts);
}

/* The client binds windows; both ends need the other capabilities. */
static void test_capabilities(void **unused)
{
	static const char bind_1[] = OWN "the device does not support memory windows of type 1";
	static const char bind_2[] = OWN "the device does not support memory windows of type 2";
	static const char send[] = OWN "the device does not support sends with invalidate";
	static const char write[] = OWN "the device does not support atomic writes";
	static const struct {
		uint64_t flags;
		const char *op;
		const char *at_client;
		const char *at_server;
	} rows[] = {
		{0,							     "bind-mw",      bind_2, NULL },
		{IBV_DEVICE_MEM_WINDOW,					 "local-inv",    bind_2, NULL },
		{IBV_DEVICE_MEM_WINDOW_TYPE_2A,                                 "bind-mw",      NULL,   NULL },
		{IBV_DEVICE_MEM_WINDOW_TYPE_2B,                                 "bind-mw",      NULL,   NULL },
		{IBV_DEVICE_MEM_WINDOW_TYPE_2B,                                 "rebind-mw",    bind_1, NULL },
		{IBV_DEVICE_MEM_WINDOW,					 "rebind-mw",    NULL,   NULL },
		{IBV_DEVICE_MEM_WINDOW_TYPE_2B,                                 "send-inv",     send,   send },
		{IBV_DEVICE_MEM_MGT_EXTENSIONS,                                 "send-inv",     bind_2, NULL },
		{IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_MEM_WINDOW_TYPE_2B, "send-inv",     NULL,
		 NULL											},
		{IBV_DEVICE_MEM_MGT_EXTENSIONS,                                 "atomic-write", write,  write},
		{1ULL << 40,						    "atomic-write", NULL,   NULL },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct result_end end = made_up_end("{'device':{'atomics':'none'}}");
		char text[32];

		json_object_set_new(json_object_get(end.facts, "device"), "device_cap_flags",
				    json_integer((json_int_t)rows[i].flags));
		snprintf(text, sizeof(text), "op=%s", rows[i].op);
		check_as(&end, false, text, rows[i].at_client);
		check_as(&end, true, text, rows[i].at_server);
		json_decref(end.facts);
	}
}

static void test_iwarp(void **unused)
{
	static const char sentence[] =
		OWN "the device is iWARP, which connects only through rdma_cm";
	struct result_end end = made_up_end(made_up_device);

	end.link_layer = "iWARP";
	check_end(&end, "", NULL);
	check_end(&end, "connect=qp", sentence);
	check_end(&end, "sl=1", sentence);
	check_end(&end, "metric=bw needs=1", sentence);
	json_decref(end.facts);
}

/* On iWARP, writes have immediate data only on the cards of one vendor. */
static void test_immediate_data_on_iwarp(void **unused)
{
	static const char sentence[] = OWN "the device is iWARP, which has no immediate data";
	static const char *const texts[] = {"op=write-imm", "op=write-imm metric=bw", "op=doorbell",
					    "op=doorbell metric=bw"};
	struct result_end plain = made_up_end("{'rdma_core':{'provider':'libsiw-rdmav34.so'}}");
	struct result_end able = made_up_end("{'rdma_core':{'provider':'libcxgb4-rdmav34.so'}}");

	plain.link_layer = able.link_layer = "iWARP";
	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		check_end(&plain, texts[i], sentence);
		check_end(&able, texts[i], NULL);
	}
	check_end(&plain, "op=write-notify", NULL);
	check_end(&plain, "op=read metric=bw", NULL);
	json_decref(plain.facts);
	json_decref(able.facts);
}

/* Facts may come from an older version, lack the device, or make no sense. */
static void test_unknown_limits(void **unused)
{
	static const char *const all_facts[] = {
		NULL,
		"{}",
		"{'device':7, 'port':[]}",
		"{'device':{}, 'port':{}}",
		"{'device':{'max_qp':'1', 'max_qp_wr':null, 'max_cqe':1.5, 'max_srq':[],"
		" 'max_srq_wr':{}, 'max_mr_size':-1, 'atomics':'?', 'max_inline':7},"
		" 'port':{'max_msg_sz':'x', 'gids':{}}}",
		"{'device':{'max_qp':0, 'max_qp_wr':4294967296, 'max_cqe':9223372036854775807,"
		" 'max_srq':4294967296, 'max_mr_size':0, 'atomics':7, 'max_inline':{}},"
		" 'port':{'max_msg_sz':9223372036854775807, 'gids':[]}}",
	};
	static const char *const texts[] = {
		"op=fetch-add",
		"op=atomic-write",
		"op=send-inv",
		"metric=bw qps=1024 tx-depth=16384 rx-depth=16384",
		"use-srq=1 rx-depth=16384",
		"op=read outstanding=255 size=1g",
		"inline=64k",
		"transport=UC",
		"mtu=1024",
		"gid-index=255",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(all_facts); i++)
		for (size_t j = 0; j < ARRAY_LENGTH(texts); j++)
			check(all_facts[i], texts[j], NULL);
}

static void test_unknown_mtu(void **unused)
{
	struct result_end end = made_up_end(NULL);

	for (end.mtu = 0; end.mtu < 9000; end.mtu += 1000) {
		check_end(&end, "mtu=4096", NULL);
		check_end(&end, "transport=UD size=4096", NULL);
	}
}

/* Impossible numbers and GID indexes. */
static void test_nonsense(void **unused)
{
	check("{'device':{'max_qp_wr':-9223372036854775808}}", "",
	      OWN "send queue depth 64 exceeds the device's limit 0");
	check("{'port':{'max_msg_sz':-1}}", "", OWN "message size 64 exceeds the device's limit 0");
	check("{'device':{'max_inline':{'RC':-1}}}", "inline=1",
	      OWN "inline size 1 exceeds the device's limit 0");
	check("{'port':{'gids':[-1, 256, 9223372036854775807, '7', null, 8]}}", "gid-index=8",
	      NULL);
	check("{'port':{'gids':[-1, 256, 9223372036854775807, '7', null, 8]}}", "gid-index=7",
	      OWN "the port has no GID at index 7; available: 8");
	check("{'port':{'gids':[-1]}}", "gid-index=0",
	      OWN "the port has no GID at index 0; available: none");
	check("{'port':{'gids':[9, 8, 7, 6, 5, 4, 3, 2, 1]}}", "gid-index=0",
	      OWN "the port has no GID at index 0; available: 1, 2, 3, 4, 5, 6, 7, 8 and more");
	check("{'port':{'gids':[8, 7, 6, 5, 4, 3, 2, 1]}}", "gid-index=0",
	      OWN "the port has no GID at index 0; available: 1, 2, 3, 4, 5, 6, 7, 8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_within_limits),
		cmocka_unit_test(test_set_up_calls),
		cmocka_unit_test(test_memory_rights),
		cmocka_unit_test(test_gid_indexes),
		cmocka_unit_test(test_partitions_and_paths),
		cmocka_unit_test(test_event_moderation),
		cmocka_unit_test(test_rate_limits),
		cmocka_unit_test(test_timestamps),
		cmocka_unit_test(test_above_limits),
		cmocka_unit_test(test_scatter_gather_entries),
		cmocka_unit_test(test_multicast),
		cmocka_unit_test(test_scatter_gather_entries_of_reads),
		cmocka_unit_test(test_missing_features),
		cmocka_unit_test(test_memory_of_the_device),
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_iwarp),
		cmocka_unit_test(test_immediate_data_on_iwarp),
		cmocka_unit_test(test_unknown_limits),
		cmocka_unit_test(test_unknown_mtu),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
