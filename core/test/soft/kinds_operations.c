/* SPDX-License-Identifier: MIT */
/* Operations on all kinds of memory at both ends, in one process and between two; see kinds.h. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/test/soft/kinds.h"
#include "core/test/soft/pair.h"

enum {
	AT = 40, /* offset of the data in a region */
};

/* Sizes that are carried in the completion, and sizes that are copied. */
static const uint32_t sizes[] = {4, 8, 256, 260, KINDS_PAGE, 5 * KINDS_PAGE + 12};

static const enum ibv_wr_opcode opcodes[] = {
	IBV_WR_SEND,      IBV_WR_RDMA_WRITE,           IBV_WR_RDMA_WRITE_WITH_IMM,
	IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
};

static unsigned char bytes[KINDS_BYTES];
static unsigned char seen[KINDS_BYTES];

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static bool is_fetch(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_READ || is_atomic(opcode);
}

static bool has_receive(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* Fills the bytes, so that no two operations bring the same. */
static void fill(void)
{
	static unsigned int round;

	round++;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)((size_t)round * 31 + i * 7 + 1);
}

static void write_held(struct held *held, const void *from, size_t size)
{
	held->kind->write(held, AT, from, size);
}

/* Checks the bytes, and that the word after them is zero. */
static void check(struct held *held, uint32_t size)
{
	static const unsigned char zero[4];

	held->kind->read(held, AT, seen, size + sizeof(zero));
	assert_memory_equal(seen, bytes, size);
	assert_memory_equal(seen + size, zero, sizeof(zero));
	memset(seen, 0, size);
	held->kind->write(held, AT, seen, size);
}

static void post(struct ibv_qp *qp, enum ibv_wr_opcode opcode, const struct held *from,
		 const struct held *to, uint32_t size)
{
	/* Two elements, of which one is empty for small sizes. */
	uint32_t first = size > KINDS_PAGE ? KINDS_PAGE : size;
	struct ibv_sge sge[] = {
		{from->address + AT,         first,        from->mr->lkey},
		{from->address + AT + first, size - first, from->mr->lkey},
	};
	struct ibv_send_wr wr = {
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = sge,
		.num_sge = 2,
	};
	struct ibv_send_wr *bad;

	if (is_atomic(opcode)) {
		wr.wr.atomic.remote_addr = to->address + AT;
		wr.wr.atomic.rkey = to->mr->rkey;
		wr.wr.atomic.compare_add = 3;
	} else {
		wr.wr.rdma.remote_addr = to->address + AT;
		wr.wr.rdma.rkey = to->mr->rkey;
	}
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
}

static void post_receive(struct ibv_qp *qp, const struct held *to)
{
	struct ibv_sge sge[] = {
		{to->address + AT,     4,                    to->mr->lkey},
		{to->address + AT + 4, KINDS_BYTES - AT - 4, to->mr->lkey},
	};
	struct ibv_recv_wr wr = {.sg_list = sge, .num_sge = 2};
	struct ibv_recv_wr *bad;

	assert_int_equal(ibv_post_recv(qp, &wr, &bad), 0);
}

static void run(struct stage *stage, enum ibv_wr_opcode opcode, struct held *local,
		struct held *remote, uint32_t size)
{
	struct held *source = is_fetch(opcode) ? remote : local;
	uint64_t word;

	fill();
	write_held(source, bytes, size);
	if (has_receive(opcode))
		post_receive(stage->end[1].qp, remote);
	post(stage->end[0].qp, opcode, local, remote, size);
	assert_int_equal(stage_await(stage->end[0].cq).status, IBV_WC_SUCCESS);
	if (has_receive(opcode))
		assert_int_equal(stage_await(stage->end[1].cq).status, IBV_WC_SUCCESS);
	check(is_fetch(opcode) ? local : remote, size);
	if (is_atomic(opcode)) {
		memcpy(&word, bytes, sizeof(word));
		word += 3;
		memcpy(bytes, &word, sizeof(word));
	}
	check(source, size);
}

