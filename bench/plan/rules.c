/* SPDX-License-Identifier: MIT */
#include "bench/plan/rules.h"

#include <string.h>

#include "bench/plan/address_walk.h"
#include "bench/plan/applicable.h"
#include "bench/plan/defaults.h"
#include "bench/plan/memory_name.h"
#include "bench/plan/order.h"
#include "bench/plan/pattern.h"
#include "bench/plan/rate.h"
#include "core/base/clock.h"
#include "core/base/compiler.h"

static bool is_lat(const struct operation *op, const struct parameters *p)
{
	return p->metric == METRIC_LAT;
}

static bool is_bad_mtu(const struct operation *op, const struct parameters *p)
{
	bool is_power = !(p->mtu & (p->mtu - 1));

	return p->mtu != PARAMETER_AUTO && (!is_power || p->mtu < 256 || p->mtu > 4096);
}

/* No port's MTU exceeds 4096 bytes; the device reports its actual MTU later. */
static bool is_long_datagram(const struct operation *op, const struct parameters *p)
{
	return parameters_has(p, TRANSPORT_DATAGRAM) && p->size > 4096;
}

static bool is_period_alone(const struct operation *op, const struct parameters *p)
{
	return p->event_period_ns != PARAMETER_AUTO && p->event_count == PARAMETER_AUTO;
}

static bool is_period_broken(const struct operation *op, const struct parameters *p)
{
	return p->event_period_ns != PARAMETER_AUTO && p->event_period_ns % NS_PER_US;
}

static bool is_registration_unused(const struct operation *op, const struct parameters *p)
{
	return p->registration != PARAMETER_AUTO && !applicable_registration(op, p);
}

static bool is_registered_walk(const struct operation *op, const struct parameters *p)
{
	return p->registration == REGISTRATION_EACH && (address_walk_is_on(p) || p->sge > 1);
}

static bool is_lat_of_many(const struct operation *op, const struct parameters *p)
{
	return is_lat(op, p) && p->qps > 1;
}

static bool is_pattern_of_lat(const struct operation *op, const struct parameters *p)
{
	return pattern_is_on(p) && p->metric != METRIC_BW;
}

static bool is_pattern_of_one(const struct operation *op, const struct parameters *p)
{
	return pattern_is_on(p) && p->threads == 1;
}

/* Flows that finish first would leave the bandwidth to the others. */
static bool is_pattern_of_count(const struct operation *op, const struct parameters *p)
{
	return pattern_is_on(p) && p->iterations != PARAMETER_AUTO;
}

static bool is_lat_of_lists(const struct operation *op, const struct parameters *p)
{
	return is_lat(op, p) && p->post_list > 1;
}

static bool is_bidirectional_lat(const struct operation *op, const struct parameters *p)
{
	return p->metric != METRIC_BW && p->bidirectional;
}

static bool is_timed_otherwise(const struct operation *op, const struct parameters *p)
{
	return p->latencies && (p->metric != METRIC_BW || p->post_list > 1);
}

static bool is_list_of_two(const struct operation *op, const struct parameters *p)
{
	return p->post_list > 1 && (op->shape.is_notified || op->shape.rings);
}

static bool is_without_bell(const struct operation *op, const struct parameters *p)
{
	return p->doorbell_every != PARAMETER_AUTO && !op->shape.rings;
}

static bool is_signal_without_bell(const struct operation *op, const struct parameters *p)
{
	return op->shape.rings && p->cq_mod != p->doorbell_every;
}

static bool is_load_of_bells(const struct operation *op, const struct parameters *p)
{
	return op->shape.rings && p->metric == METRIC_LOAD;
}

static bool is_serial_bw(const struct operation *op, const struct parameters *p)
{
	return operation_is_serial(op) && !is_lat(op, p);
}

static bool is_serial_walk(const struct operation *op, const struct parameters *p)
{
	return (operation_is_serial(op) || operation_is_local(op)) && address_walk_is_on(p);
}

static bool is_without_messages(const struct operation *op, const struct parameters *p)
{
	return operation_is_local(op) && (p->bidirectional || p->post_list > 1 || p->needs ||
					  p->latencies || p->metric == METRIC_LOAD);
}

static bool is_without_rights(const struct operation *op, const struct parameters *p)
{
	return p->mr_access != PARAMETER_AUTO && !op->shape.registers;
}

static bool is_without_pages(const struct operation *op, const struct parameters *p)
{
	return p->pages != PARAMETER_AUTO && !(op->takes & OPERATION_TAKES_PAGES);
}

static bool is_without_steps(const struct operation *op, const struct parameters *p)
{
	return p->step != PARAMETER_AUTO && !op->shape.connects;
}

