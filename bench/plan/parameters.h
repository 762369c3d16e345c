/* SPDX-License-Identifier: MIT */
/*
 * The parameters of a case. Each has one row in a table, which defines its option, its lists and
 * ranges, its key in plan files, control messages and results, and its mark in case ids.
 */
#ifndef BENCH_PLAN_PARAMETERS_H
#define BENCH_PLAN_PARAMETERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/cli/option.h"
#include "core/base/memory_choice.h"
#include "core/base/transport.h"

/* Value: not given, so the program chooses. */
#define PARAMETER_AUTO UINT64_MAX
/* Value of a PARAMETER_PLACE: do not place anything. */
#define PARAMETER_OFF (UINT64_MAX - 1)
/* Value of a PARAMETER_PIN: a CPU far from the device. */
#define PARAMETER_FAR (UINT64_MAX - 2)

#define PARAMETER_BUFFER_MOST (64ULL << 30)
#define PARAMETER_SGES_MOST   32

enum metric {
	METRIC_LAT,
	METRIC_BW,
	METRIC_LOAD,
};

/* Completion modes. */
enum cq {
	CQ_POLL,
	CQ_EVENT,
	CQ_ADAPTIVE,
};

/* Gaps between the messages of a load. */
enum arrivals {
	ARRIVALS_FIXED,
	ARRIVALS_POISSON,
};

enum connect {
	CONNECT_CM,
	CONNECT_QP,
};

/* Receives that the server posts. */
enum receives {
	RECEIVES_BUFFERS,
	RECEIVES_BARE,
	RECEIVES_NONE,
};

/* Access rights of a memory region whose registration is measured. */
enum mr_access {
	MR_LOCAL,
	MR_REMOTE,
	MR_ATOMIC,
};

/* Whether the pages of that region were touched before. */
enum pages {
	PAGES_TOUCHED,
	PAGES_UNTOUCHED,
};

/* When the memory of a read is registered. */
enum registration {
	REGISTRATION_ONCE,
	REGISTRATION_EACH,
};

/* The steps of a connection's life that can be timed. */
enum connect_step {
	STEP_WHOLE, /* everything until it is connected */
	STEP_CREATE,
	STEP_BIND,
	STEP_RESOLVE_ADDRESS,
	STEP_RESOLVE_ROUTE,
	STEP_CREATE_QP,
	STEP_CONNECT,
	STEP_DISCONNECT,
	STEP_DESTROY,
};

/* PCIe ordering of the device's writes to memory. */
enum ordering {
	ORDERING_STRICT,
	ORDERING_RELAXED,
};

/* Where messages go. From ACCESS_STRIDE on, a value is a stride in bytes plus ACCESS_STRIDE. */
enum access {
	ACCESS_SAME,
	ACCESS_SEQUENTIAL,
	ACCESS_RANDOM,
};

#define ACCESS_STRIDE (1ULL << 62)

/* The parameters of one case. A word is stored as its index in the table of words. */
struct parameters {
	uint64_t op;
	uint64_t metric;
	uint64_t size;
	uint64_t cq;        /* enum cq */
	uint64_t server_cq; /* as cq */
	uint64_t transport;
	uint64_t qps;     /* per thread */
	uint64_t threads; /* on each side */
	uint64_t pattern; /* enum pattern: which threads talk to each other */
	uint64_t tx_depth;
	uint64_t rx_depth;
	uint64_t inline_size;
	uint64_t cq_mod;
	uint64_t cq_depth;    /* on each side, at least */
	uint64_t event_count; /* completions per event */
	uint64_t event_period_ns;
	uint64_t doorbell_every; /* for doorbell, where cq_mod must be the same */
	uint64_t mr_access;
	uint64_t pages;
	uint64_t registration;
	uint64_t step;
	uint64_t post_list;
	uint64_t recv_post_list;
	uint64_t bidirectional;
	uint64_t latencies;
	uint64_t breakdown;  /* 1: time the parts of each operation */
	uint64_t rate;       /* for metric load; see bench/plan/rate.h */
	uint64_t rate_limit; /* of each queue pair, in RATE_BITS */
	uint64_t arrivals;
	uint64_t burst; /* messages of a load that are due at once */
	uint64_t seed;
	uint64_t outstanding;
	uint64_t mtu;
	uint64_t gid_index;
	uint64_t server_gid_index; /* AUTO: same as gid_index */
	uint64_t sl;
	uint64_t tos;
	uint64_t flow_label;
	uint64_t hop_limit;
	uint64_t pkey_index;
	uint64_t path_bits;
	uint64_t multicast; /* a group; see group.h */
	uint64_t timeout;
	uint64_t retries;
	uint64_t connect;
	uint64_t use_srq;
	uint64_t mr_per_qp;
	uint64_t hugepages;
	uint64_t memory;           /* a PARAMETER_MEMORY; AUTO: host */
	uint64_t server_memory;    /* as memory */
	uint64_t relaxed_ordering; /* enum ordering; AUTO: strict */
	uint64_t buffer;           /* bytes that messages use, for all queue pairs of a side */
	uint64_t access;           /* enum access */
	uint64_t sge;              /* pieces of a message's local buffer, on both sides */
	uint64_t think_ns;         /* time that the server computes before each reply */
	uint64_t receives;         /* of the server */
	uint64_t needs;            /* probe what the operation needs from the server */
	uint64_t pin;              /* a PARAMETER_PIN */
	uint64_t server_pin;       /* as pin */
	uint64_t numa;             /* a node number, or PARAMETER_OFF */
	uint64_t server_numa;
	uint64_t verify;     /* check one message in N; 0: none */
	uint64_t iterations; /* messages per trial; AUTO: limited by time */
	uint64_t duration_ns;
	uint64_t warmup_ns;  /* at most */
	uint64_t trials;     /* with a budget: at least */
	uint64_t budget_ns;  /* for all cases together; AUTO: none */
	uint64_t precision;  /* in percent; ends the trials of a case with a budget */
	uint64_t interleave; /* alternate between the trials of a product's cases */
};

