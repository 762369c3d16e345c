/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/compiler.h"
#include "core/test/soft/stage.h"

static void fill(unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)(i * 7 + i / 251 + 1);
}

static struct ibv_send_wr request(const struct stage *stage, enum ibv_wr_opcode opcode)
{
	struct ibv_send_wr wr = {
		.wr_id = 7,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {(uintptr_t)stage->end[1].buffer, stage->mr->rkey},
	};

	return wr;
}

static void check_success(struct ibv_cq *cq, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = stage_await(cq);

	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, opcode);
}

/* Sizes that are carried in the completion, sizes that are copied, and those in between. */
static void test_send(void **unused)
{
	static const uint32_t sizes[] = {0, 1, 64, 255, 256, 257, 4096, 4097, STAGE_HALF};
	static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC};
	struct stage stage;

	for (size_t t = 0; t < ARRAY_LENGTH(types); t++) {
		stage_open(&stage, &(struct stage_ways){.type = types[t]});
		fill(stage.end[0].buffer, STAGE_HALF);
		for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
			struct ibv_send_wr wr = request(&stage, IBV_WR_SEND_WITH_IMM);
			struct ibv_wc wc;

			wr.imm_data = htonl(0xabcd);
			memset(stage.end[1].buffer, 0, STAGE_HALF);
			stage_receive(&stage, STAGE_HALF, 9);
			assert_int_equal(stage_post(&stage, &wr, sizes[i]), 0);
			check_success(stage.end[0].cq, IBV_WC_SEND);
			wc = stage_await(stage.end[1].cq);
			assert_int_equal(wc.status, IBV_WC_SUCCESS);
			assert_int_equal(wc.wr_id, 9);
			assert_int_equal(wc.byte_len, sizes[i]);
			assert_int_equal(ntohl(wc.imm_data), 0xabcd);
			assert_int_equal(wc.wc_flags, IBV_WC_WITH_IMM);
			assert_int_equal(wc.qp_num, stage.end[1].qp->qp_num);
			assert_memory_equal(stage.end[0].buffer, stage.end[1].buffer, sizes[i]);
			if (sizes[i] < STAGE_HALF)
				assert_int_equal(stage.end[1].buffer[sizes[i]], 0);
		}
		stage_close(&stage);
	}
}

static void test_write_and_read(void **unused)
{
	static const uint32_t sizes[] = {0, 1, 64, 4096, STAGE_HALF};
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){0});
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		struct ibv_send_wr wr = request(&stage, IBV_WR_RDMA_WRITE);

		fill(stage.end[0].buffer, STAGE_HALF);
		memset(stage.end[1].buffer, 0, STAGE_HALF);
		assert_int_equal(stage_post(&stage, &wr, sizes[i]), 0);
		check_success(stage.end[0].cq, IBV_WC_RDMA_WRITE);
		assert_memory_equal(stage.end[0].buffer, stage.end[1].buffer, sizes[i]);
		memset(stage.end[0].buffer, 0, STAGE_HALF);
		wr = request(&stage, IBV_WR_RDMA_READ);
		assert_int_equal(stage_post(&stage, &wr, sizes[i]), 0);
		check_success(stage.end[0].cq, IBV_WC_RDMA_READ);
		assert_memory_equal(stage.end[0].buffer, stage.end[1].buffer, STAGE_HALF);
	}
	assert_true(stage_is_empty(stage.end[1].cq));
	stage_close(&stage);
}

static void test_write_with_immediate(void **unused)
{
	struct stage stage;
	struct ibv_send_wr wr;
	struct ibv_wc wc;

	stage_open(&stage, &(struct stage_ways){0});
	wr = request(&stage, IBV_WR_RDMA_WRITE_WITH_IMM);
	wr.imm_data = htonl(5);
	wr.wr.rdma.remote_addr += 100;
	fill(stage.end[0].buffer, 3000);
	stage_receive(&stage, 0, 11);
	assert_int_equal(stage_post(&stage, &wr, 3000), 0);
	wc = stage_await(stage.end[1].cq);
	assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_int_equal(wc.byte_len, 3000);
	assert_int_equal(wc.wr_id, 11);
	assert_int_equal(ntohl(wc.imm_data), 5);
	assert_memory_equal(stage.end[0].buffer, stage.end[1].buffer + 100, 3000);
	check_success(stage.end[0].cq, IBV_WC_RDMA_WRITE);
	stage_close(&stage);
}

