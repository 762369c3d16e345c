/* SPDX-License-Identifier: MIT */
/*
 * The messages of client and server on the control connection:
 *
 *	client				server
 *	hello (protocol, version)	welcome (version, host, devices), or refused
 *	  with a secret, auth.h lists the messages in between
 *	describe (device, port)		description (facts, noise)
 *	case (parameters, place)	listening (connection parameters), or failed
 *	  both connect by RDMA		ready, or failed
 *	begin, if both ends send
 *	  the client measures
 *	stop (when it measured)		done (cost), or failed
 *	the next trial starts with a case again, unless both stop and done had "next":
 *	then the server accepts the client's connections where it already listens,
 *	and sends ready, or failed. After the last trial of a case:
 *	note				noted (changed counters; noise, if requested)
 *	and at the end
 *	bye
 *
 * The server may send failed at any time during a case, which ends the case, and refused at any
 * time, which ends the connection: for example, when the client has been idle while the server was
 * full and another client waited. Only the protocol number must match; the versions of the tool
 * may differ.
 */
#ifndef BENCH_CONTROL_PROTOCOL_H
#define BENCH_CONTROL_PROTOCOL_H

#include <jansson.h>

#include "bench/plan/plan.h"

#define PROTOCOL_NUMBER 5

/* Time limit for each answer of the server but the first. */
#define PROTOCOL_ANSWER_MS 15000
/* libibverbs' IBV_SYSFS_NAME_MAX, including the terminating zero. */
#define PROTOCOL_DEVICE_NAME 64

/* {"type": type, "reason": reason}. */
json_t *protocol_reason(const char *type, const char *reason);

/* {"type": type} and nothing else. */
json_t *protocol_plain(const char *type);

bool protocol_is(const json_t *message, const char *type);

/* "refused": the reason, and this end's protocol, so that the peer knows which end is older. */
json_t *protocol_refusal(const char *reason);

/*
 * Checks that the message has that type. "failed" (-EREMOTEIO, or PROTOCOL_UNSUPPORTED) and
 * "refused" (-ESHUTDOWN) become errors with the sender and its reason.
 */
int protocol_expect(const json_t *message, const char *type, const char *who, struct error *error);

/* nonce: that of a client with a secret, or NULL. */
json_t *protocol_hello(const char *nonce);
int protocol_check_hello(json_t *message, struct error *error);

/* Asks for the facts of the server's device, or of its host alone if the device has no name. */
json_t *protocol_describe(const struct result_end *server);

/* Asks for the counters that changed since the last note, and for the current noise. */
json_t *protocol_note(bool with_noise);

/* Returns whether the client asked for noise; an older client always does. */
bool protocol_is_noise_wanted(const json_t *note);

/* The device's name points into the message. It contains no path. */
struct protocol_describe {
	const char *device;
	unsigned int port;
};

int protocol_read_describe(json_t *message, struct protocol_describe *asked, struct error *error);

/* A case as sent to the server. Strings point into the message. protocol_release_case ends it. */
struct protocol_case {
	const struct operation *op;
	struct parameters parameters; /* defaults are filled in */
	const char *device;           /* of the server; a name without a path */
	unsigned int port;            /* of the device */
	const char *address;
};

json_t *protocol_case(const struct parameters *wanted, const struct result_end *server);
/* On failure, the case must be released, too. */
int protocol_read_case(json_t *message, struct protocol_case *wanted, struct error *error);
/* Accepts a zeroed case. */
void protocol_release_case(const struct protocol_case *wanted);

/*
 * The code of a failure that the server reports as unsupported (-EOPNOTSUPP there). No library
 * returns this code, so local failures cannot be mistaken for the server's.
 */
#define PROTOCOL_UNSUPPORTED (-EBADRQC)

/* "failed": the case failed or is unsupported. */
json_t *protocol_failure(const struct error *fault);

/* When the client measured: how long ago, as of this message. */
struct protocol_stop {
	uint64_t from_ns;
	uint64_t until_ns;
	bool has_next; /* another trial of the same case is to follow */
};

/* Both times are 0 if nothing was measured. */
json_t *protocol_stop(const struct protocol_stop *stop);
struct protocol_stop protocol_read_stop(const json_t *message);

/* The server's results of a trial. */
struct protocol_done {
	struct result_cost cost;
	uint64_t elapsed_ns; /* how long it took part */
	uint64_t arrived;    /* messages, including those that arrived later */
	/*
	 * During the client's measurement: messages that arrived, if they can be lost; otherwise
	 * the server's own. Below 0: unknown.
	 */
	double driven;
	bool has_next; /* it keeps listening for the next trial */
};

json_t *protocol_done(const struct protocol_done *done);
int protocol_read_done(json_t *message, const char *who, struct protocol_done *done,
		       struct error *error);

/* Adds the CPUs and NUMA node that the server used. Missing members are unknown. */
void protocol_add_place(json_t *done, const struct result_place *place);
struct result_place protocol_read_place(const json_t *done);

/* Same for the messages that arrived at each receiver of a multicast group, added one by one. */
void protocol_add_receiver(json_t *done, uint64_t arrived);
int protocol_read_receivers(const json_t *done, const char *who, struct receivers *receivers,
			    size_t count, struct error *error);

/* Same for the queue depths and other values that the device granted. */
void protocol_add_chosen(json_t *done, const struct effective *chosen);
struct effective protocol_read_chosen(const json_t *done);

#endif
