/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/cli/signals.h"
#include "bench/cmd/command.h"
#include "bench/control/allowed_networks.h"
#include "bench/control/dial.h"
#include "bench/control/protocol.h"
#include "bench/host/inventory.h"
#include "bench/host/soft_device.h"
#include "bench/plan/plan.h"
#include "bench/server/clients.h"
#include "bench/server/device_removal.h"
#include "bench/server/places.h"
#include "bench/server/pool.h"
#include "bench/server/quota.h"
#include "bench/server/responder.h"
#include "reports/result/banner.h"

struct settings {
	const char *device;
	uint16_t port;
	bool is_once;
	bool has_token;
	unsigned int idle_ms;
	const char *bind;
	const char *secret_file;
	struct allowed_networks allowed;
	struct allowed_files files;
	struct quota quota;
	struct serve_pool_wish pool;
};

#define POOL(member)    offsetof(struct settings, pool.member)
#define ALLOWED(member) offsetof(struct settings, quota.member)

/* Ports that are free in rdma_cm may be in use by TCP: try this many. */
#define PORT_TRIES 32

static const char *parse_address(const char *text, void *field)
{
	struct sockaddr_storage address;

	*(const char **)field = text;
	return address_parse(&address, text) ? NULL : "is not an IP address (e.g. 192.0.2.1)";
}

#define FIELD(member) offsetof(struct settings, member)

static const struct option_value modes[] = {
	{"poll",  "look for requests every 100 us"},
	{"event", "sleep until a request arrives" },
};

// clang-format off
static const struct option_row rows[] = {
	{"device", 'd', "NAME", option_text, FIELD(device),
	 "offer only this device: NAME, NAME/PORT, soft0 (software) or auto (all)",
	 .group = OPTION_LISTEN},
	{"port", 'p', "PORT", option_port, FIELD(port),
	 "TCP port to listen on; 0 chooses a free one (7471)",
	 .group = OPTION_LISTEN},
	{"once", 0, NULL, option_flag, FIELD(is_once),
	 "exit after the first client",
	 .group = OPTION_LIMITS},
	{"idle", 0, "TIME", quota_parse_time, FIELD(idle_ms),
	 "exit after this time without a client, for example 60s (never)",
	 .group = OPTION_LIMITS},
	{"token", 0, NULL, option_flag, FIELD(has_token),
	 "read a token from standard input, serve only clients that know it, and exit at end of "
	 "input",
	 .group = OPTION_ACCESS},
	{"secret-file", 0, "FILE", option_text, FIELD(secret_file),
	 "serve only clients that know the secret in this file",
	 .group = OPTION_ACCESS},
	{"bind", 0, "ADDRESS", parse_address, FIELD(bind),
	 "listen only on this address (all addresses)",
	 .group = OPTION_LISTEN},
	{"allow", 0, "CIDR,...", allowed_networks_parse, FIELD(allowed),
	 "serve only clients from these networks (all)",
	 .group = OPTION_ACCESS, .may_repeat = true},
	{"allow-file", 0, "PATH", allowed_files_parse, FIELD(files),
	 "let clients use this file as memory, and overwrite it (no file)",
	 .group = OPTION_ACCESS, .may_repeat = true},
	{"allow-memory", 0, "KIND,...", allowed_files_parse_memory, FIELD(files),
	 "let clients use memory of GPUs: cuda, cuda-managed, cuda-pinned, rocm (none)",
	 .group = OPTION_ACCESS, .may_repeat = true},
	{"max-clients", 0, "N", quota_parse_clients, ALLOWED(clients),
	 "clients at once (64)",
	 .group = OPTION_LIMITS},
	{"max-qps", 0, "N", quota_parse_queue_pairs, ALLOWED(queue_pairs),
	 "queue pairs per client (16384)",
	 .group = OPTION_LIMITS},
	{"max-size", 0, "SIZE", quota_parse_size, ALLOWED(message_bytes),
	 "message size (1g)",
	 .group = OPTION_LIMITS},
	{"max-memory", 0, "SIZE", quota_parse_size, ALLOWED(memory),
	 "memory of all clients together (half of the host's)",
	 .group = OPTION_LIMITS},
	{"max-client-memory", 0, "SIZE", quota_parse_size, ALLOWED(client_memory),
	 "memory per client (same as --max-memory)",
	 .group = OPTION_LIMITS},
	{"max-time", 0, "TIME", quota_parse_time, ALLOWED(time_ms),
	 "time limit per client, for example 60m (24h)",
	 .group = OPTION_LIMITS},
	{"max-pause", 0, "TIME", quota_parse_time, ALLOWED(pause_ms),
	 "disconnect clients that are idle for this long (5m)",
	 .group = OPTION_LIMITS},
	{"pool", 0, "[ SIZE]", serve_pool_parse_size, POOL(size),
	 "grant memory to clients of 'verbmark pool' from a pool of this size (4MiB)",
	 .group = OPTION_POOL},
	{"pool-share", 0, "SIZE", serve_pool_parse_size, POOL(share),
	 "memory that one client may hold at once (all)",
	 .group = OPTION_POOL},
	{"pool-clients", 0, "N", serve_pool_parse_clients, POOL(clients),
	 "clients of the pool at once (1024)",
	 .group = OPTION_POOL},
	{"pool-cq", 0, "MODE", serve_pool_parse_wait, POOL(wait),
	 "completion mode: poll (every 100 us) or event",
	 .group = OPTION_POOL, .values = OPTION_VALUES(modes)},
	{"pool-receives", 0, "N", serve_pool_parse_receives, POOL(receives),
	 "receives shared by the clients of the pool (1024)",
	 .group = OPTION_POOL},
	{"pool-dump", 0, "FILE", option_text, POOL(dump),
	 "write the number and value of each doorbell to FILE",
	 .group = OPTION_POOL},
};
// clang-format on