static void do_atomic(struct stage *stage, struct ibv_send_wr *wr, uint64_t before, uint64_t after)
{
	wr->wr.atomic.remote_addr = (uintptr_t)stage->end[1].buffer;
	wr->wr.atomic.rkey = stage->mr->rkey;
	assert_int_equal(stage_post(stage, wr, 8), 0);
	assert_int_equal(stage_await(stage->end[0].cq).status, IBV_WC_SUCCESS);
	assert_memory_equal(stage->end[0].buffer, &before, 8);
	assert_memory_equal(stage->end[1].buffer, &after, 8);
}

static void test_atomics(void **unused)
{
	const uint64_t start = UINT64_MAX - 1;
	struct stage stage;
	struct ibv_send_wr wr = {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				 .send_flags = IBV_SEND_SIGNALED};

	stage_open(&stage, &(struct stage_ways){0});
	memcpy(stage.end[1].buffer, &start, sizeof(start));
	wr.wr.atomic.compare_add = 5;
	do_atomic(&stage, &wr, start, 3);
	wr = (struct ibv_send_wr){.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
				  .send_flags = IBV_SEND_SIGNALED};
	wr.wr.atomic.compare_add = 4;
	wr.wr.atomic.swap = 100;
	do_atomic(&stage, &wr, 3, 3);
	wr.sg_list = NULL;
	wr.wr.atomic.compare_add = 3;
	do_atomic(&stage, &wr, 3, 100);
	stage_close(&stage);
}

/* Scatter/gather lists on both sides with elements of different sizes, some of them empty. */
static void test_scatter_gather(void **unused)
{
	static const uint32_t sizes[] = {40, 500};
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){0});
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		uintptr_t from = (uintptr_t)stage.end[0].buffer;
		uintptr_t to = (uintptr_t)stage.end[1].buffer;
		uint32_t key = stage.mr->lkey;
		uint32_t size = sizes[i];
		struct ibv_sge here[] = {
			{from,        size, key},
                        {from + 5000, 0,    key},
                        {from + size, size, key}
                };
		struct ibv_sge there[] = {
			{to + 9000,     0,        0  },
                        {to,            size + 3, key},
                        {to + size + 3, 2 * size, key}
                };
		struct ibv_send_wr wr = request(&stage, IBV_WR_SEND);
		struct ibv_recv_wr receive = {.sg_list = there, .num_sge = 3};
		struct ibv_recv_wr *bad;

		fill(stage.end[0].buffer, (size_t)2 * size);
		wr.sg_list = here;
		wr.num_sge = 3;
		assert_int_equal(ibv_post_recv(stage.end[1].qp, &receive, &bad), 0);
		assert_int_equal(stage_post(&stage, &wr, 0), 0);
		assert_int_equal(stage_await(stage.end[1].cq).byte_len, 2 * size);
		assert_memory_equal(stage.end[0].buffer, stage.end[1].buffer, (size_t)2 * size);
		check_success(stage.end[0].cq, IBV_WC_SEND);
	}
	stage_close(&stage);
}

/* Inline data may be changed as soon as it is posted, and needs no key. */
static void test_inline(void **unused)
{
	unsigned char data[STAGE_INLINE];
	struct ibv_sge sge = {.addr = (uintptr_t)data, .length = sizeof(data)};
	struct stage stage;
	struct ibv_send_wr wr;

	stage_open(&stage, &(struct stage_ways){.rnr_retry = 7});
	wr = request(&stage, IBV_WR_SEND);
	wr.send_flags |= IBV_SEND_INLINE;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	memset(data, 3, sizeof(data));
	assert_int_equal(stage_post(&stage, &wr, 0), 0);
	memset(data, 4, sizeof(data));
	stage_receive(&stage, STAGE_HALF, 0);
	assert_int_equal(stage_await(stage.end[1].cq).status, IBV_WC_SUCCESS);
	memset(data, 3, sizeof(data));
	assert_memory_equal(stage.end[1].buffer, data, sizeof(data));
	sge.length++;
	assert_int_equal(stage_post(&stage, &wr, 0), EINVAL);
	stage_close(&stage);
}

