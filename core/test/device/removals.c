/* SPDX-License-Identifier: MIT */
/* The device is removed, or its port goes down. */
#include <stdlib.h>

#include "core/test/lib/progress.h"
#include "core/test/lib/rows.h"
#include "core/test/lib/spare.h"

/* The completion mode of both sides, and the client's operation. */
struct variant {
	int cq_notify;
	enum looping client;
};

static void connect_spare(struct agent *server, struct agent *client)
{
	shell_until("rdma link show vmspare/1 | grep -q 'state ACTIVE'");
	agents_connect_to(server, client, SPARE_HOST);
}

static void test_device_removal(void **state)
{
	const struct variant *variant = *state;
	const struct rdma_context settings = {.cq_notify = variant->cq_notify};
	struct agent *server = agent_start(&settings);
	struct agent *client = agent_start(&settings);
	struct outcome outcomes[2];
	bool seen = false;

	connect_spare(server, client);
	atomic_store(progress, 0);
	agent_begin(server, task_loop(LOOPING_RECV));
	agent_begin(client, task_loop(variant->client));
	if (variant->client > LOOPING_RECV)
		progress_await(client, server, 50);
	/* The command returns only when nobody uses the device any more. */
	assert_int_equal(shell("rdma link delete vmspare >&2 &"), 0);
	/* Both sides are on the removed device: one may see its peer disconnect first. */
	outcomes[0] = agent_end(server);
	outcomes[1] = agent_end(client);
	for (int i = 0; i < 2; i++) {
		bool removed = strstr(outcomes[i].reason, "the RDMA device was removed");

		assert_int_equal(outcomes[i].result, -1);
		if (!removed)
			assert_contains(outcomes[i].reason, CLOSED);
		seen |= removed;
	}
	assert_true(seen);
	agents_stop(server, client);
	shell_until("! rdma link show | grep -q vmspare/");
}

static void test_removal_of_a_listeners_device(void **unused)
{
	struct agent *server = agent_start(NULL);
	struct outcome outcome;

	shell_until("rdma link show vmspare/1 | grep -q 'state ACTIVE'");
	agent_must(server, task_setup_server(0, "vmspare"));
	agent_begin(server, task_wait_for_client());
	agent_await_sleep(server);
	assert_int_equal(shell("rdma link delete vmspare >&2 &"), 0);
	outcome = agent_end(server);
	assert_int_equal(outcome.result, -1);
	assert_contains(outcome.reason, "the RDMA device was removed");
	agent_stop(server);
	shell_until("! rdma link show | grep -q vmspare/");
}

static void test_port_goes_down(void **state)
{
	const struct variant *variant = *state;
	/* The default timeout: no ACK is overdue before the port event. */
	const struct rdma_context settings = {.cq_notify = variant->cq_notify,
					      .settings = {.ack_timeout = 14}};
	struct agent *server = agent_start(&settings);
	struct agent *client = agent_start(&settings);
	struct outcome outcome;

	connect_spare(server, client);
	atomic_store(progress, 0);
	agent_begin(client, task_loop(variant->client));
	if (variant->client > LOOPING_RECV)
		progress_await(client, server, 50);
	assert_int_equal(shell("ip link set vmspare0 down"), 0);
	outcome = agent_end(client);
	assert_int_equal(outcome.result, -1);
	assert_contains(outcome.reason, "the port of the device went down");
	agents_stop(server, client);
}

/* Must be last: removes the device that all other tests use. Runs only in a VM. */
static void test_no_device_at_all(void **unused)
{
	struct agent *agent = agent_start(NULL);
	const char *accelerator = getenv("SOFTROCE_ACCEL");
	struct task setup_client = task_setup_client(device_host(), 1, NULL);

	if (!accelerator || !strcmp(accelerator, "native"))
		return;
	assert_int_equal(shell("rdma link delete %s", device_name()), 0);
	agent_must_fail(agent, task_setup_server(0, NULL),
			"no RDMA device; for Soft-RoCE: modprobe rdma_rxe");
	agent_must_fail(agent, task_setup_server(0, "rxe0"),
			"no RDMA device; for Soft-RoCE: modprobe rdma_rxe");
	agent_must_fail(agent, setup_client, "no RDMA device; for Soft-RoCE: modprobe rdma_rxe");
	agent_stop(agent);
}

static const struct variant poll_recv = {.client = LOOPING_RECV};
static const struct variant event_recv = {.cq_notify = RDMA_EVENT, .client = LOOPING_RECV};
static const struct variant poll_write = {.client = LOOPING_WRITE};
static const struct variant event_read = {.cq_notify = RDMA_EVENT, .client = LOOPING_READ};

static const struct CMUnitTest tests[] = {
	SPARE(test_device_removal, poll_recv),
	SPARE(test_device_removal, event_recv),
	SPARE(test_device_removal, poll_write),
	SPARE(test_device_removal, event_read),
	SPARE(test_removal_of_a_listeners_device, poll_recv),
	SPARE(test_port_goes_down, poll_recv),
	SPARE(test_port_goes_down, event_recv),
	SPARE(test_port_goes_down, poll_write),
	SPARE(test_port_goes_down, event_read),
	ALONE(test_no_device_at_all),
};

const struct rows rows_removals = ROWS(tests);
