/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "bench/allow.h"
#include "bench/allowance.h"
#include "bench/away.h"
#include "bench/choose.h"
#include "bench/command.h"
#include "bench/control.h"
#include "bench/dial.h"
#include "bench/inventory.h"
#include "bench/journal.h"
#include "bench/pooling.h"
#include "bench/protocol.h"
#include "bench/removal.h"
#include "bench/responder.h"
#include "reports/banner.h"

struct settings {
	const char *device;
	uint16_t port;
	bool is_once;
	bool has_token;
	bool drives;
	unsigned int idle_ms;
	const char *bind;
	const char *secret_file;
	struct allow allow;
	struct allowance allowance;
	struct pooling_wish pool;
};

#define POOL(member)    offsetof(struct settings, pool.member)
#define ALLOWED(member) offsetof(struct settings, allowance.member)

/* So many that TCP has free may be in use at rdma_cm, where any port will do. */
#define PORT_TRIES 32

static const char *parse_address(const char *text, void *field)
{
	struct sockaddr_storage address;

	*(const char **)field = text;
	return address_parse(&address, text) ? NULL : "is not an address, such as 192.0.2.1";
}

/* Aligned, these would be wider than any screen. */
// clang-format off
static const struct option_row rows[] = {
	{"device", 'd', "NAME", option_text,     offsetof(struct settings, device),
	 "offer only this: DEVICE or DEVICE/PORT, soft0 (in software), auto"},
	{"port",   'p', "PORT", option_port,     offsetof(struct settings, port),
	 "TCP port to listen on; 0 takes a free one (7471)"                 },
	{"once",   0,   NULL,   option_flag,     offsetof(struct settings, is_once),
	 "end when the first client has been served"                        },
	{"idle",   0,   "TIME", allowance_parse_time, offsetof(struct settings, idle_ms),
	 "end after so long without a client, such as 60s (never)"          },
	{"token",  0,   NULL,   option_flag,     offsetof(struct settings, has_token),
	 "serve who knows the first line of standard input, and end with it"},
	{"secret-file", 0, "FILE", option_text, offsetof(struct settings, secret_file),
	 "serve who proves to know that secret"},
	{"drive", 0, NULL, option_flag, offsetof(struct settings, drives),
	 "run cases against other servers, too, for 'run A,B,C --pattern'"},
	{"bind", 0, "ADDRESS", parse_address, offsetof(struct settings, bind),
	 "listen on that address alone (all of this host's)"},
	{"allow", 0, "CIDR,...", allow_parse, offsetof(struct settings, allow),
	 "serve clients of these networks alone (all)"},
	{"max-clients", 0, "N", allowance_parse_clients, ALLOWED(clients), "clients at once (64)"},
	{"max-qps", 0, "N", allowance_parse_queue_pairs, ALLOWED(queue_pairs),
	 "queue pairs of a client (16384)"},
	{"max-size", 0, "SIZE", allowance_parse_size, ALLOWED(message_bytes),
	 "bytes of a message (1g)"},
	{"max-memory", 0, "SIZE", allowance_parse_size, ALLOWED(memory),
	 "memory of all clients' cases (half of the machine's)"},
	{"max-client-memory", 0, "SIZE", allowance_parse_size, ALLOWED(client_memory),
	 "memory of one client's cases (all of that)"},
	{"max-time", 0, "TIME", allowance_parse_time, ALLOWED(time_ms),
	 "how long a client is served, such as 60m (24 hours)"},
	{"max-pause", 0, "TIME", allowance_parse_time, ALLOWED(pause_ms),
	 "how long one may ask for nothing (5m)"},
	{"pool", 0, "[ SIZE]", pooling_parse_size, POOL(size),
	 "grant memory of a pool to clients of 'verbmark pool' (4MiB)"},
	{"pool-share", 0, "SIZE", pooling_parse_size, POOL(share),
	 "what one client may have of it at once (all)"},
	{"pool-clients", 0, "N", pooling_parse_clients, POOL(clients),
	 "clients of the pool at once (1024)"},
	{"pool-cq", 0, "MODE", pooling_parse_wait, POOL(wait),
	 "the pool's server looks each 100 us (poll), or sleeps (event)"},
	{"pool-receives", 0, "N", pooling_parse_receives, POOL(receives),
	 "receives that the pool's clients share (1024)"},
	{"pool-dump", 0, "FILE", option_text, POOL(dump),
	 "write numbers and values of doorbells there, a line each"},
};
// clang-format on

