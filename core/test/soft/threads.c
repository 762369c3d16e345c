/* SPDX-License-Identifier: MIT */
/*
 * Threads of one process that use the device concurrently, as verbs allow: the same queue pair,
 * completion queue or event channel, or different ones. Nothing is lost or done twice, and
 * ThreadSanitizer finds no race.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/soft/fault/fault.h"
#include "core/soft/link/progress.h"
#include "core/soft/op/qp.h"
#include "core/soft/peer/process.h"
#include "core/soft/time.h"
#include "core/test/soft/stage.h"

enum {
	POSTERS = 3,
	MESSAGES = 400,
	LENGTH = 16,
	ROUNDS = 20,
	PATIENCE_MS = 10000,
};

/* RNR retries are unlimited: senders wait for receives. */
static const struct stage_ways patient = {.rnr_retry = 7, .retry_cnt = 7, .timeout = 14};

struct work {
	struct stage stage;
	_Atomic unsigned int posted;
	_Atomic unsigned int sent;
	_Atomic unsigned int received;
	_Atomic unsigned int failed;
};

static pthread_t start(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run, argument), 0);
	return thread;
}

/* Keeps at most STAGE_DEPTH messages in flight, which the completion queue can hold. */
static void *post_all(void *argument)
{
	struct work *work = argument;

	for (int i = 0; i < MESSAGES; i++) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
		unsigned int number = atomic_fetch_add(&work->posted, 1);

		while ((int)(number - atomic_load(&work->sent)) >= STAGE_DEPTH)
			sched_yield();
		if (stage_post(&work->stage, &wr, LENGTH))
			atomic_fetch_add(&work->failed, 1);
	}
	return NULL;
}

static unsigned int take(struct work *work, struct ibv_cq *cq)
{
	struct ibv_wc wc[4];
	int count = ibv_poll_cq(cq, ARRAY_LENGTH(wc), wc);

	for (int i = 0; i < count; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			atomic_fetch_add(&work->failed, 1);
	return count > 0 ? (unsigned int)count : 0;
}

static void *poll_sent(void *argument)
{
	struct work *work = argument;

	while (atomic_load(&work->sent) < POSTERS * MESSAGES)
		atomic_fetch_add(&work->sent, take(work, work->stage.end[0].cq));
	return NULL;
}

/* Reposts a receive for each message. */
static void *poll_received(void *argument)
{
	struct work *work = argument;

	while (atomic_load(&work->received) < POSTERS * MESSAGES) {
		unsigned int count = take(work, work->stage.end[1].cq);

		for (unsigned int i = 0; i < count; i++)
			stage_receive(&work->stage, LENGTH, 0);
		atomic_fetch_add(&work->received, count);
	}
	return NULL;
}

static void send_from_threads(struct work *work)
{
	pthread_t threads[POSTERS + 4];
	size_t count = 0;

	stage_open(&work->stage, &patient);
	for (int i = 0; i < STAGE_DEPTH / 2; i++)
		stage_receive(&work->stage, LENGTH, 0);
	for (int i = 0; i < POSTERS; i++)
		threads[count++] = start(post_all, work);
	for (int i = 0; i < 2; i++) {
		threads[count++] = start(poll_sent, work);
		threads[count++] = start(poll_received, work);
	}
	while (count)
		pthread_join(threads[--count], NULL);
	assert_int_equal(work->sent, POSTERS * MESSAGES);
	assert_int_equal(work->received, POSTERS * MESSAGES);
	assert_int_equal(work->failed, 0);
	stage_close(&work->stage);
}

static void test_one_queue_pair(void **unused)
{
	static struct work work;

	send_from_threads(&work);
}

/* The same while the link goes down and up, and with a duplicate and a delayed message. */
static void test_faults(void **unused)
{
	static struct work work;

	soft_fault_load("link#200=down:20ms;message#300=duplicate;message#400=delay:5ms");
	send_from_threads(&work);
	assert_int_equal(soft_fault_fired("link#200=down:20ms"), 1);
	assert_int_equal(soft_fault_fired("message#300=duplicate"), 1);
	soft_fault_load(NULL);
}

/* Sleeps until events arrive; an event may stand for several messages, or for none. */
static void *await_events(void *argument)
{
	struct work *work = argument;
	struct ibv_cq *cq = work->stage.end[1].cq;

	while (work->received < MESSAGES) {
		struct pollfd readable = {.fd = work->stage.channel->fd, .events = POLLIN};
		unsigned int count;
		struct ibv_cq *which;
		void *context;

		if (poll(&readable, 1, PATIENCE_MS) != 1 ||
		    ibv_get_cq_event(work->stage.channel, &which, &context) || which != cq)
			break;
		ibv_ack_cq_events(cq, 1);
		if (ibv_req_notify_cq(cq, 0))
			break;
		while ((count = take(work, cq))) {
			for (unsigned int i = 0; i < count; i++)
				stage_receive(&work->stage, LENGTH, 0);
			work->received += count;
		}
	}
	return NULL;
}

static void test_event_channel(void **unused)
{
	static struct work work;
	pthread_t sleeper;

	stage_open(&work.stage, &patient);
	for (int i = 0; i < STAGE_DEPTH / 2; i++)
		stage_receive(&work.stage, LENGTH, 0);
	assert_int_equal(ibv_req_notify_cq(work.stage.end[1].cq, 0), 0);
	sleeper = start(await_events, &work);
	for (unsigned int i = 0; i < MESSAGES; i++) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};

		assert_int_equal(stage_post(&work.stage, &wr, LENGTH), 0);
		assert_int_equal(stage_await(work.stage.end[0].cq).status, IBV_WC_SUCCESS);
	}
	pthread_join(sleeper, NULL);
	assert_int_equal(work.received, MESSAGES);
	stage_close(&work.stage);
}