/* Every operation, from each kind of memory to each other one. */
static void test_within_a_process(void **unused)
{
	struct held local;
	struct held remote;
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){0});
	for (size_t i = 0; i < (size_t)KINDS * KINDS; i++) {
		if (!kinds_exists(&kinds[i / KINDS]) || !kinds_exists(&kinds[i % KINDS]))
			continue;
		kinds_open(&local, &kinds[i / KINDS], stage.pd);
		kinds_open(&remote, &kinds[i % KINDS], stage.pd);
		for (size_t o = 0; o < ARRAY_LENGTH(opcodes); o++)
			for (size_t s = 0; s < ARRAY_LENGTH(sizes); s++)
				if (!is_atomic(opcodes[o]) || sizes[s] == sizeof(uint64_t))
					run(&stage, opcodes[o], &local, &remote, sizes[s]);
		kinds_close(&local);
		kinds_close(&remote);
	}
	stage_close(&stage);
}

/* A datagram has a header in front, which goes to memory of any kind, too. */
static void test_datagrams(void **unused)
{
	struct ibv_ah_attr address = {.is_global = 1, .port_num = 1};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .num_sge = 1};
	struct ibv_send_wr *bad;
	struct held held;
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){.type = IBV_QPT_UD});
	assert_int_equal(ibv_query_gid(stage.context, 1, 0, &address.grh.dgid), 0);
	wr.wr.ud.ah = ibv_create_ah(stage.pd, &address);
	wr.wr.ud.remote_qpn = stage.end[1].qp->qp_num;
	wr.wr.ud.remote_qkey = STAGE_QKEY;
	assert_non_null(wr.wr.ud.ah);
	for (size_t i = 0; i < KINDS; i++) {
		struct ibv_sge sge;

		if (!kinds_exists(&kinds[i]))
			continue;
		kinds_open(&held, &kinds[i], stage.pd);
		sge = (struct ibv_sge){held.address + KINDS_PAGE, 100, held.mr->lkey};
		wr.sg_list = &sge;
		fill();
		held.kind->write(&held, KINDS_PAGE, bytes, 100);
		post_receive(stage.end[1].qp, &held);
		assert_int_equal(ibv_post_send(stage.end[0].qp, &wr, &bad), 0);
		assert_int_equal(stage_await(stage.end[1].cq).byte_len, 140);
		held.kind->read(&held, AT + 40, seen, 100);
		assert_memory_equal(seen, bytes, 100);
		kinds_close(&held);
	}
	assert_int_equal(ibv_destroy_ah(wr.wr.ud.ah), 0);
	stage_close(&stage);
}

/* The child shows a region of each kind, and changes or checks it on request. */
static void hold(struct pair *pair)
{
	struct ibv_qp *qp = pair->stage.end[0].qp;

	for (size_t i = 0; i < KINDS; i++) {
		struct held held;
		char word;

		if (!kinds_exists(&kinds[i]))
			continue;
		kinds_open(&held, &kinds[i], pair->stage.pd);
		pair_send(pair->socket, &held.address, sizeof(held.address));
		pair_send(pair->socket, &held.mr->rkey, sizeof(held.mr->rkey));
		for (pair_receive(pair->socket, &word, 1); word != 'e';
		     pair_receive(pair->socket, &word, 1)) {
			uint32_t size;

			pair_receive(pair->socket, &size, sizeof(size));
			fill();
			if (word == 'f')
				write_held(&held, bytes, size);
			if (word == 'r')
				post_receive(qp, &held);
			if (word == 'd')
				assert_int_equal(stage_await(pair->stage.end[0].cq).status,
						 IBV_WC_SUCCESS);
			if (word == 'v')
				held.kind->vanish(&held);
			if (word == 'g')
				held.kind->read(&held, AT, seen, size);
			pair_send(pair->socket, word == 'g' ? seen : bytes, size);
		}
		kinds_close(&held);
	}
}

static void ask(struct pair *pair, char word, void *to, uint32_t size)
{
	pair_send(pair->socket, &word, 1);
	pair_send(pair->socket, &size, sizeof(size));
	pair_receive(pair->socket, to, size);
}

static void meet(struct pair *pair, struct held *theirs, struct ibv_mr *mr)
{
	*theirs = (struct held){.mr = mr};
	pair_receive(pair->socket, &theirs->address, sizeof(theirs->address));
	pair_receive(pair->socket, &mr->rkey, sizeof(mr->rkey));
}

