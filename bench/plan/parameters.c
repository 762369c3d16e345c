/* SPDX-License-Identifier: MIT */
#include "bench/plan/parameters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "bench/cli/cpulist.h"
#include "bench/cli/value.h"
#include "bench/plan/operation.h"
#include "bench/plan/pin.h"
#include "bench/plan/rate.h"
#include "core/base/clock.h"
#include "core/base/printable.h"

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

static const struct option_value operation_values[OPERATIONS] = {
	[OPERATION_SEND] = {"send",         "SEND into a posted receive"                     },
	[OPERATION_WRITE] = {"write",        "RDMA WRITE"                                     },
	[OPERATION_READ] = {"read",         "RDMA READ"                                      },
	[OPERATION_WRITE_IMM] = {"write-imm",    "RDMA WRITE with immediate data"                 },
	[OPERATION_FETCH_ADD] = {"fetch-add",    "atomic fetch-and-add of 8 bytes"                },
	[OPERATION_COMPARE_SWAP] = {"compare-swap", "atomic compare-and-swap of 8 bytes"             },
	[OPERATION_WRITE_NOTIFY] = {"write-notify", "RDMA WRITE, then a SEND to notify the peer"     },
	[OPERATION_READ_NOTIFY] = {"read-notify",  "RDMA READ, then a SEND to notify the peer"      },
	[OPERATION_DOORBELL] = {"doorbell",     "stream of RDMA WRITEs, some with immediate data"},
	[OPERATION_ALLOC] = {"alloc",        "memory granted by the server's pool"            },
	[OPERATION_REGISTER] = {"register",     "ibv_reg_mr()"                                   },
	[OPERATION_DEREGISTER] = {"deregister",   "ibv_dereg_mr()"                                 },
	[OPERATION_CREATE_QP] = {"create-qp",    "ibv_create_qp()"                                },
	[OPERATION_CREATE_CQ] = {"create-cq",    "ibv_create_cq()"                                },
	[OPERATION_OPEN_DEVICE] = {"open-device",  "ibv_open_device()"                              },
	[OPERATION_ALLOC_PD] = {"alloc-pd",     "ibv_alloc_pd()"                                 },
	[OPERATION_POST_SEND] = {"post-send",    "the call that posts a WRITE"                    },
	[OPERATION_POST_RECV] = {"post-recv",    "ibv_post_recv()"                                },
	[OPERATION_POLL_CQ] = {"poll-cq",      "the call that takes a completion"               },
	[OPERATION_CONNECT] = {"connect",      "a connection by rdma_cm; see --step"            },
};
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
	[TRANSPORT_RC] = {"RC", "reliable connection"                          },
	[TRANSPORT_UC] = {"UC", "unreliable connection: send, write, write-imm"},
	[TRANSPORT_UD] = {"UD", "unreliable datagram: send, up to the MTU"     },
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
static const char stride[] = "stride=";

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
	    "transport: RC, UC or UD (RC)",
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
	ROW("bidirectional", 'b', NULL, OPTION_HOW, COMMON,
	    "bandwidth: send in both directions at once",
	    NO_WORDS, PARAMETER_FLAG, 0, 1, 0, "bidirectional", TARGET(bidirectional)),
	ROW("latencies", 0, NULL, OPTION_HOW, RARE,
	    "bandwidth: record the latency of each message too",
	    NO_WORDS, PARAMETER_FLAG, 0, 1, 0, "latencies", TARGET(latencies)),
	ROW("rate", 0, "LIST", OPTION_WHAT, RARE,
	    "load: arrival rates, for example 100k, 10Gb/s or 20% of the maximum (10%:100%)",
	    NO_WORDS, PARAMETER_RATE, 1, RATE_MOST, AUTO, "rate", TARGET(rate)),
	ROW("arrivals", 0, "LIST", OPTION_HOW, RARE,
	    "load: gaps between messages, fixed or poisson (fixed)",
	    WORDS(arrivals), PARAMETER_WORD, 0, 0, AUTO, "", TARGET(arrivals)),
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
	ROW("hugepages", 0, NULL, OPTION_MEMORY, RARE,
	    "allocate buffers in huge pages",
	    NO_WORDS, PARAMETER_FLAG, 0, 1, 0, "hugepages", TARGET(hugepages)),
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
	ROW("interleave", 0, NULL, OPTION_HOW, RARE,
	    "alternate between the trials of all cases, and print ratios",
	    NO_WORDS, PARAMETER_FLAG, 0, 1, AUTO, EFFORT, TARGET(interleave)),
};
// clang-format on

struct parameters parameters_default(void)
{
	struct parameters made;

	for (size_t i = 0; i < PARAMETERS; i++)
		parameter_set(&made, &parameter_table[i], parameter_table[i].fallback);
	return made;
}

uint64_t parameter_get(const struct parameters *from, const struct parameter *parameter)
{
	uint64_t value;

	memcpy(&value, (const char *)from + parameter->offset, sizeof(value));
	return value;
}

