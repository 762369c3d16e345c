/* SPDX-License-Identifier: MIT */
/* Multicast: datagrams to all queue pairs that are attached to a group, and groups of rdma_cm. */
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/soft/link/settings.h"
#include "core/soft/peer/process.h"
#include "core/test/soft/pair.h"

enum {
	BYTES = 64,
	LONG = 2048, /* does not travel in a completion */
	GRH = 40,
	MULTICAST_QPN = 0xffffff,
};

static const struct stage_ways datagrams = {.type = IBV_QPT_UD};

/* Returns the GID of 239.1.2.last: an IPv4-mapped address, as in annex A17 (RoCEv2). */
static union ibv_gid group_of(uint8_t last)
{
	return (union ibv_gid){
		.raw = {[10] = 0xff, [11] = 0xff, [12] = 239, [13] = 1, [14] = 2, [15] = last}
        };
}

static void attach(struct ibv_qp *qp, uint8_t last)
{
	const union ibv_gid group = group_of(last);

	assert_int_equal(ibv_attach_mcast(qp, &group, 0), 0);
}

static void detach(struct ibv_qp *qp, uint8_t last)
{
	const union ibv_gid group = group_of(last);

	assert_int_equal(ibv_detach_mcast(qp, &group, 0), 0);
}

/* Posts a receive into the end's half, behind what it sends. */
static void receive(struct stage *stage, unsigned int i)
{
	struct ibv_sge sge = {.addr = (uintptr_t)stage->end[i].buffer + STAGE_HALF / 2,
			      .length = GRH + LONG,
			      .lkey = stage->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	assert_int_equal(ibv_post_recv(stage->end[i].qp, &wr, &bad), 0);
}

/* Sends from end[0] to a group and awaits the completion. */
static void send_to(struct stage *stage, uint8_t last, uint32_t length, uint32_t qkey)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1, .grh = {.dgid = group_of(last), .hop_limit = 1}
        };
	struct ibv_ah *ah = ibv_create_ah(stage->pd, &attr);
	struct ibv_send_wr wr = {
		.wr_id = 9,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = {.ah = ah, .remote_qpn = MULTICAST_QPN, .remote_qkey = qkey},
	};
	struct ibv_wc wc;

	assert_non_null(ah);
	memset(stage->end[0].buffer, last, length);
	assert_int_equal(stage_post(stage, &wr, length), 0);
	do
		wc = stage_await(stage->end[0].cq);
	while (wc.opcode == IBV_WC_RECV);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.wr_id, 9);
	assert_int_equal(ibv_destroy_ah(ah), 0);
}

static void expect_message(struct stage *stage, unsigned int i, uint8_t last, uint32_t length,
			   uint32_t sender)
{
	const unsigned char *received = stage->end[i].buffer + STAGE_HALF / 2;
	const union ibv_gid group = group_of(last);
	struct ibv_wc wc = stage_await(stage->end[i].cq);

	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_int_equal(wc.byte_len, GRH + length);
	assert_int_equal(wc.qp_num, stage->end[i].qp->qp_num);
	assert_int_equal(wc.src_qp, sender);
	/* The destination of an IPv4 header is the last part of the GRH. */
	assert_memory_equal(received + GRH - 4, &group.raw[12], 4);
	assert_int_equal(received[GRH], last);
	assert_int_equal(received[GRH + length - 1], last);
}

static void test_members_get_copies(void **unused)
{
	struct stage stage;

	stage_open(&stage, &datagrams);
	attach(stage.end[1].qp, 1);
	for (uint32_t length = BYTES; length <= LONG; length += LONG - BYTES) {
		receive(&stage, 1);
		send_to(&stage, 1, length, STAGE_QKEY);
		expect_message(&stage, 1, 1, length, stage.end[0].qp->qp_num);
	}
	/* Another group, and another key: nothing arrives. */
	receive(&stage, 1);
	send_to(&stage, 2, BYTES, STAGE_QKEY);
	send_to(&stage, 1, BYTES, STAGE_QKEY + 1);
	assert_true(stage_is_empty(stage.end[1].cq));
	attach(stage.end[1].qp, 2);
	send_to(&stage, 2, BYTES, STAGE_QKEY);
	expect_message(&stage, 1, 2, BYTES, stage.end[0].qp->qp_num);
	/* A member without a receive loses the message. */
	send_to(&stage, 2, BYTES, STAGE_QKEY);
	detach(stage.end[1].qp, 1);
	detach(stage.end[1].qp, 2);
	receive(&stage, 1);
	send_to(&stage, 1, BYTES, STAGE_QKEY);
	send_to(&stage, 2, BYTES, STAGE_QKEY);
	assert_true(stage_is_empty(stage.end[1].cq));
	stage_close(&stage);
}