/* Creates, uses and destroys objects while other threads do the same. */
static void *create_and_destroy(void *argument)
{
	struct stage stage;

	for (int i = 0; i < ROUNDS; i++) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};

		stage_open(&stage, &patient);
		stage_receive(&stage, LENGTH, 0);
		if (!stage_post(&stage, &wr, LENGTH) &&
		    stage_await(stage.end[1].cq).status == IBV_WC_SUCCESS)
			atomic_fetch_add((_Atomic unsigned int *)argument, 1);
		stage_close(&stage);
	}
	return NULL;
}

static void test_objects(void **unused)
{
	_Atomic unsigned int good = 0;
	pthread_t threads[3];

	for (size_t i = 0; i < ARRAY_LENGTH(threads); i++)
		threads[i] = start(create_and_destroy, &good);
	for (size_t i = 0; i < ARRAY_LENGTH(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(good, ROUNDS * ARRAY_LENGTH(threads));
}

static bool expect_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type,
			 struct rdma_cm_id **id)
{
	struct pollfd readable = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;
	bool is_wanted;

	if (poll(&readable, 1, PATIENCE_MS) != 1 || rdma_get_cm_event(channel, &event))
		return false;
	is_wanted = event->event == type;
	*id = event->id;
	rdma_ack_cm_event(event);
	return is_wanted;
}

struct listener {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	_Atomic unsigned int served;
};

static bool make_queue_pair(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};

	return !rdma_create_qp(id, NULL, &init);
}

static void drop(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

static void *accept_all(void *argument)
{
	struct listener *listener = argument;

	for (int i = 0; i < ROUNDS; i++) {
		struct rdma_conn_param param = {0};
		struct rdma_cm_id *id;
		struct rdma_cm_id *same;

		if (!expect_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST, &id))
			break;
		if (make_queue_pair(id) && !rdma_accept(id, &param) &&
		    expect_event(listener->channel, RDMA_CM_EVENT_ESTABLISHED, &same) &&
		    expect_event(listener->channel, RDMA_CM_EVENT_DISCONNECTED, &same))
			atomic_fetch_add(&listener->served, 1);
		rdma_disconnect(id);
		drop(id);
	}
	return NULL;
}

static void connect_once(struct sockaddr_in *to)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_conn_param param = {.retry_count = 7};
	struct rdma_cm_id *id;
	struct rdma_cm_id *same;

	assert_non_null(channel);
	assert_int_equal(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_resolve_addr(id, NULL, (struct sockaddr *)to, PATIENCE_MS), 0);
	assert_true(expect_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED, &same));
	assert_int_equal(rdma_resolve_route(id, PATIENCE_MS), 0);
	assert_true(expect_event(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, &same));
	assert_true(make_queue_pair(id));
	assert_int_equal(rdma_connect(id, &param), 0);
	assert_true(expect_event(channel, RDMA_CM_EVENT_ESTABLISHED, &same));
	assert_int_equal(rdma_disconnect(id), 0);
	assert_true(expect_event(channel, RDMA_CM_EVENT_DISCONNECTED, &same));
	drop(id);
	rdma_destroy_event_channel(channel);
}

static void test_connections(void **unused)
{
	struct sockaddr_in local = {.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct listener listener = {.channel = rdma_create_event_channel()};
	pthread_t thread;

	assert_non_null(listener.channel);
	assert_int_equal(rdma_create_id(listener.channel, &listener.id, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_bind_addr(listener.id, (struct sockaddr *)&local), 0);
	assert_int_equal(rdma_listen(listener.id, ROUNDS), 0);
	local.sin_port = rdma_get_src_port(listener.id);
	thread = start(accept_all, &listener);
	for (int i = 0; i < ROUNDS; i++)
		connect_once(&local);
	pthread_join(thread, NULL);
	assert_int_equal(listener.served, ROUNDS);
	assert_int_equal(rdma_destroy_id(listener.id), 0);
	rdma_destroy_event_channel(listener.channel);
}

static void *wait_for_event(void *channel)
{
	struct rdma_cm_event *event;

	rdma_get_cm_event(channel, &event);
	return channel;
}

/* A thread that waits for a destroyed channel sleeps forever, instead of crashing. */
static void test_destroyed_channel(void **unused)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct timespec soon;
	pthread_t thread;

	assert_non_null(channel);
	rdma_destroy_event_channel(channel);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_event, channel), 0);
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec++;
	assert_int_equal(pthread_timedjoin_np(thread, NULL, &soon), ETIMEDOUT);
	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Posts with a cancellation pending; the post writes to the event channel of the peer. */
