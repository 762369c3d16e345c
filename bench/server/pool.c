/* SPDX-License-Identifier: MIT */
#include "bench/server/pool.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bench/cli/log.h"
#include "bench/cli/value.h"
#include "core/base/clock.h"

#define POOL_SIZE      (4U << 20)
#define RECEIVES       1024
#define RECEIVES_LEAST 8
#define RECEIVES_MOST  32768
/* The pool ends after QUICK_MOST failures in a row, each within QUICK_NS of the start. */
#define QUICK_NS   (100 * NS_PER_MS)
#define QUICK_MOST 3
/* How long to wait for the reader of stdout; clients wait meanwhile. */
#define READER_MS 1000

static bool permits(void *owner, const struct sockaddr *client)
{
	const struct serve_pool *pooling = owner;

	return allowed_networks_permits(pooling->allowed, client);
}

/* Waits until stdout is writable. Returns false after the timeout, or without a reader. */
static bool has_room(int timeout_ms)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
	int got;

	do
		got = poll(&out, 1, timeout_ms);
	while (got < 0 && errno == EINTR);
	return got > 0 && !(out.revents & (POLLERR | POLLNVAL));
}

/*
 * Returns whether a line can be printed; waits up to READER_MS for the reader. After a line was
 * dropped, does not wait again until READER_MS have passed without another one. The next line that
 * is printed is preceded by the number of dropped ones.
 */
static bool can_print(struct serve_pool *pooling)
{
	bool is_waited_for = clock_now_ns() >= pooling->unread_ns + READER_MS * NS_PER_MS;

	if (!has_room(is_waited_for ? READER_MS : 0)) {
		pooling->unread_ns = clock_now_ns();
		pooling->n_unread++;
		return false;
	}
	if (pooling->n_unread)
		printf("pool: %" PRIu64 " lines omitted: output was not read\n", pooling->n_unread);
	pooling->n_unread = 0;
	return true;
}

static void print(const struct pool_report *report)
{
	switch (report->event) {
	case POOL_CAME:
		printf("pool: %s: connected\n", report->who);
		break;
	case POOL_GRANTED:
		printf("pool: %s: granted %" PRIu64 " bytes at 0x%" PRIx64 ", rkey 0x%08" PRIx32
		       "\n",
		       report->who, report->size, report->address, report->rkey);
		break;
	case POOL_FREED:
		printf("pool: %s: returned %" PRIu64 " bytes at 0x%" PRIx64 "\n", report->who,
		       report->size, report->address);
		break;
	case POOL_RUNG:
		printf("pool: %s: doorbell %" PRIu32 ": value %" PRIu32 "\n", report->who,
		       report->number, report->value);
		break;
	case POOL_DENIED:
		printf("pool: %s: refused: %s\n", report->who, report->reason);
		break;
	case POOL_WENT:
		printf("pool: %s: disconnected, %" PRIu64 " bytes reclaimed\n", report->who,
		       report->size);
		break;
	case POOL_EVENTS:
		break;
	}
}

static void report_event(void *owner, const struct pool_report *report)
{
	struct serve_pool *pooling = owner;

	if (can_print(pooling))
		print(report);
	pooling->n_events[report->event]++;
	if (report->event == POOL_RUNG && pooling->dump)
		fprintf(pooling->dump, "%" PRIu32 " %" PRIu32 "\n", report->number, report->value);
}

/* Replaces a server that failed by a new one on the same port. */
static int restart(struct serve_pool *pooling)
{
	int code = -ECANCELED;

	log_say("pool: %s; restarting", pooling->reason.text);
	pthread_mutex_lock(&pooling->lock);
	pooling->n_low += pooling->server.mailbox.n_low;
	pool_close(&pooling->server);
	pooling->reason = (struct error){0};
	if (!pooling->is_ending)
		code = pool_open(&pooling->server, &pooling->settings, &pooling->reason);
	pthread_mutex_unlock(&pooling->lock);
	return code;
}

static void *server_pool_run(void *argument)
{
	struct serve_pool *pooling = argument;
	unsigned int quick = 0;
	uint64_t one = 1;
	int code;

	do {
		uint64_t begun_ns = clock_now_ns();

		code = pool_serve(&pooling->server, &pooling->reason);
		/* Repeated failure right after the start is permanent. */
		quick = clock_now_ns() - begun_ns < QUICK_NS ? quick + 1 : 0;
		if (!code || quick == QUICK_MOST)
			break;
		code = restart(pooling);
	} while (!code);
	if (write(pooling->ended, &one, sizeof(one)) < 0)
		return NULL; /* fails only if the counter is full, and so readable anyway */
	return NULL;
}

static const char *keep(char *copy, size_t size, const char *text)
{
	if (text)
		snprintf(copy, size, "%s", text);
	return text ? copy : NULL;
}

