/* SPDX-License-Identifier: MIT */
#include "core/rdma/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "core/base/address.h"
#include "core/base/clock.h"
#include "core/rdma/private_data.h"
#include "core/verbs/device_fault.h"
#include "core/verbs/verbs.h"

/*
 * Reject reasons from the InfiniBand specification: timeout, also sent for a process that
 * has exited; invalid service id; and consumer reject, which Linux also sends for an
 * address without a listener.
 */
#define REJECT_TIMEOUT         4
#define REJECT_INVALID_SERVICE 8
#define REJECT_CONSUMER        28

static const char *channel_hint(int code)
{
	const char *hint = device_soft_hint(code);

	if (hint)
		return hint;
	switch (-code) {
	case EMFILE:
	case ENFILE:
		return "raise the open file limit: ulimit -Hn, LimitNOFILE";
	case EACCES:
	case EPERM:
		return "check the permissions of /dev/infiniband/rdma_cm";
	default:
		return "try 'modprobe rdma_ucm'";
	}
}

int cm_channel_open(struct rdma_event_channel **channel, struct error *error)
{
	int flags;

	*channel = rdma_create_event_channel();
	if (!*channel) {
		int code = verbs_null();

		return error_set_errno(error, code, "cannot open the connection manager (%s)",
				       channel_hint(code));
	}
	flags = fcntl((*channel)->fd, F_GETFL);
	if (flags < 0 || fcntl((*channel)->fd, F_SETFL, flags | O_NONBLOCK))
		return error_set_errno(error, -errno, "cannot set up the event channel");
	return 0;
}

/*
 * Linux also returns EADDRNOTAVAIL for a port in use if either listener is bound to all
 * addresses. If binding to another port succeeds, the port is in use; otherwise the address
 * is invalid.
 */
int cm_bind(struct rdma_cm_id *listener, struct sockaddr_storage *address, uint16_t port)
{
	int code;

	address_set_port(address, port);
	code = verbs_result(rdma_bind_addr(listener, (struct sockaddr *)address));
	if (code != -EADDRNOTAVAIL || !port)
		return code;
	address_set_port(address, 0);
	return rdma_bind_addr(listener, (struct sockaddr *)address) ? code : -EADDRINUSE;
}

/* The IPv6 wildcard also accepts IPv4, but a kernel may lack IPv6. */
int cm_bind_all(struct rdma_cm_id *listener, uint16_t port)
{
	struct sockaddr_storage any = {.ss_family = AF_INET6};
	int is_alone = 0;
	int code;

	/* Overrides net.ipv6.bindv6only, which applies if the option is not supported. */
	rdma_set_option(listener, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &is_alone,
			sizeof(is_alone));
	code = cm_bind(listener, &any, port);
	if (code != -EAFNOSUPPORT && code != -EADDRNOTAVAIL)
		return code;
	any = (struct sockaddr_storage){.ss_family = AF_INET};
	return cm_bind(listener, &any, port);
}

void cm_reject(struct rdma_cm_id *id, const char *reason)
{
	uint8_t data[PRIVATE_DATA_REFUSAL];
	size_t length = private_data_refuse(data, reason);

	rdma_reject(id, data, (uint8_t)length);
}

bool cm_has_gone(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	int mask;

	return rdma_init_qp_attr(id, &attr, &mask);
}

int cm_take(struct rdma_event_channel *channel, struct cm_event *event, struct error *error)
{
	struct rdma_cm_event *taken;
	size_t length;

	if (rdma_get_cm_event(channel, &taken))
		return errno == EAGAIN
			       ? 0
			       : error_set_errno(error, -errno, "cannot take a connection event");
	/* The private data is freed with the acknowledgment: copy it. */
	event->event = *taken;
	length = taken->param.conn.private_data ? taken->param.conn.private_data_len : 0;
	memcpy(event->data, taken->param.conn.private_data ? taken->param.conn.private_data : "",
	       length);
	event->event.param.conn.private_data = length ? event->data : NULL;
	rdma_ack_cm_event(taken);
	return 1;
}

int cm_wait(struct rdma_event_channel *channel, struct cm_event *event, uint64_t deadline_ns,
	    struct alarm *alarm, struct error *error)
{
	struct pollfd fds[] = {
		{.fd = channel->fd,            .events = POLLIN},
		{.fd = alarm ? alarm->fd : -1, .events = POLLIN},
	};

	for (;;) {
		int timeout = deadline_ns == UINT64_MAX ? -1 : clock_left_ms(deadline_ns);
		int got = poll(fds, ARRAY_LENGTH(fds), timeout);

		if (got < 0 && errno != EINTR)
			return error_set_errno(error, -errno, "cannot wait for a connection event");
		if (got > 0 && fds[1].revents)
			return alarm_reason(alarm, error);
		got = cm_take(channel, event, error);
		if (got)
			return got < 0 ? got : 0;
		if (deadline_ns != UINT64_MAX && !clock_left_ms(deadline_ns))
			return -ETIMEDOUT;
	}
}

static int rejected(const struct cm_event *event, struct error *error)
{
	char text[PRIVATE_DATA_REFUSAL];
	const char *reason = private_data_reason(text, event->event.param.conn.private_data,
						 event->event.param.conn.private_data_len);

	if (reason)
		return error_set(error, -ECONNREFUSED, "the server refused: %s", reason);
	if (event->event.status == REJECT_INVALID_SERVICE || event->event.status == -ECONNREFUSED)
		return error_set(error, -ECONNREFUSED, "no server is listening");
	if (event->event.status == REJECT_CONSUMER)
		return error_set(
			error, -ECONNREFUSED,
			"no server is listening, or the program listening is not verbmark");
	if (event->event.status == REJECT_TIMEOUT)
		return error_set(error, -ECONNREFUSED, "the peer gave up, or its process ended");
	return error_set(error, -ECONNREFUSED, "the connection was rejected (reason %d)",
			 event->event.status);
}

int cm_unexpected(const struct cm_event *event, struct error *error)
{
	int status = event->event.status;

	switch (event->event.event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
		if (status == -ENODEV)
			return error_set(error, status,
					 "no RDMA device has a route to this address");
		return error_set_errno(error, status < 0 ? status : -EHOSTUNREACH,
				       "cannot resolve the address");
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return error_set_errno(error, status < 0 ? status : -EHOSTUNREACH,
				       "cannot resolve the route");
	case RDMA_CM_EVENT_REJECTED:
		return rejected(event, error);
	case RDMA_CM_EVENT_UNREACHABLE:
		return error_set(error, -EHOSTUNREACH, "the peer does not answer");
	case RDMA_CM_EVENT_CONNECT_ERROR:
		return error_set_errno(error, status < 0 ? status : -ECONNABORTED,
				       "the connection failed");
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return error_set(error, -ECONNRESET,
				 "the peer closed the connection, or its process ended");
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return error_set(error, -ENODEV, "the RDMA device was removed");
	case RDMA_CM_EVENT_ADDR_CHANGE:
		return error_set(error, -EADDRNOTAVAIL, "the device's address has changed");
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_CONNECT_REQUEST:
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_MULTICAST_JOIN:
	case RDMA_CM_EVENT_MULTICAST_ERROR:
		break;
	}
	return error_set(error, -EPROTO, "unexpected connection event %s",
			 rdma_event_str(event->event.event));
}