static void test_datagrams(void **unused)
{
	static const uint32_t sizes[] = {0, 64, 256, 257, 4096};
	struct stage stage;
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};
	struct ibv_ah *ah;

	stage_open(&stage, &(struct stage_ways){.type = IBV_QPT_UD});
	assert_int_equal(ibv_query_gid(stage.context, 1, 0, &attr.grh.dgid), 0);
	ah = ibv_create_ah(stage.pd, &attr);
	assert_non_null(ah);
	fill(stage.end[0].buffer, STAGE_HALF);
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		struct ibv_send_wr wr = {
			.opcode = IBV_WR_SEND,
			.wr.ud = {ah, stage.end[1].qp->qp_num, STAGE_QKEY},
		};
		struct ibv_ah *back;
		struct ibv_wc wc;

		stage_receive(&stage, sizes[i] + 40, 0);
		assert_int_equal(stage_post(&stage, &wr, sizes[i]), 0);
		wc = stage_await(stage.end[1].cq);
		assert_int_equal(wc.byte_len, sizes[i] + 40);
		assert_int_equal(wc.src_qp, stage.end[0].qp->qp_num);
		assert_true(wc.wc_flags & IBV_WC_GRH);
		assert_memory_equal(stage.end[0].buffer, stage.end[1].buffer + 40, sizes[i]);
		back = ibv_create_ah_from_wc(stage.pd, &wc,
					     (struct ibv_grh *)(void *)stage.end[1].buffer, 1);
		assert_non_null(back);
		assert_int_equal(ibv_destroy_ah(back), 0);
	}
	assert_int_equal(ibv_destroy_ah(ah), 0);
	stage_close(&stage);
}

/* Datagrams that cannot be received complete only at the sender. */
static void test_lost_datagrams(void **unused)
{
	struct stage stage;
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};
	struct ibv_ah *ah;

	stage_open(&stage, &(struct stage_ways){.type = IBV_QPT_UD});
	assert_int_equal(ibv_query_gid(stage.context, 1, 0, &attr.grh.dgid), 0);
	ah = ibv_create_ah(stage.pd, &attr);
	for (int i = 0; i < 4; i++) {
		struct ibv_send_wr wr = {
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.ud = {ah, stage.end[1].qp->qp_num, STAGE_QKEY},
		};

		if (i)
			stage_receive(&stage, 100, 0);
		if (i == 1)
			wr.wr.ud.remote_qkey++;
		if (i == 2)
			wr.wr.ud.remote_qpn++;
		/* The last one does not fit with its header. */
		assert_int_equal(stage_post(&stage, &wr, 61), 0);
		check_success(stage.end[0].cq, IBV_WC_SEND);
		assert_true(stage_is_empty(stage.end[1].cq));
	}
	assert_int_equal(ibv_destroy_ah(ah), 0);
	stage_close(&stage);
}

