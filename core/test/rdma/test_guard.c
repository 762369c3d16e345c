/* SPDX-License-Identifier: MIT */
/* How device events affect a connection, on a fake device. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/rdma/guard.h"
#include "core/test/lib/check.h"

#define PATIENCE_MS 10000

static struct {
	int fds[2]; /* a pipe: each byte is an event */
	atomic_int n_acknowledged;
	_Atomic enum ibv_port_state port;
} device;

/* A NIC and a software device on the same interface, which share its addresses. */
static struct ibv_device card = {.name = "card0"};
static struct ibv_device soft = {.name = "soft0"};

static struct {
	struct ibv_context card;
	struct ibv_context soft;
	const uint8_t *of_card; /* the address that the kernel binds to the NIC */
	int n_ids;
	int refusal; /* errno of rdma_create_event_channel; 0: success */
} kernel = {.card = {.device = &card}, .soft = {.device = &soft}};

static const uint8_t addresses[2][4] = {
	{10, 88, 0, 1},
        {10, 89, 0, 1}
};

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	uint8_t type;

	if (read(context->async_fd, &type, sizeof(type)) != sizeof(type))
		return -1;
	*event = (struct ibv_async_event){.event_type = type, .element.port_num = 1};
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	atomic_fetch_add(&device.n_acknowledged, 1);
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	((struct ibv_port_attr *)(void *)attr)->state = atomic_load(&device.port);
	((struct ibv_port_attr *)(void *)attr)->gid_tbl_len = ARRAY_LENGTH(addresses);
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max,
			     uint32_t flags, size_t size)
{
	for (size_t i = 0; i < ARRAY_LENGTH(addresses) && i < max; i++) {
		entries[i] = (struct ibv_gid_entry){.gid_type = IBV_GID_TYPE_ROCE_V2};
		memset(&entries[i].gid.raw[10], 0xff, 2);
		memcpy(&entries[i].gid.raw[12], addresses[i], sizeof(addresses[i]));
	}
	return ARRAY_LENGTH(addresses);
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space space)
{
	*id = calloc(1, sizeof(**id));
	kernel.n_ids++;
	return *id ? 0 : -1;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	free(id);
	kernel.n_ids--;
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)address;
	bool is_of_card = kernel.of_card && !memcmp(&in->sin_addr, kernel.of_card, 4);

	id->verbs = is_of_card ? &kernel.card : &kernel.soft;
	return 0;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct rdma_event_channel *channel;

	if (kernel.refusal) {
		errno = kernel.refusal;
		return NULL;
	}
	channel = calloc(1, sizeof(*channel));
	if (channel)
		channel->fd = dup(device.fds[0]);
	return channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	free(channel);
}

/* Checks which device an endpoint on the NIC is bound to. */
static void check_watched(const uint8_t *of_card)
{
	struct endpoint endpoint = {.verbs = &kernel.card, .device = {.phys_port_cnt = 1}};
	struct error error = {0};

	kernel.of_card = of_card;
	assert_int_equal(pipe(device.fds), 0);
	assert_int_equal(guard_endpoint(&endpoint, &error), 0);
	if (of_card) {
		assert_non_null(endpoint.id);
		assert_ptr_equal(endpoint.id->verbs, &kernel.card);
	} else {
		assert_null(endpoint.id);
	}
	assert_int_equal(kernel.n_ids, !!of_card);
	guard_release_endpoint(&endpoint);
	assert_int_equal(kernel.n_ids, 0);
	close(device.fds[0]);
	close(device.fds[1]);
}

/* The removal of another device with the same addresses is not reported. */
static void test_bound_device_of_an_endpoint(void **unused)
{
	check_watched(addresses[0]);
	check_watched(addresses[1]);
	check_watched(NULL);
}