void parameter_set(struct parameters *into, const struct parameter *parameter, uint64_t value)
{
	memcpy((char *)into + parameter->offset, &value, sizeof(value));
}

/* Formats an error message for the calling thread. */
static const char *complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *complain(const char *format, ...)
{
	static _Thread_local char text[288];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return text;
}

static const char *word_at(const struct parameter *parameter, uint64_t i)
{
	return option_value_at(&parameter->option.values, i)->name;
}

static const char *no_such_word(const struct parameter *parameter)
{
	char list[256] = "";
	size_t used = 0;

	for (uint64_t i = 0; i < parameter->option.values.count && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 word_at(parameter, i));
	return complain("is not one of %s", list);
}

static const char *parse_word(const struct parameter *parameter, const char *text, uint64_t *value)
{
	for (uint64_t i = 0; i < parameter->option.values.count; i++) {
		if (!strcasecmp(word_at(parameter, i), text)) {
			*value = i;
			return NULL;
		}
	}
	return no_such_word(parameter);
}

static const char *check_range(const struct parameter *parameter, uint64_t value);

static const char no_such_access[] = "is not one of same, sequential, random, stride=SIZE";

static const char *parse_access(const struct parameter *parameter, const char *text,
				uint64_t *value)
{
	size_t length = sizeof(stride) - 1;

	if (!strncasecmp(text, stride, length)) {
		if (!value_size(text + length, value))
			return "is not a stride (e.g. stride=4k)";
		*value = *value < ACCESS_STRIDE ? *value + ACCESS_STRIDE : PARAMETER_AUTO;
		return check_range(parameter, *value);
	}
	return parse_word(parameter, text, value) ? no_such_access : NULL;
}

static const char *parse_flag(const char *text, uint64_t *value)
{
	*value = text[0] == '1';
	return (text[0] == '0' || text[0] == '1') && !text[1] ? NULL : "must be 0 or 1";
}

static const char not_a_rate[] = "is not a rate (e.g. 100k, 10Gb/s or 10%)";
static const char place_words[] = "must be auto, off or a number";
static const char pin_words[] = "must be auto, off, far or CPUs (e.g. 3, 0-3 or 0-6+2)";

/* Returns true if the text is one of the words. */
static bool parse_place(const char *text, uint64_t *value)
{
	if (!strcasecmp(text, "auto"))
		*value = PARAMETER_AUTO;
	else if (!strcasecmp(text, "off"))
		*value = PARAMETER_OFF;
	else
		return false;
	return true;
}

static bool parse_pin(const char *text, uint64_t *value)
{
	if (strcasecmp(text, "far") != 0)
		return parse_place(text, value) || pin_parse(text, value);
	*value = PARAMETER_FAR;
	return true;
}

static const char *check_range(const struct parameter *parameter, uint64_t value)
{
	char least[24];
	char most[24];

	if (value >= parameter->least && value <= parameter->most)
		return NULL;
	parameter_print(parameter, parameter->least, least, sizeof(least));
	parameter_print(parameter, parameter->most, most, sizeof(most));
	return complain("must be between %s and %s", least, most);
}

const char *parameter_parse(const struct parameter *parameter, const char *text, uint64_t *value)
{
	switch (parameter->type) {
	case PARAMETER_WORD:
		return parse_word(parameter, text, value);
	case PARAMETER_FLAG:
		return parse_flag(text, value);
	case PARAMETER_ACCESS:
		return parse_access(parameter, text, value);
	case PARAMETER_COUNT:
		if (!value_count(text, 0, UINT64_MAX, value))
			return "is not a number";
		break;
	case PARAMETER_SIZE:
		if (!value_size(text, value))
			return "is not a size (e.g. 64 or 4k)";
		break;
	case PARAMETER_TIME:
		if (!value_time(text, value))
			return "is not a time (e.g. 10s, 100ms or 10us)";
		break;
	case PARAMETER_RATE:
		return rate_parse(text, value) ? NULL : not_a_rate;
	case PARAMETER_PLACE:
		if (parse_place(text, value))
			return NULL;
		if (!value_count(text, 0, UINT64_MAX, value))
			return place_words;
		break;
	case PARAMETER_PIN:
		if (parse_pin(text, value))
			return NULL;
		if (!value_count(text, 0, UINT64_MAX, value))
			return pin_words;
		break;
	}
	return check_range(parameter, *value);
}

static void print_access(const struct parameter *parameter, uint64_t value, char *text, size_t size)
{
	char bytes[24];

	if (value < ACCESS_STRIDE) {
		snprintf(text, size, "%s", word_at(parameter, value));
		return;
	}
	value_print_size(value - ACCESS_STRIDE, bytes, sizeof(bytes));
	snprintf(text, size, "%s%s", stride, bytes);
}

static void print_place(uint64_t value, char *text, size_t size)
{
	if (value < PARAMETER_FAR)
		pin_print(value, text, size);
	else
		snprintf(text, size, "%s",
			 value == PARAMETER_FAR   ? "far"
			 : value == PARAMETER_OFF ? "off"
						  : "auto");
}