static const struct option_table options = {.rows = rows, .count = ARRAY_LENGTH(rows)};

struct server {
	struct clients clients;
	int listener;
	int signals;
	int input; /* ends when the program that started the server ends; -1: not watched */
	struct responder_terms terms;
	struct quota quota;
	struct places places;
	struct secret secret; /* that clients must know; zeroed: none */
	struct device_removal removal;
	struct serve_pool pooling;
};

/* Discards input and returns whether it has ended. */
static bool has_input_ended(const struct server *server)
{
	char bytes[64];

	return read(server->input, bytes, sizeof(bytes)) <= 0;
}

/* Serves until a signal, a time limit, or the removal of a device. */
static int serve(struct server *server, struct error *error)
{
	struct pollfd fds[] = {
		{.fd = server->signals,                     .events = POLLIN},
		{.fd = server->listener,                    .events = POLLIN},
		{.fd = server->clients.done,                .events = POLLIN},
		{.fd = device_removal_fd(&server->removal), .events = POLLIN},
		{.fd = server->input,                       .events = POLLIN},
		{.fd = serve_pool_fd(&server->pooling),     .events = POLLIN},
	};

	clients_begin(&server->clients);
	while (!fds[0].revents && !clients_are_through(&server->clients)) {
		if (poll(fds, ARRAY_LENGTH(fds), clients_timeout(&server->clients)) < 0 &&
		    errno != EINTR)
			return error_set_errno(error, -errno, "cannot wait for clients");
		if (fds[2].revents)
			clients_reap(&server->clients);
		if (fds[1].revents)
			clients_admit(&server->clients, server->listener);
		if (fds[4].revents && has_input_ended(server))
			break;
		if (fds[3].revents && device_removal_check(&server->removal, error)) {
			clients_end(&server->clients, error->text);
			return error->code;
		}
		if (fds[5].revents) {
			serve_pool_reason(&server->pooling, error);
			clients_end(&server->clients, error->text);
			return error->code;
		}
	}
	clients_end(&server->clients, "the server was stopped");
	return 0;
}

static void print_ready(const struct device_list *devices, uint16_t port)
{
	char host[64] = "";
	bool has_soft = false;

	for (size_t i = 0; i < devices->n_ports; i++)
		has_soft = has_soft || devices->ports[i].kind == DEVICE_KIND_SOFT;
	if (has_soft)
		puts(BANNER_SOFT);
	gethostname(host, sizeof(host) - 1);
	printf("ready %s:%u", host, port);
	for (size_t i = 0; i < devices->n_ports; i++)
		printf(" %s/%u", devices->ports[i].device, devices->ports[i].port);
	putchar('\n');
	fflush(stdout);
}