static bool is_connect_by_hand(const struct operation *op, const struct parameters *p)
{
	return op->shape.connects && (p->connect == CONNECT_QP || parameters_need_pairs(p));
}

static bool is_cm_without(const struct operation *op, const struct parameters *p)
{
	return p->connect == CONNECT_CM && parameters_need_pairs(p);
}

static bool is_list_too_long(const struct operation *op, const struct parameters *p)
{
	return p->post_list > p->tx_depth;
}

static bool is_return_too_long(const struct operation *op, const struct parameters *p)
{
	return p->recv_post_list != PARAMETER_AUTO && p->recv_post_list > p->rx_depth;
}

static bool is_return_cut(const struct operation *op, const struct parameters *p)
{
	return p->recv_post_list != PARAMETER_AUTO && p->recv_post_list > 1 && p->sge > 1;
}

/* Devices take limits in kbit/s, as 32-bit numbers. */
static bool is_limit_other(const struct operation *op, const struct parameters *p)
{
	return p->rate_limit != PARAMETER_AUTO &&
	       (rate_unit(p->rate_limit) != RATE_BITS || rate_amount(p->rate_limit) < 1000 ||
		rate_amount(p->rate_limit) / 1000 > UINT32_MAX);
}

static bool is_bell_too_rare(const struct operation *op, const struct parameters *p)
{
	return op->shape.rings && p->doorbell_every > p->tx_depth;
}

static bool is_signal_too_rare(const struct operation *op, const struct parameters *p)
{
	return p->cq_mod > p->tx_depth;
}

static bool is_timed_unsignaled(const struct operation *op, const struct parameters *p)
{
	return p->latencies && p->cq_mod > 1;
}

static bool is_overwritten(const struct operation *op, const struct parameters *p)
{
	return p->verify && p->metric == METRIC_BW && !op->fills_receives && !op->shape.is_read;
}

/* The last byte of a write is polled for and cannot hold part of the number. */
static bool is_unnumbered(const struct operation *op, const struct parameters *p)
{
	return p->verify && !parameters_has(p, TRANSPORT_RELIABLE) &&
	       p->size < RULES_VERIFY_NAME + op->polls_memory;
}

static bool is_without_payload(const struct operation *op, const struct parameters *p)
{
	bool has_payload = op->shape.invalidates || !operation_is_serial(op);

	return p->verify && (op->shape.is_atomic || operation_is_local(op) || !has_payload);
}

static bool is_unverifiable(const struct operation *op, const struct parameters *p)
{
	return p->verify && operation_kind(op, p) == RESULT_COMPLETION;
}

/* Only the CPU can copy the payload into a work request. */
static bool is_inline_unread(const struct operation *op, const struct parameters *p)
{
	bool is_read = memory_is_polled(memory_name_choice(p->memory)) &&
		       memory_is_polled(memory_name_choice(p->server_memory));

	return p->inline_size != PARAMETER_AUTO && p->inline_size && !is_read;
}

static bool is_unverifiable_there(const struct operation *op, const struct parameters *p)
{
	return is_unverifiable(op, p) && p->cq == CQ_POLL && p->server_cq == CQ_POLL;
}

static bool is_untouched_otherwise(const struct operation *op, const struct parameters *p)
{
	return p->pages == PAGES_UNTOUCHED && p->memory != PARAMETER_AUTO;
}

/* All threads would map the same bytes. */
static bool is_file_of_threads(const struct operation *op, const struct parameters *p)
{
	return p->threads > 1 && (memory_path(memory_name_choice(p->memory)) ||
				  memory_path(memory_name_choice(p->server_memory)));
}

/* The peer has no access to an implicit region, since it would be access to the whole process. */
static bool is_target_implicit(const struct operation *op, const struct parameters *p)
{
	bool is_remote = !op->fills_receives;
	bool is_answered = op->kind == RESULT_HALF && p->metric == METRIC_LAT;

	return is_remote && (memory_is_private(memory_name_choice(p->server_memory)) ||
			     ((is_answered || p->bidirectional) && !op->shape.is_call &&
			      memory_is_private(memory_name_choice(p->memory))));
}

static bool is_nic(uint64_t memory)
{
	return memory != PARAMETER_AUTO && !strcmp(memory_name_text(memory), "nic");
}

/* Addresses of such memory count from the start of its region. */
static bool is_nic_in_parts(const struct operation *op, const struct parameters *p)
{
	return p->mr_per_qp == 1 && (is_nic(p->memory) || is_nic(p->server_memory));
}