int serve_pool_open(struct serve_pool *pooling, const struct serve_pool_wish *wish,
		    const struct pool_settings *settings, struct error *error)
{
	if (!wish->size)
		return 0;
	/* Flush each line: a reader may wait for a client's next event. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	pooling->settings = (struct pool_settings){
		.device = keep(pooling->device, sizeof(pooling->device), settings->device),
		.device_port = settings->device_port,
		.address = keep(pooling->address, sizeof(pooling->address), settings->address),
		.port = settings->port,
		.size = wish->size,
		.share = wish->share,
		.time_ms = settings->time_ms,
		.clients = (uint32_t)wish->clients,
		.receives = wish->receives ? (uint32_t)wish->receives : RECEIVES,
		.wait = wish->wait == RDMA_EVENT ? RDMA_EVENT : RDMA_POLL,
		.permits = permits,
		.tell = report_event,
		.owner = pooling,
	};
	pooling->ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (pooling->ended < 0)
		return error_set_errno(error, -errno, "cannot create an eventfd");
	if (pool_open(&pooling->server, &pooling->settings, error))
		return error_wrap(error, "pool");
	/* Do not truncate the file before the pool exists. */
	if (wish->dump) {
		pooling->dump = fopen(wish->dump, "we");
		if (!pooling->dump)
			return error_set_errno(error, -errno, "cannot write %s", wish->dump);
		setvbuf(pooling->dump, NULL, _IOLBF, 0);
	}
	/* A restarted server keeps the port. */
	pooling->settings.port = pooling->server.port;
	return 0;
}

static const char *name_of(const struct pool_server *server)
{
	return ibv_get_device_name(server->device.verbs->device);
}

static void print_place(const struct pool_server *server)
{
	printf("pool: %zu bytes on %s, rdma_cm port %u, %s; one memory region per grant, %s\n",
	       server->grants.size, name_of(server), server->port,
	       server->settings.wait == RDMA_POLL ? "polling every 100 us" : "waiting for events",
	       server->has_domains ? "in its client's protection domain"
				   : "behind its client's memory window (isolation verified)");
}

static void print_end(const struct serve_pool *pooling, const char *missed)
{
	printf("pool: ended: clients %u, grants %u, doorbells %u, refusals %u; receives ran low: "
	       "%" PRIu64 "; arrived without a receive: %s\n",
	       pooling->n_events[POOL_CAME], pooling->n_events[POOL_GRANTED],
	       pooling->n_events[POOL_RUNG], pooling->n_events[POOL_DENIED], pooling->n_low,
	       missed);
}

int serve_pool_start(struct serve_pool *pooling, struct error *error)
{
	int code;

	if (!pooling->server.listener)
		return 0;
	print_place(&pooling->server);
	receive_misses_open(&pooling->missed, "", name_of(&pooling->server),
			    pooling->server.limits.phys_port_cnt);
	pthread_mutex_init(&pooling->lock, NULL);
	code = -pthread_create(&pooling->thread, NULL, server_pool_run, pooling);
	if (code)
		return error_set_errno(error, code, "cannot start a thread");
	pooling->is_on = true;
	return 0;
}

int serve_pool_fd(const struct serve_pool *pooling)
{
	return pooling->is_on ? pooling->ended : -1;
}

int serve_pool_reason(struct serve_pool *pooling, struct error *error)
{
	return error_set(error, pooling->reason.code, "pool: %s", pooling->reason.text);
}

void serve_pool_stop(struct serve_pool *pooling)
{
	const struct pool_server *server = &pooling->server;
	char missed[512] = "the device is gone";

	if (pooling->is_on) {
		pthread_mutex_lock(&pooling->lock);
		pooling->is_ending = true;
		pool_end(&pooling->server);
		pthread_mutex_unlock(&pooling->lock);
		pthread_join(pooling->thread, NULL);
		pthread_mutex_destroy(&pooling->lock);
		pooling->n_low += server->mailbox.n_low;
		if (server->device.verbs)
			receive_misses_tell(&pooling->missed, "", name_of(server), missed,
					    sizeof(missed));
	}
	receive_misses_close(&pooling->missed);
	pool_close(&pooling->server);
	/* Clients that were still connected have been reported by pool_close. */
	if (pooling->is_on && can_print(pooling))
		print_end(pooling, missed);
	if (pooling->ended > 0)
		close(pooling->ended);
	if (pooling->dump && (ferror(pooling->dump) | fclose(pooling->dump)))
		log_say("pool: cannot write all of --pool-dump");
	*pooling = (struct serve_pool){0};
}

const char *serve_pool_parse_size(const char *text, void *field)
{
	uint64_t size = POOL_SIZE;

	if (text && (!value_size(text, &size) || !size))
		return "is not a size above 0, such as 4MiB";
	*(uint64_t *)field = size;
	return NULL;
}

const char *serve_pool_parse_wait(const char *text, void *field)
{
	bool is_event = !strcmp(text, "event");

	*(uint64_t *)field = is_event ? RDMA_EVENT : RDMA_POLL;
	return is_event || !strcmp(text, "poll") ? NULL : "is not one of poll, event";
}

const char *serve_pool_parse_clients(const char *text, void *field)
{
	return value_count(text, 1, POOL_GUESTS, field) ? NULL : "is not a number from 1 to 1024";
}

const char *serve_pool_parse_receives(const char *text, void *field)
{
	return value_count(text, RECEIVES_LEAST, RECEIVES_MOST, field)
		       ? NULL
		       : "is not a number from 8 to 32768";
}
