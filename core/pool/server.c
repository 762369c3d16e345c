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
/* Between two looks of a server that polls. */
#define TICK_NS (100 * NS_PER_US)
/* Looks for completions, and for connections, before there is one for everything else. */
#define DRAINS 64
#define EVENTS 16
/*
 * A receive that is taken and has no completion yet would be lost with its queue pair. After
 * the end of a connection that goes when its device says that it has taken its last one; of
 * rxe, which says no such thing, after a while; and so of one that has not said it for long.
 */
#define GRACE_MS  20
#define SILENT_MS 1000

/* It runs while somebody may have gone without a word. */
static void set_timer(const struct pool_server *server)
{
	const struct itimerspec each = {.it_value.tv_sec = server->n_guests != 0,
					.it_interval.tv_sec = server->n_guests != 0};

	timerfd_settime(server->timer, 0, &each, NULL);
}

static int consider(const struct pool_server *server, const struct rdma_cm_id *id,
		    struct error *error)
{
	const struct pool_settings *settings = &server->settings;
	const struct sockaddr *client = rdma_get_peer_addr((struct rdma_cm_id *)(uintptr_t)id);
	const char *device = ibv_get_device_name(server->device.verbs->device);
	char text[ADDRESS_TEXT];

	if (id->verbs != server->device.verbs)
		return error_set(error, -ENODEV, "the pool is on %s alone", device);
	if (settings->device_port && id->port_num != settings->device_port)
		return error_set(error, -ENODEV, "the pool is on port %u of %s alone",
				 settings->device_port, device);
	if (settings->permits && !settings->permits(settings->owner, client))
		return error_set(error, -EACCES,
				 "its pool serves nobody at %s: add its network to 'serve --allow' "
				 "there",
				 address_text_bare(client, text));
	if (server->n_guests >= server->most_guests)
		return error_set(error, -EBUSY, "%u of its clients are here: come back later%s",
				 server->n_guests,
				 server->most_guests == settings->clients
					 ? ", or raise 'serve --pool-clients' there"
					 : "");
	return 0;
}

