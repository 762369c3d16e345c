/* SPDX-License-Identifier: MIT */
/*
 * What a case can be told: one row of a table for each parameter, from which follow
 * its option, its lists and ranges, its place in plan files, in the control channel
 * and in results, and its mark in the id of a case.
 */
#ifndef BENCH_PLAN_PARAMETERS_H
#define BENCH_PLAN_PARAMETERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/cli/option.h"
#include "core/base/transport.h"

/* As a value: nobody asked for one, and the program chooses. */
#define PARAMETER_AUTO UINT64_MAX
/* Of a PARAMETER_PLACE: the program does not choose either. */
#define PARAMETER_OFF (UINT64_MAX - 1)
/* Of a PARAMETER_PIN: where the device is not. */
#define PARAMETER_FAR (UINT64_MAX - 2)

#define PARAMETER_BUFFER_MOST (64ULL << 30)
#define PARAMETER_SGES_MOST   32

enum metric {
	METRIC_LAT,
	METRIC_BW,
	METRIC_LOAD,
};

/* How an end waits for completions. */
enum cq {
	CQ_POLL,
	CQ_EVENT,
	CQ_ADAPTIVE,
};

/* Of a load. */
enum arrivals {
	ARRIVALS_FIXED,
	ARRIVALS_POISSON,
};

enum connect {
	CONNECT_CM,
	CONNECT_QP,
};

/* What an end that takes no options posts to its receive queue. */
enum receives {
	RECEIVES_BUFFERS,
	RECEIVES_BARE,
	RECEIVES_NONE,
};

/* What a region allows that is registered to see what that takes. */
enum mr_access {
	MR_LOCAL,
	MR_REMOTE,
	MR_ATOMIC,
};

/* Of its memory. */
enum pages {
	PAGES_TOUCHED,
	PAGES_UNTOUCHED,
};

/* Of the memory of a read: when it is registered. */
enum registration {
	REGISTRATION_ONCE,
	REGISTRATION_EACH,
};

/* Of a connection's life: which is timed. */
enum change_point {
	STEP_WHOLE, /* all until it is connected */
	STEP_CREATE,
	STEP_BIND,
	STEP_RESOLVE_ADDRESS,
	STEP_RESOLVE_ROUTE,
	STEP_CREATE_QP,
	STEP_CONNECT,
	STEP_DISCONNECT,
	STEP_DESTROY,
};

/* Of what devices write to memory, as PCIe carries it. */
enum ordering {
	ORDERING_STRICT,
	ORDERING_RELAXED,
};

/* Where messages go: numbers of words, or from ACCESS_STRIDE on places so many bytes apart. */
enum access {
	ACCESS_SAME,
	ACCESS_SEQUENTIAL,
	ACCESS_RANDOM,
};

#define ACCESS_STRIDE (1ULL << 62)

/* One case. Words are numbers of their table. */
struct parameters {
	uint64_t op;
	uint64_t metric;
	uint64_t size;
	uint64_t cq;        /* enum cq */
	uint64_t server_cq; /* as cq */
	uint64_t transport;
	uint64_t qps;     /* of each thread */
	uint64_t threads; /* of either end */
	uint64_t pattern; /* enum pattern: who of them talks to whom */
	uint64_t tx_depth;
	uint64_t rx_depth;
	uint64_t inline_size;
	uint64_t cq_mod;
	uint64_t cq_depth;       /* of either end, at least */
	uint64_t doorbell_every; /* of doorbell, where cq_mod is the same */
	uint64_t mr_access;
	uint64_t pages;
	uint64_t registration;
	uint64_t step;
	uint64_t post_list;
	uint64_t bidirectional;
	uint64_t latencies;
	uint64_t rate; /* of a load: see bench/plan/rate.h */
	uint64_t arrivals;
	uint64_t seed;
	uint64_t outstanding;
	uint64_t mtu;
	uint64_t gid_index;
	uint64_t server_gid_index; /* AUTO: gid_index */
	uint64_t sl;
	uint64_t tos;
	uint64_t timeout;
	uint64_t retries;
	uint64_t connect;
	uint64_t use_srq;
	uint64_t hugepages;
	uint64_t relaxed_ordering; /* enum ordering; AUTO: strict */
	uint64_t buffer;           /* that messages go over, of all queue pairs of an end */
	uint64_t access;           /* enum access */
	uint64_t sge;              /* pieces of a message's local buffer, at both ends */
	uint64_t think_ns;         /* what the server computes before each answer */
	uint64_t receives;         /* of the server */
	uint64_t needs;            /* find out what the operation needs of the server */
	uint64_t pin;              /* a PARAMETER_PIN */
	uint64_t server_pin;       /* as pin */
	uint64_t numa;             /* the number of a node, or PARAMETER_OFF */
	uint64_t server_numa;
	uint64_t verify;     /* one message in so many; 0: none */
	uint64_t iterations; /* of a trial; AUTO: by time */
	uint64_t duration_ns;
	uint64_t warmup_ns; /* at most */
	uint64_t trials;
	uint64_t interleave; /* trials of the cases of a product in turn */
};

