/* SPDX-License-Identifier: MIT */
/*
 * A control connection: TCP between client and server, with a heartbeat every second. The watcher
 * thread reads it, so that a measuring thread does not have to, and puts messages into an inbox.
 * Guarded alarms are raised when a message arrives, the connection ends, or the peer is silent,
 * which ends the waits on them.
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
	struct watch watch; /* its fd is -1 once nothing more can arrive */
	pthread_mutex_t send_lock;
	struct seal seal;           /* of sent messages; protected by send_lock */
	uint8_t own_key[SEAL_KEY];  /* for that seal */
	uint8_t pair_key[SEAL_KEY]; /* for queue pairs, once messages are sealed */
	pthread_mutex_t lock;       /* protects the following members */
	pthread_cond_t changed;
	struct frame_reader reader;
	json_t *inbox[CONTROL_INBOX];
	size_t n_inbox;
	uint64_t heard_ns;
	uint64_t begun_ns; /* when the current frame started to arrive */
	uint64_t beat_ns;
	uint64_t due_ns; /* of the next tick */
	struct error failure;
	struct alarm *single;         /* storage for one guarded alarm */
	struct alarm *const *guarded; /* n_guarded alarms */
	size_t n_guarded;
	bool is_end_only; /* raise them only at the end of the connection */
};

/* Takes ownership of a connected socket, which it closes on failure too. */
int control_open(struct control *control, int fd, struct error *error);
/* Same, for an unknown peer: accepts only messages as short as a greeting until control_widen. */
int control_open_narrow(struct control *control, int fd, struct error *error);
void control_widen(struct control *control);
void control_close(struct control *control);

/*
 * Requires all later messages to be sealed, except those of frame_is_plain that arrive before the
 * first sealed one. Returns -EPROTO if an unsealed message has already arrived.
 */
int control_expect_seals(struct control *control, const uint8_t key[static SEAL_KEY],
			 struct error *error);
/* Seals all later messages that are sent, with own_key. */
void control_seal(struct control *control);
/* Returns the key for connecting queue pairs, or NULL if messages are not sealed. */
const uint8_t *control_pair_key(const struct control *control);

/*
 * Sends and consumes a message; NULL means that there was no memory for it. A message that is too
 * long is not sent: returns -EMSGSIZE, and the connection remains usable.
 */
int control_send(struct control *control, json_t *message, struct error *error);

/* Waits for a message. Returns -ETIMEDOUT, with an error, after timeout_ms (0: waits forever). */
int control_receive(struct control *control, json_t **message, unsigned int timeout_ms,
		    struct error *error);

/* Same, but returns -EINTR soon after `stop` cancels the wait. stop may be NULL. */
int control_await(struct control *control, json_t **message, unsigned int timeout_ms,
		  const struct dial_stop *stop, struct error *error);

/* Processes received bytes. Called with the lock held, by the thread that reads the socket. */
void control_take(struct control *control, const uint8_t *bytes, size_t length);

/* Returns why nothing more can arrive, or 0 if messages may still arrive. */
int control_ended(struct control *control, struct error *error);

/* From now on, raises that alarm when anything arrives; NULL: none. */
void control_guard(struct control *control, struct alarm *alarm);

/* Same, but raises it only when the connection ends, while messages are expected. */
void control_guard_end(struct control *control, struct alarm *alarm);

/* Same for several alarms. The array stays the caller's and must live until the next guard. */
void control_guard_all(struct control *control, struct alarm *const *alarms, size_t count,
		       bool is_end_only);

/* Ends the connection; all waits on it fail with that reason. May be called from any thread. */
void control_fail(struct control *control, int code, const char *reason);

#endif
