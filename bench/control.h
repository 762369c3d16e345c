/* SPDX-License-Identifier: MIT */
/*
 * A control connection: TCP between client and server, with a heartbeat each
 * second. The watcher reads it, so that a thread that measures need not: what
 * comes waits in an inbox. While a context is guarded, a message, the end of the
 * connection and silence each end that context's waits.
 */
#ifndef BENCH_CONTROL_H
#define BENCH_CONTROL_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>

#include "bench/wire.h"
#include "core/alarm.h"
#include "core/watch.h"

#define CONTROL_PORT  7471
#define CONTROL_INBOX 8

struct control {
	int fd;
	struct watch watch; /* its fd is -1 once there is nothing more to come */
	pthread_mutex_t send_lock;
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t changed;
	struct wire_reader reader;
	json_t *inbox[CONTROL_INBOX];
	size_t n_inbox;
	uint64_t heard_ns;
	uint64_t beat_ns;
	struct error failure;
	struct alarm *guarded;
	bool is_end_only; /* what that is raised by */
};

/* Takes over a connected socket, and closes it on failure as well. */
int control_open(struct control *control, int fd, struct error *error);
void control_close(struct control *control);

/* Sends a message, which it takes over; NULL is one for which there was no memory. */
int control_send(struct control *control, json_t *message, struct error *error);

/* Waits for a message; -ETIMEDOUT with an error after timeout_ms (0: never). */
int control_receive(struct control *control, json_t **message, unsigned int timeout_ms,
		    struct error *error);

/* Why nothing more comes, or 0: it may. */
int control_ended(struct control *control, struct error *error);

/* From now on whatever comes here raises that alarm; NULL: none. */
void control_guard(struct control *control, struct alarm *alarm);

/* The same by nothing but the end of the connection: while messages are waited for. */
void control_guard_end(struct control *control, struct alarm *alarm);

/* Ends the connection with that reason, for whoever waits on it. From any thread. */
void control_fail(struct control *control, int code, const char *reason);

#endif