static void test_extended_posts(void **unused)
{
	struct stage stage;
	struct ibv_qp_ex *qp;
	uint32_t rkey;
	uintptr_t there;
	struct ibv_data_buf pieces[] = {
		{NULL, 3},
                {NULL, 4}
        };

	stage_open(&stage, &(struct stage_ways){0});
	qp = ibv_qp_to_qp_ex(stage.end[0].qp);
	assert_non_null(qp);
	rkey = stage.mr->rkey;
	there = (uintptr_t)stage.end[1].buffer;
	fill(stage.end[0].buffer, 100);
	pieces[0].addr = stage.end[0].buffer;
	pieces[1].addr = stage.end[0].buffer + 3;
	ibv_wr_start(qp);
	qp->wr_id = 1;
	qp->wr_flags = 0;
	ibv_wr_rdma_write(qp, rkey, there);
	ibv_wr_set_sge(qp, stage.mr->lkey, (uintptr_t)stage.end[0].buffer, 100);
	qp->wr_id = 2;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(qp, rkey, there + 200);
	ibv_wr_set_inline_data_list(qp, 2, pieces);
	qp->wr_id = 3;
	ibv_wr_atomic_fetch_add(qp, rkey, there + 400, 1);
	ibv_wr_set_sge(qp, stage.mr->lkey, (uintptr_t)stage.end[0].buffer + 400, 8);
	assert_int_equal(ibv_wr_complete(qp), 0);
	assert_int_equal(stage_await(stage.end[0].cq).wr_id, 2);
	assert_int_equal(stage_await(stage.end[0].cq).wr_id, 3);
	assert_memory_equal(stage.end[0].buffer, stage.end[1].buffer, 100);
	assert_memory_equal(stage.end[0].buffer, stage.end[1].buffer + 200, 7);
	assert_int_equal(stage.end[1].buffer[400], 1);
	/* Aborted and failing posts have no effect. */
	ibv_wr_start(qp);
	ibv_wr_rdma_write(qp, rkey, there);
	ibv_wr_abort(qp);
	ibv_wr_start(qp);
	for (int i = 0; i <= STAGE_DEPTH; i++)
		ibv_wr_send(qp);
	assert_int_equal(ibv_wr_complete(qp), ENOMEM);
	assert_true(stage_is_empty(stage.end[0].cq));
	stage_close(&stage);
}

static void test_extended_polls(void **unused)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 8, .wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
	struct ibv_poll_cq_attr nothing = {0};
	struct stage stage;
	struct ibv_cq_ex *cq;
	struct ibv_qp *qp;
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	uint64_t time_ns;

	stage_open(&stage, &(struct stage_ways){0});
	cq = ibv_create_cq_ex(stage.context, &attr);
	assert_non_null(cq);
	init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(cq);
	qp = ibv_create_qp(stage.pd, &init);
	assert_non_null(qp);
	assert_int_equal(ibv_start_poll(cq, &nothing), ENOENT);
	assert_int_equal(ibv_modify_qp(qp, &attributes, mask), 0);
	attributes.qp_state = IBV_QPS_ERR;
	assert_int_equal(ibv_modify_qp(qp, &attributes, IBV_QP_STATE), 0);
	for (uint64_t i = 1; i <= 2; i++) {
		struct ibv_recv_wr wr = {.wr_id = i};
		struct ibv_recv_wr *bad;

		assert_int_equal(ibv_post_recv(qp, &wr, &bad), 0);
	}
	assert_int_equal(ibv_start_poll(cq, &nothing), 0);
	assert_int_equal(cq->wr_id, 1);
	assert_int_equal(cq->status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(ibv_wc_read_opcode(cq), IBV_WC_RECV);
	assert_int_equal(ibv_wc_read_qp_num(cq), qp->qp_num);
	time_ns = ibv_wc_read_completion_ts(cq);
	assert_true(time_ns > 0);
	assert_int_equal(ibv_next_poll(cq), 0);
	assert_int_equal(cq->wr_id, 2);
	assert_true(ibv_wc_read_completion_ts(cq) >= time_ns);
	assert_int_equal(ibv_next_poll(cq), ENOENT);
	ibv_end_poll(cq);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	stage_close(&stage);
}

static void send_one(struct stage *stage, unsigned int flags)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = flags};

	stage_receive(stage, 64, 0);
	assert_int_equal(stage_post(stage, &wr, 8), 0);
}

static bool has_event(struct stage *stage)
{
	struct pollfd readable = {.fd = stage->channel->fd, .events = POLLIN};

	return poll(&readable, 1, 0) == 1;
}

