/* SPDX-License-Identifier: MIT */
/*
 * A control connection: TCP between client and server, with a heartbeat each
 * second. The watcher reads it, so that a thread that measures need not: what
 * comes waits in an inbox. While a context is guarded, a message, the end of the
 * connection and silence each end that context's waits.
 */
#ifndef BENCH_CONTROL_CONTROL_H
#define BENCH_CONTROL_CONTROL_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>

#include "bench/control/dial.h"
#include "bench/control/frame.h"
#include "core/base/alarm.h"
#include "core/base/watch.h"

#define CONTROL_INBOX 4

struct control {
	int fd;
	struct watch watch; /* its fd is -1 once there is nothing more to come */
	pthread_mutex_t send_lock;
	struct seal seal;           /* of what is sent: under that lock */
	uint8_t own_key[SEAL_KEY];  /* for it */
	uint8_t pair_key[SEAL_KEY]; /* for queue pairs, once there are seals */
	pthread_mutex_t lock;       /* of all that follows */
	pthread_cond_t changed;
	struct frame_reader reader;
	json_t *inbox[CONTROL_INBOX];
	size_t n_inbox;
	uint64_t heard_ns;
	uint64_t begun_ns; /* the frame that is being received */
	uint64_t beat_ns;
	uint64_t due_ns; /* the next tick */
	struct error failure;
	struct alarm *single;         /* of one guarded alarm */
	struct alarm *const *guarded; /* so many: */
	size_t n_guarded;
	bool is_end_only; /* what that is raised by */
};

/* Takes over a connected socket, and closes it on failure as well. */
int control_open(struct control *control, int fd, struct error *error);
/* The same for whoever may come: nothing longer than a greeting, until control_widen. */
int control_open_narrow(struct control *control, int fd, struct error *error);
void control_widen(struct control *control);
void control_close(struct control *control);

/*
 * From now on what comes has to be sealed, but for frame_is_plain before the first one.
 * -EPROTO: something has come already that is not.
 */
int control_expect_seals(struct control *control, const uint8_t key[static SEAL_KEY],
			 struct error *error);
/* And what is sent is, by own_key. */
void control_seal(struct control *control);
/* For who connects a queue pair; NULL: there are no seals. */
const uint8_t *control_pair_key(const struct control *control);

/*
 * Sends a message, which it takes over; NULL is one for which there was no memory. Of one that
 * is longer than may be (-EMSGSIZE) nothing is sent, and another one may be.
 */
int control_send(struct control *control, json_t *message, struct error *error);

/* Waits for a message; -ETIMEDOUT with an error after timeout_ms (0: never). */
int control_receive(struct control *control, json_t **message, unsigned int timeout_ms,
		    struct error *error);

/* The same with a stop, or NULL: -EINTR soon after that is over. */
int control_await(struct control *control, json_t **message, unsigned int timeout_ms,
		  const struct dial_stop *stop, struct error *error);

/* What has come, as it stands. With the lock held: it is for who reads the socket. */
void control_take(struct control *control, const uint8_t *bytes, size_t length);

/* Why nothing more comes, or 0: it may. */
int control_ended(struct control *control, struct error *error);

/* From now on whatever comes here raises that alarm; NULL: none. */
void control_guard(struct control *control, struct alarm *alarm);

/* The same by nothing but the end of the connection: while messages are waited for. */
void control_guard_end(struct control *control, struct alarm *alarm);

/* The same of several alarms, which stay the caller's until it guards others. */
void control_guard_all(struct control *control, struct alarm *const *alarms, size_t count,
		       bool is_end_only);

/* Ends the connection with that reason, for whoever waits on it. From any thread. */
void control_fail(struct control *control, int code, const char *reason);

#endif