void parameter_print(const struct parameter *parameter, uint64_t value, char *text, size_t size)
{
	switch (parameter->type) {
	case PARAMETER_ACCESS:
		print_access(parameter, value, text, size);
		break;
	case PARAMETER_WORD:
		snprintf(text, size, "%s", word_at(parameter, value));
		break;
	case PARAMETER_SIZE:
		value_print_size(value, text, size);
		break;
	case PARAMETER_TIME:
		value_print_time(value, text, size);
		break;
	case PARAMETER_RATE:
		rate_print(value, text, size);
		break;
	case PARAMETER_PLACE:
	case PARAMETER_PIN:
		print_place(value, text, size);
		break;
	case PARAMETER_FLAG:
	case PARAMETER_COUNT:
		snprintf(text, size, "%" PRIu64, value);
		break;
	}
}

json_t *parameter_encode(const struct parameter *parameter, uint64_t value)
{
	char text[24];

	switch (parameter->type) {
	case PARAMETER_FLAG:
		return json_boolean(value);
	case PARAMETER_COUNT:
	case PARAMETER_SIZE:
		return json_integer((json_int_t)value);
	case PARAMETER_PLACE:
	case PARAMETER_PIN:
		if (value <= parameter->most)
			return json_integer((json_int_t)value);
		break;
	case PARAMETER_WORD:
	case PARAMETER_ACCESS:
	case PARAMETER_TIME:
	case PARAMETER_RATE:
		break;
	}
	parameter_print(parameter, value, text, sizeof(text));
	return json_string(text);
}

static const char *no_such_number(const struct parameter *parameter)
{
	if (parameter->type == PARAMETER_PLACE)
		return place_words;
	if (parameter->type == PARAMETER_RATE)
		return not_a_rate;
	if (parameter->type == PARAMETER_PIN)
		return pin_words;
	return parameter->type == PARAMETER_TIME ? "is not a time (e.g. \"10s\")"
						 : "is not a number";
}

const char *parameter_decode(const struct parameter *parameter, const json_t *json, uint64_t *value)
{
	const char *text = json_string_value(json);

	if (parameter->type == PARAMETER_FLAG) {
		*value = json_is_true(json);
		return json_is_boolean(json) ? NULL : "must be true or false";
	}
	if (text)
		return parameter_parse(parameter, text, value);
	if (parameter->type == PARAMETER_ACCESS)
		return no_such_access;
	if (parameter->type == PARAMETER_WORD)
		return no_such_word(parameter);
	if (!json_is_integer(json) || json_integer_value(json) < 0 ||
	    parameter->type == PARAMETER_TIME)
		return no_such_number(parameter);
	*value = (uint64_t)json_integer_value(json);
	return check_range(parameter, *value);
}

const struct parameter *parameter_find(const char *name)
{
	for (size_t i = 0; i < PARAMETERS; i++)
		if (!strcmp(parameter_table[i].option.name, name))
			return &parameter_table[i];
	return NULL;
}

const char *parameter_word(const char *name, uint64_t value)
{
	return word_at(parameter_find(name), value);
}

int parameters_encode(const struct parameters *from, json_t *object)
{
	int code = 0;

	for (size_t i = 0; i < PARAMETERS; i++) {
		const struct parameter *parameter = &parameter_table[i];
		uint64_t value = parameter_get(from, parameter);

		if (value != PARAMETER_AUTO)
			code |= json_object_set_new(object, parameter->option.name,
						    parameter_encode(parameter, value));
	}
	return code ? -ENOMEM : 0;
}

int parameters_decode(struct parameters *into, json_t *object, struct error *error)
{
	const char *name;
	json_t *json;

	json_object_foreach(object, name, json)
	{
		const struct parameter *parameter = parameter_find(name);
		const char *wrong;
		uint64_t value = 0;
		char text[41];

		if (!parameter) {
			printable_copy(text, sizeof(text), name);
			return error_set(error, -EOPNOTSUPP, "unknown parameter '%s'", text);
		}
		wrong = parameter_decode(parameter, json, &value);
		if (wrong)
			return error_set(error, -EINVAL, "%s %s", parameter->option.name, wrong);
		parameter_set(into, parameter, value);
	}
	return 0;
}

static bool is_in_id(const struct parameters *from, const struct parameter *parameter)
{
	if (!parameter->mark)
		return true;
	return parameter->mark != parameters_effort &&
	       parameter_get(from, parameter) != parameter->fallback;
}

void parameters_id(const struct parameters *from, char *id, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < PARAMETERS && used < size; i++) {
		const struct parameter *parameter = &parameter_table[i];
		const char *mark = parameter->mark ? parameter->mark : "";
		char value[24] = "";

		if (!is_in_id(from, parameter))
			continue;
		if (parameter->type != PARAMETER_FLAG)
			parameter_print(parameter, parameter_get(from, parameter), value,
					sizeof(value));
		used += (size_t)snprintf(id + used, size - used, "%s%s%s", used ? "/" : "", mark,
					 value);
	}
}