static void *post_cancelled(void *stage)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};

	pthread_cancel(pthread_self());
	assert_int_equal(stage_post(stage, &wr, 8), 0);
	pthread_testcancel();
	return NULL;
}

/* Posting is not a cancellation point, so that a canceled thread holds no locks. */
static void test_post_is_no_cancellation_point(void **unused)
{
	struct stage stage;
	pthread_t thread;

	stage_open(&stage, &(struct stage_ways){.is_shared = true});
	stage_receive(&stage, 8, 1);
	assert_int_equal(ibv_req_notify_cq(stage.end[1].cq, 0), 0);
	thread = start(post_cancelled, &stage);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(stage_await(stage.end[0].cq).status, IBV_WC_SUCCESS);
	assert_int_equal(stage_await(stage.end[1].cq).status, IBV_WC_SUCCESS);
	stage_close(&stage);
}

enum {
	RACES = 2000,
};

static _Atomic unsigned int turn;
static _Atomic unsigned int over;

/* In each round, fails the queue pair, like a peer that detects an error. */
static void *fail_each(void *index)
{
	for (unsigned int i = 1; i <= RACES; i++) {
		while (atomic_load(&turn) != i)
			sched_yield();
		soft_qp_fail(&soft_process.self, *(uint32_t *)index, SOFT_QP_NO_EVENT);
		atomic_store(&over, i);
	}
	return NULL;
}

static int bring_to(struct ibv_qp *qp, enum ibv_qp_state to, int mask)
{
	struct ibv_qp_attr attr = {.qp_state = to, .port_num = 1, .qkey = STAGE_QKEY};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask);
}

/* A concurrent ibv_modify_qp does not undo the failure of a queue pair. */
static void test_failure_during_modify(void **unused)
{
	struct stage stage;
	struct ibv_qp *qp;
	uint32_t index;
	pthread_t thread;

	stage_open(&stage, &(struct stage_ways){.type = IBV_QPT_UD});
	qp = stage.end[0].qp;
	index = soft_image_index(qp->qp_num);
	thread = start(fail_each, &index);
	for (unsigned int i = 1; i <= RACES; i++) {
		assert_int_equal(bring_to(qp, IBV_QPS_RESET, 0), 0);
		assert_int_equal(
			bring_to(qp, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
			0);
		atomic_store(&turn, i);
		if (!bring_to(qp, IBV_QPS_RTR, 0))
			bring_to(qp, IBV_QPS_RTS, IBV_QP_SQ_PSN);
		while (atomic_load(&over) != i)
			sched_yield();
		assert_int_equal(stage_state(qp), IBV_QPS_ERR);
	}
	pthread_join(thread, NULL);
	stage_close(&stage);
}

static void *destroy(void *qp)
{
	return ibv_destroy_qp(qp) ? qp : NULL;
}

/*
 * A queue pair that fails while it is being destroyed is put into the timer list once more, and
 * must be removed from it again. Sanitizers detect an entry that is left.
 */
static void test_failure_during_destruction(void **unused)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC};
	struct soft_qp_image *image;
	struct stage stage;
	struct soft_qp *qp;
	pthread_t thread;
	void *failed;

	stage_open(&stage, &(struct stage_ways){0});
	init.send_cq = init.recv_cq = stage.end[0].cq;
	qp = soft_qp_of(ibv_create_qp(stage.pd, &init));
	image = qp->image;
	assert_int_equal(bring_to(&qp->verbs.qp_base, IBV_QPS_INIT,
				  IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
			 0);
	/* The thread stops before it removes the queue pair from the table. */
	pthread_mutex_lock(&soft_process.qps.mutex);
	thread = start(destroy, &qp->verbs.qp_base);
	while (atomic_load(&image->state) != IBV_QPS_RESET)
		sched_yield();
	usleep(20000);
	soft_lock_take(&qp->lock);
	soft_progress_wait(qp, soft_time_ns() + 50000000);
	soft_lock_release(&qp->lock);
	pthread_mutex_unlock(&soft_process.qps.mutex);
	pthread_join(thread, &failed);
	assert_null(failed);
	/* Wait until the timer fires. */
	usleep(100000);
	stage_close(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_queue_pair),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_event_channel),
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_connections),
		cmocka_unit_test(test_destroyed_channel),
		cmocka_unit_test(test_post_is_no_cancellation_point),
		cmocka_unit_test(test_failure_during_modify),
		cmocka_unit_test(test_failure_during_destruction),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
