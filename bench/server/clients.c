/* SPDX-License-Identifier: MIT */
#include "bench/server/clients.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bench/cli/log.h"
#include "bench/control/dial.h"
#include "bench/control/protocol.h"
#include "core/base/clock.h"

/* One client and its thread. */
struct client {
	struct clients *clients;
	struct control control;
	char name[ADDRESS_TEXT];
	pthread_t thread;
	uint64_t deadline_ns; /* when its time limit expires */
	bool is_ended;        /* its connection was ended by this server */
	atomic_bool is_known; /* authenticated and admitted */
	atomic_bool is_done;
	struct client *next;
};

static void log_error(const struct client *client, const struct error *error)
{
	if (!client->clients->is_silent)
		log_say("client %s: %s", client->name, error->text);
}

static void *serve_client(void *argument)
{
	struct client *client = argument;
	struct clients *clients = client->clients;
	struct error error = {0};
	uint64_t one = 1;
	int code;

	code = responder_run(&client->control, clients->terms, &client->is_known, &error);
	if (code && (code != -ECANCELED || !clients->is_private))
		log_error(client, &error);
	atomic_store(&client->is_done, true);
	if (write(clients->done, &one, sizeof(one)) < 0)
		return NULL; /* fails only if the counter is full, and so readable anyway */
	return NULL;
}

static void client_destroy(struct client *client)
{
	control_close(&client->control);
	free(client);
}

static void end_client(struct client *client, const char *reason)
{
	client->is_ended = true;
	control_fail(&client->control, -ECANCELED, reason);
}

/* Ends the oldest connection that has not authenticated, to make room for a new one. */
static void make_room(struct clients *clients)
{
	struct client *oldest = NULL;
	size_t n_strangers = 0;

	for (struct client *client = clients->latest; client; client = client->next)
		if (!client->is_ended && !atomic_load(&client->is_known)) {
			oldest = client;
			n_strangers++;
		}
	if (n_strangers >= QUOTA_STRANGERS)
		end_client(oldest,
			   "dropped to make room for newer connections: no greeting had arrived");
}

static void note_served(struct clients *clients, const struct client *client)
{
	if (!atomic_load(&client->is_known))
		return;
	clients->has_served = true;
	clients->idle_until_ns = clock_deadline(clients->idle_ms);
}

/* Releases clients that are done, or all of them. */
static void reap(struct clients *clients, bool all)
{
	struct client **link = &clients->latest;
	uint64_t count;

	/* Read this first: a client that is done later makes it readable again. */
	if (read(clients->done, &count, sizeof(count)) < 0 && !all)
		return;
	while (*link) {
		struct client *client = *link;

		if (all || atomic_load(&client->is_done)) {
			*link = client->next;
			clients->count--;
			pthread_join(client->thread, NULL);
			note_served(clients, client);
			client_destroy(client);
		} else {
			link = &client->next;
		}
	}
	/* Return the memory of the threads' heaps to the kernel. */
	if (!clients->latest)
		malloc_trim(0);
}

void clients_reap(struct clients *clients)
{
	reap(clients, false);
}

/* Sends a refusal; it does not matter if the client is already gone. */
static int decline(struct client *client, const char *reason, struct error *error)
{
	struct error ignored = {0};

	control_send(&client->control, protocol_refusal(reason), &ignored);
	return error_set(error, -EBUSY, "%s", reason);
}

static int start_client(struct clients *clients, struct client *client, struct error *error)
{
	const struct quota *quota = clients->terms->quota;

	make_room(clients);
	/* Clients that were ended may need a moment to finish. */
	if (clients->count >= quota->clients + 2 * QUOTA_STRANGERS)
		return decline(client, "too many clients at once: retry later", error);
	if (pthread_create(&client->thread, NULL, serve_client, client))
		return decline(
			client,
			"cannot start a thread for this client: retry later, or raise TasksMax "
			"and LimitNPROC on the server",
			error);
	client->deadline_ns = clock_deadline(quota->time_ms);
	client->next = clients->latest;
	clients->latest = client;
	clients->count++;
	return 0;
}

/* Failures of a single client are logged and do not end the server. */
void clients_admit(struct clients *clients, int listener)
{
	struct error error = {0};
	struct client *client;
	struct sockaddr_storage address;
	char name[ADDRESS_TEXT];
	int fd = dial_accept(listener, &error);

	if (fd < 0) {
		log_say("%s", error.text);
		/* Do not retry at once: descriptors may have run out, for example. */
		nanosleep(&(struct timespec){.tv_nsec = 100 * NS_PER_MS}, NULL);
		return;
	}
	if (!dial_peer(fd, &address, name)) {
		close(fd);
		return;
	}
	if (!allowed_networks_permits(clients->terms->allowed, (struct sockaddr *)&address)) {
		refused_clients_turn(&clients->refused, fd, name);
		return;
	}
	client = calloc(1, sizeof(*client));
	if (!client) {
		close(fd);
		return;
	}
	client->clients = clients;
	snprintf(client->name, sizeof(client->name), "%s", name);
	if (control_open_narrow(&client->control, fd, &error)) {
		log_error(client, &error);
		free(client);
	} else if (start_client(clients, client, &error)) {
		log_error(client, &error);
		control_close(&client->control);
		free(client);
	}
}

void clients_end(struct clients *clients, const char *reason)
{
	for (struct client *client = clients->latest; client; client = client->next)
		end_client(client, reason);
}

/* Counts authenticated clients. Others neither keep the server running nor are waited for. */
static size_t count_known(const struct clients *clients)
{
	size_t count = 0;

	for (const struct client *client = clients->latest; client; client = client->next)
		count += atomic_load(&client->is_known);
	return count;
}

bool clients_are_through(const struct clients *clients)
{
	if (count_known(clients))
		return false;
	return (clients->is_once && clients->has_served) ||
	       (clients->idle_ms && clock_now_ns() >= clients->idle_until_ns);
}

int clients_timeout(struct clients *clients)
{
	bool is_idle = clients->idle_ms && !count_known(clients);
	uint64_t next_ns = is_idle ? clients->idle_until_ns : UINT64_MAX;
	char reason[128];

	snprintf(reason, sizeof(reason),
		 "this client exceeded its time limit of %.3g s: raise 'serve --max-time' on the "
		 "server",
		 clients->terms->quota->time_ms / 1e3);
	for (struct client *client = clients->latest; client; client = client->next) {
		if (!client->is_ended && clock_now_ns() >= client->deadline_ns)
			end_client(client, reason);
		if (!client->is_ended && client->deadline_ns < next_ns)
			next_ns = client->deadline_ns;
	}
	return next_ns == UINT64_MAX ? -1 : clock_left_ms(next_ns);
}

void clients_begin(struct clients *clients)
{
	clients->idle_until_ns = clock_deadline(clients->idle_ms);
}

int clients_open(struct clients *clients, struct error *error)
{
	clients->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (clients->done < 0)
		return error_set_errno(error, -errno, "cannot create an eventfd");
	return 0;
}

void clients_close(struct clients *clients)
{
	reap(clients, true);
	if (clients->done >= 0)
		close(clients->done);
	clients->done = -1;
}
