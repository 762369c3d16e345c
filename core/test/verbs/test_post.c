/* SPDX-License-Identifier: MIT */
/* Requests as a provider receives them: both interfaces pass the same. */
#include <stdbool.h>

#include "core/test/lib/check.h"
#include "core/verbs/post.h"
#ifdef HAVE_MLX5DV
#include <infiniband/mlx5dv.h>
#endif

#define SEEN_MAX 16

/* A request independent of the interface. Compared as bytes, so it has no padding. */
struct seen {
	uint64_t id;
	uint64_t remote;
	uint64_t compare_add;
	uint64_t swap;
	struct ibv_ah *ah;
	uint64_t address;
	unsigned int flags;
	enum ibv_wr_opcode opcode;
	uint32_t rkey;
	uint32_t imm; /* in network byte order */
	uint32_t qpn;
	uint32_t qkey; /* or the low bits of a key of DC */
	uint32_t length;
	uint32_t lkey;
	uint64_t srqn; /* 64 bits, so that the struct has no padding */
};

static struct seen seen[SEEN_MAX];
static size_t n_seen;
static size_t n_starts;
static size_t n_calls; /* of the provider, for one request or several */

static struct seen *last(void)
{
	return &seen[n_seen - 1];
}

static void begin(struct ibv_qp_ex *qpx, enum ibv_wr_opcode opcode)
{
	seen[n_seen++] = (struct seen){.id = qpx->wr_id, .flags = qpx->wr_flags, .opcode = opcode};
}

static void on_start(struct ibv_qp_ex *qpx)
{
	n_starts++;
}

static int on_complete(struct ibv_qp_ex *qpx)
{
	n_calls++;
	return 0;
}

static void on_send(struct ibv_qp_ex *qpx)
{
	begin(qpx, IBV_WR_SEND);
}

static void on_send_imm(struct ibv_qp_ex *qpx, __be32 imm)
{
	begin(qpx, IBV_WR_SEND_WITH_IMM);
	last()->imm = imm;
}

static void on_one_sided(struct ibv_qp_ex *qpx, enum ibv_wr_opcode opcode, uint32_t rkey,
			 uint64_t remote)
{
	begin(qpx, opcode);
	last()->rkey = rkey;
	last()->remote = remote;
}

static void on_write(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote)
{
	on_one_sided(qpx, IBV_WR_RDMA_WRITE, rkey, remote);
}

static void on_write_imm(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote, __be32 imm)
{
	on_one_sided(qpx, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote);
	last()->imm = imm;
}

static void on_read(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote)
{
	on_one_sided(qpx, IBV_WR_RDMA_READ, rkey, remote);
}

static void on_fetch_add(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote, uint64_t add)
{
	on_one_sided(qpx, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote);
	last()->compare_add = add;
}

static void on_compare_swap(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote, uint64_t compare,
			    uint64_t swap)
{
	on_one_sided(qpx, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote);
	last()->compare_add = compare;
	last()->swap = swap;
}

#ifdef HAVE_ATOMIC_WRITE
static void on_atomic_write(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote,
			    const void *value)
{
	on_one_sided(qpx, IBV_WR_ATOMIC_WRITE, rkey, remote);
	memcpy(&last()->swap, value, sizeof(last()->swap));
}
#endif

static void on_ud_addr(struct ibv_qp_ex *qpx, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	last()->ah = ah;
	last()->qpn = qpn;
	last()->qkey = qkey;
}

static void on_srqn(struct ibv_qp_ex *qpx, uint32_t srqn)
{
	last()->srqn = srqn;
}

#ifdef HAVE_MLX5DV
static void on_dc_addr(struct mlx5dv_qp_ex *dci, struct ibv_ah *ah, uint32_t number, uint64_t key)
{
	last()->ah = ah;
	last()->qpn = number;
	last()->qkey = (uint32_t)key;
}

static struct mlx5dv_qp_ex dci = {.wr_set_dc_addr = on_dc_addr};
#define INITIATOR &dci
#else
#define INITIATOR NULL
#endif

static void on_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t address, uint32_t length)
{
	last()->lkey = lkey;
	last()->address = address;
	last()->length = length;
}