/* Nothing would be stored: no pattern, no notification, no request for memory. */
static bool is_null_needed(const struct operation *op, const struct parameters *p)
{
	bool is_stored =
		p->verify || op->shape.is_notified || op->shape.is_granted || op->shape.registers;

	return is_stored && (memory_is_null(memory_name_choice(p->memory)) ||
			     memory_is_null(memory_name_choice(p->server_memory)));
}

/* With relaxed ordering the last byte may arrive before the others. */
static bool is_polled_unordered(const struct operation *op, const struct parameters *p)
{
	return p->relaxed_ordering == ORDERING_RELAXED && op->polls_memory && is_lat(op, p) &&
	       operation_kind(op, p) == RESULT_HALF;
}

static bool is_too_many(const struct operation *op, const struct parameters *p)
{
	return pattern_pairs(p) > RULES_QUEUE_PAIRS;
}

/* A control message contains the addresses of all of them, about 200 bytes each. */
static bool is_too_many_by_hand(const struct operation *op, const struct parameters *p)
{
	return (p->connect == CONNECT_QP || parameters_need_pairs(p)) &&
	       pattern_pairs(p) > RULES_PAIRS_BY_HAND;
}

static bool is_group_elsewhere(const struct operation *op, const struct parameters *p)
{
	return pattern_is_multicast(p) && (!parameters_has(p, TRANSPORT_DATAGRAM) ||
					   p->metric != METRIC_BW || !op->is_received);
}

static bool is_group_of_senders(const struct operation *op, const struct parameters *p)
{
	return pattern_is_multicast(p) && (p->bidirectional || p->threads > 1 || pattern_is_on(p));
}

/* The arrivals of each receiver are counted. */
static bool is_group_shared(const struct operation *op, const struct parameters *p)
{
	return pattern_is_multicast(p) && p->use_srq;
}

static bool is_needs_of_many(const struct operation *op, const struct parameters *p)
{
	return p->needs && p->threads > 1;
}

static bool is_needs_of_lat(const struct operation *op, const struct parameters *p)
{
	return p->needs && (p->metric != METRIC_BW || p->bidirectional ||
			    !parameters_has(p, TRANSPORT_RELIABLE));
}

static bool is_load(const struct parameters *p)
{
	return p->metric == METRIC_LOAD;
}

static bool is_load_rateless(const struct operation *op, const struct parameters *p)
{
	return is_load(p) && p->rate == PARAMETER_AUTO;
}

/* A schedule belongs to one thread. */
static bool is_load_of_threads(const struct operation *op, const struct parameters *p)
{
	return is_load(p) && p->threads > 1;
}

static bool is_load_unreliable(const struct operation *op, const struct parameters *p)
{
	return is_load(p) && !parameters_has(p, TRANSPORT_RELIABLE);
}

static bool is_load_of_lists(const struct operation *op, const struct parameters *p)
{
	return is_load(p) && p->post_list > 1;
}

static bool is_load_verified(const struct operation *op, const struct parameters *p)
{
	return is_load(p) && p->verify;
}

static bool is_load_unsignaled(const struct operation *op, const struct parameters *p)
{
	return is_load(p) && p->cq_mod > 1;
}

/* A rate in percent is not known yet. */
static bool is_load_too_slow(const struct operation *op, const struct parameters *p)
{
	return is_load(p) && rate_unit(p->rate) != RATE_PER_CENT &&
	       rate_messages(p->rate, p->size, 0) < 1;
}

static bool is_bidirectional_think(const struct operation *op, const struct parameters *p)
{
	return p->think_ns && p->bidirectional;
}

static bool is_both_limits(const struct operation *op, const struct parameters *p)
{
	return p->iterations != PARAMETER_AUTO && p->duration_ns != PARAMETER_AUTO;
}

static bool is_cut_too_small(const struct operation *op, const struct parameters *p)
{
	return p->sge > p->size && !op->shape.is_granted && !op->shape.is_call;
}

static bool is_cut_atomic(const struct operation *op, const struct parameters *p)
{
	return p->sge > 1 && op->shape.is_atomic;
}

static bool is_cut_inline(const struct operation *op, const struct parameters *p)
{
	return p->sge > 1 && p->inline_size;
}

static bool is_without_room(const struct operation *op, const struct parameters *p)
{
	return p->buffer != PARAMETER_AUTO && !address_walk_places(p, op->shape.is_atomic);
}

static bool is_overlapping(const struct operation *op, const struct parameters *p)
{
	uint64_t head = parameters_head(p);

	return address_walk_stride(p) && address_walk_stride(p) < p->size + head;
}

static bool is_not_aligned(const struct operation *op, const struct parameters *p)
{
	return op->shape.is_atomic && address_walk_stride(p) % OPERATION_ATOMIC_SIZE;
}