enum parameter_type {
	PARAMETER_WORD,
	PARAMETER_COUNT,
	PARAMETER_SIZE,
	PARAMETER_TIME, /* in nanoseconds */
	PARAMETER_FLAG,
	PARAMETER_PLACE, /* a number, auto or off */
	PARAMETER_PIN,   /* the same, far, or a range; see pin.h */
	PARAMETER_RATE,
	PARAMETER_ACCESS, /* a word, or stride=SIZE */
	PARAMETER_MEMORY, /* a kind of memory; see memory_name.h */
	PARAMETER_GROUP,  /* a multicast group; see group.h */
};

struct parameter {
	struct option_row option; /* its named values are those of a PARAMETER_WORD, by number */
	enum parameter_type type;
	uint64_t least;
	uint64_t most;
	uint64_t fallback;
	const char *mark; /* prefix in an id; NULL: the bare value is always included */
	size_t offset;
};

#define PARAMETERS 69

/* The mark of parameters that only say how long to measure. They are not part of an id. */
extern const char parameters_effort[];

extern const struct parameter parameter_table[PARAMETERS];

/* Returns all parameters at their defaults. */
struct parameters parameters_default(void);

uint64_t parameter_get(const struct parameters *from, const struct parameter *parameter);
void parameter_set(struct parameters *into, const struct parameter *parameter, uint64_t value);

/* Sets a parameter that was left at PARAMETER_AUTO. */
static inline void parameter_choose(uint64_t *value, uint64_t otherwise)
{
	if (*value == PARAMETER_AUTO)
		*value = otherwise;
}

/* Parses one value. Returns NULL, or an error message that is valid until the next call. */
const char *parameter_parse(const struct parameter *parameter, const char *text, uint64_t *value);

/* Returns the GID index of a side, or PARAMETER_AUTO if none was given. */
static inline uint64_t parameters_gid_index(const struct parameters *from, bool is_server)
{
	bool is_own = is_server && from->server_gid_index != PARAMETER_AUTO;

	return is_own ? from->server_gid_index : from->gid_index;
}

/* Room for any printed value. */
#define PARAMETER_TEXT MEMORY_TEXT

/* Prints the value as on a command line. */
void parameter_print(const struct parameter *parameter, uint64_t value, char *text, size_t size);

/* The same in JSON: words are strings, sizes and counts are numbers, flags are booleans. */
json_t *parameter_encode(const struct parameter *parameter, uint64_t value);
const char *parameter_decode(const struct parameter *parameter, const json_t *json,
			     uint64_t *value);

/* Returns the word for a value of the named parameter. */
const char *parameter_word(const char *name, uint64_t value);

/* Returns NULL for an unknown name. */
const struct parameter *parameter_find(const char *name);

/* Formats the name of a parameter in JSON, which ends with the unit of times ("duration_ns"). */
#define PARAMETER_KEY 40
void parameter_key(char key[static PARAMETER_KEY], const struct parameter *parameter);
const struct parameter *parameter_of_key(const char *key);

/*
 * Converts all parameters that are not AUTO to members of an object, and back. Decoding rejects
 * unknown members.
 */
int parameters_encode(const struct parameters *from, json_t *object);
int parameters_decode(struct parameters *into, json_t *object, struct error *error);

/*
 * Builds the id: a path with every parameter that differs from its default (send/lat/64/poll/q16).
 */
void parameters_id(const struct parameters *from, char *id, size_t size);

/* Returns whether the case's transport has all of these TRANSPORT_... properties. */
static inline bool parameters_has(const struct parameters *parameters, unsigned int properties)
{
	return transport_has((enum transport)parameters->transport, properties);
}

/* Returns whether some parameter is not possible with rdma_cm. */
bool parameters_need_pairs(const struct parameters *parameters);

/* Returns the number of bytes in front of each received message. */
static inline size_t parameters_head(const struct parameters *parameters)
{
	return transport_head((enum transport)parameters->transport);
}

#endif
