/* SPDX-License-Identifier: MIT */
/*
 * rdma_cm between two processes in separate network namespaces that only have a loopback;
 * connection options and timeouts; and hosts with many addresses, or with addresses that are added
 * late.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/soft/cm/cm.h"
#include "core/soft/peer/image.h"
#include "core/test/soft/network.h"
#include "core/test/soft/stage.h"

enum {
	PATIENCE_MS = 10000,
	TOS = 0x68,
	WORD = 0x5a,
};

static bool has_networks;
static pid_t whole;

/* The made-up addresses of this machine, if any; 127.0.0.1 comes last. */
static struct made_up {
	struct sockaddr_in address;
	struct ifaddrs entry;
} made_up[100];

static size_t n_made_up;

int getifaddrs(struct ifaddrs **list)
{
	static char name[] = "lo";

	if (!n_made_up)
		return ((int (*)(struct ifaddrs **))dlsym(RTLD_NEXT, "getifaddrs"))(list);
	for (size_t i = 0; i < n_made_up; i++) {
		bool is_last = i + 1 == n_made_up;

		made_up[i].address.sin_family = AF_INET;
		made_up[i].address.sin_addr.s_addr =
			htonl(is_last ? INADDR_LOOPBACK : INADDR_LOOPBACK + 8 + (uint32_t)i);
		made_up[i].entry = (struct ifaddrs){
			.ifa_next = is_last ? NULL : &made_up[i + 1].entry,
			.ifa_name = name,
			.ifa_flags = IFF_UP | (is_last ? IFF_LOOPBACK : 0),
			.ifa_addr = (struct sockaddr *)&made_up[i].address,
		};
	}
	*list = &made_up[0].entry;
	return 0;
}

void freeifaddrs(struct ifaddrs *list)
{
	if (list != &made_up[0].entry)
		((void (*)(struct ifaddrs *))dlsym(RTLD_NEXT, "freeifaddrs"))(list);
}

struct side {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	uint64_t word;
};

/* The private data of a server: its memory. */
struct place {
	uint64_t address;
	uint32_t rkey;
};

static struct rdma_cm_id *expect_event(struct side *side, enum rdma_cm_event_type type, int status,
				       struct place *place)
{
	struct pollfd readable = {.fd = side->channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	assert_int_equal(poll(&readable, 1, PATIENCE_MS), 1);
	assert_int_equal(rdma_get_cm_event(side->channel, &event), 0);
	assert_int_equal(event->event, type);
	assert_int_equal(event->status, status);
	if (place)
		memcpy(place, event->param.conn.private_data, sizeof(*place));
	id = event->id;
	assert_int_equal(rdma_ack_cm_event(event), 0);
	return id;
}

static void open_side(struct side *side)
{
	memset(side, 0, sizeof(*side));
	side->channel = rdma_create_event_channel();
	assert_non_null(side->channel);
}

static void create_resources(struct side *side)
{
	struct ibv_qp_init_attr init = {
		.cap = {4, 4, 1, 1, 0},
		.qp_type = IBV_QPT_RC,
	};

	assert_int_equal(rdma_create_qp(side->id, NULL, &init), 0);
	side->mr = ibv_reg_mr(side->id->pd, &side->word, sizeof(side->word),
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	assert_non_null(side->mr);
}

static void close_side(struct side *side)
{
	if (side->mr)
		assert_int_equal(ibv_dereg_mr(side->mr), 0);
	if (side->id && side->id->qp)
		rdma_destroy_qp(side->id);
	if (side->id)
		assert_int_equal(rdma_destroy_id(side->id), 0);
	rdma_destroy_event_channel(side->channel);
}

static uint16_t listen_on(struct side *side, uint32_t own)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(own)};

	open_side(side);
	assert_int_equal(rdma_create_id(side->channel, &side->id, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_bind_addr(side->id, (struct sockaddr *)&address), 0);
	assert_int_equal(rdma_listen(side->id, 1), 0);
	return ntohs(rdma_get_src_port(side->id));
}

static void accept_one(struct side *listener, struct side *side)
{
	struct place place = {(uintptr_t)&side->word, 0};
	struct rdma_conn_param param = {
		.private_data = &place, .private_data_len = sizeof(place), .rnr_retry_count = 7};

	open_side(side);
	side->id = expect_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, NULL);
	assert_int_equal(rdma_migrate_id(side->id, side->channel), 0);
	create_resources(side);
	place.rkey = side->mr->rkey;
	assert_int_equal(rdma_accept(side->id, &param), 0);
}