/* A queue pair that is attached gets its own messages too. */
static void test_sender_is_a_member(void **unused)
{
	struct stage stage;

	stage_open(&stage, &datagrams);
	for (unsigned int i = 0; i < 2; i++)
		attach(stage.end[i].qp, 1);
	receive(&stage, 0);
	send_to(&stage, 1, LONG, STAGE_QKEY);
	assert_int_equal(stage.end[0].buffer[STAGE_HALF / 2 + GRH], 1);
	receive(&stage, 1);
	send_to(&stage, 1, LONG, STAGE_QKEY);
	expect_message(&stage, 1, 1, LONG, stage.end[0].qp->qp_num);
	for (unsigned int i = 0; i < 2; i++)
		detach(stage.end[i].qp, 1);
	stage_close(&stage);
}

/* The kernel's ib_attach_mcast() refuses the same, and its uverbs ignore a second attachment. */
static void test_refusals(void **unused)
{
	const union ibv_gid unicast = {
		.raw = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}
        };
	const union ibv_gid group = group_of(1);
	struct stage connected;
	struct stage stage;

	stage_open(&connected, &(struct stage_ways){0});
	assert_int_equal(ibv_attach_mcast(connected.end[0].qp, &group, 0), EINVAL);
	assert_int_equal(ibv_detach_mcast(connected.end[0].qp, &group, 0), EINVAL);
	stage_close(&connected);
	stage_open(&stage, &datagrams);
	assert_int_equal(ibv_attach_mcast(stage.end[1].qp, &unicast, 0), EINVAL);
	assert_int_equal(ibv_detach_mcast(stage.end[1].qp, &group, 0), EINVAL);
	attach(stage.end[1].qp, 1);
	attach(stage.end[1].qp, 1);
	receive(&stage, 1);
	receive(&stage, 1);
	send_to(&stage, 1, BYTES, STAGE_QKEY);
	expect_message(&stage, 1, 1, BYTES, stage.end[0].qp->qp_num);
	assert_true(stage_is_empty(stage.end[1].cq));
	assert_int_equal(ibv_destroy_qp(stage.end[1].qp), EBUSY);
	detach(stage.end[1].qp, 1);
	stage_close(&stage);
}

static void test_limit(void **unused)
{
	union ibv_gid group = {
		.raw = {0xff, 0x0e}
        };
	struct ibv_device_attr limits;
	struct stage stage;
	int count = 0;

	stage_open(&stage, &datagrams);
	assert_int_equal(ibv_query_device(stage.context, &limits), 0);
	for (int result = 0; !result; count += !result) {
		group.global.interface_id = htobe64((uint64_t)count);
		result = ibv_attach_mcast(stage.end[1].qp, &group, 0);
		assert_true(!result || result == ENOMEM);
	}
	assert_int_equal(count, limits.max_total_mcast_qp_attach);
	while (count--) {
		group.global.interface_id = htobe64((uint64_t)count);
		assert_int_equal(ibv_detach_mcast(stage.end[1].qp, &group, 0), 0);
	}
	assert_int_equal(soft_process.registry.file->member_count, 0);
	stage_close(&stage);
}

/* An entry of the process that had the slot before is no member, and is removed. */
static void test_previous_owner(void **unused)
{
	const struct soft_registry *registry = &soft_process.registry;
	const union ibv_gid group = group_of(1);
	struct soft_registry_member *member;
	struct stage stage;

	stage_open(&stage, &datagrams);
	receive(&stage, 1);
	attach(stage.end[1].qp, 1);
	member = &registry->file->member[0];
	member[1].owner = soft_registry_holder(registry->slot, registry->generation - 1);
	member[1].qp_num = member->qp_num;
	for (unsigned int i = 0; i < 2; i++)
		member[1].group[i] = member->group[i];
	registry->file->member_count = 2;
	/* A queue pair whose entry was lost in a takeover of the lock can be destroyed. */
	member->owner = 0;
	assert_int_equal(ibv_detach_mcast(stage.end[1].qp, &group, 0), EINVAL);
	assert_int_equal(registry->file->member_count, 2);
	send_to(&stage, 1, BYTES, STAGE_QKEY);
	assert_true(stage_is_empty(stage.end[1].cq));
	assert_int_equal(registry->file->member_count, 0);
	stage_close(&stage);
}