static bool is_notified_walk(const struct operation *op, const struct parameters *p)
{
	return address_walk_is_on(p) && op->shape.is_notified;
}

static bool is_verified_walk(const struct operation *op, const struct parameters *p)
{
	return address_walk_is_on(p) && p->verify;
}

static bool is_lossy_walk(const struct operation *op, const struct parameters *p)
{
	return address_walk_is_on(p) && is_lat(op, p) && op->polls_memory &&
	       !parameters_has(p, TRANSPORT_RELIABLE);
}

static bool is_shared_walk(const struct operation *op, const struct parameters *p)
{
	return address_walk_is_on(p) && p->use_srq && pattern_shares_receives(p) &&
	       op->fills_receives;
}

static bool is_interleaved_budget(const struct operation *op, const struct parameters *p)
{
	return p->budget_ns != PARAMETER_AUTO && p->interleave == 1;
}

static bool is_split_otherwise(const struct operation *op, const struct parameters *p)
{
	return p->breakdown == 1 && !applicable_breakdown(op, p);
}

static bool is_split_in_memory(const struct operation *op, const struct parameters *p)
{
	return p->breakdown == 1 && op->polls_memory && operation_kind(op, p) == RESULT_HALF;
}

static bool is_split_verified(const struct operation *op, const struct parameters *p)
{
	return p->breakdown == 1 && p->verify;
}

static bool is_budget_too_few(const struct operation *op, const struct parameters *p)
{
	return p->budget_ns != PARAMETER_AUTO && p->trials < DEFAULTS_TRIALS;
}