static const struct option_table options = {.rows = rows, .count = ARRAY_LENGTH(rows)};

/* One client and its thread. */
struct client {
	struct server *server;
	struct control control;
	char name[ADDRESS_TEXT];
	pthread_t thread;
	uint64_t deadline_ns; /* for how long it is served */
	bool is_ended;        /* it was told that it has to go */
	atomic_bool is_known; /* it has greeted, and is one to be served */
	atomic_bool is_done;
	struct client *next;
};

/* The list is the main thread's, the latest one first. */
struct server {
	struct client *clients;
	size_t n_clients;
	int listener;
	int signals;
	int done;  /* an eventfd: some client is done */
	int input; /* that tells of the end of who started this; -1: nobody waits for that */
	const struct allow *allow;
	struct responder_terms terms;
	struct allowance allowance;
	struct away away;
	bool is_once;
	bool has_served;
	unsigned int idle_ms;   /* 0: for ever */
	uint64_t idle_until_ns; /* where there is no client that is known */
	struct secret secret;   /* that clients have to have; zeroed: none */
	struct removal removal;
	struct pooling pooling;
};

static void complain(const struct client *client, const struct error *error)
{
	journal_say("client %s: %s", client->name, error->text);
}

static void *serve_client(void *argument)
{
	struct client *client = argument;
	struct error error = {0};
	uint64_t one = 1;
	int code;

	code = responder_run(&client->control, &client->server->terms, &client->is_known, &error);
	/* Who has started this for himself, and ends it, knows. */
	if (code && (code != -ECANCELED || client->server->input < 0))
		complain(client, &error);
	atomic_store(&client->is_done, true);
	if (write(client->server->done, &one, sizeof(one)) < 0)
		return NULL; /* only a full counter refuses, and that one is readable */
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
	responder_end(&client->control, reason);
}

/* Whoever says nothing gives way to who comes: it may be one to be served. */
static void make_room(struct server *server)
{
	struct client *oldest = NULL;
	size_t n_strangers = 0;

	for (struct client *client = server->clients; client; client = client->next)
		if (!client->is_ended && !atomic_load(&client->is_known)) {
			oldest = client;
			n_strangers++;
		}
	if (n_strangers >= ALLOWANCE_STRANGERS)
		end_client(oldest, "others have come, and this one had not greeted yet");
}

static void note_served(struct server *server, const struct client *client)
{
	if (!atomic_load(&client->is_known))
		return;
	server->has_served = true;
	server->idle_until_ns = clock_deadline(server->idle_ms);
}

/* Releases clients that are done, or all of them. */
static void reap(struct server *server, bool all)
{
	struct client **link = &server->clients;
	uint64_t count;

	/* First: of one that is done after it was looked at, it tells again. */
	if (read(server->done, &count, sizeof(count)) < 0 && !all)
		return;
	while (*link) {
		struct client *client = *link;

		if (all || atomic_load(&client->is_done)) {
			*link = client->next;
			server->n_clients--;
			pthread_join(client->thread, NULL);
			note_served(server, client);
			client_destroy(client);
		} else {
			link = &client->next;
		}
	}
	/* Each thread had a heap of its own, which it leaves behind. */
	if (!server->clients)
		malloc_trim(0);
}

/* It may have gone again. */
static int decline(struct client *client, const char *reason, struct error *error)
{
	struct error ignored = {0};

	control_send(&client->control, protocol_refusal(reason), &ignored);
	return error_set(error, -EBUSY, "%s", reason);
}

