/* SPDX-License-Identifier: MIT */
/*
 * rdma_cm on soft0: client and server are in this process, each with its own event channel, or in a
 * child that gets killed. Expectations are from the manual pages of librdmacm; private data sizes
 * and reject reasons are those of the InfiniBand CM.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/soft/cm/cm.h"
#include "core/test/soft/stage.h"

enum {
	PATIENCE_MS = 10000,
	RESOLVE_MS = 2000,
};

struct side {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

/* A copy of an event that was acknowledged, with its private data. */
struct received {
	struct rdma_cm_id *id;
	struct rdma_cm_id *listener;
	struct rdma_cm_event event;
	unsigned char data[256];
};

static struct sockaddr_in local(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

static bool is_quiet(struct rdma_event_channel *channel, int for_ms)
{
	struct pollfd readable = {.fd = channel->fd, .events = POLLIN};

	return !poll(&readable, 1, for_ms);
}

static struct received expect_event(struct rdma_event_channel *channel,
				    enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	struct received received = {0};

	if (is_quiet(channel, PATIENCE_MS))
		fail_msg("event %d did not arrive", (int)type);
	assert_int_equal(rdma_get_cm_event(channel, &event), 0);
	assert_int_equal(event->event, type);
	received.event = *event;
	received.id = event->id;
	received.listener = event->listen_id;
	if (event->param.conn.private_data)
		memcpy(received.data, event->param.conn.private_data,
		       event->param.conn.private_data_len);
	assert_int_equal(rdma_ack_cm_event(event), 0);
	return received;
}

static void open_side(struct side *side, enum rdma_port_space space)
{
	side->channel = rdma_create_event_channel();
	assert_non_null(side->channel);
	assert_int_equal(rdma_create_id(side->channel, &side->id, side, space), 0);
}

static void close_side(struct side *side)
{
	if (side->id && side->id->qp)
		rdma_destroy_qp(side->id);
	if (side->id)
		assert_int_equal(rdma_destroy_id(side->id), 0);
	rdma_destroy_event_channel(side->channel);
}

static uint16_t open_listener(struct side *side, enum rdma_port_space space, int backlog)
{
	struct sockaddr_in address = local(0);

	open_side(side, space);
	assert_int_equal(rdma_bind_addr(side->id, (struct sockaddr *)&address), 0);
	assert_int_equal(rdma_listen(side->id, backlog), 0);
	assert_int_not_equal(rdma_get_src_port(side->id), 0);
	return ntohs(rdma_get_src_port(side->id));
}

static void make_pair(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = id->qp_type,
	};

	assert_int_equal(rdma_create_qp(id, NULL, &init), 0);
}