enum parameter_type {
	PARAMETER_WORD,
	PARAMETER_COUNT,
	PARAMETER_SIZE,
	PARAMETER_TIME, /* in nanoseconds */
	PARAMETER_FLAG,
	PARAMETER_PLACE, /* a number, auto or off */
	PARAMETER_PIN,   /* the same, or far, or several of them: see pin.h */
	PARAMETER_RATE,
	PARAMETER_ACCESS, /* a word, or stride=SIZE */
};

struct parameter {
	struct option_row option; /* its named values are those of a PARAMETER_WORD, by number */
	enum parameter_type type;
	uint64_t least;
	uint64_t most;
	uint64_t fallback;
	const char *mark; /* before the value in an id; NULL: always there, bare */
	size_t offset;
};

#define PARAMETERS 53

/* The mark of what says how long is measured, not what: it is in no id. */
extern const char parameters_effort[];

extern const struct parameter parameter_table[PARAMETERS];

/* All at their defaults. */
struct parameters parameters_default(void);

uint64_t parameter_get(const struct parameters *from, const struct parameter *parameter);
void parameter_set(struct parameters *into, const struct parameter *parameter, uint64_t value);

/* Sets a parameter that was left at PARAMETER_AUTO. */
static inline void parameter_choose(uint64_t *value, uint64_t otherwise)
{
	if (*value == PARAMETER_AUTO)
		*value = otherwise;
}

/* Reads one value. Returns what is wrong with the text, or NULL: until the next call. */
const char *parameter_parse(const struct parameter *parameter, const char *text, uint64_t *value);

/* The row of an end's table of GIDs; PARAMETER_AUTO: none is named. */
static inline uint64_t parameters_gid_index(const struct parameters *from, bool is_server)
{
	bool is_own = is_server && from->server_gid_index != PARAMETER_AUTO;

	return is_own ? from->server_gid_index : from->gid_index;
}

/* The value as it is written on a command line. */
void parameter_print(const struct parameter *parameter, uint64_t value, char *text, size_t size);

/* The same in JSON: words are strings, sizes and counts numbers, flags booleans. */
json_t *parameter_encode(const struct parameter *parameter, uint64_t value);
const char *parameter_decode(const struct parameter *parameter, const json_t *json,
			     uint64_t *value);

/* The word for a value of the parameter of that name. */
const char *parameter_word(const char *name, uint64_t value);

/* NULL for a name that is none. */
const struct parameter *parameter_find(const char *name);

/* All that are known, as members of an object; and back: unknown members are refused. */
int parameters_encode(const struct parameters *from, json_t *object);
int parameters_decode(struct parameters *into, json_t *object, struct error *error);

/* A path with every parameter that is not at its default: send/lat/64/poll/q16. */
void parameters_id(const struct parameters *from, char *id, size_t size);

/* Returns whether the case's transport has all of these properties, TRANSPORT_... */
static inline bool parameters_has(const struct parameters *parameters, unsigned int properties)
{
	return transport_has((enum transport)parameters->transport, properties);
}

/* Returns the bytes in front of each message that the case receives. */
static inline size_t parameters_head(const struct parameters *parameters)
{
	return transport_head((enum transport)parameters->transport);
}

#endif
