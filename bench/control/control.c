/* SPDX-License-Identifier: MIT */
#include "bench/control/control.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"

#define BEAT_NS (1 * NS_PER_S)
#define DEAD_NS (4 * NS_PER_S)
#define SEND_MS 5000
/* If a tick is this late, this process itself was stopped. */
#define ASLEEP_NS (1 * NS_PER_S)
/* How early a thread that is awake may send a beat, so that connections share a wakeup. */
#define EARLY_NS (BEAT_NS / 4)
/* A wait checks this often whether it was canceled. */
#define SLICE_MS 200
/* Time limit for one message to arrive, even if its bytes trickle in. */
#define FRAME_NS (10 * NS_PER_S)

static const char gone[] = "the peer closed the control connection, or its process ended";

/* Raises the guarded alarms if there is a reason. Called with the lock held. */
static void raise_alarms(struct control *control)
{
	const char *reason = "control message received";

	if (control->failure.code)
		reason = control->failure.text;
	else if (!control->n_inbox || control->is_end_only)
		return;
	for (size_t i = 0; i < control->n_guarded; i++)
		alarm_raise(control->guarded[i], -ECANCELED, reason);
}

static void wake(struct control *control)
{
	pthread_cond_broadcast(&control->changed);
	raise_alarms(control);
}

static void fail_locked(struct control *control, int code, const char *reason)
{
	error_set(&control->failure, code, "%s", reason);
	wake(control);
}

void control_fail(struct control *control, int code, const char *reason)
{
	pthread_mutex_lock(&control->lock);
	fail_locked(control, code, reason);
	pthread_mutex_unlock(&control->lock);
}

static void deliver(struct control *control, json_t *message)
{
	if (frame_is_beat(message)) {
		json_decref(message);
	} else if (control->n_inbox == CONTROL_INBOX) {
		json_decref(message);
		fail_locked(control, -EPROTO, "too many unexpected control messages");
	} else {
		control->inbox[control->n_inbox++] = message;
		wake(control);
	}
}

void control_take(struct control *control, const uint8_t *bytes, size_t length)
{
	while (length && !control->failure.code) {
		struct error error = {0};
		json_t *message = NULL;
		size_t used;
		int got;

		if (!control->reader.have)
			control->begun_ns = control->heard_ns;
		got = frame_read(&control->reader, bytes, length, &used, &message, &error);

		if (got < 0)
			fail_locked(control, error.code, error.text);
		else if (got)
			deliver(control, message);
		bytes += used;
		length -= used;
	}
}

