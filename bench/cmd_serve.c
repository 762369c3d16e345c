/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "bench/choose.h"
#include "bench/command.h"
#include "bench/control.h"
#include "bench/dial.h"
#include "bench/inventory.h"
#include "bench/protocol.h"
#include "bench/removal.h"
#include "bench/responder.h"

/* Clients at once: each has a thread and what it asks for. */
#define CLIENTS_MAX 64

struct settings {
	const char *device;
	uint16_t port;
	bool is_once;
	bool has_token;
	unsigned int idle_ms;
};

static const struct option_row rows[] = {
	{"device", 'd', "NAME", option_text,     offsetof(struct settings, device),
	 "offer only this: DEVICE or DEVICE/PORT, soft0 (in software), auto"},
	{"port",   'p', "PORT", option_port,     offsetof(struct settings, port),
	 "TCP port to listen on; 0 takes a free one (7471)"                 },
	{"once",   0,   NULL,   option_flag,     offsetof(struct settings, is_once),
	 "end when the first client has been served"                        },
	{"idle",   0,   "TIME", option_duration, offsetof(struct settings, idle_ms),
	 "end after so long without a client, such as 60s (never)"          },
	{"token",  0,   NULL,   option_flag,     offsetof(struct settings, has_token),
	 "serve who knows the first line of standard input, and end with it"},
};

static const struct option_table options = {.rows = rows, .count = ARRAY_LENGTH(rows)};

/* One client and its thread. */
struct client {
	struct server *server;
	struct control control;
	char name[ADDRESS_TEXT];
	pthread_t thread;
	bool is_known; /* it was one of ours; for others once it is done */
	atomic_bool is_done;
	struct client *next;
};

/* The list is the main thread's. */
struct server {
	struct client *clients;
	size_t n_clients;
	int listener;
	int signals;
	int done;  /* an eventfd: some client is done */
	int input; /* that tells of the end of who started this; -1: nobody waits for that */
	const char *device; /* that is offered alone; NULL: all are */
	bool is_once;
	bool has_served;
	unsigned int idle_ms; /* 0: for ever */
	char token[128];
	struct removal removal;
};

static void complain(const struct client *client, const struct error *error)
{
	fprintf(stderr, "verbmark: client %s: %s\n", client->name, error->text);
}

static void *serve_client(void *argument)
{
	struct client *client = argument;
	struct error error = {0};
	uint64_t one = 1;

	if (responder_run(&client->control, client->server->device, client->server->token,
			  &client->is_known, &error))
		complain(client, &error);
	atomic_store(&client->is_done, true);
	if (write(client->server->done, &one, sizeof(one)) < 0)
		return NULL; /* only a full counter refuses, and that one is readable */
	return NULL;
}

static void client_destroy(struct client *client)
{
	pthread_join(client->thread, NULL);
	control_close(&client->control);
	free(client);
}

/* Releases clients that are done, or all of them. */
static void reap(struct server *server, bool all)
{
	struct client **link = &server->clients;
	uint64_t count;

	while (*link) {
		struct client *client = *link;

		if (all || atomic_load(&client->is_done)) {
			*link = client->next;
			server->n_clients--;
			server->has_served = server->has_served || client->is_known;
			client_destroy(client);
		} else {
			link = &client->next;
		}
	}
	if (read(server->done, &count, sizeof(count)) < 0)
		return; /* nobody was done */
}

static int start_client(struct server *server, struct client *client, struct error *error)
{
	struct error ignored = {0};
	struct error full = {0};
	int code;

	if (server->n_clients >= CLIENTS_MAX) {
		error_set(&full, -EBUSY, "%u clients are being served, which is all it takes",
			  CLIENTS_MAX);
		/* It may have gone again. */
		control_send(&client->control, protocol_refusal(full.text), &ignored);
		return error_set(error, full.code, "%s", full.text);
	}
	code = -pthread_create(&client->thread, NULL, serve_client, client);
	if (code)
		return error_set_errno(error, code, "cannot start a thread");
	client->next = server->clients;
	server->clients = client;
	server->n_clients++;
	return 0;
}

/* Whatever goes wrong with one client is no reason to end. */
static void admit(struct server *server)
{
	struct error error = {0};
	struct client *client;
	int fd = dial_accept(server->listener, &error);

	if (fd < 0) {
		fprintf(stderr, "verbmark: %s\n", error.text);
		/* Out of descriptors, say: not again at once. */
		nanosleep(&(struct timespec){.tv_nsec = 100 * NS_PER_MS}, NULL);
		return;
	}
	client = calloc(1, sizeof(*client));
	if (!client) {
		close(fd);
		return;
	}
	client->server = server;
	dial_peer(fd, client->name);
	if (control_open(&client->control, fd, &error)) {
		complain(client, &error);
		free(client);
	} else if (start_client(server, client, &error)) {
		complain(client, &error);
		control_close(&client->control);
		free(client);
	}
}

