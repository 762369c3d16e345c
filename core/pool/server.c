/* SPDX-License-Identifier: MIT */
#include "core/pool/server.h"

#include <errno.h>
#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/pool/server_client.h"
#include "core/verbs/post.h"
#include "core/verbs/verbs.h"

#define BATCH 32
/* Interval of a polling server. */
#define TICK_NS (100 * NS_PER_US)
/* Batches of completions, or connection events, handled in a row before anything else. */
#define DRAINS 64
#define EVENTS 16
/*
 * Destroying a queue pair loses a receive that it has taken but not yet completed. So a
 * queue pair is destroyed when the device reports that it has taken its last receive. rxe
 * never reports this, so the server waits for GRACE_MS there, and for SILENT_MS on a device
 * that does not report it in time.
 */
#define GRACE_MS  20
#define SILENT_MS 1000

/* The timer runs only while there are clients that may vanish silently. */
static void set_timer(const struct pool_server *server)
{
	const struct itimerspec each = {.it_value.tv_sec = server->n_clients != 0,
					.it_interval.tv_sec = server->n_clients != 0};

	timerfd_settime(server->timer, 0, &each, NULL);
}

static int check_client(const struct pool_server *server, const struct rdma_cm_id *id,
			struct error *error)
{
	const struct pool_settings *settings = &server->settings;
	const struct sockaddr *client = rdma_get_peer_addr((struct rdma_cm_id *)(uintptr_t)id);
	const char *device = ibv_get_device_name(server->device.verbs->device);
	char text[ADDRESS_TEXT];

	if (id->verbs != server->device.verbs)
		return error_set(error, -ENODEV, "the pool is only on device %s", device);
	if (settings->device_port && id->port_num != settings->device_port)
		return error_set(error, -ENODEV, "the pool is only on port %u of device %s",
				 settings->device_port, device);
	if (settings->permits && !settings->permits(settings->owner, client))
		return error_set(error, -EACCES,
				 "the pool does not allow clients from %s; add their network to "
				 "'serve --allow' on the server",
				 address_text_bare(client, text));
	if (server->n_clients >= server->max_clients)
		return error_set(error, -EBUSY,
				 "the pool has reached its limit of %u clients; retry later%s",
				 server->n_clients,
				 server->max_clients == settings->clients
					 ? ", or raise 'serve --pool-clients' on the server"
					 : "");
	return 0;
}

/* Does not report clients that are not allowed: their requests could fill a log. */
static void reject(const struct pool_server *server, struct rdma_cm_id *id,
		   const struct error *error)
{
	const struct pool_settings *settings = &server->settings;
	char who[ADDRESS_TEXT];

	address_text(rdma_get_peer_addr(id), who);
	if (settings->tell && error->code != -EACCES)
		settings->tell(settings->owner, &(struct pool_report){.event = POOL_DENIED,
								      .who = who,
								      .reason = error->text});
	cm_reject(id, error->text);
}

/* Handles a connection request. Nothing of a rejected client remains. */
static void handle_request(struct pool_server *server, const struct cm_event *event)
{
	struct rdma_cm_id *id = event->event.id;
	struct error error = {0};
	struct server_client *client = NULL;
	int code = check_client(server, id, &error);

	id->context = NULL;
	if (!code) {
		client = server_client_create(server, id);
		code = client ? server_client_admit(client, &event->event.param.conn, &error)
			      : error_set_errno(&error, -ENOMEM, "cannot add a client");
	}
	if (client && !code) {
		client->next = server->clients;
		server->clients = client;
		if (!server->n_clients++)
			set_timer(server);
		return;
	}
	reject(server, id, &error);
	if (client)
		server_client_destroy(client);
	else
		rdma_destroy_id(id);
}

static int take_event(struct pool_server *server, const struct cm_event *event, struct error *error)
{
	struct server_client *client = event->event.id->context;

	switch (event->event.event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		handle_request(server, event);
		return 0;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (client)
			server_client_welcome(client);
		return 0;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return cm_unexpected(event, error);
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_MULTICAST_JOIN:
	case RDMA_CM_EVENT_MULTICAST_ERROR:
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	}
	if (client && event->event.event != RDMA_CM_EVENT_ADDR_CHANGE)
		server_client_leave(client, NULL);
	return 0;
}

