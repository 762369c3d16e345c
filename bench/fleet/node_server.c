/* SPDX-License-Identifier: MIT */
#include "bench/fleet/node_server.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bench/control/dial.h"
#include "bench/control/protocol.h"
#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "core/base/watch.h"

/* How long a client waits for this rank to reach its round. */
#define MEET_MS 600000
/* How often a wait looks whether the client is still connected. */
#define LOOK_NS (200 * NS_PER_MS)

static void announce(struct node_server *server)
{
	uint64_t one = 1;

	if (write(server->changed, &one, sizeof(one)) < 0)
		return; /* fails only if the counter is full, and so readable anyway */
}

/* Waits with the lock held until this rank has reached the round, or the client is gone. */
static void await_round(struct node_server *server, struct control *control, uint32_t round)
{
	uint64_t deadline = clock_deadline(MEET_MS);

	while (server->round < round && !server->is_ending && clock_left_ms(deadline)) {
		struct error ignored = {0};
		struct timespec until;

		if (control_ended(control, &ignored))
			return;
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += LOOK_NS;
		until.tv_sec += until.tv_nsec / (long)NS_PER_S;
		until.tv_nsec %= (long)NS_PER_S;
		pthread_cond_timedwait(&server->moved, &server->lock, &until);
	}
}

/* Returns why the meeting cannot take place; NULL: it begins. */
static const char *admit(struct node_server *server, struct control *control, uint32_t round)
{
	const char *reason = NULL;

	pthread_mutex_lock(&server->lock);
	await_round(server, control, round);
	if (server->round > round)
		reason = "this node has given up the round";
	else if (server->round < round || server->is_ending)
		reason = "this node does not reach the round";
	else if (server->n_guests == NODE_SERVER_GUESTS)
		reason = "too many meetings";
	else
		server->guests[server->n_guests++] = control;
	server->n_came += !reason;
	pthread_mutex_unlock(&server->lock);
	return reason;
}

static int meet(struct node_server *server, struct control *control, const json_t *message,
		struct error *error)
{
	json_int_t round = json_integer_value(json_object_get(message, "round"));
	const char *reason = admit(server, control, (uint32_t)round);

	return control_send(
		control, reason ? protocol_reason("failed", reason) : protocol_plain("met"), error);
}

static int report(struct node_server *server, struct control *control, json_t *message,
		  struct error *error)
{
	pthread_mutex_lock(&server->lock);
	json_array_append(server->reports, message);
	pthread_mutex_unlock(&server->lock);
	announce(server);
	return control_send(control, protocol_plain("reported"), error);
}

static bool extension_answer(struct responder_extension *extension, struct control *control,
			     const json_t *message, struct error *error)
{
	struct node_server *server = CONTAINER_OF(extension, struct node_server, extension);

	if (protocol_is(message, "meet"))
		meet(server, control, message, error);
	else if (protocol_is(message, "report"))
		report(server, control, (json_t *)(uintptr_t)message, error);
	else
		return false;
	return true;
}

static void extension_leave(struct responder_extension *extension, const struct control *control)
{
	struct node_server *server = CONTAINER_OF(extension, struct node_server, extension);

	pthread_mutex_lock(&server->lock);
	for (size_t i = 0; i < server->n_guests; i++)
		if (server->guests[i] == control) {
			server->guests[i] = server->guests[--server->n_guests];
			break;
		}
	pthread_mutex_unlock(&server->lock);
	announce(server);
}

static void *serve(void *argument)
{
	struct node_server *server = argument;
	struct pollfd fds[] = {
		{.fd = server->stop,         .events = POLLIN},
		{.fd = server->listener,     .events = POLLIN},
		{.fd = server->clients.done, .events = POLLIN},
	};

	clients_begin(&server->clients);
	while (!fds[0].revents) {
		if (poll(fds, ARRAY_LENGTH(fds), clients_timeout(&server->clients)) < 0 &&
		    errno != EINTR)
			break;
		if (fds[2].revents)
			clients_reap(&server->clients);
		if (fds[1].revents)
			clients_admit(&server->clients, server->listener);
	}
	clients_end(&server->clients, "the rank is leaving the fleet");
	return NULL;
}

static int start(struct node_server *server, struct error *error)
{
	int code = clients_open(&server->clients, error);

	if (code)
		return code;
	server->stop = eventfd(0, EFD_CLOEXEC);
	server->changed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->stop < 0 || server->changed < 0)
		return error_set_errno(error, -errno, "cannot serve other ranks");
	server->listener = dial_listen(NULL, &server->port, error);
	if (server->listener < 0)
		return server->listener;
	code = watch_start_thread(&server->thread, serve, server);
	return code ? error_set_errno(error, code, "cannot start a thread") : 0;
}

/* Waits of this condition are not affected by changes of the time of day. */
static void init_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