/* The service thread delivers to a process that it could not connect to. */
static void test_on_a_link(void **unused)
{
	struct stage stage;

	assert_int_equal(setenv(SOFT_LINK_VARIABLE, "latency=1ms", 1), 0);
	stage_open(&stage, &datagrams);
	attach(stage.end[1].qp, 1);
	receive(&stage, 1);
	send_to(&stage, 1, LONG, STAGE_QKEY);
	expect_message(&stage, 1, 1, LONG, stage.end[0].qp->qp_num);
	detach(stage.end[1].qp, 1);
	stage_close(&stage);
	assert_int_equal(unsetenv(SOFT_LINK_VARIABLE), 0);
}

/* The child joins the group, receives one message, and stays attached until it is killed. */
static void join(struct pair *pair)
{
	receive(&pair->stage, 0);
	attach(pair->stage.end[0].qp, 1);
	pair_send(pair->socket, "a", 1);
	expect_message(&pair->stage, 0, 1, LONG, pair->peer.number);
	pair_send(pair->socket, "r", 1);
	pair_wait(pair);
}

static void test_other_process(void **unused)
{
	struct pair pair;

	pair_set_up(&pair, join, &datagrams);
	stage_connect(pair.stage.end[1].qp, &pair.peer.gid, pair.peer.number, &datagrams);
	attach(pair.stage.end[1].qp, 1);
	receive(&pair.stage, 1);
	pair_wait(&pair);
	send_to(&pair.stage, 1, LONG, STAGE_QKEY);
	expect_message(&pair.stage, 1, 1, LONG, pair.stage.end[0].qp->qp_num);
	pair_wait(&pair);
	assert_int_equal(soft_process.registry.file->member_count, 2);
	detach(pair.stage.end[1].qp, 1);
	assert_int_equal(kill(pair.child, SIGKILL), 0);
	/* A sender removes a dead member, as soon as this process knows that it is dead. */
	for (int tries = 0; soft_process.registry.file->member_count; tries++) {
		assert_true(tries < 20000);
		send_to(&pair.stage, 1, BYTES, STAGE_QKEY);
		usleep(1000);
	}
	assert_int_equal(waitpid(pair.child, NULL, 0), pair.child);
	stage_close(&pair.stage);
	close(pair.socket);
}

struct joined {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct sockaddr_in group;
};

static void open_joined(struct joined *joined)
{
	struct sockaddr_in local = {.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct rdma_cm_event *event;

	*joined = (struct joined){
		.group = {.sin_family = AF_INET, .sin_port = htons(7174)}
        };
	assert_int_equal(inet_pton(AF_INET, "239.1.2.3", &joined->group.sin_addr), 1);
	joined->channel = rdma_create_event_channel();
	assert_non_null(joined->channel);
	assert_int_equal(rdma_create_id(joined->channel, &joined->id, NULL, RDMA_PS_UDP), 0);
	assert_int_equal(rdma_join_multicast(joined->id, (struct sockaddr *)&joined->group, NULL),
			 -1);
	assert_int_equal(rdma_resolve_addr(joined->id, (struct sockaddr *)&local,
					   (struct sockaddr *)&joined->group, 1000),
			 0);
	assert_int_equal(rdma_get_cm_event(joined->channel, &event), 0);
	assert_int_equal(event->event, RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_int_equal(rdma_ack_cm_event(event), 0);
}

static void create_queue_pair(struct joined *joined)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UD,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};

	joined->cq = ibv_create_cq(joined->id->verbs, 4, NULL, NULL, 0);
	assert_non_null(joined->cq);
	init.send_cq = init.recv_cq = joined->cq;
	assert_int_equal(rdma_create_qp(joined->id, NULL, &init), 0);
}

static void close_joined(struct joined *joined)
{
	if (joined->id->qp)
		rdma_destroy_qp(joined->id);
	if (joined->cq)
		assert_int_equal(ibv_destroy_cq(joined->cq), 0);
	assert_int_equal(rdma_destroy_id(joined->id), 0);
	rdma_destroy_event_channel(joined->channel);
}