/* Returns 1 if more events may be pending. */
static int take_events(struct pool_server *server, struct error *error)
{
	struct cm_event event;

	for (int i = 0; i < EVENTS; i++) {
		int got = cm_take(server->channel, &event, error);

		if (got <= 0)
			return got;
		got = take_event(server, &event, error);
		if (got)
			return got;
	}
	return 1;
}

static int handle(struct pool_server *server, const struct ibv_wc *wc, struct error *error)
{
	struct server_client *client;

	client = server_client_find(server, wc->qp_num);
	if (!(wc->wr_id & SHARED_RECEIVES_RECEIVE)) {
		if (wc->wr_id)
			server_client_sent((struct reply *)(uintptr_t)wc->wr_id, wc->status);
		else if (client)
			server_client_unbound(client, wc->status);
		return 0;
	}
	if (client && wc->status != IBV_WC_SUCCESS)
		server_client_leave(
			client, wc->status == IBV_WC_WR_FLUSH_ERR ? NULL : verbs_hint(wc->status));
	else if (client && wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM)
		server_client_ring(client, post_imm(wc));
	else if (client)
		server_client_handle(client, shared_receives_at(&server->mailbox, wc->wr_id),
				     wc->byte_len);
	return shared_receives_give(&server->mailbox, wc->wr_id, error);
}

/*
 * Handles completions until none is left, or returns 1 after DRAINS batches, so that
 * connection events get their turn. Shared receives that run low are replenished first.
 */
static int drain(struct pool_server *server, struct error *error)
{
	struct ibv_wc wc[BATCH];

	for (int i = 0; i < DRAINS; i++) {
		int code = shared_receives_look(&server->mailbox, error);
		int got = code ? code : completion_poll(&server->completion, BATCH, wc);

		if (got < 0)
			return code ? code : completion_poll_failed(error);
		for (int j = 0; j < got && !code; j++)
			code = handle(server, &wc[j], error);
		if (code || !got)
			return code;
	}
	return 1;
}

static bool is_finished(const struct pool_server *server, const struct server_client *client,
			uint64_t now_ns)
{
	uint64_t grace_ms = server->reports_last ? SILENT_MS : GRACE_MS;

	return client->is_leaving && (atomic_load(&client->has_last) ||
				      now_ns - client->leaving_ns >= grace_ms * NS_PER_MS);
}

/*
 * Marks clients that have finished and returns whether there are any. Their remaining
 * completions are in the queue by now.
 */
static bool mark_finished(struct pool_server *server)
{
	uint64_t now_ns = clock_now_ns();
	bool has_any = false;

	for (struct server_client *client = server->clients; client; client = client->next) {
		client->is_finished = is_finished(server, client, now_ns);
		has_any = has_any || client->is_finished;
	}
	return has_any;
}

/* Handles everything that is in the queue now, at most its depth. */
static int drain_all(struct pool_server *server, struct error *error)
{
	int code = 1;

	for (uint32_t i = 0; i <= server->depth && code > 0; i += DRAINS * BATCH)
		code = drain(server, error);
	return code < 0 ? code : 0;
}

/* Removes the clients that have finished from the list, or all clients. */
static struct server_client *detach(struct pool_server *server, bool all)
{
	struct server_client **link = &server->clients;
	struct server_client *detached = NULL;

	while (*link) {
		struct server_client *client = *link;

		if (!all && !client->is_finished) {
			link = &client->next;
			continue;
		}
		*link = client->next;
		client->next = detached;
		detached = client;
		server_client_detach(client);
	}
	return detached;
}

static void destroy_detached(struct pool_server *server, struct server_client *detached)
{
	while (detached) {
		struct server_client *client = detached;

		detached = client->next;
		server->n_leaving--;
		server->n_clients--;
		server_client_destroy(client);
	}
	if (!server->n_clients)
		set_timer(server);
}