/* Each arming causes one event, and only for the completions it asked for. */
static void test_events(void **unused)
{
	struct stage stage;
	struct ibv_cq *cq;
	void *context;

	stage_open(&stage, &(struct stage_ways){0});
	send_one(&stage, 0);
	assert_false(has_event(&stage));
	assert_int_equal(ibv_req_notify_cq(stage.end[1].cq, 1), 0);
	send_one(&stage, 0);
	assert_false(has_event(&stage));
	send_one(&stage, IBV_SEND_SOLICITED);
	assert_true(has_event(&stage));
	send_one(&stage, IBV_SEND_SOLICITED);
	assert_int_equal(ibv_get_cq_event(stage.channel, &cq, &context), 0);
	assert_ptr_equal(cq, stage.end[1].cq);
	assert_ptr_equal(context, &stage.end[1]);
	ibv_ack_cq_events(cq, 1);
	assert_false(has_event(&stage));
	assert_int_equal(ibv_req_notify_cq(stage.end[1].cq, 0), 0);
	assert_int_equal(ibv_req_notify_cq(stage.end[0].cq, 0), 0);
	send_one(&stage, IBV_SEND_SIGNALED);
	for (int i = 0; i < 2; i++) {
		assert_true(has_event(&stage));
		assert_int_equal(ibv_get_cq_event(stage.channel, &cq, &context), 0);
		ibv_ack_cq_events(cq, 1);
	}
	assert_false(has_event(&stage));
	stage_close(&stage);
}

/* Resetting a queue pair removes its completions. */
static void test_reset_removes_completions(void **unused)
{
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){0});
	send_one(&stage, IBV_SEND_SIGNALED);
	send_one(&stage, IBV_SEND_SIGNALED);
	assert_int_equal(ibv_modify_qp(stage.end[1].qp, &reset, IBV_QP_STATE), 0);
	assert_true(stage_is_empty(stage.end[1].cq));
	check_success(stage.end[0].cq, IBV_WC_SEND);
	check_success(stage.end[0].cq, IBV_WC_SEND);
	stage_close(&stage);
}

static void test_resize(void **unused)
{
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){.cqe = 4});
	for (int i = 0; i < 6; i++) {
		send_one(&stage, IBV_SEND_SIGNALED);
		assert_int_equal(stage_await(stage.end[1].cq).status, IBV_WC_SUCCESS);
		if (i < 3)
			check_success(stage.end[0].cq, IBV_WC_SEND);
	}
	assert_int_equal(ibv_resize_cq(stage.end[0].cq, 1), EINVAL);
	assert_int_equal(ibv_resize_cq(stage.end[0].cq, 100), 0);
	assert_true(stage.end[0].cq->cqe >= 100);
	for (int i = 0; i < 10; i++) {
		send_one(&stage, IBV_SEND_SIGNALED);
		assert_int_equal(stage_await(stage.end[1].cq).status, IBV_WC_SUCCESS);
	}
	for (int i = 0; i < 13; i++)
		check_success(stage.end[0].cq, IBV_WC_SEND);
	assert_true(stage_is_empty(stage.end[0].cq));
	stage_close(&stage);
}

static void test_shared_receives(void **unused)
{
	struct ibv_srq_attr limit = {.srq_limit = 2};
	struct stage stage;
	struct ibv_srq_attr attr;

	stage_open(&stage, &(struct stage_ways){.with_srq = true});
	for (uint64_t i = 0; i < 3; i++)
		stage_receive(&stage, 64, i);
	assert_int_equal(ibv_modify_srq(stage.srq, &limit, IBV_SRQ_LIMIT), 0);
	for (uint64_t i = 0; i < 2; i++) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

		assert_int_equal(stage_post(&stage, &wr, 8), 0);
		assert_int_equal(stage_await(stage.end[1].cq).wr_id, i);
	}
	assert_int_equal(stage_await_event(&stage), IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_int_equal(ibv_query_srq(stage.srq, &attr), 0);
	assert_int_equal(attr.srq_limit, 0);
	stage_close(&stage);
}