static void call_at(struct side *side, uint32_t other, uint16_t port, uint8_t tos)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(other)};
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};

	open_side(side);
	assert_int_equal(rdma_create_id(side->channel, &side->id, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(
		rdma_set_option(side->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)),
		0);
	assert_int_equal(rdma_resolve_addr(side->id, NULL, (struct sockaddr *)&address, 2000), 0);
	expect_event(side, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
	assert_int_equal(rdma_resolve_route(side->id, 2000), 0);
	expect_event(side, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
	create_resources(side);
	assert_int_equal(rdma_connect(side->id, &param), 0);
}

static void call(struct side *side, uint16_t port, uint8_t tos)
{
	call_at(side, INADDR_LOOPBACK, port, tos);
}

static void write_word(struct side *side, const struct place *place)
{
	struct ibv_sge sge = {(uintptr_t)&side->word, sizeof(side->word), side->mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {place->address, place->rkey},
	};
	struct ibv_send_wr *bad;

	side->word = WORD;
	assert_int_equal(ibv_post_send(side->id->qp, &wr, &bad), 0);
	assert_int_equal(stage_await(side->id->send_cq).status, IBV_WC_SUCCESS);
}

/* The server, in its own network namespace. */
static void serve(int socket)
{
	struct side listener;
	struct side side;
	uint16_t port;

	if (network_enter())
		_exit(1);
	port = listen_on(&listener, INADDR_LOOPBACK);
	assert_int_equal(write(socket, &port, sizeof(port)), sizeof(port));
	accept_one(&listener, &side);
	expect_event(&side, RDMA_CM_EVENT_ESTABLISHED, 0, NULL);
	expect_event(&side, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
	assert_int_equal(side.word, WORD);
	assert_int_equal(rdma_disconnect(side.id), 0);
	close_side(&side);
	close_side(&listener);
	_exit(0);
}

static int end_child(void **state)
{
	if (getpid() != whole)
		_exit(1);
	return 0;
}

static void test_two_networks(void **unused)
{
	struct place place;
	struct side side;
	int ends[2];
	uint16_t port;
	int status;
	pid_t server;
	pid_t client;

	if (!has_networks) {
		print_message("# this machine does not allow network namespaces\n");
		skip();
	}
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	server = fork();
	if (!server)
		serve(ends[1]);
	client = fork();
	if (!client) {
		if (network_enter())
			_exit(1);
		assert_int_equal(read(ends[0], &port, sizeof(port)), sizeof(port));
		call(&side, port, 0);
		expect_event(&side, RDMA_CM_EVENT_ESTABLISHED, 0, &place);
		write_word(&side, &place);
		assert_int_equal(rdma_disconnect(side.id), 0);
		expect_event(&side, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
		close_side(&side);
		_exit(0);
	}
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(waitpid(client, &status, 0), client);
	assert_int_equal(status, 0);
	assert_int_equal(waitpid(server, &status, 0), server);
	assert_int_equal(status, 0);
}

static uint8_t traffic_class(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	assert_int_equal(ibv_query_qp(id->qp, &attr, IBV_QP_AV, &init), 0);
	return attr.ah_attr.grh.traffic_class;
}

/*
 * The request sets the type of service of both directions. A server that receives data before the
 * last message of the handshake reports that by rdma_notify(3).
 */
static void test_type_of_service_and_early_data(void **unused)
{
	struct side listener;
	struct side client;
	struct side server;
	uint16_t port = listen_on(&listener, INADDR_LOOPBACK);

	call(&client, port, TOS);
	accept_one(&listener, &server);
	assert_int_equal(traffic_class(server.id), TOS);
	assert_int_equal(rdma_notify(server.id, IBV_EVENT_QP_FATAL), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(rdma_notify(server.id, IBV_EVENT_COMM_EST), 0);
	expect_event(&server, RDMA_CM_EVENT_ESTABLISHED, 0, NULL);
	expect_event(&client, RDMA_CM_EVENT_ESTABLISHED, 0, NULL);
	assert_int_equal(traffic_class(client.id), TOS);
	/* The last message of the handshake has arrived in the meantime, without a second event. */
	assert_int_equal(rdma_disconnect(client.id), 0);
	expect_event(&server, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
	assert_int_equal(rdma_disconnect(server.id), 0);
	expect_event(&client, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
	close_side(&client);
	close_side(&server);
	close_side(&listener);
}

/* Shortens the time limit of the request, which is one minute. */
static void test_request_times_out(void **unused)
{
	struct side listener;
	struct side client;
	uint16_t port;
	int ends[2];
	int status;
	pid_t child;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	child = fork();
	if (!child) {
		port = listen_on(&listener, INADDR_LOOPBACK);
		_exit(write(ends[1], &port, sizeof(port)) != sizeof(port) || pause());
	}
	assert_int_equal(read(ends[0], &port, sizeof(port)), sizeof(port));
	kill(child, SIGSTOP);
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	call(&client, port, 0);
	pthread_mutex_lock(&soft_cm_mutex);
	soft_cm_timer_set(soft_cm_id_of(client.id), 10);
	pthread_mutex_unlock(&soft_cm_mutex);
	expect_event(&client, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL);
	close_side(&client);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	close(ends[0]);
	close(ends[1]);
}

/* Runs a function in a child, as this process already has the device open, with real addresses. */
static void run_in_child(void (*run)(int socket), int socket)
{
	int status;
	pid_t child = fork();

	if (!child) {
		run(socket);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void look_at_many(int unused)
{
	struct ibv_context *context;
	union ibv_gid gid;

	n_made_up = ARRAY_LENGTH(made_up);
	context = stage_open_device();
	assert_int_equal(ibv_query_gid(context, 1, 0, &gid), 0);
	assert_memory_equal(&gid.raw[12], "\x7f\0\0\x09", 4);
	assert_int_equal(ibv_query_gid(context, 1, SOFT_GIDS - 1, &gid), 0);
	assert_memory_equal(&gid.raw[12], "\x7f\0\0\x01", 4);
	assert_int_equal(ibv_close_device(context), 0);
}

/* 127.0.0.1 is in the GID table, even if there are too many addresses before it. */
static void test_too_many_addresses(void **unused)
{
	run_in_child(look_at_many, -1);
}

static void assert_gid_change(struct ibv_context *context)
{
	struct pollfd readable = {.fd = context->async_fd, .events = POLLIN};
	struct ibv_async_event event;

	assert_int_equal(poll(&readable, 1, PATIENCE_MS), 1);
	assert_int_equal(ibv_get_async_event(context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_GID_CHANGE);
	assert_int_equal(event.element.port_num, 1);
	ibv_ack_async_event(&event);
}

/* The server: its interface gets another address after it listens on all addresses. */
static void serve_late(int socket)
{
	struct ibv_context *context;
	struct side listener;
	struct side side;
	uint16_t port;

	n_made_up = 1;
	context = stage_open_device();
	port = listen_on(&listener, INADDR_ANY);
	n_made_up = 2;
	assert_int_equal(write(socket, &port, sizeof(port)), sizeof(port));
	accept_one(&listener, &side);
	assert_gid_change(context);
	expect_event(&side, RDMA_CM_EVENT_ESTABLISHED, 0, NULL);
	expect_event(&side, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
	assert_int_equal(side.word, WORD);
	assert_int_equal(rdma_disconnect(side.id), 0);
	close_side(&side);
	close_side(&listener);
	assert_int_equal(ibv_close_device(context), 0);
	_exit(0);
}

static void call_late(int socket)
{
	struct ibv_context *context;
	struct place place;
	struct side side;
	uint16_t port;

	n_made_up = 2;
	context = stage_open_device();
	assert_int_equal(read(socket, &port, sizeof(port)), sizeof(port));
	call_at(&side, INADDR_LOOPBACK + 8, port, 0);
	expect_event(&side, RDMA_CM_EVENT_ESTABLISHED, 0, &place);
	write_word(&side, &place);
	assert_int_equal(rdma_disconnect(side.id), 0);
	expect_event(&side, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
	close_side(&side);
	assert_int_equal(ibv_close_device(context), 0);
}

/* A client can connect to an address that was added later, and its data arrives. */
static void test_connect_to_address_added_later(void **unused)
{
	int ends[2];
	int status;
	pid_t server;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	server = fork();
	if (!server)
		serve_late(ends[1]);
	close(ends[1]);
	run_in_child(call_late, ends[0]);
	assert_int_equal(waitpid(server, &status, 0), server);
	assert_int_equal(status, 0);
	close(ends[0]);
}

static void bind_late(int unused)
{
	struct ibv_context *context;
	struct side listener;

	n_made_up = 1;
	context = stage_open_device();
	n_made_up = 2;
	listen_on(&listener, INADDR_LOOPBACK + 8);
	assert_gid_change(context);
	close_side(&listener);
	assert_int_equal(ibv_close_device(context), 0);
}

static void test_bind_to_address_added_later(void **unused)
{
	run_in_child(bind_late, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_two_networks, end_child),
		cmocka_unit_test_teardown(test_type_of_service_and_early_data, end_child),
		cmocka_unit_test_teardown(test_request_times_out, end_child),
		cmocka_unit_test_teardown(test_too_many_addresses, end_child),
		cmocka_unit_test_teardown(test_connect_to_address_added_later, end_child),
		cmocka_unit_test_teardown(test_bind_to_address_added_later, end_child),
	};

	whole = getpid();
	has_networks = network_prepare();
	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