static void resolve(struct side *side, uint16_t port)
{
	struct sockaddr_in address = local(port);

	assert_int_equal(rdma_resolve_addr(side->id, NULL, (struct sockaddr *)&address, RESOLVE_MS),
			 0);
	/* Migrating to the same channel is a no-op, even with an event pending. */
	assert_int_equal(rdma_migrate_id(side->id, side->channel), 0);
	expect_event(side->channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_non_null(side->id->verbs);
	assert_int_equal(rdma_get_dst_port(side->id), htons(port));
	assert_int_equal(rdma_resolve_route(side->id, RESOLVE_MS), 0);
	expect_event(side->channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static struct rdma_conn_param with_data(const void *data, uint8_t length)
{
	return (struct rdma_conn_param){
		.private_data = data,
		.private_data_len = length,
		.responder_resources = 3,
		.initiator_depth = 2,
		.retry_count = 5,
		.rnr_retry_count = 6,
	};
}

/* Opens a client that requests a connection. */
static void ask(struct side *client, uint16_t port, const void *data, uint8_t length)
{
	struct rdma_conn_param param = with_data(data, length);

	open_side(client, RDMA_PS_TCP);
	resolve(client, port);
	make_pair(client->id);
	assert_int_equal(rdma_connect(client->id, &param), 0);
}

static void assert_state(struct rdma_cm_id *id, enum ibv_qp_state state)
{
	assert_int_equal(stage_state(id->qp), state);
}

static void test_connection(void **state)
{
	unsigned char sent[196] = {0};
	struct rdma_conn_param param = with_data(sent, sizeof(sent));
	struct side listener;
	struct side client;
	struct side server;
	struct received received;
	uint16_t port = open_listener(&listener, RDMA_PS_TCP, 0);

	memset(sent, 0x5a, sizeof(sent));
	ask(&client, port, "hello", 5);
	received = expect_event(listener.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	assert_ptr_equal(received.listener, listener.id);
	/* The length is always the maximum; the data is padded with zeros. */
	assert_int_equal(received.event.param.conn.private_data_len, 56);
	assert_memory_equal(received.data, "hello\0\0\0", 8);
	assert_int_equal(received.event.param.conn.responder_resources, 2);
	assert_int_equal(received.event.param.conn.initiator_depth, 3);
	assert_int_equal(received.event.param.conn.retry_count, 5);
	assert_int_equal(received.event.param.conn.rnr_retry_count, 6);
	assert_int_equal(received.event.param.conn.qp_num, client.id->qp->qp_num);
	server = (struct side){.channel = rdma_create_event_channel(), .id = received.id};
	assert_int_equal(rdma_migrate_id(server.id, server.channel), 0);
	make_pair(server.id);
	param.responder_resources = 2;
	assert_int_equal(rdma_accept(server.id, &param), 0);
	received = expect_event(client.channel, RDMA_CM_EVENT_ESTABLISHED);
	assert_int_equal(received.event.param.conn.private_data_len, 196);
	assert_memory_equal(received.data, sent, sizeof(sent));
	expect_event(server.channel, RDMA_CM_EVENT_ESTABLISHED);
	assert_true(is_quiet(listener.channel, 0));
	assert_state(client.id, IBV_QPS_RTS);
	assert_state(server.id, IBV_QPS_RTS);
	assert_int_equal(rdma_get_dst_port(server.id), rdma_get_src_port(client.id));

	assert_int_equal(rdma_disconnect(client.id), 0);
	assert_state(client.id, IBV_QPS_ERR);
	expect_event(server.channel, RDMA_CM_EVENT_DISCONNECTED);
	assert_int_equal(rdma_disconnect(server.id), 0);
	expect_event(client.channel, RDMA_CM_EVENT_DISCONNECTED);
	expect_event(client.channel, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	expect_event(server.channel, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	close_side(&client);
	close_side(&server);
	close_side(&listener);
}

static void test_rejects_without_listener(void **state)
{
	struct side listener;
	struct side client;
	uint16_t port = open_listener(&listener, RDMA_PS_TCP, 0);

	close_side(&listener);
	ask(&client, port, NULL, 0);
	assert_int_equal(expect_event(client.channel, RDMA_CM_EVENT_REJECTED).event.status, 8);
	close_side(&client);
}

static void test_reject(void **state)
{
	unsigned char reason[149];
	struct side listener;
	struct side client;
	struct received received;
	uint16_t port = open_listener(&listener, RDMA_PS_TCP, 0);

	memset(reason, 7, sizeof(reason));
	ask(&client, port, NULL, 0);
	received = expect_event(listener.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	assert_int_equal(rdma_reject(received.id, reason, 149), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(rdma_reject(received.id, reason, 148), 0);
	assert_int_equal(rdma_destroy_id(received.id), 0);
	received = expect_event(client.channel, RDMA_CM_EVENT_REJECTED);
	assert_int_equal(received.event.status, 28);
	assert_int_equal(received.event.param.conn.private_data_len, 148);
	assert_memory_equal(received.data, reason, 148);
	assert_state(client.id, IBV_QPS_ERR);
	close_side(&client);
	close_side(&listener);
}

static void test_too_much_private_data(void **state)
{
	unsigned char data[197] = {0};
	struct rdma_conn_param param = with_data(data, 57);
	struct side listener;
	struct side client;
	struct received received;
	uint16_t port = open_listener(&listener, RDMA_PS_TCP, 0);

	open_side(&client, RDMA_PS_TCP);
	resolve(&client, port);
	make_pair(client.id);
	assert_int_equal(rdma_connect(client.id, &param), -1);
	assert_int_equal(errno, EINVAL);
	param.private_data_len = 56;
	assert_int_equal(rdma_connect(client.id, &param), 0);
	received = expect_event(listener.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	make_pair(received.id);
	param.private_data_len = 197;
	assert_int_equal(rdma_accept(received.id, &param), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(expect_event(client.channel, RDMA_CM_EVENT_REJECTED).event.status, 28);
	rdma_destroy_ep(received.id);
	close_side(&client);
	close_side(&listener);
}

static int bind_to(struct side *side, const char *address, uint16_t port)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	bool is_v6 = strchr(address, ':');

	inet_pton(AF_INET, address, &v4.sin_addr);
	inet_pton(AF_INET6, address, &v6.sin6_addr);
	return rdma_bind_addr(side->id, is_v6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4)
		       ? errno
		       : 0;
}

static void test_addresses(void **state)
{
	static const struct {
		const char *first;
		const char *second;
		bool first_is_v6_only;
		bool both_share;
		int expected;
	} cases[] = {
		{"127.0.0.1", "127.0.0.1",   false, false, EADDRINUSE   },
		{"0.0.0.0",   "127.0.0.1",   false, false, EADDRINUSE   },
		{"127.0.0.1", "0.0.0.0",     false, false, EADDRINUSE   },
		{"::",        "127.0.0.1",   false, false, EADDRINUSE   },
		{"::",        "127.0.0.1",   true,  false, 0            },
		{"127.0.0.1", "127.0.0.1",   false, true,  0            },
		{"127.0.0.1", "203.0.113.1", false, false, EADDRNOTAVAIL},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct side first;
		struct side second;
		int yes = 1;

		open_side(&first, RDMA_PS_TCP);
		open_side(&second, RDMA_PS_TCP);
		if (cases[i].first_is_v6_only)
			assert_int_equal(rdma_set_option(first.id, RDMA_OPTION_ID,
							 RDMA_OPTION_ID_AFONLY, &yes, sizeof(yes)),
					 0);
		if (cases[i].both_share) {
			rdma_set_option(first.id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes,
					sizeof(yes));
			rdma_set_option(second.id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes,
					sizeof(yes));
		}
		assert_int_equal(bind_to(&first, cases[i].first, 0), 0);
		if (bind_to(&second, cases[i].second, ntohs(rdma_get_src_port(first.id))))
			assert_int_equal(errno, cases[i].expected);
		else
			assert_int_equal(cases[i].expected, 0);
		close_side(&first);
		close_side(&second);
	}
}

/* Each port space has its own ports; destroying an identifier frees its port. */
static void test_ports(void **state)
{
	struct side listener;
	struct side other;
	uint16_t port = open_listener(&listener, RDMA_PS_TCP, 0);

	open_side(&other, RDMA_PS_UDP);
	assert_int_equal(bind_to(&other, "127.0.0.1", port), 0);
	close_side(&other);
	close_side(&listener);
	open_side(&other, RDMA_PS_TCP);
	assert_int_equal(bind_to(&other, "127.0.0.1", port), 0);
	close_side(&other);
}

static void test_nonblocking_channel(void **state)
{
	struct side side;
	struct rdma_cm_event *event;

	open_side(&side, RDMA_PS_TCP);
	assert_int_equal(fcntl(side.channel->fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(rdma_get_cm_event(side.channel, &event), -1);
	assert_int_equal(errno, EAGAIN);
	resolve(&side, 1);
	assert_int_equal(rdma_get_cm_event(side.channel, &event), -1);
	assert_int_equal(errno, EAGAIN);
	close_side(&side);
}

/* Counts the requests that a listener has, and those for which it got an event. */
static void count_requests(struct side *listener, int *arrived, int *announced)
{
	pthread_mutex_lock(&soft_cm_mutex);
	*arrived = *announced = 0;
	for (const struct soft_cm_id *one = soft_cm_id_of(listener->id)->requests; one;
	     one = one->next_request) {
		++*arrived;
		*announced += one->is_announced;
	}
	pthread_mutex_unlock(&soft_cm_mutex);
}

/* With a backlog of 1, the second request is announced after the first was fetched. */
static void test_backlog(void **state)
{
	struct side listener;
	struct side client[2];
	struct rdma_cm_id *first;
	struct rdma_cm_id *second;
	uint16_t port = open_listener(&listener, RDMA_PS_TCP, 1);
	int arrived = 0;
	int announced;

	ask(&client[0], port, NULL, 0);
	ask(&client[1], port, NULL, 0);
	for (int tries = 0; arrived < 2; tries++) {
		assert_true(tries < PATIENCE_MS);
		usleep(1000);
		count_requests(&listener, &arrived, &announced);
	}
	assert_int_equal(announced, 1);
	first = expect_event(listener.channel, RDMA_CM_EVENT_CONNECT_REQUEST).id;
	second = expect_event(listener.channel, RDMA_CM_EVENT_CONNECT_REQUEST).id;
	assert_ptr_not_equal(first, second);
	assert_int_equal(rdma_destroy_id(first), 0);
	assert_int_equal(rdma_destroy_id(second), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			expect_event(client[i].channel, RDMA_CM_EVENT_REJECTED).event.status, 28);
		close_side(&client[i]);
	}
	close_side(&listener);
}

static void test_listener_is_destroyed(void **state)
{
	struct side listener;
	struct side client;
	struct pollfd readable = {.events = POLLIN};
	uint16_t port = open_listener(&listener, RDMA_PS_TCP, 0);

	ask(&client, port, NULL, 0);
	readable.fd = listener.channel->fd;
	assert_int_equal(poll(&readable, 1, PATIENCE_MS), 1);
	close_side(&listener);
	assert_int_equal(expect_event(client.channel, RDMA_CM_EVENT_REJECTED).event.status, 28);
	close_side(&client);
}

static void test_client_gives_up(void **state)
{
	struct side listener;
	struct side client;
	struct rdma_cm_id *id;
	struct rdma_conn_param param = with_data(NULL, 0);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	int mask;
	uint16_t port = open_listener(&listener, RDMA_PS_TCP, 0);

	ask(&client, port, NULL, 0);
	id = expect_event(listener.channel, RDMA_CM_EVENT_CONNECT_REQUEST).id;
	make_pair(id);
	close_side(&client);
	/* There is no event, but the identifier accepts no queue pair any more. */
	while (!rdma_init_qp_attr(id, &attr, &mask))
		usleep(1000);
	assert_true(is_quiet(listener.channel, 0));
	assert_int_equal(rdma_accept(id, &param), -1);
	assert_int_equal(errno, EINVAL);
	rdma_destroy_qp(id);
	assert_int_equal(rdma_destroy_id(id), 0);
	close_side(&listener);
}

static void test_datagrams(void **state)
{
	unsigned char sent[136] = {0};
	struct rdma_conn_param param = with_data(sent, 136);
	struct side listener;
	struct side client;
	struct received received;
	struct rdma_cm_id *server;
	uint16_t port = open_listener(&listener, RDMA_PS_UDP, 0);

	memset(sent, 3, sizeof(sent));
	open_side(&client, RDMA_PS_UDP);
	resolve(&client, port);
	make_pair(client.id);
	assert_state(client.id, IBV_QPS_RTS);
	assert_int_equal(rdma_connect(client.id, &param), 0);
	server = expect_event(listener.channel, RDMA_CM_EVENT_CONNECT_REQUEST).id;
	make_pair(server);
	assert_int_equal(rdma_accept(server, &param), 0);
	received = expect_event(client.channel, RDMA_CM_EVENT_ESTABLISHED);
	assert_int_equal(received.event.param.ud.private_data_len, 136);
	assert_memory_equal(received.data, sent, sizeof(sent));
	assert_int_equal(received.event.param.ud.qp_num, server->qp->qp_num);
	assert_int_equal(received.event.param.ud.qkey, RDMA_UDP_QKEY);
	assert_int_equal(received.event.param.ud.ah_attr.is_global, 1);
	assert_memory_equal(&received.event.param.ud.ah_attr.grh.dgid.raw[12], "\x7f\0\0\1", 4);
	/* The server gets no further event. */
	assert_true(is_quiet(listener.channel, 20));
	rdma_destroy_ep(server);
	close_side(&client);
	close_side(&listener);
}

static void *serve_once(void *argument)
{
	static char step[32];
	struct rdma_cm_id *listener = argument;
	struct rdma_cm_id *id;

	strcpy(step, "rdma_get_request");
	if (rdma_get_request(listener, &id))
		return step;
	strcpy(step, "rdma_accept");
	if (rdma_accept(id, NULL))
		return step;
	strcpy(step, "rdma_disconnect");
	if (rdma_disconnect(id))
		return step;
	rdma_destroy_ep(id);
	return NULL;
}

/* Synchronous identifiers: each call returns after its event has arrived. */
static void test_endpoints(void **state)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
	};
	struct rdma_addrinfo hints = {.ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP};
	struct rdma_addrinfo *info;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *client;
	char service[8];
	pthread_t thread;
	void *failed;

	assert_int_equal(rdma_getaddrinfo("127.0.0.1", NULL, &hints, &info), 0);
	assert_int_equal(info->ai_qp_type, IBV_QPT_RC);
	assert_int_equal(rdma_create_ep(&listener, info, NULL, &init), 0);
	rdma_freeaddrinfo(info);
	assert_int_equal(rdma_listen(listener, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, serve_once, listener), 0);

	hints.ai_flags = RAI_NUMERICHOST;
	snprintf(service, sizeof(service), "%u", ntohs(rdma_get_src_port(listener)));
	assert_int_equal(rdma_getaddrinfo("127.0.0.1", service, &hints, &info), 0);
	assert_int_equal(rdma_create_ep(&client, info, NULL, &init), 0);
	rdma_freeaddrinfo(info);
	assert_int_equal(rdma_connect(client, NULL), 0);
	assert_int_equal(client->event->event, RDMA_CM_EVENT_ESTABLISHED);
	assert_state(client, IBV_QPS_RTS);
	assert_int_equal(rdma_disconnect(client), 0);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	rdma_destroy_ep(client);
	rdma_destroy_ep(listener);
}

/* The child connects, and is then killed. */
static void test_peer_is_killed(void **state)
{
	struct rdma_conn_param param = with_data(NULL, 0);
	struct side listener;
	struct side client;
	struct rdma_cm_id *server;
	int ports[2];
	uint16_t port;
	pid_t child;

	assert_int_equal(pipe(ports), 0);
	child = fork();
	if (!child) {
		if (read(ports[0], &port, sizeof(port)) != sizeof(port))
			_exit(1);
		ask(&client, port, NULL, 0);
		expect_event(client.channel, RDMA_CM_EVENT_ESTABLISHED);
		pause();
		_exit(0);
	}
	assert_true(child > 0);
	port = open_listener(&listener, RDMA_PS_TCP, 0);
	assert_int_equal(write(ports[1], &port, sizeof(port)), sizeof(port));
	server = expect_event(listener.channel, RDMA_CM_EVENT_CONNECT_REQUEST).id;
	make_pair(server);
	assert_int_equal(rdma_accept(server, &param), 0);
	expect_event(listener.channel, RDMA_CM_EVENT_ESTABLISHED);
	kill(child, SIGKILL);
	expect_event(listener.channel, RDMA_CM_EVENT_DISCONNECTED);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(rdma_disconnect(server), 0);
	rdma_destroy_ep(server);
	close_side(&listener);
	close(ports[0]);
	close(ports[1]);
}

int main(void)
{
	/* The test with a child comes first, as it must fork before the device is open. */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_peer_is_killed),
		cmocka_unit_test(test_connection),
		cmocka_unit_test(test_rejects_without_listener),
		cmocka_unit_test(test_reject),
		cmocka_unit_test(test_too_much_private_data),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_nonblocking_channel),
		cmocka_unit_test(test_backlog),
		cmocka_unit_test(test_listener_is_destroyed),
		cmocka_unit_test(test_client_gives_up),
		cmocka_unit_test(test_datagrams),
		cmocka_unit_test(test_endpoints),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
