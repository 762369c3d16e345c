/* SPDX-License-Identifier: MIT */
/* Requests as a provider receives them: both interfaces pass the same. */
#include "core/test/lib/check.h"
#include "core/test/lib/seen.h"

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

	seen_forget(NULL);
	seen_qpx.qp_base.qp_type = types[request.route];
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
                         .initiator = seen_initiator},
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
	static const struct post_queue *const queues[] = {&seen_queue, &seen_classic};
	struct ibv_mw mws[] = {
		{.context = &seen_context, .type = IBV_MW_TYPE_1},
		{.context = &seen_context, .type = IBV_MW_TYPE_2},
	};

	seen_qpx.qp_base.qp_type = IBV_QPT_RC;
	for (size_t i = 0; i < ARRAY_LENGTH(queues); i++) {
		struct post_window window = {
			.info = {.addr = 0x5000, .length = 0x60, .mw_access_flags = 7}
                };
		struct post_work work = {.id = 100, .rkey = 0x2000, .window = &window};
		struct seen wanted = {.id = 100, .flags = IBV_SEND_SIGNALED};

		seen_forget(NULL);
		post_apart(queues[i], &work, POST_SEND_INV, IBV_SEND_SIGNALED);
		post_apart(queues[i], &work, POST_LOCAL_INV, IBV_SEND_SIGNALED);
		window.mw = &mws[1];
		post_apart(queues[i], &work, POST_BIND_MW, IBV_SEND_SIGNALED);
		window.mw = &mws[0];
		window.info.mr = NULL;
		window.info.addr = window.info.length = 0;
		post_apart(queues[i], &work, POST_BIND_MW_1, IBV_SEND_SIGNALED);
		assert_int_equal(seen_calls, 4);
		assert_int_equal(seen_starts, 0);
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

	seen_forget(NULL);
	for (int path = POST_CLASSIC; path <= POST_EXTENDED_INLINE; path++)
		post_send(&seen_queue, &work, POST_ATOMIC_WRITE, (enum post_path)path, 0);
	assert_int_equal(seen_count, 4);
	assert_int_equal(seen_starts, 4);
	for (size_t i = 0; i < seen_count; i++)
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
			const struct post_queue *by = i & 4 ? &seen_classic : &seen_queue;
			struct post_work work = work_of(requests[j], 0);

			if (i & 4 && is_extended_only(requests[j]))
				continue;
			prepare(requests[j]);
			work.flags |= flags & IBV_SEND_INLINE;
			assert_int_equal(
				post_apart(by, &work, operation, flags & IBV_SEND_SIGNALED), 0);
			assert_int_equal(seen_count, 1);
			assert_int_equal(seen_calls, 1);
			assert_int_equal(seen_starts, !(i & 4));
			check(0, wanted_of(requests[j], 0, flags));
		}
	}
}

static void test_paths(void **unused)
{
	struct post_work work = {.n_sges = 1};

	assert_int_equal(post_choose(&seen_queue, &work), POST_EXTENDED);
	assert_int_equal(post_choose(&seen_classic, &work), POST_CLASSIC);
	work.flags = IBV_SEND_INLINE;
	assert_int_equal(post_choose(&seen_queue, &work), POST_EXTENDED_INLINE);
	assert_int_equal(post_choose(&seen_classic, &work), POST_CLASSIC);
	work = (struct post_work){.n_sges = 2};
	assert_int_equal(post_choose(&seen_queue, &work), POST_CLASSIC);
	work.n_sges = 0;
	assert_int_equal(post_choose(&seen_queue, &work), POST_EXTENDED_LIST);
	assert_int_equal(post_send(&seen_queue, &work, POST_SEND, POST_EXTENDED_LIST, 0), 0);
	assert_int_equal(seen[0].length, 0);
	work = (struct post_work){
		.n_sges = 2, .sges = {{.length = 3}, {.length = 4}}
        };
	work.route.kind = ROUTE_SRD;
	assert_int_equal(post_choose(&seen_queue, &work), POST_CLASSIC);
	assert_int_equal(post_send(&seen_queue, &work, POST_SEND, POST_CLASSIC, 0), 0);
	assert_int_equal(seen_starts, 2);
	assert_int_equal(seen[1].length, 7);
}

static void check_list(const struct post_queue *by, struct request request, unsigned int n,
		       unsigned int count)
{
	enum post_operation operation = request.operation;
	struct post_list list;

	if (by == &seen_classic && is_extended_only(request))
		return;
	prepare(request);
	assert_int_equal(post_list_open(&list, n, NULL), 0);
	for (unsigned int i = 0; i < n; i++)
		list.works[i] = work_of(request, i);
	post_list_link(&list, operation);
	/* Twice: the second time unsignaled. */
	for (unsigned int i = 0; i < 2; i++) {
		unsigned int flags = i ? 0 : IBV_SEND_SIGNALED;

		seen_forget(NULL);
		assert_int_equal(post_send_list(by, &list, count, operation,
						post_choose(by, &list.works[0]), flags),
				 0);
		assert_int_equal(seen_calls, 1);
		assert_int_equal(seen_count, count);
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
			check_list(&seen_queue, requests[j], lengths[i], lengths[i]);
			check_list(&seen_classic, requests[j], lengths[i], lengths[i]);
			check_list(&seen_queue, requests[j], lengths[i], (lengths[i] + 1) / 2);
			check_list(&seen_classic, requests[j], lengths[i], (lengths[i] + 1) / 2);
		}
}

static void check_receives(size_t n, unsigned int first)
{
	assert_int_equal(seen_calls, 1);
	assert_int_equal(seen_count, n);
	for (unsigned int i = 0; i < n; i++)
		check(i, (struct seen){.id = 100 + first + i,
				       .address = 0x3000 + first + i,
				       .length = 40 + first + i,
				       .lkey = 0x4000 + first + i});
	seen_forget(NULL);
}

static void test_receives(void **unused)
{
	struct post_work work = work_of(requests[0], 0);
	struct post_list list;

	assert_int_equal(post_receive(&seen_queue, &work), 0);
	check_receives(1, 0);
	assert_int_equal(post_receive_shared(&seen_queue, &work), 0);
	check_receives(1, 0);
	assert_int_equal(post_list_open(&list, 5, NULL), 0);
	for (unsigned int i = 0; i < 5; i++)
		list.works[i] = work_of(requests[0], i);
	post_list_link(&list, POST_SEND);
	assert_int_equal(post_receive_list(&seen_queue, &list, 5), 0);
	check_receives(5, 0);
	assert_int_equal(post_receive_list(&seen_queue, &list, 2), 0);
	check_receives(2, 3);
	assert_int_equal(post_receive_list_shared(&seen_queue, &list, 1), 0);
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

	assert_int_equal(post_send(&seen_queue, &work, POST_SEND_IMM, POST_EXTENDED_LIST, 0), 0);
	assert_true(post_imm(&(struct ibv_wc){.imm_data = seen[0].imm}) == 0xfedcba98);
}

#define FRESH(test) cmocka_unit_test_setup(test, seen_forget)

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
