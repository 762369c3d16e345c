/* SPDX-License-Identifier: MIT */
#include "bench/client/cq_overflow.h"

#include <errno.h>
#include <time.h>

#include "core/rdma/context.h"
#include "core/rdma/manual_qp.h"
#include "core/verbs/device.h"
#include "core/verbs/post.h"

/* Requested CQ entries, and the number of completions as a multiple of the CQ's size. */
#define ENTRIES   16
#define TIMES     3
#define MESSAGE   8
#define EVENT_NS  (1 * NS_PER_S)
#define PAUSE_NS  NS_PER_MS
#define TEXT_SIZE 512

/* Two queue pairs that share a CQ and are connected to each other. */
struct loop {
	struct device_handle device;
	struct endpoint endpoint;
	struct rdma_context ends[2];
};

static int open_loop(struct loop *loop, const struct result_end *end, struct error *error)
{
	const struct endpoint_settings settings = {
		.cq_depth = ENTRIES, .wait = RDMA_POLL, .numa_node = -1};
	const struct manual_qp_settings pair = {.transport = TRANSPORT_RC,
						.port = (uint8_t)end->port,
						.gid_index = MANUAL_QP_GID_BEST};
	int code = device_open(&loop->device, end->device, error);

	if (!code)
		code = endpoint_open(&loop->endpoint, loop->device.verbs, &settings, error);
	for (size_t i = 0; i < ARRAY_LENGTH(loop->ends) && !code; i++) {
		uint32_t entries = (uint32_t)loop->endpoint.completion.cq->cqe;

		loop->ends[i].settings =
			(struct rdma_settings){.send_depth = TIMES * entries, .own_receives = true};
		code = manual_qp_open(&loop->ends[i], &loop->endpoint, &pair, error);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(loop->ends) && !code; i++) {
		struct manual_qp_address other;

		manual_qp_local(&loop->ends[!i], &other);
		code = manual_qp_connect(&loop->ends[i], &other, error);
	}
	return code;
}

static void close_loop(struct loop *loop)
{
	for (size_t i = 0; i < ARRAY_LENGTH(loop->ends); i++)
		rdma_close(&loop->ends[i]);
	endpoint_close(&loop->endpoint);
	device_close(&loop->device);
}

/* Posts signaled writes without polling the CQ. Returns how many could be posted. */
static unsigned int fill(struct loop *loop)
{
	const struct post_queue *queue = context_queue(&loop->ends[0]);
	unsigned int most = TIMES * (unsigned int)loop->endpoint.completion.cq->cqe;
	unsigned int count = 0;
	struct post_work work = {.n_sges = 1};

	work.sges[0] = (struct ibv_sge){.addr = loop->endpoint.memory.address,
					.length = MESSAGE,
					.lkey = loop->endpoint.mr->lkey};
	manual_qp_aim(&loop->ends[0], &work);
	while (count < most &&
	       !post_send(queue, &work, POST_WRITE, post_choose(queue, &work), IBV_SEND_SIGNALED))
		count++;
	return count;
}

/* Waits until the device reports the overflow, at most EVENT_NS. */
static void watch(struct loop *loop, struct error *reported)
{
	uint64_t deadline = clock_now_ns() + EVENT_NS;
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	while (!alarm_raised(&loop->endpoint.alarm) && clock_now_ns() < deadline)
		nanosleep(&pause, NULL);
	if (alarm_raised(&loop->endpoint.alarm))
		alarm_reason(&loop->endpoint.alarm, reported);
}

static unsigned int drain(struct loop *loop)
{
	unsigned int count = 0;
	struct ibv_wc wc;

	while (completion_poll(&loop->endpoint.completion, 1, &wc) > 0)
		count += wc.status == IBV_WC_SUCCESS;
	return count;
}

static json_t *provoke(struct loop *loop)
{
	struct error reported = {0};
	int entries = loop->endpoint.completion.cq->cqe;
	unsigned int posted = fill(loop);
	unsigned int taken;
	char text[TEXT_SIZE];

	watch(loop, &reported);
	taken = drain(loop);
	snprintf(text, sizeof(text),
		 "%u signaled writes to a CQ with room for %d completions: %s, and %u completions "
		 "could be polled",
		 posted, entries, reported.code ? reported.text : "the device reported nothing",
		 taken);
	return json_pack("{s:i, s:i, s:i, s:b, s:s}", "entries", entries, "posted", (int)posted,
			 "taken", (int)taken, "told", reported.code != 0, "seen", text);
}

void cq_overflow_note(const struct result_end *end, json_t **seen)
{
	struct loop loop = {0};
	struct error error = {0};
	char text[TEXT_SIZE];

	if (!open_loop(&loop, end, &error)) {
		*seen = provoke(&loop);
	} else {
		snprintf(text, sizeof(text), "cannot overflow a CQ: %s", error.text);
		*seen = json_pack("{s:s}", "seen", text);
	}
	close_loop(&loop);
}