static void on_inline(struct ibv_qp_ex *qpx, void *address, size_t length)
{
	on_sge(qpx, 0, (uintptr_t)address, (uint32_t)length);
}

static void on_list(struct ibv_qp_ex *qpx, size_t n, const struct ibv_sge *sges)
{
	last()->length = 0;
	for (size_t i = 0; i < n; i++)
		last()->length += sges[i].length;
}

static void decode_bind(const struct ibv_mw *mw, const struct ibv_mw_bind_info *info)
{
	last()->swap = (uintptr_t)mw;
	last()->remote = info->addr;
	last()->compare_add = info->length;
	last()->qkey = info->mw_access_flags;
}

/* Reads the fields that any provider reads: imm_data always, others by operation. */
static void decode(const struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
	bool is_inline = wr->send_flags & IBV_SEND_INLINE;

	seen[n_seen++] = (struct seen){
		.id = wr->wr_id,
		.flags = wr->send_flags,
		.opcode = wr->opcode,
		.imm = wr->imm_data,
		.address = wr->num_sge ? wr->sg_list[0].addr : 0,
		.length = wr->num_sge ? wr->sg_list[0].length : 0,
		.lkey = wr->num_sge && !is_inline ? wr->sg_list[0].lkey : 0,
	};
	if (qp->qp_type == IBV_QPT_XRC_SEND)
		last()->srqn = wr->qp_type.xrc.remote_srqn;
	switch ((int)wr->opcode) {
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_SEND:
		if (qp->qp_type != IBV_QPT_UD)
			break;
		last()->ah = wr->wr.ud.ah;
		last()->qpn = wr->wr.ud.remote_qpn;
		last()->qkey = wr->wr.ud.remote_qkey;
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		last()->remote = wr->wr.atomic.remote_addr;
		last()->rkey = wr->wr.atomic.rkey;
		last()->compare_add = wr->wr.atomic.compare_add;
		last()->swap = wr->wr.atomic.swap;
		break;
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
		break;
	case IBV_WR_BIND_MW:
		decode_bind(wr->bind_mw.mw, &wr->bind_mw.bind_info);
		last()->rkey = wr->bind_mw.rkey;
		break;
	default:
		last()->remote = wr->wr.rdma.remote_addr;
		last()->rkey = wr->wr.rdma.rkey;
	}
}

static int on_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	n_calls++;
	for (; wr; wr = wr->next)
		decode(qp, wr);
	return 0;
}

static int on_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	n_calls++;
	for (; wr; wr = wr->next)
		seen[n_seen++] = (struct seen){.id = wr->wr_id,
					       .address = wr->sg_list[0].addr,
					       .length = wr->sg_list[0].length,
					       .lkey = wr->sg_list[0].lkey};
	return 0;
}

static int on_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return on_post_recv(NULL, wr, bad);
}

static int on_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	n_calls++;
	seen[n_seen++] = (struct seen){
		.id = bind->wr_id, .flags = bind->send_flags, .opcode = IBV_WR_BIND_MW};
	decode_bind(mw, &bind->bind_info);
	return 0;
}

static struct ibv_context context = {
	.ops = {.bind_mw = on_bind_mw,
		.post_send = on_post_send,
		.post_recv = on_post_recv,
		.post_srq_recv = on_post_srq_recv},
};
static struct ibv_srq srq = {.context = &context};
static struct ibv_qp_ex qpx = {
	.qp_base = {.context = &context},
	.wr_start = on_start,
	.wr_complete = on_complete,
	.wr_send = on_send,
	.wr_send_imm = on_send_imm,
	.wr_rdma_write = on_write,
	.wr_rdma_write_imm = on_write_imm,
	.wr_rdma_read = on_read,
	.wr_atomic_fetch_add = on_fetch_add,
	.wr_atomic_cmp_swp = on_compare_swap,
#ifdef HAVE_ATOMIC_WRITE
	.wr_atomic_write = on_atomic_write,
#endif
	.wr_set_ud_addr = on_ud_addr,
	.wr_set_xrc_srqn = on_srqn,
	.wr_set_sge = on_sge,
	.wr_set_inline_data = on_inline,
	.wr_set_sge_list = on_list,
};
static const struct post_queue queue = {.qp = &qpx.qp_base, .qpx = &qpx, .srq = &srq};
static const struct post_queue classic = {.qp = &qpx.qp_base};

