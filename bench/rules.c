/* SPDX-License-Identifier: MIT */
#include "bench/rules.h"

#include "core/limits.h"

/* Of one queue pair: as many as perftest has, but no more bytes than any link holds. */
#define BW_DEPTH       128
#define BW_DEPTH_LEAST 2
#define BW_BYTES       (2ULL << 20)
/* The receives as perftest has them. */
#define BW_RECEIVE 512
#define LAT_DEPTH  64
/* And those that are looked at have as many bytes as a cache, of each queue pair. */
#define VERIFIED_BYTES (8ULL << 20)

/* Where time is not given: the messages of a latency, the time of a bandwidth. */
#define LAT_MESSAGES 5000
#define BW_NS        (100 * NS_PER_MS)

#define TRIALS 6

#define ATOMIC_SIZE 8

static void choose(uint64_t *value, uint64_t otherwise)
{
	if (*value == PARAMETER_AUTO)
		*value = otherwise;
}

static uint64_t least(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

/* What rdma_cm cannot carry needs queue pairs that are connected by hand. */
static bool needs_pairs(const struct parameters *parameters)
{
	return parameters->transport != TRANSPORT_RC || parameters->mtu != PARAMETER_AUTO ||
	       parameters->gid_index != PARAMETER_AUTO || parameters->sl || parameters->tos;
}

static bool has_effort(const struct parameters *parameters)
{
	return parameters->duration_ns != PARAMETER_AUTO ||
	       parameters->iterations != PARAMETER_AUTO;
}

static uint64_t at_least(uint64_t value, uint64_t least)
{
	return value < least ? least : value;
}

/* Room for what is posted by one call, and for what has one completion, as asked for. */
static uint64_t stream_depth(const struct parameters *parameters)
{
	uint64_t depth = at_least(BW_BYTES / parameters->size, BW_DEPTH_LEAST);

	if (depth > BW_DEPTH)
		depth = BW_DEPTH;
	depth = at_least(depth, least(parameters->post_list, BW_DEPTH));
	if (parameters->cq_mod != PARAMETER_AUTO)
		depth = at_least(depth, least(parameters->cq_mod, BW_DEPTH));
	return depth;
}

static uint64_t stream_receives(const struct parameters *parameters)
{
	if (!parameters->verify)
		return BW_RECEIVE;
	return least(at_least(VERIFIED_BYTES / parameters->size, BW_DEPTH_LEAST), BW_RECEIVE);
}

void rules_choose(const struct op *op, struct parameters *parameters)
{
	bool is_bw = parameters->metric == METRIC_BW;

	if (op->shape.is_atomic)
		parameters->size = ATOMIC_SIZE;
	choose(&parameters->server_cq, parameters->cq);
	choose(&parameters->tx_depth, is_bw ? stream_depth(parameters) : LAT_DEPTH);
	choose(&parameters->rx_depth, is_bw ? stream_receives(parameters) : LAT_DEPTH);
	/* A message that is timed has a completion of its own. */
	if (parameters->latencies)
		choose(&parameters->cq_mod, 1);
	choose(&parameters->cq_mod, at_least(parameters->tx_depth / (is_bw ? 4 : 2), 1));
	choose(&parameters->connect, needs_pairs(parameters) ? CONNECT_QP : CONNECT_CM);
	/* Who says how much wants that much; an interval takes six. */
	choose(&parameters->trials, has_effort(parameters) ? 1 : TRIALS);
	if (!has_effort(parameters)) {
		if (is_bw)
			parameters->duration_ns = BW_NS;
		else
			parameters->iterations = LAT_MESSAGES;
	}
}

static bool is_lat(const struct op *op, const struct parameters *p)
{
	return p->metric == METRIC_LAT;
}

static bool is_missing_on_uc(const struct op *op, const struct parameters *p)
{
	return p->transport == TRANSPORT_UC && !(op->transports & (1U << TRANSPORT_UC));
}

static bool is_missing_on_ud(const struct op *op, const struct parameters *p)
{
	return p->transport == TRANSPORT_UD && !(op->transports & (1U << TRANSPORT_UD));
}

static bool is_no_mtu(const struct op *op, const struct parameters *p)
{
	return p->mtu != PARAMETER_AUTO && !limits_mtu((unsigned int)p->mtu);
}

/* Any port's MTU is at most that of InfiniBand; where it is less only the device tells. */
static bool is_no_datagram(const struct op *op, const struct parameters *p)
{
	return p->transport == TRANSPORT_UD && p->size > 4096;
}

static bool is_lat_of_many(const struct op *op, const struct parameters *p)
{
	return is_lat(op, p) && p->qps > 1;
}

static bool is_lat_of_lists(const struct op *op, const struct parameters *p)
{
	return is_lat(op, p) && p->post_list > 1;
}

static bool is_lat_both_ways(const struct op *op, const struct parameters *p)
{
	return is_lat(op, p) && p->bidirectional;
}

static bool is_timed_otherwise(const struct op *op, const struct parameters *p)
{
	return p->latencies && (is_lat(op, p) || p->post_list > 1);
}

static bool is_list_of_two(const struct op *op, const struct parameters *p)
{
	return p->post_list > 1 && op->shape.is_notified;
}

static bool is_cm_without(const struct op *op, const struct parameters *p)
{
	return p->connect == CONNECT_CM && needs_pairs(p);
}

static bool is_list_too_long(const struct op *op, const struct parameters *p)
{
	return p->post_list > p->tx_depth;
}

static bool is_signal_too_rare(const struct op *op, const struct parameters *p)
{
	return p->cq_mod > p->tx_depth;
}

static bool is_timed_by_others(const struct op *op, const struct parameters *p)
{
	return p->latencies && p->cq_mod > 1;
}

static bool is_overwritten(const struct op *op, const struct parameters *p)
{
	return p->verify && p->metric == METRIC_BW && op != &op_send && !op->shape.is_read;
}

/* Beside the last byte of a write, which is polled for. */
static bool is_nameless(const struct op *op, const struct parameters *p)
{
	return p->verify && p->transport != TRANSPORT_RC &&
	       p->size < VERIFY_NAME + (op == &op_write);
}

static bool is_without_payload(const struct op *op, const struct parameters *p)
{
	return p->verify && op->shape.is_atomic;
}

static bool is_unseen(const struct op *op, const struct parameters *p)
{
	return p->verify && op->kind((enum rdma_wait_mode)p->cq,
				     (enum rdma_wait_mode)p->server_cq) == RESULT_COMPLETION;
}

static bool is_needs_of_lat(const struct op *op, const struct parameters *p)
{
	return p->needs && (is_lat(op, p) || p->bidirectional || p->transport != TRANSPORT_RC);
}

static bool is_thinking_driver(const struct op *op, const struct parameters *p)
{
	return p->think_ns && p->bidirectional;
}

static bool is_both_limits(const struct op *op, const struct parameters *p)
{
	return p->iterations != PARAMETER_AUTO && p->duration_ns != PARAMETER_AUTO;
}

static const struct rule {
	bool (*applies)(const struct op *op, const struct parameters *p);
	const char *sentence;
} rules[] = {
	{is_missing_on_uc,   "UC has no such operation: it can send, write and write-imm"      },
	{is_missing_on_ud,   "UD has no such operation: it can send"                           },
	{is_no_mtu,          "an MTU is 256, 512, 1024, 2048 or 4096"                          },
	{is_no_datagram,     "a datagram is one packet: 4096 bytes at the most"                },
	{is_list_of_two,     "a post list is of one operation, without notifications"          },
	{is_lat_of_many,     "latency is measured on one queue pair"                           },
	{is_lat_of_lists,    "latency is measured one at a time: no post lists"                },
	{is_lat_both_ways,   "only bandwidth goes both ways at once"                           },
	{is_timed_otherwise, "--latencies is for bw, without post lists"                       },
	{is_cm_without,      "rdma_cm cannot carry -c, -m, -x, -S or -T: --connect qp can"     },
	{is_list_too_long,   "--post-list exceeds --tx-depth"                                  },
	{is_signal_too_rare, "--cq-mod exceeds --tx-depth: the queue would fill and stay full" },
	{is_timed_by_others, "--latencies needs --cq-mod 1: each message has a completion"     },
	{is_without_payload, "--verify is for operations with a payload"                       },
	{is_overwritten,     "--verify of bw is for send and read: a write overwrites the last"},
	{is_nameless,        "--verify on UC and UD takes 8 bytes, of writes 9, for a number"  },
	{is_unseen,          "--verify: nothing tells the target of such a write when to look" },
	{is_needs_of_lat,    "--needs is for bw on RC, in one direction"                       },
	{is_thinking_driver, "--think is for a server that answers: not for both ways at once" },
	{is_both_limits,     "-n and -D exclude each other"                                    },
};

const char *rules_refuse(const struct op *op, const struct parameters *parameters)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rules); i++)
		if (rules[i].applies(op, parameters))
			return rules[i].sentence;
	return NULL;
}