static int start_client(struct server *server, struct client *client, struct error *error)
{
	make_room(server);
	/* Those that have to go may take a moment to. */
	if (server->n_clients >= server->allowance.clients + 2 * ALLOWANCE_STRANGERS)
		return decline(client, "too many clients at once: come back later", error);
	if (pthread_create(&client->thread, NULL, serve_client, client))
		return decline(client,
			       "no thread could be started for this client: come back later",
			       error);
	client->deadline_ns = clock_deadline(server->allowance.time_ms);
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
	struct sockaddr_storage address;
	char name[ADDRESS_TEXT];
	int fd = dial_accept(server->listener, &error);

	if (fd < 0) {
		journal_say("%s", error.text);
		/* Out of descriptors, say: not again at once. */
		nanosleep(&(struct timespec){.tv_nsec = 100 * NS_PER_MS}, NULL);
		return;
	}
	if (!dial_peer(fd, &address, name)) {
		close(fd);
		return;
	}
	if (!allow_permits(server->allow, (struct sockaddr *)&address)) {
		away_turn(&server->away, fd, name);
		return;
	}
	client = calloc(1, sizeof(*client));
	if (!client) {
		close(fd);
		return;
	}
	client->server = server;
	snprintf(client->name, sizeof(client->name), "%s", name);
	if (control_open_narrow(&client->control, fd, &error)) {
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
		end_client(client, reason);
}

/* Nothing is expected from there but the end. */
static bool has_input_ended(const struct server *server)
{
	char bytes[64];

	return read(server->input, bytes, sizeof(bytes)) <= 0;
}

/* Who only knocks is none: neither waited for, nor a reason to stay. */
static size_t count_known(const struct server *server)
{
	size_t count = 0;

	for (const struct client *client = server->clients; client; client = client->next)
		count += atomic_load(&client->is_known);
	return count;
}

static bool is_through(const struct server *server)
{
	if (count_known(server))
		return false;
	return (server->is_once && server->has_served) ||
	       (server->idle_ms && clock_now_ns() >= server->idle_until_ns);
}

/* Ends those whose time is over. Until the next one's is, or without clients the server's. */
static int next_timeout(struct server *server)
{
	bool is_idle = server->idle_ms && !count_known(server);
	uint64_t next_ns = is_idle ? server->idle_until_ns : UINT64_MAX;
	char reason[128];

	snprintf(reason, sizeof(reason),
		 "the %.3g s that a client is served are over: 'serve --max-time' there gives more",
		 server->allowance.time_ms / 1e3);
	for (struct client *client = server->clients; client; client = client->next) {
		if (!client->is_ended && clock_now_ns() >= client->deadline_ns)
			end_client(client, reason);
		if (!client->is_ended && client->deadline_ns < next_ns)
			next_ns = client->deadline_ns;
	}
	return next_ns == UINT64_MAX ? -1 : clock_left_ms(next_ns);
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
		{.fd = pooling_fd(&server->pooling), .events = POLLIN},
	};

	server->idle_until_ns = clock_deadline(server->idle_ms);
	while (!fds[0].revents && !is_through(server)) {
		if (poll(fds, ARRAY_LENGTH(fds), next_timeout(server)) < 0 && errno != EINTR)
			return error_set_errno(error, -errno, "cannot wait for clients");
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
		if (fds[5].revents) {
			pooling_reason(&server->pooling, error);
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
	bool has_soft = false;

	for (size_t i = 0; i < devices->n_ports; i++)
		has_soft = has_soft || devices->ports[i].kind == KIND_SOFT;
	if (has_soft)
		puts(BANNER_SOFT);
	gethostname(host, sizeof(host) - 1);
	printf("ready %s:%u", host, port);
	for (size_t i = 0; i < devices->n_ports; i++)
		printf(" %s/%u", devices->ports[i].device, devices->ports[i].port);
	putchar('\n');
	fflush(stdout);
}

/* On another free port. The old one is closed last, or it might be the same again. */
static int listen_elsewhere(struct server *server, const struct settings *settings, uint16_t *port,
			    struct error *error)
{
	int listener;

	*port = 0;
	listener = dial_listen(settings->bind, port, error);
	if (listener < 0)
		return listener;
	close(server->listener);
	server->listener = listener;
	return 0;
}

/*
 * On the port of rdma_cm that has the number of the server's own. What TCP has free may be in
 * use there: where any will do, others are tried.
 */
static int open_pool(struct server *server, const struct settings *settings,
		     const struct device_list *devices, uint16_t *port, struct error *error)
{
	struct pool_settings wanted = {
		/* One that is named, or any: then one that is up. */
		.device = settings->device && devices->n_ports ? devices->ports[0].device : NULL,
		.device_port = settings->device && devices->n_ports == 1
				       ? (uint8_t)devices->ports[0].port
				       : 0,
		.address = settings->bind,
		.time_ms = settings->allowance.time_ms,
	};

	for (int tries = settings->port ? 1 : PORT_TRIES;; tries--) {
		int code;

		wanted.port = *port;
		server->pooling.allow = server->allow;
		code = pooling_open(&server->pooling, &settings->pool, &wanted, error);
		if (code != -EADDRINUSE || tries == 1)
			return code;
		pooling_stop(&server->pooling);
		*error = (struct error){0};
		if (listen_elsewhere(server, settings, port, error))
			return error->code;
	}
}

/* The devices that there are, and then the word that all is ready. */
static int take_devices(struct server *server, const struct settings *settings, uint16_t port,
			struct error *error)
{
	struct device_list devices = {0};
	int code = choose_require(settings->device, false, error);

	if (!code)
		code = device_list_open(&devices, error);
	if (!code)
		code = inventory_keep(&devices, server->terms.device, error);
	if (!code)
		code = removal_open(&server->removal, &devices, error);
	if (!code)
		code = open_pool(server, settings, &devices, &port, error);
	if (!code) {
		print_ready(&devices, port);
		code = pooling_start(&server->pooling, error);
	}
	device_list_close(&devices);
	return code;
}

/* The first line of standard input: byte by byte, to leave the rest. */
static int read_token(struct server *server, struct error *error)
{
	char token[128];
	size_t used = 0;

	while (used + 1 < sizeof(token)) {
		if (read(STDIN_FILENO, token + used, 1) != 1)
			return error_set(error, -EINVAL, "--token: standard input has no line");
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
	sigset_t signals;

	*server = (struct server){.listener = -1,
				  .signals = -1,
				  .done = -1,
				  .input = -1,
				  .allow = &settings->allow,
				  .allowance = settings->allowance,
				  .is_once = settings->is_once,
				  .idle_ms = settings->idle_ms};
	server->terms = (struct responder_terms){
		.device = settings->device,
		.secret = &server->secret,
		.allowance = &server->allowance,
		.allow = &settings->allow,
		.drives = settings->drives,
	};
	if (take_secret(server, settings, error))
		return error->code;
	/* Clients are served when nobody reads any more what is printed of them. */
	signal(SIGPIPE, SIG_IGN);
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
	server->listener = dial_listen(settings->bind, &port, error);
	return server->listener < 0 ? server->listener
				    : take_devices(server, settings, port, error);
}

static void server_close(struct server *server)
{
	reap(server, true);
	pooling_stop(&server->pooling);
	secret_forget(&server->secret);
	removal_close(&server->removal);
	if (server->listener >= 0)
		close(server->listener);
	if (server->done >= 0)
		close(server->done);
	if (server->signals >= 0)
		close(server->signals);
}

static int check(const struct settings *settings, struct error *error)
{
	if (settings->has_token && settings->secret_file)
		return error_set(error, -EINVAL, "--token and --secret-file exclude each other");
	if (!settings->pool.size &&
	    (settings->pool.dump || settings->pool.receives || settings->pool.share ||
	     settings->pool.clients || settings->pool.wait != RDMA_ADAPTIVE))
		return error_set(error, -EINVAL,
				 "--pool-share, --pool-clients, --pool-cq, --pool-receives and "
				 "--pool-dump are for --pool");
	if (!settings->pool.size)
		return 0;
	if (settings->pool.share > settings->pool.size)
		return error_set(error, -EINVAL,
				 "--pool-share is more than --pool: leave it away, and a client "
				 "may have all of it");
	if (settings->has_token || settings->secret_file)
		return error_set(error, -EINVAL,
				 "--pool asks its clients for no secret: leave --token and "
				 "--secret-file away, or --pool");
	if (settings->is_once || settings->idle_ms)
		return error_set(error, -EINVAL,
				 "--pool waits for any number of clients: --once and --idle are "
				 "not for it");
	return 0;
}

static int run(int argc, char *argv[], struct error *error)
{
	/* What a pool cannot do: nobody has said how it is to wait. */
	struct settings settings = {.port = CONTROL_PORT, .pool.wait = RDMA_ADAPTIVE};
	struct server server;
	int code;

	allowance_init(&settings.allowance);
	code = option_parse(&options, argc, argv, &settings, error);

	if (code < 0)
		return COMMAND_USAGE;
	if (code) {
		command_help(&command_serve);
		return COMMAND_GOOD;
	}
	if (check(&settings, error))
		return COMMAND_USAGE;
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
