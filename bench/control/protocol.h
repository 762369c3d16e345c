/* SPDX-License-Identifier: MIT */
/*
 * What client and server say to each other on the control connection:
 *
 *	client				server
 *	hello (protocol, version)	welcome (version, host, devices), or refused
 *	  where there is a secret, greeting.h has what comes between
 *	describe (device, port)		description (facts, noise)
 *	case (what to run, where)	listening (how to connect), or failed
 *	  both connect by RDMA		ready, or failed
 *	begin, where both ends drive
 *	  the client measures
 *	stop (when it measured)		done (cost), or failed
 *	and so on with the next trial, which is a case again, but where both stop and done
 *	have said next: then the server takes the client's connections where it listened,
 *	and says ready, or failed; behind the last one of a case
 *	note				noted (counters that have moved; noise, where it is asked for)
 *	and in the end
 *	bye
 *
 * A failed may come at any time during a case and ends it; a refused may come at any
 * time and ends everything. Only the protocol's number must match; the versions of
 * the tool may differ.
 */
#ifndef BENCH_CONTROL_PROTOCOL_H
#define BENCH_CONTROL_PROTOCOL_H

#include <jansson.h>

#include "bench/plan/plan.h"

#define PROTOCOL_NUMBER 4

/* How long the server may take for each answer but its first. */
#define PROTOCOL_ANSWER_MS 15000
/* As libibverbs' IBV_SYSFS_NAME_MAX, with the terminating zero. */
#define PROTOCOL_DEVICE_NAME 64

/* How long one server may be told to try to reach another. */
#define PROTOCOL_WAIT_MOST_MS 60000

/* {"type": type} with a reason; of any type. */
json_t *protocol_reason(const char *type, const char *reason);

/* {"type": type} and nothing else. */
json_t *protocol_plain(const char *type);

bool protocol_is(const json_t *message, const char *type);

/* "refused": why, and what this end speaks, so that the other knows which is the older. */
json_t *protocol_refusal(const char *reason);

/*
 * The message must be of that type. Failed (-EREMOTEIO, or PROTOCOL_UNSUPPORTED) and
 * refused (-ESHUTDOWN) become errors with their reason, behind who said so.
 */
int protocol_expect(const json_t *message, const char *type, const char *who, struct error *error);

/* nonce: of a client that has a secret; or NULL. */
json_t *protocol_hello(const char *nonce);
int protocol_check_hello(json_t *message, struct error *error);

/* Asks for the facts of that end's device, or of the host alone where it has no name. */
json_t *protocol_describe(const struct result_end *server);

/* Asks for what has changed since the last time, and how noisy it is there now. */
json_t *protocol_note(bool with_noise);

/* Unless the client says that it needs none. */
bool protocol_is_noise_wanted(const json_t *note);

/* The device's name is the message's own, and leads out of no folder. */
struct protocol_describe {
	const char *device;
	unsigned int port;
};

int protocol_read_describe(json_t *message, struct protocol_describe *asked, struct error *error);

/* A case as the server is told it. Its texts are the message's own. */
struct protocol_case {
	const struct operation *op;
	struct parameters parameters; /* what nobody asked for is chosen */
	const char *device;           /* the server's, a name that leads out of no folder */
	unsigned int port;            /* of the device */
	const char *address;
};

json_t *protocol_case(const struct parameters *wanted, const struct result_end *server);
int protocol_read_case(json_t *message, struct protocol_case *wanted, struct error *error);

/*
 * What a failure is over there of which the reason is -EOPNOTSUPP: no case for it. No
 * library has this code: what fails here must not be taken for what was told.
 */
#define PROTOCOL_UNSUPPORTED (-EBADRQC)

/* A case that the server is to run as a client of another one. Texts are the message's own. */
struct protocol_drive {
	const struct operation *op;
	struct parameters parameters;
	const char *host;
	uint16_t port;
	unsigned int wait_ms;
};

/*
 * Returns how long such a case may take until it is ready, and from then on until it is over, where
 * one end needs up to setup_ms for its memory and queue pairs.
 */
unsigned int protocol_drive_ms(const struct parameters *wanted, unsigned int setup_ms,
			       unsigned int wait_ms);

json_t *protocol_drive(const struct parameters *wanted, const char *host, uint16_t port,
		       unsigned int wait_ms);
int protocol_read_drive(json_t *message, struct protocol_drive *wanted, struct error *error);

/* A case has failed, or cannot be at all. */
json_t *protocol_failure(const struct error *fault);

/* When the client has measured: so long ago, by a clock that both ends' stop and start. */
struct protocol_stop {
	uint64_t from_ns;
	uint64_t until_ns;
	bool has_next; /* another trial of the same case is to follow */
};

/* Both times are 0 where nothing was measured. */
json_t *protocol_stop(const struct protocol_stop *stop);
struct protocol_stop protocol_read_stop(const json_t *message);

/* What the server did of a trial. */
struct protocol_done {
	struct result_cost cost;
	uint64_t elapsed_ns; /* for how long it was at it */
	uint64_t arrived;    /* messages, with those that came after that time */
	/*
	 * While the client measured: what came of the client's, where it may be lost, else its
	 * own; below 0: it cannot tell.
	 */
	double driven;
	bool has_next; /* it goes on listening, for the next trial */
};

json_t *protocol_done(const struct protocol_done *done);
int protocol_read_done(json_t *message, const char *who, struct protocol_done *done,
		       struct error *error);

/* And where it ran: of what is not told nothing is known. */
void protocol_add_place(json_t *done, const struct result_place *place);
struct result_place protocol_read_place(const json_t *done);

/* The same of what it was granted. */
void protocol_add_chosen(json_t *done, const struct effective *chosen);
struct effective protocol_read_chosen(const json_t *done);

#endif