static int forget(void **unused)
{
	memset(seen, 0, sizeof(seen));
	n_seen = n_starts = n_calls = 0;
	return 0;
}

/* Every operation, and how its requests name the peer. */
struct request {
	enum post_operation operation;
	enum route_kind route;
};

static const struct request requests[] = {
	{POST_SEND,         ROUTE_CONNECTED},
	{POST_WRITE,        ROUTE_CONNECTED},
	{POST_READ,         ROUTE_CONNECTED},
	{POST_SEND_IMM,     ROUTE_CONNECTED},
	{POST_WRITE_IMM,    ROUTE_CONNECTED},
	{POST_FETCH_ADD,    ROUTE_CONNECTED},
	{POST_COMPARE_SWAP, ROUTE_CONNECTED},
	{POST_SEND,         ROUTE_ADDRESS  },
	{POST_SEND_IMM,     ROUTE_ADDRESS  },
	{POST_SEND,         ROUTE_SRQ      },
	{POST_WRITE,        ROUTE_SRQ      },
	{POST_READ,         ROUTE_SRQ      },
	{POST_SEND_IMM,     ROUTE_SRQ      },
	{POST_WRITE_IMM,    ROUTE_SRQ      },
	{POST_FETCH_ADD,    ROUTE_SRQ      },
	{POST_COMPARE_SWAP, ROUTE_SRQ      },
	{POST_SEND,         ROUTE_SRD      },
	{POST_WRITE,        ROUTE_SRD      },
	{POST_READ,         ROUTE_SRD      },
	{POST_SEND_IMM,     ROUTE_SRD      },
	{POST_WRITE_IMM,    ROUTE_SRD      },
#ifdef HAVE_MLX5DV
	{POST_SEND,         ROUTE_TARGET   },
	{POST_WRITE,        ROUTE_TARGET   },
	{POST_READ,         ROUTE_TARGET   },
	{POST_SEND_IMM,     ROUTE_TARGET   },
	{POST_WRITE_IMM,    ROUTE_TARGET   },
	{POST_FETCH_ADD,    ROUTE_TARGET   },
	{POST_COMPARE_SWAP, ROUTE_TARGET   },
#endif
};

static bool is_extended_only(struct request request)
{
	const struct route route = {.kind = request.route};

	return route_is_extended(&route);
}

/* Selects the type of queue pair for the request. */
static void prepare(struct request request)
{
	static const enum ibv_qp_type types[] = {
		[ROUTE_CONNECTED] = IBV_QPT_RC, [ROUTE_ADDRESS] = IBV_QPT_UD,
		[ROUTE_SRQ] = IBV_QPT_XRC_SEND, [ROUTE_TARGET] = IBV_QPT_DRIVER,
		[ROUTE_SRD] = IBV_QPT_DRIVER,
	};

	forget(NULL);
	qpx.qp_base.qp_type = types[request.route];
}

static struct post_work work_of(struct request request, unsigned int i)
{
	return (struct post_work){
		.id = 100 + i,
		.remote = 0x1000 + i,
		.rkey = 0x2000 + i,
		.flags = IBV_SEND_FENCE,
		.n_sges = 1,
		.sges = {{.addr = 0x3000 + i, .length = 40 + i, .lkey = 0x4000 + i}},
		.imm = 0x01020304 + i,
		.add = 0x5000 + i,
		.compare = 0x6000 + i,
		.swap = 0x7000 + i,
		.route = { .kind = request.route,
                         .ah = (struct ibv_ah *)(uintptr_t)(0x8000 + 8 * i),
                         .qpn = 0x9000 + i,
                         .qkey = 0xa000 + i,
                         .srqn = 0xb000 + i,
                         .initiator = INITIATOR},
	};
}

