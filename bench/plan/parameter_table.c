/* SPDX-License-Identifier: MIT */
/* The parameters of a case: one row each, and the named values of their options. */
#include "bench/cli/cpulist.h"
#include "bench/plan/operation.h"
#include "bench/plan/parameters.h"
#include "bench/plan/rate.h"
#include "core/base/clock.h"

/* 1 GiB: both areas of a lane must fit into a buffer, and a work request has a 32-bit length. */
#define SIZE_MOST  (1ULL << 30)
#define SEED_MOST  UINT32_MAX
#define CQ_MOST    (1ULL << 22)
#define COUNT_MOST 1000000000000ULL
#define DAY_NS     (86400 * NS_PER_S)
/* The highest CPU that we read from the kernel's lists. */
#define CPU_MOST (CPULIST_MAX - 1)
/* The kernel's highest node number. */
#define NODE_MOST 1023

#define OPERATION_VALUE(number, name, word, help, ...) {word, help},
static const struct option_value operation_values[] = {OPERATION_LIST(OPERATION_VALUE)};
static const struct option_value metrics[] = {
	[METRIC_LAT] = {"lat",  "latency, one operation at a time"           },
	[METRIC_BW] = {"bw",   "bandwidth and message rate"                 },
	[METRIC_LOAD] = {"load", "latency at a fixed arrival rate; see --rate"},
};
static const struct option_value arrivals[] = {
	[ARRIVALS_FIXED] = {"fixed",   "equal gaps between messages"   },
	[ARRIVALS_POISSON] = {"poisson", "exponentially distributed gaps"},
};
static const struct option_value modes[] = {
	[CQ_POLL] = {"poll",     "poll the completion queue"     },
	[CQ_EVENT] = {"event",    "sleep until a completion event"},
	[CQ_ADAPTIVE] = {"adaptive", "poll for 50 us, then sleep"    },
};
static const struct option_value transport_values[TRANSPORTS] = {
	[TRANSPORT_RC] = {"RC",  "reliable connection"                              },
	[TRANSPORT_UC] = {"UC",  "unreliable connection: sends and writes"          },
	[TRANSPORT_UD] = {"UD",  "unreliable datagram: sends, up to the MTU"        },
	[TRANSPORT_XRC] = {"XRC", "RC with one shared receive queue per thread"      },
	[TRANSPORT_DC] = {"DC",  "one initiator per thread, to --qps targets (mlx5)"},
	[TRANSPORT_SRD] = {"SRD", "reliable datagrams in any order (EFA)"            },
};
static const struct option_value connects[] = {
	[CONNECT_CM] = {"cm", "rdma_cm connects the queue pairs"         },
	[CONNECT_QP] = {"qp", "queue pair numbers are exchanged over TCP"},
};
static const struct option_value receives[] = {
	[RECEIVES_BUFFERS] = {"buffers", "receives with a buffer"   },
	[RECEIVES_BARE] = {"bare",    "receives without a buffer"},
	[RECEIVES_NONE] = {"none",    "no receives"              },
};
static const struct option_value patterns[] = {
	{"one-to-one",  "each client thread to one server thread" },
	{"many-to-one", "all client threads to one server thread" },
	{"one-to-many", "one client thread to all server threads" },
	{"all-to-all",  "each client thread to all server threads"},
};
static const struct option_value mr_accesses[] = {
	[MR_LOCAL] = {"local",  "local writes"               },
	[MR_REMOTE] = {"remote", "remote reads and writes too"},
	[MR_ATOMIC] = {"atomic", "remote atomics too"         },
};
static const struct option_value pages[] = {
	[PAGES_TOUCHED] = {"touched",   "pages are present before the call"},
	[PAGES_UNTOUCHED] = {"untouched", "the call faults the pages in"     },
};
static const struct option_value registrations[] = {
	[REGISTRATION_ONCE] = {"once", "memory is registered before the measurement"      },
	[REGISTRATION_EACH] = {"each", "each message registers and deregisters its memory"},
};
static const struct option_value orderings[] = {
	[ORDERING_STRICT] = {"off", "strict ordering"            },
	[ORDERING_RELAXED] = {"on",  "IBV_ACCESS_RELAXED_ORDERING"},
};
static const struct option_value steps[] = {
	[STEP_WHOLE] = {"whole",           "from rdma_create_id() to ESTABLISHED"   },
	[STEP_CREATE] = {"create",          "rdma_create_id()"                       },
	[STEP_BIND] = {"bind",            "rdma_bind_addr()"                       },
	[STEP_RESOLVE_ADDRESS] = {"resolve-address", "rdma_resolve_addr(), until the event"   },
	[STEP_RESOLVE_ROUTE] = {"resolve-route",   "rdma_resolve_route(), until the event"  },
	[STEP_CREATE_QP] = {"create-qp",       "rdma_create_qp()"                       },
	[STEP_CONNECT] = {"connect",         "rdma_connect(), until ESTABLISHED"      },
	[STEP_DISCONNECT] = {"disconnect",      "rdma_disconnect(), until DISCONNECTED"  },
	[STEP_DESTROY] = {"destroy",         "rdma_destroy_qp() and rdma_destroy_id()"},
};
static const struct option_value accesses[] = {
	[ACCESS_SAME] = {"same",        "all messages use one address"         },
	[ACCESS_SEQUENTIAL] = {"sequential",  "addresses in ascending order"         },
	[ACCESS_RANDOM] = {"random",      "addresses in random order"            },
	{"stride=SIZE", "ascending addresses, SIZE bytes apart"},
};
static const struct option_value kinds[] = {
	{"host",           "ordinary pages; also host:hugepages=2M and =1G"          },
	{"file:PATH",      "a mapped file, which is overwritten; also PATH,offset=N" },
	{"dax:PATH",       "persistent memory, which is overwritten; as file"        },
	{"odp",            "on-demand paging; the first messages fault pages in"     },
	{"odp:warm",       "the same, with pages that the CPU has touched"           },
	{"odp:prefetch",   "the same, with pages that ibv_advise_mr() has prefetched"},
	{"odp:implicit",   "one region for all memory, without access for the peer"  },
	{"nic",            "memory of the RDMA device (ibv_alloc_dm)"                },
	{"null",           "no memory: sends zeros, drops data (ibv_alloc_null_mr)"  },
	{"dmabuf:udmabuf", "a dma-buf of host pages, made by /dev/udmabuf"           },
	{"dmabuf:PATH",    "a dma-buf of a heap, such as /dev/dma_heap/system"       },
	{"dmabuf:memfd",   "soft0: a memfd in place of a dma-buf"                    },
	{"cuda:N",         "an NVIDIA GPU's; also N,path=dmabuf|peermem|host-mapped" },
	{"cuda-managed:N", "CUDA memory that migrates between GPU and host"          },
	{"cuda-pinned:N",  "host memory that is mapped into the GPU"                 },
	{"rocm:N",         "an AMD GPU's; also N,path=dmabuf|host-mapped"            },
};
static const struct option_value places[] = {
	{"auto", "the NUMA node of the device"        },
	{"off",  "wherever the kernel puts the buffer"},
	{"N",    "that NUMA node"                     },
};
static const struct option_value pins[] = {
	{"auto",     "CPUs near the device"             },
	{"off",      "any CPU"			  },
	{"far",      "CPUs that are not near the device"},
	{"N",        "that CPU"			 },
	{"N-M",      "those CPUs, one thread each"      },
	{"N-M+STEP", "every STEP-th of those CPUs"      },
};
const char parameters_effort[] = "effort";