static const struct rule {
	bool (*applies)(const struct operation *op, const struct parameters *p);
	const char *sentence;
} rules[] = {
	{is_group_elsewhere,
	 "--multicast applies only to bandwidth of datagrams; use --metric bw -c UD"                 },
	{is_bad_mtu,             "--mtu must be 256, 512, 1024, 2048 or 4096"                        },
	{is_long_datagram,       "datagrams are limited to one packet; use --size 4096 or less"      },
	{is_period_alone,        "--event-period needs --event-count"                                },
	{is_period_broken,       "--event-period must be whole microseconds"                         },
	{is_list_of_two,         "--post-list does not support notifications and doorbells"          },
	{is_without_bell,        "--doorbell-every applies only to doorbell"                         },
	{is_signal_without_bell,
	 "doorbell signals each write that rings: --cq-mod must equal --doorbell-every"              },
	{is_load_of_bells,       "doorbell has no load; use --op write-imm"                          },
	{is_serial_bw,           "the operation runs one at a time; use --metric lat"                },
	{is_serial_walk,         "alloc, timed calls and memory windows need --access same"          },
	{is_without_messages,
	 "nothing is sent: drop --bidirectional, --post-list, --needs, --latencies and load"         },
	{is_without_rights,      "--mr-access applies only to register and deregister"               },
	{is_without_pages,       "--pages applies only to register"                                  },
	{is_without_steps,       "--step applies only to connect"                                    },
	{is_connect_by_hand,
	 "connect uses rdma_cm; drop --connect qp and the options that need it, such as -m and -x"   },
	{is_registration_unused, "--registration applies only to read with --metric lat"             },
	{is_registered_walk,     "--registration each needs --access same and --sge 1"               },
	{is_lat_of_many,         "latency is measured on one queue pair per thread; use --qps 1"     },
	{is_pattern_of_lat,      "--pattern applies only to bw"                                      },
	{is_pattern_of_one,      "--pattern needs --threads above 1"                                 },
	{is_pattern_of_count,    "--pattern needs a common duration; use -D instead of -n"           },
	{is_lat_of_lists,        "latency is measured one message at a time; use --post-list 1"      },
	{is_bidirectional_lat,   "--bidirectional applies only to bw"                                },
	{is_timed_otherwise,     "--latencies applies only to bw without --post-list"                },
	{is_split_otherwise,
	 "--breakdown applies only to the latency of messages, reads and atomics; use --metric lat"  },
	{is_split_in_memory,
	 "--breakdown: write latency polls memory, without a completion; use --cq event"             },
	{is_split_verified,      "--breakdown and --verify cannot be used together; omit one"        },
	{is_cm_without,
	 "rdma_cm connects RC only, and chooses MTU, GID and path itself; use --connect qp"          },
	{is_list_too_long,       "--post-list exceeds --tx-depth"                                    },
	{is_return_too_long,     "--recv-post-list exceeds --rx-depth"                               },
	{is_return_cut,          "--recv-post-list needs --sge 1"                                    },
	{is_limit_other,         "--rate-limit must be between 1kb/s and 4Tb/s, for example 10Gb/s"  },
	{is_bell_too_rare,
	 "--doorbell-every exceeds --tx-depth: the queue would fill and stay full"                   },
	{is_signal_too_rare,     "--cq-mod exceeds --tx-depth: the queue would fill and stay full"   },
	{is_timed_unsignaled,    "--latencies needs --cq-mod 1: each message must have a completion" },
	{is_without_payload,     "--verify applies only to operations with a payload"                },
	{is_overwritten,
	 "--verify with bw applies only to send and read: a write overwrites the last one"           },
	{is_unnumbered,
	 "--verify on UC and UD needs 8 bytes (writes: 9) for a number; use a larger --size"         },
	{is_unverifiable_there,
	 "--verify of write latency needs memory that the CPU can poll; use write-imm"               },
	{is_inline_unread,       "--inline needs memory that the CPU can read on both sides"         },
	{is_untouched_otherwise, "--pages untouched needs --memory host"                             },
	{is_file_of_threads,     "memory with a path needs --threads 1"                              },
	{is_target_implicit,
	 "odp:implicit and null give the peer no access; use other memory, or --op send"             },
	{is_nic_in_parts,        "--mr-per-qp does not support memory of the device (nic)"           },
	{is_null_needed,
	 "--memory null stores no data, which --verify and this operation need; use other memory"    },
	{is_unverifiable,        "--verify of write latency needs --cq poll on both sides"           },
	{is_polled_unordered,
	 "--relaxed-ordering: write latency polls the last byte, which might arrive first"           },
	{is_needs_of_lat,        "--needs applies only to bw on RC in one direction"                 },
	{is_needs_of_many,       "--needs applies only to one thread"                                },
	{is_group_of_senders,
	 "--multicast has one sender; drop --bidirectional, --threads and --pattern"                 },
	{is_group_shared,        "--multicast gives each receiver its own receives; drop --use-srq"  },
	{is_too_many,            "--qps times --threads exceeds 16384 queue pairs"                   },
	{is_too_many_by_hand,
	 "--qps times --threads exceeds 4096 queue pairs, the limit for --connect qp"                },
	{is_load_rateless,       "load needs --rate"						 },
	{is_load_unreliable,
	 "load needs RC: elsewhere a completion does not mean that the message arrived"              },
	{is_load_of_threads,     "load needs --threads 1: one thread runs the schedule"              },
	{is_load_of_lists,       "load posts one message at a time; use --post-list 1"               },
	{is_load_verified,       "--verify applies only to lat and bw"                               },
	{is_load_unsignaled,     "load needs --cq-mod 1: each message must have a completion"        },
	{is_load_too_slow,       "--rate is less than one message per second"                        },
	{is_bidirectional_think, "--think and --bidirectional cannot be used together"               },
	{is_cut_atomic,          "--sge must be 1 for atomics"                                       },
	{is_cut_too_small,       "--sge exceeds the bytes of a message"                              },
	{is_cut_inline,          "--sge above 1 needs --inline 0"                                    },
	{is_without_room,        "--buffer is too small for one message per queue pair and direction"},
	{is_overlapping,         "--access: the stride is smaller than a message"                    },
	{is_not_aligned,         "--access: the stride must be a multiple of 8 for atomics"          },
	{is_notified_walk,       "operations with a notification need --access same"                 },
	{is_verified_walk,       "--verify needs --access same"                                      },
	{is_lossy_walk,          "latency of writes on UC needs --access same"                       },
	{is_shared_walk,         "--use-srq with several queue pairs needs --access same"            },
	{is_interleaved_budget,
	 "--interleave needs the same number of trials for all cases; omit --budget"                 },
	{is_budget_too_few,
	 "a budget needs at least 6 trials per case, the minimum for a confidence interval"          },
	{is_both_limits,         "-n and -D cannot be used together"                                 },
};

const char *rules_refuse(const struct operation *op, const struct parameters *parameters)
{
	const char *refusal = transports[parameters->transport].refusal;

	if (transports[parameters->transport].unavailable)
		return transports[parameters->transport].unavailable;
	if (!parameters_has(parameters, op->needs & ~TRANSPORT_RELIABLE))
		return refusal ? refusal : "the transport does not support this operation";
	if (!parameters_has(parameters, op->needs))
		return "the operation needs a reliable transport; use -c RC";
	for (size_t i = 0; i < ARRAY_LENGTH(rules); i++)
		if (rules[i].applies(op, parameters))
			return rules[i].sentence;
	return order_refuse(op, parameters);
}