/* The request that a provider must see, whichever interface posts it. */
static struct seen wanted_of(struct request request, unsigned int i, unsigned int flags)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND,
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_READ,
		IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_ATOMIC_CMP_AND_SWP,
	};
	const uint8_t imm[] = {1, 2, 3, (uint8_t)(4 + i)};
	enum ibv_wr_opcode opcode = opcodes[request.operation];
	bool is_send = opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
	struct seen wanted = {
		.id = 100 + i,
		.flags = IBV_SEND_FENCE | flags,
		.opcode = opcode,
		.remote = is_send ? 0 : 0x1000 + i,
		.rkey = is_send ? 0 : 0x2000 + i,
		.address = 0x3000 + i,
		.length = 40 + i,
		.lkey = flags & IBV_SEND_INLINE ? 0 : 0x4000 + i,
	};

	if (opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		memcpy(&wanted.imm, imm, sizeof(imm));
	if (request.operation == POST_FETCH_ADD)
		wanted.compare_add = 0x5000 + i;
	if (request.operation == POST_COMPARE_SWAP) {
		wanted.compare_add = 0x6000 + i;
		wanted.swap = 0x7000 + i;
	}
	if (request.route != ROUTE_CONNECTED && request.route != ROUTE_SRQ) {
		wanted.ah = (struct ibv_ah *)(uintptr_t)(0x8000 + 8 * i);
		wanted.qpn = 0x9000 + i;
		wanted.qkey = 0xa000 + i;
	}
	if (request.route == ROUTE_SRQ)
		wanted.srqn = 0xb000 + i;
	return wanted;
}

static void check(size_t place, struct seen wanted)
{
	assert_memory_equal(&seen[place], &wanted, sizeof(wanted));
}

/* Uses a separate stack frame, whose contents memcheck considers undefined. */
__attribute__((noinline)) static int post_apart(const struct post_queue *by, struct post_work *work,
						enum post_operation operation, unsigned int flags)
{
	return post_send(by, work, operation, post_choose(by, work), flags);
}

/* Requests about memory windows are classic ones on any path, and atomic writes are none. */
static void test_windows(void **unused)
{
	static const struct post_queue *const queues[] = {&queue, &classic};
	struct ibv_mw mws[] = {
		{.context = &context, .type = IBV_MW_TYPE_1},
		{.context = &context, .type = IBV_MW_TYPE_2},
	};

	qpx.qp_base.qp_type = IBV_QPT_RC;
	for (size_t i = 0; i < ARRAY_LENGTH(queues); i++) {
		struct post_window window = {
			.info = {.addr = 0x5000, .length = 0x60, .mw_access_flags = 7}
                };
		struct post_work work = {.id = 100, .rkey = 0x2000, .window = &window};
		struct seen wanted = {.id = 100, .flags = IBV_SEND_SIGNALED};

		forget(NULL);
		post_apart(queues[i], &work, POST_SEND_INV, IBV_SEND_SIGNALED);
		post_apart(queues[i], &work, POST_LOCAL_INV, IBV_SEND_SIGNALED);
		window.mw = &mws[1];
		post_apart(queues[i], &work, POST_BIND_MW, IBV_SEND_SIGNALED);
		window.mw = &mws[0];
		window.info.mr = NULL;
		window.info.addr = window.info.length = 0;
		post_apart(queues[i], &work, POST_BIND_MW_1, IBV_SEND_SIGNALED);
		assert_int_equal(n_calls, 4);
		assert_int_equal(n_starts, 0);
		wanted.imm = 0x2000;
		wanted.opcode = IBV_WR_SEND_WITH_INV;
		check(0, wanted);
		wanted.opcode = IBV_WR_LOCAL_INV;
		check(1, wanted);
		wanted.opcode = IBV_WR_BIND_MW;
		wanted.imm = 0;
		wanted.qkey = 7;
		wanted.swap = (uintptr_t)&mws[0];
		check(3, wanted);
		wanted.rkey = 0x2000;
		wanted.remote = 0x5000;
		wanted.compare_add = 0x60;
		wanted.swap = (uintptr_t)&mws[1];
		check(2, wanted);
	}
}

