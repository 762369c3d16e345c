/* SPDX-License-Identifier: MIT */
#include "bench/op.h"

const struct op *const ops[OPS] = {
	&op_send,      &op_write,        &op_read,         &op_write_imm,
	&op_fetch_add, &op_compare_swap, &op_write_notify, &op_read_notify,
};

const char *const op_names[] = {"send",         "write",       "read",
				"write-imm",    "fetch-add",   "compare-swap",
				"write-notify", "read-notify", NULL};

enum result_kind op_is_full(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq)
{
	return RESULT_FULL;
}

enum result_kind op_is_half(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq)
{
	return RESULT_HALF;
}