static void test_event_channel_errors(void **unused)
{
	static const struct {
		int refusal;
		const char *text;
	} rows[] = {
		{ENOENT, "(try 'modprobe rdma_ucm'): No such file"                          },
		{EACCES, "(check the permissions of /dev/infiniband/rdma_cm): Permission"   },
		{EPERM,  "(check the permissions of /dev/infiniband/rdma_cm): Operation not"},
		{EMFILE,
		 "(raise the open file limit: ulimit -Hn, LimitNOFILE): Too many open files"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct rdma_event_channel *channel;
		struct error error = {0};

		kernel.refusal = rows[i].refusal;
		assert_int_equal(cm_channel_open(&channel, &error), -rows[i].refusal);
		assert_contains(error.text, rows[i].text);
	}
	kernel.refusal = 0;
}

static void happen(enum ibv_event_type type)
{
	uint8_t byte = (uint8_t)type;

	assert_int_equal(write(device.fds[1], &byte, sizeof(byte)), sizeof(byte));
}

static void await_acknowledged(int n)
{
	uint64_t deadline = clock_deadline(PATIENCE_MS);

	while (atomic_load(&device.n_acknowledged) < n && clock_left_ms(deadline))
		usleep(1000);
	assert_int_equal(atomic_load(&device.n_acknowledged), n);
}

struct scene {
	struct ibv_context verbs;
	struct rdma_state state;
	struct rdma_context context;
};

/* The device has an event before anyone watches. */
static void open_scene(struct scene *scene, struct rdma_cm_id *conn, enum ibv_port_state port)
{
	struct rdma_state *state = &scene->state;
	struct error error = {0};

	assert_int_equal(pipe(device.fds), 0);
	atomic_store(&device.n_acknowledged, 0);
	atomic_store(&device.port, port);
	happen(IBV_EVENT_PORT_ERR);
	scene->verbs.async_fd = device.fds[0];
	state->endpoint = &state->own;
	state->port_num = 1;
	assert_int_equal(endpoint_begin(&state->own, &error), 0);
	state->own.verbs = &scene->verbs;
	scene->context = (struct rdma_context){.conn = conn, .state = state};
	assert_int_equal(guard_device(&scene->context, &error), 0);
	await_acknowledged(1);
}

static void close_scene(struct scene *scene)
{
	guard_release(&scene->context);
	alarm_close(&scene->state.own.alarm);
	close(device.fds[0]);
	close(device.fds[1]);
}

static void test_port_is_down(void **unused)
{
	struct scene scene = {0};
	struct error error = {0};

	open_scene(&scene, NULL, IBV_PORT_DOWN);
	assert_int_equal(alarm_reason(&scene.state.own.alarm, &error), -ENETDOWN);
	assert_string_equal(error.text, "the port of the device went down");
	close_scene(&scene);
}

/* An event from before the connection does not fail it. */
static void test_port_was_down(void **unused)
{
	struct scene scene = {0};
	struct alarm *alarm = &scene.state.own.alarm;
	struct error error = {0};

	open_scene(&scene, NULL, IBV_PORT_ACTIVE);
	assert_false(alarm_raised(alarm));
	assert_string_equal(alarm->note, "the port of the device went down");
	happen(IBV_EVENT_PORT_ACTIVE);
	await_acknowledged(2);
	assert_string_equal(alarm->note, "");
	atomic_store(&device.port, IBV_PORT_DOWN);
	happen(IBV_EVENT_PORT_ERR);
	await_acknowledged(3);
	assert_int_equal(alarm_reason(alarm, &error), -ENETDOWN);
	close_scene(&scene);
}

/* With rdma_cm, outstanding operations report the failure. */
static void test_port_down_with_rdma_cm(void **unused)
{
	struct rdma_cm_id conn = {0};
	struct scene scene = {0};

	open_scene(&scene, &conn, IBV_PORT_DOWN);
	assert_false(alarm_raised(&scene.state.own.alarm));
	assert_string_equal(scene.state.own.alarm.note, "the port of the device went down");
	close_scene(&scene);
}

static void ignore(struct async *async, const struct ibv_async_event *event)
{
}

static bool is_blocking(void)
{
	return !(fcntl(device.fds[0], F_GETFL) & O_NONBLOCK);
}

static void add_and_remove(bool was_blocking)
{
	struct ibv_context verbs = {.async_fd = device.fds[0]};
	struct async asyncs[] = {
		{.verbs = &verbs, .handle = ignore},
		{.verbs = &verbs, .handle = ignore},
	};
	struct error error = {0};

	for (size_t i = 0; i < ARRAY_LENGTH(asyncs); i++)
		assert_int_equal(async_add(&asyncs[i], &error), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(asyncs); i++) {
		assert_false(is_blocking());
		async_remove(&asyncs[i]);
		async_remove(&asyncs[i]);
	}
	assert_int_equal(is_blocking(), was_blocking);
}

/*
 * The descriptor is blocking again after the last listener is removed, as the program may
 * use it.
 */
static void test_descriptor_is_blocking_again(void **unused)
{
	assert_int_equal(pipe(device.fds), 0);
	add_and_remove(true);
	add_and_remove(true);
	assert_int_equal(fcntl(device.fds[0], F_SETFL, O_NONBLOCK), 0);
	add_and_remove(false);
	close(device.fds[0]);
	close(device.fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_port_is_down),
		cmocka_unit_test(test_port_was_down),
		cmocka_unit_test(test_port_down_with_rdma_cm),
		cmocka_unit_test(test_bound_device_of_an_endpoint),
		cmocka_unit_test(test_event_channel_errors),
		cmocka_unit_test(test_descriptor_is_blocking_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