static int prepare(struct node_server *server, struct error *error)
{
	pthread_mutex_init(&server->lock, NULL);
	init_condition(&server->moved);
	server->reports = json_array();
	quota_init(&server->quota, "");
	server->quota.clients = QUOTA_CLIENTS_MOST;
	quota_find_threads(&server->quota, "");
	/* A meeting is idle while its pair is measured. */
	server->quota.pause_ms = server->quota.time_ms;
	server->extension = (struct responder_extension){extension_answer, extension_leave};
	server->terms = (struct responder_terms){
		.secret = &server->secret,
		.quota = &server->quota,
		.places = &server->places,
		.allowed = &server->allowed,
		.extension = &server->extension,
	};
	server->clients = (struct clients){
		.done = -1, .terms = &server->terms, .is_private = true, .is_silent = true};
	/* None gives way: a meeting is idle while its pair is measured. */
	return places_open(&server->places, QUOTA_CLIENTS_MOST, UINT_MAX, error);
}

int node_server_open(struct node_server *server, struct error *error)
{
	uint8_t bytes[SECRET_NONCE];
	int code;

	*server = (struct node_server){.listener = -1, .stop = -1, .changed = -1};
	secret_nonce(bytes);
	secret_print(bytes, server->token);
	code = secret_take(&server->secret, server->token, error);
	if (code)
		return code;
	server->secret.is_token = true;
	code = prepare(server, error);
	if (!code)
		code = start(server, error);
	server->is_open = !code;
	if (code)
		node_server_close(server);
	return code;
}

static void stop(struct node_server *server)
{
	uint64_t one = 1;

	pthread_mutex_lock(&server->lock);
	server->is_ending = true;
	pthread_cond_broadcast(&server->moved);
	pthread_mutex_unlock(&server->lock);
	if (write(server->stop, &one, sizeof(one)) == (ssize_t)sizeof(one))
		pthread_join(server->thread, NULL);
}

void node_server_close(struct node_server *server)
{
	/* Zeroed: it was never opened. */
	if (!server->secret.is_set)
		return;
	if (server->is_open)
		stop(server);
	clients_close(&server->clients);
	places_close(&server->places);
	if (server->stop >= 0)
		close(server->stop);
	if (server->changed >= 0)
		close(server->changed);
	if (server->listener >= 0)
		close(server->listener);
	json_decref(server->reports);
	pthread_cond_destroy(&server->moved);
	pthread_mutex_destroy(&server->lock);
	secret_forget(&server->secret);
	*server = (struct node_server){0};
}

void node_server_begin_round(struct node_server *server, uint32_t round)
{
	pthread_mutex_lock(&server->lock);
	server->round = round;
	server->n_guests = 0;
	server->n_came = 0;
	pthread_cond_broadcast(&server->moved);
	pthread_mutex_unlock(&server->lock);
}

static bool has_guests(struct node_server *server, size_t count)
{
	return server->n_came >= count && !server->n_guests;
}

static bool has_report(struct node_server *server, size_t count)
{
	return json_array_size(server->reports) >= count;
}

static int await(struct node_server *server, bool (*has)(struct node_server *, size_t),
		 size_t count, unsigned int timeout_ms, int stop_fd, struct error *error)
{
	struct pollfd fds[] = {
		{.fd = server->changed, .events = POLLIN},
		{.fd = stop_fd,         .events = POLLIN},
	};
	uint64_t deadline = clock_deadline(timeout_ms);

	for (;;) {
		int left = clock_left_ms(deadline);
		uint64_t changes;
		bool is_over;

		/* Read it before the look: a later change makes it readable again. */
		if (read(server->changed, &changes, sizeof(changes)) < 0 && errno != EAGAIN)
			return error_set_errno(error, -errno, "cannot wait for other ranks");
		pthread_mutex_lock(&server->lock);
		is_over = has(server, count);
		pthread_mutex_unlock(&server->lock);
		if (is_over)
			return 0;
		if (!left)
			return error_set(error, -ETIMEDOUT, "timed out after %u s",
					 timeout_ms / 1000);
		if (poll(fds, ARRAY_LENGTH(fds), left) < 0 && errno != EINTR)
			return error_set_errno(error, -errno, "cannot wait for other ranks");
		if (fds[1].revents)
			return error_set(error, -EINTR, "interrupted");
	}
}

int node_server_await_guests(struct node_server *server, size_t count, unsigned int timeout_ms,
			     int stop_fd, struct error *error)
{
	return await(server, has_guests, count, timeout_ms, stop_fd, error);
}

int node_server_await_report(struct node_server *server, unsigned int timeout_ms, int stop_fd,
			     struct error *error)
{
	return await(server, has_report, 1, timeout_ms, stop_fd, error);
}

json_t *node_server_take_reports(struct node_server *server)
{
	json_t *reports;

	pthread_mutex_lock(&server->lock);
	reports = server->reports;
	server->reports = json_array();
	pthread_mutex_unlock(&server->lock);
	return reports;
}