static void run_between(struct pair *pair, enum ibv_wr_opcode opcode, struct held *local,
			const struct held *theirs, uint32_t size)
{
	struct stage_end *end = &pair->stage.end[0];

	if (is_fetch(opcode)) {
		ask(pair, 'f', bytes, size);
	} else {
		fill();
		write_held(local, bytes, size);
	}
	if (has_receive(opcode))
		ask(pair, 'r', seen, 1);
	post(end->qp, opcode, local, theirs, size);
	assert_int_equal(stage_await(end->cq).status, IBV_WC_SUCCESS);
	if (has_receive(opcode))
		ask(pair, 'd', seen, 1);
	if (is_fetch(opcode)) {
		check(local, size);
		return;
	}
	ask(pair, 'g', seen, size);
	assert_memory_equal(seen, bytes, size);
	memset(seen, 0, size);
	write_held(local, seen, size);
}

static void test_between_processes(void **unused)
{
	struct held held[KINDS];
	size_t count = 0;
	struct pair pair;

	pair_set_up(&pair, hold, &(struct stage_ways){0});
	for (size_t i = 0; i < KINDS; i++)
		if (kinds_exists(&kinds[i]))
			kinds_open(&held[count++], &kinds[i], pair.stage.pd);
	for (size_t i = 0; i < count; i++) {
		struct held theirs;
		struct ibv_mr mr;

		meet(&pair, &theirs, &mr);
		for (size_t j = 0; j < count * ARRAY_LENGTH(opcodes); j++) {
			enum ibv_wr_opcode opcode = opcodes[j / count];

			for (size_t s = 0; s < ARRAY_LENGTH(sizes); s++)
				if (!is_atomic(opcode) || sizes[s] == sizeof(uint64_t))
					run_between(&pair, opcode, &held[j % count], &theirs,
						    sizes[s]);
		}
		pair_send(pair.socket, "e", 1);
	}
	for (size_t i = 0; i < count; i++)
		kinds_close(&held[i]);
	pair_tear_down(&pair);
}

/* Memory that vanishes before an operation. */
static const struct loss {
	enum ibv_wr_opcode opcode;
	bool is_local; /* which end has lost its memory */
	enum ibv_wc_status status;
	enum ibv_wc_status receive; /* the status at the target, or 0 */
} losses[] = {
	{IBV_WR_SEND,                 true,  IBV_WC_LOC_PROT_ERR, 0                  },
	{IBV_WR_RDMA_WRITE,           true,  IBV_WC_LOC_PROT_ERR, 0                  },
	{IBV_WR_RDMA_WRITE_WITH_IMM,  true,  IBV_WC_LOC_PROT_ERR, 0                  },
	{IBV_WR_RDMA_READ,            true,  IBV_WC_LOC_PROT_ERR, 0                  },
	{IBV_WR_ATOMIC_FETCH_AND_ADD, true,  IBV_WC_LOC_PROT_ERR, 0                  },
	{IBV_WR_SEND,                 false, IBV_WC_REM_OP_ERR,   IBV_WC_LOC_PROT_ERR},
	{IBV_WR_RDMA_WRITE,           false, IBV_WC_REM_OP_ERR,   0                  },
	{IBV_WR_RDMA_WRITE_WITH_IMM,  false, IBV_WC_REM_OP_ERR,   0                  },
	{IBV_WR_RDMA_READ,            false, IBV_WC_REM_OP_ERR,   0                  },
	{IBV_WR_ATOMIC_FETCH_AND_ADD, false, IBV_WC_REM_OP_ERR,   0                  },
};

static void lose(const struct kind *kind, const struct loss *loss, uint32_t size)
{
	struct held local;
	struct held remote;
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){0});
	kinds_open(&local, loss->is_local ? kind : &kinds[KIND_SEALED], stage.pd);
	kinds_open(&remote, loss->is_local ? &kinds[KIND_SEALED] : kind, stage.pd);
	kind->vanish(loss->is_local ? &local : &remote);
	if (has_receive(loss->opcode))
		post_receive(stage.end[1].qp, &remote);
	post(stage.end[0].qp, loss->opcode, &local, &remote, size);
	assert_int_equal(stage_await(stage.end[0].cq).status, loss->status);
	assert_int_equal(stage_state(stage.end[0].qp), IBV_QPS_ERR);
	if (loss->receive)
		assert_int_equal(stage_await(stage.end[1].cq).status, loss->receive);
	kinds_close(&local);
	kinds_close(&remote);
	stage_close(&stage);
}