#ifdef HAVE_ATOMIC_WRITE
static void test_atomic_write(void **unused)
{
	struct post_work work = {.id = 100, .remote = 0x1000, .rkey = 0x2000, .swap = 0x7000};
	const struct seen wanted = {.id = 100,
				    .remote = 0x1000,
				    .rkey = 0x2000,
				    .swap = 0x7000,
				    .opcode = IBV_WR_ATOMIC_WRITE};

	forget(NULL);
	for (int path = POST_CLASSIC; path <= POST_EXTENDED_INLINE; path++)
		post_send(&queue, &work, POST_ATOMIC_WRITE, (enum post_path)path, 0);
	assert_int_equal(n_seen, 4);
	assert_int_equal(n_starts, 4);
	for (size_t i = 0; i < n_seen; i++)
		check(i, wanted);
}
#endif

static void test_every_operation(void **unused)
{
	for (size_t j = 0; j < ARRAY_LENGTH(requests); j++) {
		enum post_operation operation = requests[j].operation;

		for (unsigned int i = 0; i < 8; i++) {
			unsigned int flags =
				(i & 1 ? IBV_SEND_SIGNALED : 0) | (i & 2 ? IBV_SEND_INLINE : 0);
			const struct post_queue *by = i & 4 ? &classic : &queue;
			struct post_work work = work_of(requests[j], 0);

			if (i & 4 && is_extended_only(requests[j]))
				continue;
			prepare(requests[j]);
			work.flags |= flags & IBV_SEND_INLINE;
			assert_int_equal(
				post_apart(by, &work, operation, flags & IBV_SEND_SIGNALED), 0);
			assert_int_equal(n_seen, 1);
			assert_int_equal(n_calls, 1);
			assert_int_equal(n_starts, !(i & 4));
			check(0, wanted_of(requests[j], 0, flags));
		}
	}
}

static void test_paths(void **unused)
{
	struct post_work work = {.n_sges = 1};

	assert_int_equal(post_choose(&queue, &work), POST_EXTENDED);
	assert_int_equal(post_choose(&classic, &work), POST_CLASSIC);
	work.flags = IBV_SEND_INLINE;
	assert_int_equal(post_choose(&queue, &work), POST_EXTENDED_INLINE);
	assert_int_equal(post_choose(&classic, &work), POST_CLASSIC);
	work = (struct post_work){.n_sges = 2};
	assert_int_equal(post_choose(&queue, &work), POST_CLASSIC);
	work.n_sges = 0;
	assert_int_equal(post_choose(&queue, &work), POST_EXTENDED_LIST);
	assert_int_equal(post_send(&queue, &work, POST_SEND, POST_EXTENDED_LIST, 0), 0);
	assert_int_equal(seen[0].length, 0);
	work = (struct post_work){
		.n_sges = 2, .sges = {{.length = 3}, {.length = 4}}
        };
	work.route.kind = ROUTE_SRD;
	assert_int_equal(post_choose(&queue, &work), POST_CLASSIC);
	assert_int_equal(post_send(&queue, &work, POST_SEND, POST_CLASSIC, 0), 0);
	assert_int_equal(n_starts, 2);
	assert_int_equal(seen[1].length, 7);
}

static void check_list(const struct post_queue *by, struct request request, unsigned int n,
		       unsigned int count)
{
	enum post_operation operation = request.operation;
	struct post_list list;

	if (by == &classic && is_extended_only(request))
		return;
	prepare(request);
	assert_int_equal(post_list_open(&list, n, NULL), 0);
	for (unsigned int i = 0; i < n; i++)
		list.works[i] = work_of(request, i);
	post_list_link(&list, operation);
	/* Twice: the second time unsignaled. */
	for (unsigned int i = 0; i < 2; i++) {
		unsigned int flags = i ? 0 : IBV_SEND_SIGNALED;

		forget(NULL);
		assert_int_equal(post_send_list(by, &list, count, operation,
						post_choose(by, &list.works[0]), flags),
				 0);
		assert_int_equal(n_calls, 1);
		assert_int_equal(n_seen, count);
		for (unsigned int j = 0; j < count; j++)
			check(j, wanted_of(request, n - count + j, j + 1 == count ? flags : 0));
	}
	post_list_close(&list);
}