static void ready(struct watch *watch)
{
	struct control *control = CONTAINER_OF(watch, struct control, watch);
	uint8_t bytes[16384];
	ssize_t got = recv(watch->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	pthread_mutex_lock(&control->lock);
	if (got > 0) {
		control->heard_ns = clock_now_ns();
		control_take(control, bytes, (size_t)got);
	} else if (!got || errno == ECONNRESET || errno == EPIPE) {
		fail_locked(control, -ECONNRESET, gone);
	} else if (errno != EAGAIN && errno != EINTR) {
		fail_locked(control, -errno, strerror(errno));
	}
	if (control->failure.code)
		watch->fd = -1;
	pthread_mutex_unlock(&control->lock);
}

/*
 * Sends a heartbeat. If it cannot be sent whole at once, the connection has failed: the socket's
 * buffer holds thousands of beats that the peer has not read.
 */
static void beat(struct control *control)
{
	static const char body[] = "{\"type\":\"alive\"}";
	uint8_t frame[FRAME_HEAD + sizeof(body) + SEAL_SIZE];
	size_t length;
	ssize_t sent;

	if (pthread_mutex_trylock(&control->send_lock))
		return; /* another message is being sent */
	length = frame_put(frame, body, sizeof(body) - 1, &control->seal);
	sent = send(control->fd, frame, length, MSG_DONTWAIT | MSG_NOSIGNAL);
	/* If the connection has ended, reading it yields the reason and any messages before it. */
	if (sent != (ssize_t)length && (sent >= 0 || errno == EAGAIN))
		fail_locked(control, -ETIMEDOUT, "the peer does not read its control connection");
	pthread_mutex_unlock(&control->send_lock);
}

/* Returns when the next tick is needed; earlier ticks would disturb the measurement. */
static uint64_t next_tick(const struct control *control)
{
	uint64_t next = control->beat_ns;

	if (control->heard_ns + DEAD_NS < next)
		next = control->heard_ns + DEAD_NS;
	if (control->reader.have && control->begun_ns + FRAME_NS < next)
		next = control->begun_ns + FRAME_NS;
	return control->failure.code ? UINT64_MAX : next;
}

static uint64_t tick(struct watch *watch, uint64_t now_ns)
{
	struct control *control = CONTAINER_OF(watch, struct control, watch);
	uint64_t due;

	pthread_mutex_lock(&control->lock);
	/* A process that was stopped could not hear its peer. */
	if (now_ns > control->due_ns + ASLEEP_NS)
		control->heard_ns = control->begun_ns = now_ns;
	if (watch->fd >= 0 && now_ns >= control->heard_ns + DEAD_NS)
		fail_locked(control, -ETIMEDOUT, "the peer has been silent for 4 s");
	if (watch->fd >= 0 && control->reader.have && now_ns >= control->begun_ns + FRAME_NS)
		fail_locked(control, -ETIMEDOUT, "control message took longer than 10 s to arrive");
	if (watch->fd >= 0 && now_ns + EARLY_NS >= control->beat_ns) {
		control->beat_ns = now_ns + BEAT_NS;
		beat(control);
	}
	if (control->failure.code)
		watch->fd = -1;
	due = control->due_ns = next_tick(control);
	pthread_mutex_unlock(&control->lock);
	return due;
}

static int open_with(struct control *control, int fd, uint32_t limit, struct error *error)
{
	pthread_condattr_t attributes;
	uint64_t now_ns = clock_now_ns();
	int code;

	*control = (struct control){
		.fd = fd,
		.watch = {.fd = fd,      .ready = ready, .tick = tick},
		.reader = {.limit = limit},
		.heard_ns = now_ns,
		.beat_ns = now_ns + BEAT_NS,
		.due_ns = now_ns,
	};
	pthread_mutex_init(&control->send_lock, NULL);
	pthread_mutex_init(&control->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&control->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	code = watch_add(&control->watch, error);
	if (code)
		control_close(control);
	return code;
}

int control_open(struct control *control, int fd, struct error *error)
{
	return open_with(control, fd, 0, error);
}

int control_open_narrow(struct control *control, int fd, struct error *error)
{
	return open_with(control, fd, FRAME_GREETING, error);
}

void control_widen(struct control *control)
{
	pthread_mutex_lock(&control->lock);
	control->reader.limit = 0;
	pthread_mutex_unlock(&control->lock);
}

void control_close(struct control *control)
{
	watch_remove(&control->watch);
	close(control->fd);
	for (size_t i = 0; i < control->n_inbox; i++)
		json_decref(control->inbox[i]);
	frame_finish(&control->reader);
	seal_end(&control->reader.seal);
	seal_end(&control->seal);
	pthread_cond_destroy(&control->changed);
	pthread_mutex_destroy(&control->lock);
	pthread_mutex_destroy(&control->send_lock);
	*control = (struct control){.fd = -1};
}

static int send_all(int fd, const uint8_t *bytes, size_t length, struct error *error)
{
	uint64_t deadline = clock_deadline(SEND_MS);

	while (length) {
		struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
		ssize_t sent = send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent >= 0) {
			bytes += sent;
			length -= (size_t)sent;
		} else if (errno != EAGAIN && errno != EINTR) {
			return error_set(error, -errno, "%s", gone);
		} else if (poll(&poll_fd, 1, clock_left_ms(deadline)) == 0) {
			return error_set(error, -ETIMEDOUT,
					 "the peer does not read its control messages");
		}
	}
	return 0;
}

int control_send(struct control *control, json_t *message, struct error *error)
{
	uint8_t *frame = NULL;
	size_t length = 0;
	int code;

	/* Seals count messages in the order in which they are sent. */
	pthread_mutex_lock(&control->send_lock);
	code = frame_encode_sealed(message, &control->seal, &frame, &length, error);
	if (!code)
		code = send_all(control->fd, frame, length, error);
	pthread_mutex_unlock(&control->send_lock);
	json_decref(message);
	free(frame);
	return code;
}

int control_expect_seals(struct control *control, const uint8_t key[static SEAL_KEY],
			 struct error *error)
{
	int code = 0;

	pthread_mutex_lock(&control->lock);
	if (control->n_inbox)
		code = error_set(error, -EPROTO,
				 "unexpected control message before the secret was proven");
	seal_begin(&control->reader.seal, key);
	pthread_mutex_unlock(&control->lock);
	return code;
}

void control_seal(struct control *control)
{
	pthread_mutex_lock(&control->send_lock);
	seal_begin(&control->seal, control->own_key);
	pthread_mutex_unlock(&control->send_lock);
}

const uint8_t *control_pair_key(const struct control *control)
{
	return control->seal.is_set ? control->pair_key : NULL;
}

/* Waits until a message arrives or the connection ends. Called with the lock held. */
static int wait_until(struct control *control, uint64_t deadline_ns)
{
	const struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / NS_PER_S),
					  .tv_nsec = (long)(deadline_ns % NS_PER_S)};
	int code = 0;

	while (!control->n_inbox && !control->failure.code && !code)
		code = deadline_ns != UINT64_MAX
			       ? -pthread_cond_timedwait(&control->changed, &control->lock,
							 &deadline)
			       : -pthread_cond_wait(&control->changed, &control->lock);
	return code;
}

