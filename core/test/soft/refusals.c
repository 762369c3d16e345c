/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/test/soft/stage.h"

#define PAGE 4096

static void test_rejects_invalid_arguments(void **unused)
{
	struct stage_ways ways = {.is_apart = true};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS};
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 2};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	struct ibv_ah_attr no_gid = {.port_num = 1, .dlid = 1};
	struct stage stage;

	stage_open(&stage, &ways);
	assert_int_equal(stage_post(&stage, &wr, 8), EINVAL);
	assert_int_equal(ibv_modify_qp(stage.end[0].qp, &rts, IBV_QP_STATE), EINVAL);
	assert_int_equal(
		ibv_modify_qp(stage.end[0].qp, &init,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		EINVAL);
	init.port_num = 1;
	assert_int_equal(ibv_modify_qp(stage.end[0].qp, &init, IBV_QP_STATE | IBV_QP_PORT), EINVAL);
	assert_null(ibv_create_ah(stage.pd, &no_gid));
	assert_null(ibv_reg_mr(stage.pd, stage.buffer, 8, IBV_ACCESS_REMOTE_WRITE));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_reg_mr(stage.pd, NULL, 8, 0));
	assert_int_equal(errno, EFAULT);
	assert_null(ibv_reg_mr_iova(stage.pd, stage.buffer, 8, UINT64_MAX - 6, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_create_cq(stage.context, 0, NULL, NULL, 0));
	assert_int_equal(ibv_destroy_cq(stage.end[0].cq), EBUSY);
	assert_int_equal(ibv_destroy_comp_channel(stage.channel), EBUSY);
	assert_int_equal(ibv_dealloc_pd(stage.pd), EBUSY);
	stage_close(&stage);
}

static void check_registration(struct stage *stage, unsigned char *memory, int access, int error)
{
	struct ibv_mr *mr = ibv_reg_mr(stage->pd, memory, 3 * PAGE - 2, access);

	if (!error) {
		assert_non_null(mr);
		assert_int_equal(ibv_dereg_mr(mr), 0);
		return;
	}
	assert_null(mr);
	assert_int_equal(errno, error);
}

/* The same errors as ib_check_mr_access() and ib_umem_get() of the kernel. */
static void test_registration_errors(void **unused)
{
	static const struct {
		int first;
		int middle;
		int access;
		int error;
	} cases[] = {
		{PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, IBV_ACCESS_LOCAL_WRITE, 0         },
		{PROT_READ,              PROT_READ,              0,                      0         },
		{PROT_READ,              PROT_READ,              IBV_ACCESS_REMOTE_READ, 0         },
		{PROT_READ,              PROT_READ,              IBV_ACCESS_LOCAL_WRITE, EFAULT    },
		{PROT_READ | PROT_WRITE, PROT_READ,              IBV_ACCESS_LOCAL_WRITE, EFAULT    },
		{PROT_READ | PROT_WRITE, PROT_READ,              0,                      0         },
		{PROT_NONE,              PROT_READ,              0,                      EFAULT    },
		{PROT_READ | PROT_WRITE, PROT_NONE,              0,                      EFAULT    },
		{PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, 1 << 8,                 EOPNOTSUPP},
		{PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, 1 << 9,                 EOPNOTSUPP},
		{PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, 1 << 10,                EINVAL    },
		{PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, 1 << 20,                0         },
	};
	struct stage stage;
	unsigned char *memory =
		mmap(NULL, (size_t)3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	stage_open(&stage, &(struct stage_ways){0});
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		assert_int_equal(mprotect(memory, (size_t)3 * PAGE, cases[i].first), 0);
		assert_int_equal(mprotect(memory + PAGE, PAGE, cases[i].middle), 0);
		check_registration(&stage, memory + 1, cases[i].access, cases[i].error);
	}
	munmap(memory + PAGE, PAGE);
	check_registration(&stage, memory + 1, 0, EFAULT);
	munmap(memory, (size_t)3 * PAGE);
	stage_close(&stage);
}