/*
 * Some devices drop a queue pair's completions when it is destroyed; on others they stay in
 * the queue. So the queue is drained before a queue pair is destroyed, and again before its
 * client is freed.
 */
static int remove_finished(struct pool_server *server, struct error *error)
{
	struct server_client *detached;
	struct server_client *last;
	int code;

	if (!mark_finished(server))
		return 0;
	code = drain_all(server, error);
	if (code)
		return code;
	detached = last = detach(server, false);
	code = drain_all(server, error);
	if (!code) {
		destroy_detached(server, detached);
		return 0;
	}
	/* pool_close frees them with the queue. */
	while (last->next)
		last = last->next;
	last->next = server->clients;
	server->clients = detached;
	return code;
}

static void probe(struct pool_server *server)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t count;

	if (read(server->timer, &count, sizeof(count)) < 0)
		return;
	for (struct server_client *client = server->clients; client; client = client->next) {
		server_client_probe(client, now_ns);
		server_client_expire(client, now_ns);
	}
}

/*
 * Sleeps once. The sequence is: take the event, acknowledge events in batches, arm the
 * queue, drain it, sleep; a completion after the drain raises the next event.
 */
static int sleep_once(struct pool_server *server, struct error *error)
{
	struct pollfd fds[] = {
		{.fd = server->channel->fd,            .events = POLLIN},
		{.fd = server->completion.channel->fd, .events = POLLIN},
		{.fd = server->mailbox.wake,           .events = POLLIN},
		{.fd = server->timer,                  .events = POLLIN},
		{.fd = server->alarm.fd,               .events = POLLIN},
	};
	int got = 0;

	if (poll(fds, ARRAY_LENGTH(fds), server->n_leaving ? GRACE_MS : -1) < 0)
		return errno == EINTR ? 0 : error_set_errno(error, -errno, "cannot sleep");
	if (fds[1].revents)
		got = completion_take_event(&server->completion, error);
	if (got < 0)
		return got;
	if (!server->completion.armed && completion_arm(&server->completion))
		return error_set(error, -EIO, "cannot arm the completion queue");
	return 0;
}

static int wait_for_work(struct pool_server *server, struct error *error)
{
	if (server->settings.wait != RDMA_POLL)
		return sleep_once(server, error);
	nanosleep(&(struct timespec){.tv_nsec = TICK_NS}, NULL);
	return 0;
}

int pool_serve(struct pool_server *server, struct error *error)
{
	int code = 0;

	while (code >= 0 && !alarm_raised(&server->alarm)) {
		bool has_more;

		code = take_events(server, error);
		has_more = code > 0;
		if (code >= 0)
			code = drain(server, error);
		has_more |= code > 0;
		if (code >= 0 && server->n_leaving)
			code = remove_finished(server, error);
		probe(server);
		if (code >= 0 && !has_more)
			code = wait_for_work(server, error);
	}
	return code < 0 ? code : 0;
}

void pool_end(struct pool_server *server)
{
	if (server->alarm.is_open)
		alarm_raise(&server->alarm, -ECANCELED, "the pool is shutting down");
}

int pool_close(struct pool_server *server)
{
	struct server_client *detached;
	int first = 0;

	for (struct server_client *client = server->clients; client; client = client->next)
		server_client_leave(client, NULL);
	detached = detach(server, true);
	if (server->listener)
		rdma_destroy_id(server->listener);
	error_keep(&first, shared_receives_close(&server->mailbox));
	error_keep(&first, completion_close(&server->completion));
	/* The queues are destroyed: no completion of these clients can arrive. */
	if (detached)
		destroy_detached(server, detached);
	if (server->channel)
		rdma_destroy_event_channel(server->channel);
	grants_close(&server->grants);
	memory_close(&server->memory);
	if (server->pd)
		error_keep(&first, verbs_result(ibv_dealloc_pd(server->pd)));
	device_close(&server->device);
	if (server->timer > 0)
		close(server->timer);
	alarm_close(&server->alarm);
	*server = (struct pool_server){0};
	return first;
}