/* Nothing is told of who is not allowed here: he could fill a log as fast as he knocks. */
static void turn_away(const struct pool_server *server, struct rdma_cm_id *id,
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

/* A request to connect: of one that is not taken nothing stays. */
static void take_in(struct pool_server *server, const struct cm_event *event)
{
	struct rdma_cm_id *id = event->event.id;
	struct error error = {0};
	struct server_client *guest = NULL;
	int code = consider(server, id, &error);

	id->context = NULL;
	if (!code) {
		guest = server_client_create(server, id);
		code = guest ? server_client_admit(guest, &event->event.param.conn, &error)
			     : error_set_errno(&error, -ENOMEM, "there is no room for a client");
	}
	if (guest && !code) {
		guest->next = server->guests;
		server->guests = guest;
		if (!server->n_guests++)
			set_timer(server);
		return;
	}
	turn_away(server, id, &error);
	if (guest)
		server_client_destroy(guest);
	else
		rdma_destroy_id(id);
}

static int take_event(struct pool_server *server, const struct cm_event *event, struct error *error)
{
	struct server_client *guest = event->event.id->context;

	switch (event->event.event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		take_in(server, event);
		return 0;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (guest)
			server_client_welcome(guest);
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
	if (guest && event->event.event != RDMA_CM_EVENT_ADDR_CHANGE)
		server_client_leave(guest, NULL);
	return 0;
}

/* 1: there may be more. */
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
	struct server_client *guest;

	guest = server_client_find(server, wc->qp_num);
	if (!(wc->wr_id & SHARED_RECEIVES_RECEIVE)) {
		if (wc->wr_id)
			server_client_sent((struct letter *)(uintptr_t)wc->wr_id, wc->status);
		else if (guest)
			server_client_unbound(guest, wc->status);
		return 0;
	}
	if (guest && wc->status != IBV_WC_SUCCESS)
		server_client_leave(
			guest, wc->status == IBV_WC_WR_FLUSH_ERR ? NULL : verbs_hint(wc->status));
	else if (guest && wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM)
		server_client_ring(guest, post_imm(wc));
	else if (guest)
		server_client_hear(guest, shared_receives_at(&server->mailbox, wc->wr_id),
				   wc->byte_len);
	return shared_receives_give(&server->mailbox, wc->wr_id, error);
}

/*
 * Until there is nothing more, or others have to have their turn: then 1. Before what has
 * come is looked at, what the device has said of the receives.
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

static bool is_through(const struct pool_server *server, const struct server_client *guest,
		       uint64_t now_ns)
{
	uint64_t grace_ms = server->tells_last ? SILENT_MS : GRACE_MS;

	return guest->is_leaving && (atomic_load(&guest->has_last) ||
				     now_ns - guest->leaving_ns >= grace_ms * NS_PER_MS);
}

/* Whether there are any: what comes of theirs is in the queue. */
static bool mark(struct pool_server *server)
{
	uint64_t now_ns = clock_now_ns();
	bool has_any = false;

	for (struct server_client *guest = server->guests; guest; guest = guest->next) {
		guest->is_through = is_through(server, guest, now_ns);
		has_any = has_any || guest->is_through;
	}
	return has_any;
}

/* All that is in the queue now: no more than it has room for. */
static int drain_all(struct pool_server *server, struct error *error)
{
	int code = 1;

	for (uint32_t i = 0; i <= server->depth && code > 0; i += DRAINS * BATCH)
		code = drain(server, error);
	return code < 0 ? code : 0;
}

/* Takes those that are through out of the list, or all of them. */
static struct server_client *part(struct pool_server *server, bool all)
{
	struct server_client **link = &server->guests;
	struct server_client *parted = NULL;

	while (*link) {
		struct server_client *guest = *link;

		if (!all && !guest->is_through) {
			link = &guest->next;
			continue;
		}
		*link = guest->next;
		guest->next = parted;
		parted = guest;
		server_client_part(guest);
	}
	return parted;
}

static void forget(struct pool_server *server, struct server_client *parted)
{
	while (parted) {
		struct server_client *guest = parted;

		parted = guest->next;
		server->n_leaving--;
		server->n_guests--;
		server_client_destroy(guest);
	}
	if (!server->n_guests)
		set_timer(server);
}

/*
 * With a queue pair some devices take out its completions, of others there may still be some:
 * all are taken before it goes, and only then its guest does.
 */
static int bury(struct pool_server *server, struct error *error)
{
	struct server_client *parted;
	struct server_client *last;
	int code;

	if (!mark(server))
		return 0;
	code = drain_all(server, error);
	if (code)
		return code;
	parted = last = part(server, false);
	code = drain_all(server, error);
	if (!code) {
		forget(server, parted);
		return 0;
	}
	/* They go with the queue. */
	while (last->next)
		last = last->next;
	last->next = server->guests;
	server->guests = parted;
	return code;
}

static void probe(struct pool_server *server)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t count;

	if (read(server->timer, &count, sizeof(count)) < 0)
		return;
	for (struct server_client *guest = server->guests; guest; guest = guest->next) {
		server_client_probe(guest, now_ns);
		server_client_expire(guest, now_ns);
	}
}

/*
 * The five steps of a sleeper: take the events, acknowledge them (many at once, and the rest
 * before the queue goes), arm the queue, and take what it has until it is empty; what comes
 * after that raises the next event.
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
			code = bury(server, error);
		probe(server);
		if (code >= 0 && !has_more)
			code = wait_for_work(server, error);
	}
	return code < 0 ? code : 0;
}

void pool_end(struct pool_server *server)
{
	if (server->alarm.is_open)
		alarm_raise(&server->alarm, -ECANCELED, "the pool ends");
}

int pool_close(struct pool_server *server)
{
	struct server_client *parted;
	int first = 0;

	for (struct server_client *guest = server->guests; guest; guest = guest->next)
		server_client_leave(guest, NULL);
	parted = part(server, true);
	if (server->listener)
		rdma_destroy_id(server->listener);
	error_keep(&first, shared_receives_close(&server->mailbox));
	error_keep(&first, completion_close(&server->completion));
	/* With the queues the last completions of theirs are gone. */
	if (parted)
		forget(server, parted);
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