static void test_lists(void **unused)
{
	static const unsigned int lengths[] = {1, 2, 16};

	for (size_t j = 0; j < ARRAY_LENGTH(requests); j++)
		for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
			check_list(&queue, requests[j], lengths[i], lengths[i]);
			check_list(&classic, requests[j], lengths[i], lengths[i]);
			check_list(&queue, requests[j], lengths[i], (lengths[i] + 1) / 2);
			check_list(&classic, requests[j], lengths[i], (lengths[i] + 1) / 2);
		}
}

static void check_receives(size_t n, unsigned int first)
{
	assert_int_equal(n_calls, 1);
	assert_int_equal(n_seen, n);
	for (unsigned int i = 0; i < n; i++)
		check(i, (struct seen){.id = 100 + first + i,
				       .address = 0x3000 + first + i,
				       .length = 40 + first + i,
				       .lkey = 0x4000 + first + i});
	forget(NULL);
}

static void test_receives(void **unused)
{
	struct post_work work = work_of(requests[0], 0);
	struct post_list list;

	assert_int_equal(post_receive(&queue, &work), 0);
	check_receives(1, 0);
	assert_int_equal(post_receive_shared(&queue, &work), 0);
	check_receives(1, 0);
	assert_int_equal(post_list_open(&list, 5, NULL), 0);
	for (unsigned int i = 0; i < 5; i++)
		list.works[i] = work_of(requests[0], i);
	post_list_link(&list, POST_SEND);
	assert_int_equal(post_receive_list(&queue, &list, 5), 0);
	check_receives(5, 0);
	assert_int_equal(post_receive_list(&queue, &list, 2), 0);
	check_receives(2, 3);
	assert_int_equal(post_receive_list_shared(&queue, &list, 1), 0);
	check_receives(1, 4);
	post_list_close(&list);
}

/* 100 bytes in seven elements: two of 15 and five of 14. They stay consecutive when moved. */
static void test_cut_and_move(void **unused)
{
	static const uint32_t lengths[] = {15, 15, 14, 14, 14, 14, 14};
	static const uint64_t addresses[] = {1000, 1015, 1030, 1044, 1058, 1072, 1086};
	const struct ibv_sge whole = {.addr = 1000, .length = 100, .lkey = 5};
	struct post_work work = {0};

	post_cut(&work, &whole, 7);
	assert_int_equal(work.n_sges, 7);
	for (size_t moved = 0; moved < 2; moved++) {
		for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
			assert_int_equal(work.sges[i].addr, addresses[i] + 70000 * moved);
			assert_int_equal(work.sges[i].length, lengths[i]);
			assert_int_equal(work.sges[i].lkey, 5);
		}
		post_move(&work, 71000);
	}
	assert_int_equal(work.sges[7].length, 0);
	post_cut(&work, &whole, 1);
	assert_int_equal(work.n_sges, 1);
	assert_int_equal(work.sges[0].length, 100);
}

static void test_empty_lists(void **unused)
{
	struct post_list list = {0};
	struct error error = {0};

	post_list_close(&list);
	assert_true(post_list_open(&list, 0, &error) < 0);
	assert_string_equal(error.text, "cannot allocate a list of 0 work requests");
	assert_null(list.works);
}

/* Immediate data is in host byte order on both sides. */
static void test_immediate_data(void **unused)
{
	struct post_work work = {.imm = 0xfedcba98};

	assert_int_equal(post_send(&queue, &work, POST_SEND_IMM, POST_EXTENDED_LIST, 0), 0);
	assert_true(post_imm(&(struct ibv_wc){.imm_data = seen[0].imm}) == 0xfedcba98);
}

#define FRESH(test) cmocka_unit_test_setup(test, forget)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FRESH(test_every_operation), FRESH(test_paths),       FRESH(test_lists),
		FRESH(test_receives),        FRESH(test_empty_lists), FRESH(test_immediate_data),
		FRESH(test_cut_and_move),    FRESH(test_windows),
#ifdef HAVE_ATOMIC_WRITE
		FRESH(test_atomic_write),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