/* Listens on that TCP port instead. -EADDRINUSE: it is not free. */
static int listen_at(struct server *server, const struct settings *settings, uint16_t port,
		     struct error *error)
{
	int listener = dial_listen(settings->bind, &port, error);

	if (listener < 0)
		return listener;
	close(server->listener);
	server->listener = listener;
	return 0;
}

/*
 * Opens the pool on a port that is free in both TCP and rdma_cm. rdma_cm chooses it, because TCP
 * would offer the same few ports again.
 */
static int open_pool_anywhere(struct server *server, const struct settings *settings,
			      struct pool_settings *wanted, uint16_t *port, struct error *error)
{
	int code = -EADDRINUSE;

	wanted->port = 0;
	for (int tries = 0; tries < PORT_TRIES && code == -EADDRINUSE; tries++) {
		serve_pool_stop(&server->pooling);
		*error = (struct error){0};
		server->pooling.allowed = server->terms.allowed;
		code = serve_pool_open(&server->pooling, &settings->pool, wanted, error);
		if (code)
			return code;
		*port = server->pooling.server.port;
		code = listen_at(server, settings, *port, error);
	}
	return code;
}

/* Opens the pool on the rdma_cm port with the same number as the server's TCP port. */
static int open_pool(struct server *server, const struct settings *settings,
		     const struct device_list *devices, uint16_t *port, struct error *error)
{
	struct pool_settings wanted = {
		/* Without a name, the pool uses any device that is up. */
		.device = settings->device && devices->n_ports ? devices->ports[0].device : NULL,
		.device_port = settings->device && devices->n_ports == 1
				       ? (uint8_t)devices->ports[0].port
				       : 0,
		.address = settings->bind,
		.port = *port,
		.time_ms = settings->quota.time_ms,
	};
	int code;

	server->pooling.allowed = server->terms.allowed;
	code = serve_pool_open(&server->pooling, &settings->pool, &wanted, error);
	/* A port that TCP chose may be in use in rdma_cm. */
	if (code == -EADDRINUSE && !settings->port)
		code = open_pool_anywhere(server, settings, &wanted, port, error);
	return code;
}

/* Opens the devices and the pool, and prints that the server is ready. */
static int take_devices(struct server *server, const struct settings *settings, uint16_t port,
			struct error *error)
{
	struct device_list devices = {0};
	int code = soft_device_require(settings->device, false, error);

	if (!code)
		code = device_list_open(&devices, error);
	if (!code)
		code = inventory_keep(&devices, server->terms.device, error);
	if (!code)
		code = device_removal_open(&server->removal, &devices, error);
	if (!code)
		code = open_pool(server, settings, &devices, &port, error);
	if (!code) {
		print_ready(&devices, port);
		code = serve_pool_start(&server->pooling, error);
	}
	device_list_close(&devices);
	return code;
}

/* Reads the first line of standard input byte by byte, to leave the rest unread. */
static int read_token(struct server *server, struct error *error)
{
	char token[128];
	size_t used = 0;

	while (used + 1 < sizeof(token)) {
		if (read(STDIN_FILENO, token + used, 1) != 1)
			return error_set(error, -EINVAL,
					 "--token: cannot read a line from standard input");
		if (token[used] == '\n')
			break;
		used++;
	}
	token[used] = '\0';
	server->input = STDIN_FILENO;
	if (secret_take(&server->secret, token, error))
		return error_wrap(error, "--token");
	server->secret.is_token = true;
	return 0;
}

static int take_secret(struct server *server, const struct settings *settings, struct error *error)
{
	if (settings->has_token)
		return read_token(server, error);
	return settings->secret_file ? secret_read(&server->secret, settings->secret_file, error)
				     : 0;
}