static void test_memory_that_vanishes(void **unused)
{
	for (size_t i = 0; i < KINDS; i++)
		for (size_t j = 0; j < ARRAY_LENGTH(losses) && kinds[i].vanish; j++) {
			lose(&kinds[i], &losses[j], 8);
			if (!is_atomic(losses[j].opcode))
				lose(&kinds[i], &losses[j], 5 * KINDS_PAGE);
		}
}

static const struct kind *lost;

static void lose_for_peer(struct pair *pair)
{
	struct held held;

	kinds_open(&held, lost, pair->stage.pd);
	lost->vanish(&held);
	post_receive(pair->stage.end[0].qp, &held);
	pair_send(pair->socket, &held.address, sizeof(held.address));
	pair_send(pair->socket, &held.mr->rkey, sizeof(held.mr->rkey));
	pair_wait(pair);
	kinds_close(&held);
}

static void test_memory_of_a_peer_that_vanishes(void **unused)
{
	for (size_t i = 0; i < (size_t)KINDS * ARRAY_LENGTH(opcodes); i++) {
		struct held local;
		struct held theirs;
		struct ibv_mr mr;
		struct pair pair;

		lost = &kinds[i % KINDS];
		if (!lost->vanish)
			continue;
		pair_set_up(&pair, lose_for_peer, &(struct stage_ways){.retry_cnt = 1});
		kinds_open(&local, &kinds[KIND_DEVICE], pair.stage.pd);
		meet(&pair, &theirs, &mr);
		post(pair.stage.end[0].qp, opcodes[i / KINDS], &local, &theirs, 8);
		assert_int_equal(pair_status(&pair), IBV_WC_REM_OP_ERR);
		kinds_close(&local);
		pair_send(pair.socket, "e", 1);
		pair_tear_down(&pair);
	}
}

static void receive_in_parts(struct pair *pair)
{
	struct held held = {
		.mr = ibv_reg_mr(pair->stage.pd, seen, sizeof(seen), IBV_ACCESS_LOCAL_WRITE),
		.address = (uintptr_t)seen,
	};

	assert_non_null(held.mr);
	post_receive(pair->stage.end[0].qp, &held);
	pair_send(pair->socket, "r", 1);
	pair_wait(pair);
	assert_int_equal(ibv_dereg_mr(held.mr), 0);
}

/* The sender's memory maps a file, which becomes shorter after the registration. */
static void test_ordinary_memory_that_vanishes(void **unused)
{
	int fd = memfd_create("vanishes", MFD_CLOEXEC);
	struct held local = {.mr = NULL};
	struct pair pair;
	char *mapped;

	pair_set_up(&pair, receive_in_parts, &(struct stage_ways){0});
	assert_int_equal(ftruncate(fd, KINDS_BYTES), 0);
	mapped = mmap(NULL, KINDS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(mapped, MAP_FAILED);
	local.address = (uintptr_t)mapped;
	local.mr = ibv_reg_mr(pair.stage.pd, mapped, KINDS_BYTES, 0);
	assert_non_null(local.mr);
	pair_wait(&pair);
	assert_int_equal(ftruncate(fd, 0), 0);
	post(pair.stage.end[0].qp, IBV_WR_SEND, &local, &local, 5 * KINDS_PAGE);
	assert_int_equal(pair_status(&pair), IBV_WC_LOC_PROT_ERR);
	pair_send(pair.socket, "e", 1);
	assert_int_equal(ibv_dereg_mr(local.mr), 0);
	munmap(mapped, KINDS_BYTES);
	close(fd);
	pair_tear_down(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_within_a_process),
		cmocka_unit_test(test_datagrams),
		cmocka_unit_test_teardown(test_between_processes, pair_end_child),
		cmocka_unit_test(test_memory_that_vanishes),
		cmocka_unit_test_teardown(test_memory_of_a_peer_that_vanishes, pair_end_child),
		cmocka_unit_test_teardown(test_ordinary_memory_that_vanishes, pair_end_child),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