/* The loopback address is a GID of the loopback interface. */
static void test_gids(void **unused)
{
	const union ibv_gid localhost = {
		.raw = {[10] = 0xff, 0xff, 127, 0, 0, 1}
        };
	struct ibv_gid_entry entries[64];
	struct ibv_gid_entry entry;
	struct stage stage;
	ssize_t count;
	ssize_t i = 0;

	stage_open(&stage, &(struct stage_ways){0});
	count = ibv_query_gid_table(stage.context, entries, ARRAY_LENGTH(entries), 0);
	while (i < count && memcmp(&entries[i].gid, &localhost, sizeof(localhost)) != 0)
		i++;
	assert_true(i < count);
	assert_int_equal(entries[i].gid_type, IBV_GID_TYPE_ROCE_V2);
	assert_int_equal(entries[i].ndev_ifindex, if_nametoindex("lo"));
	assert_int_equal(ibv_query_gid_ex(stage.context, 1, (uint32_t)i, &entry, 0), 0);
	assert_memory_equal(&entry, &entries[i], sizeof(entry));
	assert_int_equal(ibv_query_gid_ex(stage.context, 1, (uint32_t)count, &entry, 0), ENODATA);
	assert_int_equal(ibv_query_gid_ex(stage.context, 1, 64, &entry, 0), EINVAL);
	assert_int_equal(ibv_query_gid_ex(stage.context, 2, 0, &entry, 0), EINVAL);
	stage_close(&stage);
}

/* The device supports the number of queue pairs that it reports. */
static void test_many_queue_pairs(void **unused)
{
	static struct ibv_qp *qps[4096];
	struct stage stage;
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 16, .max_recv_wr = 64, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	stage_open(&stage, &(struct stage_ways){0});
	init.send_cq = init.recv_cq = stage.end[0].cq;
	for (size_t i = 0; i < ARRAY_LENGTH(qps); i++) {
		qps[i] = ibv_create_qp(stage.pd, &init);
		assert_non_null(qps[i]);
		if (i)
			assert_int_not_equal(qps[i]->qp_num, qps[i - 1]->qp_num);
	}
	send_one(&stage, IBV_SEND_SIGNALED);
	check_success(stage.end[0].cq, IBV_WC_SEND);
	for (size_t i = 0; i < ARRAY_LENGTH(qps); i++)
		assert_int_equal(ibv_destroy_qp(qps[i]), 0);
	stage_close(&stage);
}

/* The first and the last bytes of a region above 1 GiB are accessible. */
static void test_large_region(void **unused)
{
	const size_t size = (UINT64_C(1) << 30) + 4096;
	struct stage stage;
	struct ibv_mr *mr;
	unsigned char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_true(memory != MAP_FAILED);
	stage_open(&stage, &(struct stage_ways){0});
	mr = ibv_reg_mr(stage.pd, memory, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	assert_non_null(mr);
	memset(stage.end[0].buffer, 9, 8);
	for (size_t at = 0; at <= size - 8; at += size - 8) {
		struct ibv_send_wr wr = request(&stage, IBV_WR_RDMA_WRITE);

		wr.wr.rdma.remote_addr = (uintptr_t)memory + at;
		wr.wr.rdma.rkey = mr->rkey;
		assert_int_equal(stage_post(&stage, &wr, 8), 0);
		check_success(stage.end[0].cq, IBV_WC_RDMA_WRITE);
		assert_int_equal(memory[at], 9);
		assert_int_equal(memory[at + 7], 9);
	}
	assert_int_equal(ibv_dereg_mr(mr), 0);
	stage_close(&stage);
	munmap(memory, size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_write_and_read),
		cmocka_unit_test(test_write_with_immediate),
		cmocka_unit_test(test_atomics),
		cmocka_unit_test(test_scatter_gather),
		cmocka_unit_test(test_inline),
		cmocka_unit_test(test_datagrams),
		cmocka_unit_test(test_lost_datagrams),
		cmocka_unit_test(test_extended_posts),
		cmocka_unit_test(test_extended_polls),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_reset_removes_completions),
		cmocka_unit_test(test_resize),
		cmocka_unit_test(test_shared_receives),
		cmocka_unit_test(test_gids),
		cmocka_unit_test(test_many_queue_pairs),
		cmocka_unit_test(test_large_region),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