static void end_clients(struct server *server, const char *reason)
{
	for (struct client *client = server->clients; client; client = client->next)
		responder_end(&client->control, reason);
}

/* Nothing is expected from there but the end. */
static bool has_input_ended(const struct server *server)
{
	char bytes[64];

	return read(server->input, bytes, sizeof(bytes)) <= 0;
}

static bool is_through(const struct server *server)
{
	return server->is_once && server->has_served && !server->n_clients;
}

static int idle_timeout(const struct server *server)
{
	return server->idle_ms && !server->n_clients ? (int)server->idle_ms : -1;
}

/* Serves until a signal, until its time is over, or until a device is taken away. */
static int serve(struct server *server, struct error *error)
{
	struct pollfd fds[] = {
		{.fd = server->signals,              .events = POLLIN},
		{.fd = server->listener,             .events = POLLIN},
		{.fd = server->done,                 .events = POLLIN},
		{.fd = removal_fd(&server->removal), .events = POLLIN},
		{.fd = server->input,                .events = POLLIN},
	};

	while (!fds[0].revents && !is_through(server)) {
		int got = poll(fds, ARRAY_LENGTH(fds), idle_timeout(server));

		if (got < 0 && errno != EINTR)
			return error_set_errno(error, -errno, "cannot wait for clients");
		if (!got)
			break;
		if (fds[2].revents)
			reap(server, false);
		if (fds[1].revents)
			admit(server);
		if (fds[4].revents && has_input_ended(server))
			break;
		if (fds[3].revents && removal_check(&server->removal, error)) {
			end_clients(server, error->text);
			return error->code;
		}
	}
	end_clients(server, "the server was stopped");
	return 0;
}

static void print_ready(const struct device_list *devices, uint16_t port)
{
	char host[64] = "";

	gethostname(host, sizeof(host) - 1);
	printf("ready %s:%u", host, port);
	for (size_t i = 0; i < devices->n_ports; i++)
		printf(" %s/%u", devices->ports[i].device, devices->ports[i].port);
	putchar('\n');
	fflush(stdout);
}

/* The devices that there are, and then the word that all is ready. */
static int take_devices(struct server *server, uint16_t port, struct error *error)
{
	struct device_list devices = {0};
	int code = choose_require(false, error);

	if (!code)
		code = device_list_open(&devices, error);
	if (!code)
		code = inventory_keep(&devices, server->device, error);
	if (!code)
		code = removal_open(&server->removal, &devices, error);
	if (!code)
		print_ready(&devices, port);
	device_list_close(&devices);
	return code;
}

/* The first line of standard input: byte by byte, to leave the rest. */
static int read_token(struct server *server, struct error *error)
{
	size_t used = 0;

	while (used + 1 < sizeof(server->token)) {
		if (read(STDIN_FILENO, server->token + used, 1) != 1)
			return error_set(error, -EINVAL, "--token: standard input has no line");
		if (server->token[used] == '\n')
			break;
		used++;
	}
	server->token[used] = '\0';
	server->input = STDIN_FILENO;
	return used ? 0 : error_set(error, -EINVAL, "--token: the line is empty");
}

static int server_open(struct server *server, const struct settings *settings, struct error *error)
{
	uint16_t port = settings->port;
	sigset_t signals;

	*server = (struct server){.listener = -1,
				  .signals = -1,
				  .done = -1,
				  .input = -1,
				  .device = settings->device,
				  .is_once = settings->is_once,
				  .idle_ms = settings->idle_ms};
	if (settings->has_token && read_token(server, error))
		return error->code;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	/* Before any thread starts: they inherit the mask. */
	sigprocmask(SIG_BLOCK, &signals, NULL);
	server->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (server->signals < 0)
		return error_set_errno(error, -errno, "cannot wait for signals");
	server->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->done < 0)
		return error_set_errno(error, -errno, "cannot create an eventfd");
	server->listener = dial_listen(&port, error);
	return server->listener < 0 ? server->listener : take_devices(server, port, error);
}

static void server_close(struct server *server)
{
	reap(server, true);
	removal_close(&server->removal);
	if (server->listener >= 0)
		close(server->listener);
	if (server->done >= 0)
		close(server->done);
	if (server->signals >= 0)
		close(server->signals);
}

static int run(int argc, char *argv[], struct error *error)
{
	struct settings settings = {.port = CONTROL_PORT};
	struct server server;
	int code = option_parse(&options, argc, argv, &settings, error);

	if (code < 0)
		return COMMAND_USAGE;
	if (code) {
		command_help(&command_serve);
		return COMMAND_GOOD;
	}
	if (choose_device(&settings.device, error))
		return COMMAND_FAILED;
	code = server_open(&server, &settings, error);
	if (!code)
		code = serve(&server, error);
	server_close(&server);
	return code ? COMMAND_FAILED : COMMAND_GOOD;
}

const struct command command_serve = {
	.name = "serve",
	.summary = "responds to clients until stopped; they choose devices and all else",
	.options = &options,
	.run = run,
};