#define AUTO          PARAMETER_AUTO
#define EFFORT        parameters_effort
#define TARGET(field) offsetof(struct parameters, field)

#define COMMON false
#define RARE   true

#define WORDS(table)  OPTION_VALUES(table, .has_all = true)
#define PLACES(table) OPTION_VALUES(table, .is_open = true)
#define NO_WORDS  \
	{         \
		0 \
	}

/* name, letter, argument, group, rarity, help, values; type, least, most, default, mark, field. */
#define ROW(name_, letter_, argument_, group_, is_rare_, help_, values_, ...) \
	{                                                                     \
		{.name = name_,                                               \
		 .letter = letter_,                                           \
		 .argument = argument_,                                       \
		 .help = help_,                                               \
		 .group = group_,                                             \
		 .is_rare = is_rare_,                                         \
		 .values = values_},                                          \
			__VA_ARGS__                                           \
	}

/* Aligned, these would be wider than any screen. */
// clang-format off
const struct parameter parameter_table[PARAMETERS] = {
	ROW("op", 0, "LIST", OPTION_WHAT, COMMON,
	    "operations, for example send,write; '--op help' lists them (send)",
	    WORDS(operation_values), PARAMETER_WORD, 0, 0, 0, NULL, TARGET(op)),
	ROW("metric", 0, "LIST", OPTION_WHAT, COMMON,
	    "lat, bw or load (lat)",
	    WORDS(metrics), PARAMETER_WORD, 0, 0, METRIC_LAT, NULL, TARGET(metric)),
	ROW("size", 's', "LIST", OPTION_WHAT, COMMON,
	    "message sizes, for example 64,4k or 1:8m (64; bandwidth: 64k)",
	    NO_WORDS, PARAMETER_SIZE, 1, SIZE_MOST, 64, NULL, TARGET(size)),
	ROW("cq", 0, "LIST", OPTION_WHAT, COMMON,
	    "completion mode: poll, event or adaptive (poll)",
	    WORDS(modes), PARAMETER_WORD, 0, 0, CQ_POLL, NULL, TARGET(cq)),
	ROW("server-cq", 0, "LIST", OPTION_WHAT, RARE,
	    "completion mode of the server (same as --cq)",
	    WORDS(modes), PARAMETER_WORD, 0, 0, AUTO, "server-", TARGET(server_cq)),
	ROW("transport", 'c', "LIST", OPTION_WHAT, COMMON,
	    "transport: RC, UC, UD, XRC, DC or SRD (RC)",
	    WORDS(transport_values), PARAMETER_WORD, 0, 0, TRANSPORT_RC, "", TARGET(transport)),
	ROW("qps", 'q', "LIST", OPTION_QUEUES, COMMON,
	    "queue pairs per thread (1)",
	    NO_WORDS, PARAMETER_COUNT, 1, 16384, 1, "q", TARGET(qps)),
	ROW("threads", 0, "LIST", OPTION_QUEUES, COMMON,
	    "threads on each side, each with its own queue pairs and CPU (1)",
	    NO_WORDS, PARAMETER_COUNT, 1, 256, 1, "threads", TARGET(threads)),
	ROW("pattern", 0, "LIST", OPTION_WHAT, RARE,
	    "bandwidth: which threads or hosts talk to which: one-to-one, many-to-one, one-to-many "
	    "or all-to-all",
	    WORDS(patterns), PARAMETER_WORD, 0, 0, AUTO, "", TARGET(pattern)),
	ROW("tx-depth", 't', "LIST", OPTION_QUEUES, COMMON,
	    "operations in flight per queue pair (bandwidth: 128)",
	    NO_WORDS, PARAMETER_COUNT, 1, 16384, AUTO, "t", TARGET(tx_depth)),
	ROW("rx-depth", 'r', "LIST", OPTION_QUEUES, RARE,
	    "posted receives per queue pair (bandwidth: 512, latency: 64)",
	    NO_WORDS, PARAMETER_COUNT, 1, 16384, AUTO, "r", TARGET(rx_depth)),
	ROW("inline", 'I', "LIST", OPTION_QUEUES, RARE,
	    "send messages of up to this size inline (the device's limit, at most 256)",
	    NO_WORDS, PARAMETER_SIZE, 0, 65536, AUTO, "I", TARGET(inline_size)),
	ROW("cq-mod", 'Q', "LIST", OPTION_QUEUES, RARE,
	    "signal one of N operations (bandwidth: a quarter of --tx-depth)",
	    NO_WORDS, PARAMETER_COUNT, 1, 16384, AUTO, "Q", TARGET(cq_mod)),
	ROW("cq-depth", 0, "LIST", OPTION_QUEUES, RARE,
	    "minimum size of completion queues (as large as needed)",
	    NO_WORDS, PARAMETER_COUNT, 1, CQ_MOST, AUTO, "cq", TARGET(cq_depth)),
	ROW("event-count", 0, "LIST", OPTION_QUEUES, RARE,
	    "event and adaptive: completions per completion event (1)",
	    NO_WORDS, PARAMETER_COUNT, 1, UINT16_MAX, AUTO, "events", TARGET(event_count)),
	ROW("event-period", 0, "LIST", OPTION_QUEUES, RARE,
	    "with --event-count: longest delay of an event (16us)",
	    NO_WORDS, PARAMETER_TIME, NS_PER_US, UINT16_MAX * NS_PER_US, AUTO, "period",
	    TARGET(event_period_ns)),
	ROW("doorbell-every", 0, "LIST", OPTION_HOW, RARE,
	    "doorbell: ring once per N writes (latency: 1, bandwidth: 64)",
	    NO_WORDS, PARAMETER_COUNT, 1, 8192, AUTO, "every", TARGET(doorbell_every)),
	ROW("mr-access", 0, "LIST", OPTION_MEMORY, RARE,
	    "register, deregister: access rights: local, remote or atomic (remote)",
	    WORDS(mr_accesses), PARAMETER_WORD, 0, 0, AUTO, "mr-", TARGET(mr_access)),
	ROW("pages", 0, "LIST", OPTION_MEMORY, RARE,
	    "register: pages are touched or untouched before the call (touched)",
	    WORDS(pages), PARAMETER_WORD, 0, 0, AUTO, "", TARGET(pages)),
	ROW("registration", 0, "LIST", OPTION_MEMORY, RARE,
	    "latency of read: register memory once, or for each message (once)",
	    WORDS(registrations), PARAMETER_WORD, 0, 0, AUTO, "registered-", TARGET(registration)),
	ROW("step", 0, "LIST", OPTION_WHAT, RARE,
	    "connect: steps to time; '--step help' lists them (all)",
	    WORDS(steps), PARAMETER_WORD, 0, 0, AUTO, "", TARGET(step)),
	ROW("post-list", 'l', "LIST", OPTION_QUEUES, RARE,
	    "work requests per post call (1)",
	    NO_WORDS, PARAMETER_COUNT, 1, 64, 1, "l", TARGET(post_list)),
	ROW("recv-post-list", 0, "LIST", OPTION_QUEUES, RARE,
	    "bandwidth: receives per post call (16 if --rx-depth is at least 128, else 1)",
	    NO_WORDS, PARAMETER_COUNT, 1, 64, AUTO, "recv-l", TARGET(recv_post_list)),
	ROW("bidirectional", 'b', NULL, OPTION_HOW, COMMON,
	    "bandwidth: send in both directions at once",
	    NO_WORDS, PARAMETER_FLAG, 0, 1, 0, "bidirectional", TARGET(bidirectional)),
	ROW("latencies", 0, NULL, OPTION_HOW, RARE,
	    "bandwidth: record the latency of each message too",
	    NO_WORDS, PARAMETER_FLAG, 0, 1, 0, "latencies", TARGET(latencies)),
	ROW("breakdown", 0, NULL, OPTION_HOW, RARE,
	    "latency: split into posting, device, wake-up and polling",
	    NO_WORDS, PARAMETER_FLAG, 0, 1, AUTO, "breakdown", TARGET(breakdown)),
	ROW("rate", 0, "LIST", OPTION_WHAT, RARE,
	    "load: arrival rates, for example 100k, 10Gb/s or 20% of the maximum (10%:100%)",
	    NO_WORDS, PARAMETER_RATE, 1, RATE_MOST, AUTO, "rate", TARGET(rate)),
	ROW("rate-limit", 0, "LIST", OPTION_QUEUES, RARE,
	    "rate at which the device lets each queue pair send, for example 10Gb/s (unlimited)",
	    NO_WORDS, PARAMETER_RATE, 1, RATE_MOST, AUTO, "limit", TARGET(rate_limit)),
	ROW("arrivals", 0, "LIST", OPTION_HOW, RARE,
	    "load: gaps between messages, fixed or poisson (fixed)",
	    WORDS(arrivals), PARAMETER_WORD, 0, 0, AUTO, "", TARGET(arrivals)),
	ROW("burst", 0, "LIST", OPTION_HOW, RARE,
	    "load: messages that are due at once, at the same average rate (1)",
	    NO_WORDS, PARAMETER_COUNT, 1, 16384, AUTO, "burst", TARGET(burst)),
	ROW("seed", 0, "LIST", OPTION_HOW, RARE,
	    "seed of random gaps and random addresses (1)",
	    NO_WORDS, PARAMETER_COUNT, 0, SEED_MOST, AUTO, "seed", TARGET(seed)),
	ROW("outstanding", 'o', "LIST", OPTION_QUEUES, RARE,
	    "reads and atomics in flight per queue pair (the devices' limit, at most 16)",
	    NO_WORDS, PARAMETER_COUNT, 1, 255, AUTO, "o", TARGET(outstanding)),
	ROW("mtu", 'm', "LIST", OPTION_NETWORK, RARE,
	    "path MTU, 256 to 4096 (the port's MTU)",
	    NO_WORDS, PARAMETER_COUNT, 256, 4096, AUTO, "m", TARGET(mtu)),
	ROW("gid-index", 'x', "LIST", OPTION_NETWORK, RARE,
	    "GID table index (chosen automatically)",
	    NO_WORDS, PARAMETER_COUNT, 0, 255, AUTO, "x", TARGET(gid_index)),
	ROW("server-gid-index", 0, "LIST", OPTION_NETWORK, RARE,
	    "GID table index of the server (same as --gid-index)",
	    NO_WORDS, PARAMETER_COUNT, 0, 255, AUTO, "server-x", TARGET(server_gid_index)),
	ROW("sl", 'S', "LIST", OPTION_NETWORK, RARE,
	    "InfiniBand service level (0)",
	    NO_WORDS, PARAMETER_COUNT, 0, 15, 0, "S", TARGET(sl)),
	ROW("tos", 'T', "LIST", OPTION_NETWORK, RARE,
	    "IP type of service, or InfiniBand traffic class (0)",
	    NO_WORDS, PARAMETER_COUNT, 0, 255, 0, "T", TARGET(tos)),
	ROW("flow-label", 0, "LIST", OPTION_NETWORK, RARE,
	    "flow label; on RoCE v2 it selects the UDP source port, and so the path (0)",
	    NO_WORDS, PARAMETER_COUNT, 0, 0xfffff, AUTO, "flow", TARGET(flow_label)),
	ROW("hop-limit", 0, "LIST", OPTION_NETWORK, RARE,
	    "hop limit of packets with a GID (64)",
	    NO_WORDS, PARAMETER_COUNT, 1, 255, AUTO, "hops", TARGET(hop_limit)),
	ROW("pkey-index", 0, "LIST", OPTION_NETWORK, RARE,
	    "P_Key table index on both sides (0)",
	    NO_WORDS, PARAMETER_COUNT, 0, UINT16_MAX, AUTO, "pkey", TARGET(pkey_index)),
	ROW("path-bits", 0, "LIST", OPTION_NETWORK, RARE,
	    "InfiniBand: number added to both LIDs to select another path (0)",
	    NO_WORDS, PARAMETER_COUNT, 0, 127, AUTO, "path", TARGET(path_bits)),
	ROW("multicast", 0, "LIST", OPTION_NETWORK, RARE,
	    "bandwidth of UD: send to a group, such as 239.1.2.3, that --qps server queue pairs join",
	    NO_WORDS, PARAMETER_GROUP, 0, 0, AUTO, "multicast-", TARGET(multicast)),
	ROW("timeout", 'u', "LIST", OPTION_NETWORK, RARE,
	    "acknowledgment timeout: 4.096 us * 2^N (14)",
	    NO_WORDS, PARAMETER_COUNT, 1, 31, 14, "u", TARGET(timeout)),
	ROW("retries", 0, "LIST", OPTION_NETWORK, RARE,
	    "retransmissions after a timeout, 0 to 7 (6)",
	    NO_WORDS, PARAMETER_COUNT, 0, 7, 6, "retries", TARGET(retries)),
	ROW("connect", 0, "LIST", OPTION_NETWORK, RARE,
	    "connect by rdma_cm (cm) or by exchanged queue pair numbers (qp) (cm where possible)",
	    WORDS(connects), PARAMETER_WORD, 0, 0, AUTO, "connect-", TARGET(connect)),
	ROW("use-srq", 0, NULL, OPTION_QUEUES, RARE,
	    "use one shared receive queue on each side",
	    NO_WORDS, PARAMETER_FLAG, 0, 1, 0, "srq", TARGET(use_srq)),
	ROW("mr-per-qp", 0, NULL, OPTION_MEMORY, RARE,
	    "register each queue pair's part of the buffers separately",
	    NO_WORDS, PARAMETER_FLAG, 0, 1, AUTO, "mr-per-qp", TARGET(mr_per_qp)),
	ROW("hugepages", 0, NULL, OPTION_MEMORY, RARE,
	    "allocate buffers in huge pages",
	    NO_WORDS, PARAMETER_FLAG, 0, 1, 0, "hugepages", TARGET(hugepages)),
	ROW("memory", 0, "LIST", OPTION_MEMORY, RARE,
	    "kinds of memory of the client, for example host,nic; '--memory help' lists them (host)",
	    PLACES(kinds), PARAMETER_MEMORY, 0, 0, AUTO, "memory-", TARGET(memory)),
	ROW("server-memory", 0, "LIST", OPTION_MEMORY, RARE,
	    "kinds of memory of the server (host)",
	    PLACES(kinds), PARAMETER_MEMORY, 0, 0, AUTO, "server-memory-", TARGET(server_memory)),
	ROW("relaxed-ordering", 0, "LIST", OPTION_MEMORY, RARE,
	    "PCIe relaxed ordering, off or on (off)",
	    WORDS(orderings), PARAMETER_WORD, 0, 0, AUTO, "relaxed-", TARGET(relaxed_ordering)),
	ROW("buffer", 0, "LIST", OPTION_MEMORY, RARE,
	    "buffer size on each side, for example 64k:1g (one message; with --access: 64m)",
	    NO_WORDS, PARAMETER_SIZE, 8, PARAMETER_BUFFER_MOST, AUTO, "buffer", TARGET(buffer)),
	ROW("access", 0, "LIST", OPTION_MEMORY, RARE,
	    "address order in the buffer: same, sequential, random or stride=SIZE (random; latency "
	    "and atomics: same)",
	    OPTION_VALUES(accesses, .is_open = true, .has_all = true), PARAMETER_ACCESS, ACCESS_STRIDE + 8,
	    ACCESS_STRIDE + PARAMETER_BUFFER_MOST, AUTO, "access-", TARGET(access)),
	ROW("sge", 0, "LIST", OPTION_MEMORY, RARE,
	    "scatter/gather entries per message (1)",
	    NO_WORDS, PARAMETER_COUNT, 1, PARAMETER_SGES_MOST, 1, "sge", TARGET(sge)),
	ROW("think", 0, "LIST", OPTION_HOW, RARE,
	    "time the server computes before it answers, for example 10us (0ns)",
	    NO_WORDS, PARAMETER_TIME, 0, NS_PER_S, 0, "think", TARGET(think_ns)),
	ROW("receives", 0, "LIST", OPTION_QUEUES, RARE,
	    "receives posted by the server: buffers, bare or none (buffers)",
	    WORDS(receives), PARAMETER_WORD, 0, 0, RECEIVES_BUFFERS, "receives-", TARGET(receives)),
	ROW("needs", 0, NULL, OPTION_HOW, RARE,
	    "bandwidth: find out whether the operation needs a receive and a buffer",
	    NO_WORDS, PARAMETER_FLAG, 0, 1, 0, "needs", TARGET(needs)),
	ROW("pin", 0, "LIST", OPTION_WHERE, RARE,
	    "CPUs of the threads: N, N-M, N-M+STEP, off, far or auto (auto: near the device)",
	    PLACES(pins), PARAMETER_PIN, 0, CPU_MOST, AUTO, "pin", TARGET(pin)),
	ROW("server-pin", 0, "LIST", OPTION_WHERE, RARE,
	    "CPUs of the server's threads (auto: near its device)",
	    PLACES(pins), PARAMETER_PIN, 0, CPU_MOST, AUTO, "server-pin", TARGET(server_pin)),
	ROW("numa", 0, "LIST", OPTION_WHERE, RARE,
	    "NUMA node of the buffer: N, off or auto (auto: near the device)",
	    PLACES(places), PARAMETER_PLACE, 0, NODE_MOST, AUTO, "numa", TARGET(numa)),
	ROW("server-numa", 0, "LIST", OPTION_WHERE, RARE,
	    "NUMA node of the server's buffer (auto: near its device)",
	    PLACES(places), PARAMETER_PLACE, 0, NODE_MOST, AUTO, "server-numa", TARGET(server_numa)),
	ROW("verify", 0, "[N]", OPTION_HOW, COMMON,
	    "verify the payload of every message, or of one in N",
	    NO_WORDS, PARAMETER_COUNT, 0, COUNT_MOST, 0, "verify", TARGET(verify)),
	ROW("iterations", 'n', "N", OPTION_HOW, COMMON,
	    "messages per trial (latency: 5000)",
	    NO_WORDS, PARAMETER_COUNT, 1, COUNT_MOST, AUTO, EFFORT, TARGET(iterations)),
	ROW("duration", 'D', "TIME", OPTION_HOW, COMMON,
	    "time per trial, instead of -n (bandwidth: 100ms)",
	    NO_WORDS, PARAMETER_TIME, NS_PER_MS, DAY_NS, AUTO, EFFORT, TARGET(duration_ns)),
	ROW("warmup", 0, "TIME", OPTION_HOW, RARE,
	    "maximum warm-up before each trial (2s)",
	    NO_WORDS, PARAMETER_TIME, 0, DAY_NS, 2 * NS_PER_S, EFFORT, TARGET(warmup_ns)),
	ROW("trials", 0, "N", OPTION_HOW, COMMON,
	    "trials per case, each on new queue pairs (6; with -n or -D: 1)",
	    NO_WORDS, PARAMETER_COUNT, 1, 1000, AUTO, EFFORT, TARGET(trials)),
	ROW("budget", 0, "TIME", OPTION_HOW, COMMON,
	    "time for all trials: six per case, then more of the least precise cases (see presets)",
	    NO_WORDS, PARAMETER_TIME, NS_PER_MS, DAY_NS, AUTO, EFFORT, TARGET(budget_ns)),
	ROW("precision", 0, "PERCENT", OPTION_HOW, RARE,
	    "with a budget: width of the confidence interval that ends the trials of a case (5)",
	    NO_WORDS, PARAMETER_COUNT, 1, 100, AUTO, EFFORT, TARGET(precision)),
	ROW("interleave", 0, NULL, OPTION_HOW, RARE,
	    "alternate between the trials of all cases, and print ratios",
	    NO_WORDS, PARAMETER_FLAG, 0, 1, AUTO, EFFORT, TARGET(interleave)),
};
// clang-format on