static uint32_t members(void)
{
	return soft_process.registry.file->member_count;
}

/* The event describes the group, and fetching it attaches the queue pair, as in librdmacm. */
static void test_join(void **unused)
{
	const union ibv_gid group = group_of(3);
	struct rdma_cm_event *event;
	struct joined joined;
	int context;

	open_joined(&joined);
	create_queue_pair(&joined);
	assert_int_equal(rdma_join_multicast(joined.id, (struct sockaddr *)&joined.group, &context),
			 0);
	assert_int_equal(members(), 0);
	assert_int_equal(rdma_get_cm_event(joined.channel, &event), 0);
	assert_int_equal(members(), 1);
	assert_int_equal(event->event, RDMA_CM_EVENT_MULTICAST_JOIN);
	assert_int_equal(event->status, 0);
	assert_ptr_equal(event->id, joined.id);
	assert_ptr_equal(event->param.ud.private_data, &context);
	assert_int_equal(event->param.ud.qp_num, MULTICAST_QPN);
	assert_int_equal(event->param.ud.qkey, RDMA_UDP_QKEY);
	assert_int_equal(event->param.ud.ah_attr.is_global, 1);
	assert_memory_equal(&event->param.ud.ah_attr.grh.dgid, &group, sizeof(group));
	assert_int_equal(rdma_ack_cm_event(event), 0);
	assert_int_equal(rdma_leave_multicast(joined.id, (struct sockaddr *)&joined.group), 0);
	assert_int_equal(members(), 0);
	assert_int_equal(rdma_leave_multicast(joined.id, (struct sockaddr *)&joined.group), -1);
	assert_int_equal(errno, EADDRNOTAVAIL);
	close_joined(&joined);
}

/* A member that only sends is not attached. Leaving drops an event that was not fetched. */
static void test_send_only(void **unused)
{
	struct joined joined;
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
		.addr = (struct sockaddr *)&joined.group,
	};
	struct rdma_cm_event *event;

	open_joined(&joined);
	create_queue_pair(&joined);
	assert_int_equal(rdma_join_multicast_ex(joined.id, &attr, NULL), 0);
	assert_int_equal(rdma_get_cm_event(joined.channel, &event), 0);
	assert_int_equal(event->event, RDMA_CM_EVENT_MULTICAST_JOIN);
	assert_int_equal(rdma_ack_cm_event(event), 0);
	assert_int_equal(members(), 0);
	assert_int_equal(rdma_leave_multicast(joined.id, attr.addr), 0);
	attr.join_flags = RDMA_MC_JOIN_FLAG_RESERVED;
	assert_int_equal(rdma_join_multicast_ex(joined.id, &attr, NULL), -1);
	assert_int_equal(rdma_join_multicast(joined.id, attr.addr, NULL), 0);
	assert_int_equal(rdma_leave_multicast(joined.id, attr.addr), 0);
	/* The program destroys the group with the identifier. */
	assert_int_equal(rdma_join_multicast(joined.id, attr.addr, NULL), 0);
	close_joined(&joined);
}

/* Only an address of a group can be joined. A failed attachment is reported by the event. */
static void test_join_error(void **unused)
{
	struct sockaddr_in unicast = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct rdma_cm_event *event;
	struct joined joined;
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){0});
	open_joined(&joined);
	assert_int_equal(rdma_join_multicast(joined.id, (struct sockaddr *)&unicast, NULL), -1);
	assert_int_equal(errno, EINVAL);
	joined.id->qp = stage.end[0].qp;
	assert_int_equal(rdma_join_multicast(joined.id, (struct sockaddr *)&joined.group, NULL), 0);
	assert_int_equal(rdma_get_cm_event(joined.channel, &event), 0);
	assert_int_equal(event->event, RDMA_CM_EVENT_MULTICAST_ERROR);
	assert_int_equal(event->status, -EINVAL);
	assert_int_equal(rdma_ack_cm_event(event), 0);
	joined.id->qp = NULL;
	close_joined(&joined);
	stage_close(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_other_process, pair_end_child),
		cmocka_unit_test(test_members_get_copies),
		cmocka_unit_test(test_sender_is_a_member),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_previous_owner),
		cmocka_unit_test(test_on_a_link),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_send_only),
		cmocka_unit_test(test_join_error),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