static void test_access_of_a_queue_pair(void **unused)
{
	struct stage_ways ways = {.is_apart = true};
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = 1 << 10};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	struct stage stage;

	stage_open(&stage, &ways);
	assert_int_equal(ibv_modify_qp(stage.end[0].qp, &init, mask), EINVAL);
	init.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_RELAXED_ORDERING;
	assert_int_equal(ibv_modify_qp(stage.end[0].qp, &init, mask), 0);
	stage_close(&stage);
}

static void begin(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t address)
{
	ibv_wr_start(qp);
	switch ((int)opcode) {
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qp, rkey, address);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(qp, rkey, address, 0, 1);
		break;
	default:
		ibv_wr_atomic_fetch_add(qp, rkey, address, 1);
	}
}

/* ibv_post_send(3): IBV_SEND_INLINE is valid only for sends and writes. */
static void test_rejects_inline_reads_and_atomics(void **unused)
{
	static const enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP,
						     IBV_WR_ATOMIC_FETCH_AND_ADD};
	uint64_t word = 0;
	struct stage stage;
	struct ibv_qp_ex *qp;

	stage_open(&stage, &(struct stage_ways){0});
	qp = ibv_qp_to_qp_ex(stage.end[0].qp);
	assert_non_null(qp);
	for (size_t i = 0; i < ARRAY_LENGTH(opcodes); i++) {
		struct ibv_send_wr wr = {
			.opcode = opcodes[i],
			.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
		};

		assert_int_equal(stage_post(&stage, &wr, sizeof(word)), EINVAL);
		begin(qp, opcodes[i], stage.mr->rkey, (uintptr_t)stage.end[1].buffer);
		ibv_wr_set_inline_data(qp, &word, sizeof(word));
		assert_int_equal(ibv_wr_complete(qp), EINVAL);
	}
	assert_true(stage_is_empty(stage.end[0].cq));
	stage_close(&stage);
}

static struct ibv_xrcd *open_domain(struct ibv_context *context, int fd, int flags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = flags,
	};

	return ibv_open_xrcd(context, &attr);
}

/* A file stands for the same domain as long as that is open. */
static void test_domains_of_xrc(void **unused)
{
	const struct stage_ways ways = {0};
	struct ibv_xrcd_init_attr incomplete = {.comp_mask = IBV_XRCD_INIT_ATTR_FD, .fd = -1};
	struct ibv_xrcd *domain;
	struct ibv_xrcd *same;
	struct stage stage;
	int fd = memfd_create("domain", MFD_CLOEXEC);

	assert_true(fd >= 0);
	stage_open(&stage, &ways);
	assert_null(ibv_open_xrcd(stage.context, &incomplete));
	assert_int_equal(errno, EINVAL);
	assert_null(open_domain(stage.context, fd, 0));
	assert_int_equal(errno, EAGAIN);
	domain = open_domain(stage.context, fd, O_CREAT | O_EXCL);
	assert_non_null(domain);
	assert_null(open_domain(stage.context, fd, O_CREAT | O_EXCL));
	assert_int_equal(errno, EINVAL);
	same = open_domain(stage.context, fd, 0);
	assert_non_null(same);
	assert_int_equal(ibv_close_xrcd(domain), 0);
	assert_int_equal(ibv_close_xrcd(same), 0);
	assert_null(open_domain(stage.context, fd, 0));
	assert_null(open_domain(stage.context, 1 << 20, O_CREAT));
	assert_int_equal(errno, EBADF);
	close(fd);
	stage_close(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rejects_invalid_arguments),
		cmocka_unit_test(test_registration_errors),
		cmocka_unit_test(test_access_of_a_queue_pair),
		cmocka_unit_test(test_rejects_inline_reads_and_atomics),
		cmocka_unit_test(test_domains_of_xrc),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