static int server_open(struct server *server, const struct settings *settings, struct error *error)
{
	uint16_t port = settings->port;

	*server = (struct server){
		.listener = -1, .signals = -1, .input = -1, .quota = settings->quota};
	server->terms = (struct responder_terms){
		.device = settings->device,
		.secret = &server->secret,
		.quota = &server->quota,
		.places = &server->places,
		.allowed = &settings->allowed,
		.files = &settings->files,
		/* With a token, the program that started the server is its client. */
		.is_own = settings->has_token,
	};
	server->clients = (struct clients){
		.done = -1,
		.terms = &server->terms,
		/* With a token, the server is for the program that started it. */
		.is_private = settings->has_token,
		.is_once = settings->is_once,
		.idle_ms = settings->idle_ms,
	};
	if (take_secret(server, settings, error))
		return error->code;
	/* Keep serving clients after the reader of standard output has exited. */
	signal(SIGPIPE, SIG_IGN);
	/* Block signals before any thread starts, because threads inherit the mask. */
	server->signals = interrupt_block(NULL, error);
	if (server->signals < 0)
		return server->signals;
	if (places_open(&server->places, settings->quota.clients, PLACES_IDLE_MS, error) ||
	    clients_open(&server->clients, error))
		return error->code;
	server->listener = dial_listen(settings->bind, &port, error);
	return server->listener < 0 ? server->listener
				    : take_devices(server, settings, port, error);
}

static void server_close(struct server *server)
{
	clients_close(&server->clients);
	places_close(&server->places);
	serve_pool_stop(&server->pooling);
	secret_forget(&server->secret);
	device_removal_close(&server->removal);
	if (server->listener >= 0)
		close(server->listener);
	if (server->signals >= 0)
		close(server->signals);
}

static int cmd_serve_check(const struct settings *settings, struct error *error)
{
	if (settings->has_token && settings->secret_file)
		return error_set(error, -EINVAL,
				 "--token and --secret-file cannot be used together");
	if (!settings->pool.size &&
	    (settings->pool.dump || settings->pool.receives || settings->pool.share ||
	     settings->pool.clients || settings->pool.wait != RDMA_ADAPTIVE))
		return error_set(error, -EINVAL,
				 "--pool-share, --pool-clients, --pool-cq, --pool-receives and "
				 "--pool-dump need --pool");
	if (!settings->pool.size)
		return 0;
	if (settings->pool.share > settings->pool.size)
		return error_set(error, -EINVAL,
				 "--pool-share exceeds --pool; omit it to let a client use the "
				 "whole pool");
	if (settings->has_token || settings->secret_file)
		return error_set(error, -EINVAL,
				 "--pool cannot be used with --token or --secret-file: clients of "
				 "the pool are not authenticated");
	if (settings->is_once || settings->idle_ms)
		return error_set(error, -EINVAL, "--pool cannot be used with --once or --idle");
	return 0;
}

static int cmd_serve_run(int argc, char *argv[], const char **operands, struct error *error)
{
	/* RDMA_ADAPTIVE, which a pool does not support, means that --pool-cq is not given. */
	struct settings settings = {.port = PLAN_PORT, .pool.wait = RDMA_ADAPTIVE};
	struct server server;
	int code;

	quota_init(&settings.quota, "");
	code = option_parse(&options, argc, argv, &settings, error);
	if (code)
		return command_parsed(code);
	if (cmd_serve_check(&settings, error))
		return COMMAND_USAGE;
	quota_find_threads(&settings.quota, "");
	if (soft_device_choose(&settings.device, error))
		return COMMAND_FAILED;
	code = server_open(&server, &settings, error);
	if (!code)
		code = serve(&server, error);
	server_close(&server);
	return code ? COMMAND_FAILED : COMMAND_GOOD;
}

// clang-format off
const struct command command_serve = {
	.name = "serve",
	.group = COMMAND_MEASURE,
	.summary = "serve clients until stopped",
	.about = "Serves the clients that run 'verbmark run HOST'. Clients choose the device and all "
		 "parameters.",
	.examples = {
		{"verbmark serve --allow 192.0.2.0/24 --max-memory 4g",
		 "serve one network, and allocate up to 4 GiB"},
		{"verbmark serve --once -d rxe0",
		 "serve one client on rxe0"},
	},
	.options = &options,
	.run = cmd_serve_run,
};
// clang-format on