/* Same, but returns -EINTR soon after `stop` cancels the wait. */
static int wait_for(struct control *control, uint64_t deadline_ns, const struct dial_stop *stop)
{
	int code = -ETIMEDOUT;

	while (stop && code == -ETIMEDOUT) {
		uint64_t slice_ns = clock_deadline(SLICE_MS);

		if (slice_ns >= deadline_ns)
			break;
		code = wait_until(control, slice_ns);
		if (code && stop->is_over(stop->owner))
			return -EINTR;
	}
	return code == -ETIMEDOUT ? wait_until(control, deadline_ns) : code;
}

int control_await(struct control *control, json_t **message, unsigned int timeout_ms,
		  const struct dial_stop *stop, struct error *error)
{
	uint64_t deadline_ns = timeout_ms ? clock_deadline(timeout_ms) : UINT64_MAX;
	int code;

	*message = NULL;
	pthread_mutex_lock(&control->lock);
	code = wait_for(control, deadline_ns, stop);
	if (control->n_inbox) {
		code = 0;
		*message = control->inbox[0];
		control->n_inbox--;
		memmove(control->inbox, control->inbox + 1, control->n_inbox * sizeof(json_t *));
	} else if (control->failure.code) {
		code = error_set(error, control->failure.code, "%s", control->failure.text);
	} else if (code == -EINTR) {
		error_set(error, code, "the wait for an answer was canceled");
	} else {
		code = error_set(error, code, "no answer within %u ms", timeout_ms);
	}
	pthread_mutex_unlock(&control->lock);
	return code;
}

int control_receive(struct control *control, json_t **message, unsigned int timeout_ms,
		    struct error *error)
{
	return control_await(control, message, timeout_ms, NULL, error);
}

int control_ended(struct control *control, struct error *error)
{
	int code;

	pthread_mutex_lock(&control->lock);
	code = control->failure.code;
	if (code)
		error_set(error, code, "%s", control->failure.text);
	pthread_mutex_unlock(&control->lock);
	return code;
}

void control_guard_all(struct control *control, struct alarm *const *alarms, size_t count,
		       bool is_end_only)
{
	pthread_mutex_lock(&control->lock);
	control->guarded = alarms;
	control->n_guarded = count;
	control->is_end_only = is_end_only;
	raise_alarms(control);
	pthread_mutex_unlock(&control->lock);
}

static void guard(struct control *control, struct alarm *alarm, bool is_end_only)
{
	pthread_mutex_lock(&control->lock);
	control->single = alarm;
	control->guarded = &control->single;
	control->n_guarded = alarm != NULL;
	control->is_end_only = is_end_only;
	raise_alarms(control);
	pthread_mutex_unlock(&control->lock);
}

void control_guard(struct control *control, struct alarm *alarm)
{
	guard(control, alarm, false);
}

void control_guard_end(struct control *control, struct alarm *alarm)
{
	guard(control, alarm, true);
}
