/* SPDX-License-Identifier: MIT */
#include "bench/op/op.h"

#define OP_ADDRESS(name, word) &op_##name,
const struct op *const ops[] = {OP_TABLE(OP_ADDRESS)};

#define OP_WORD(name, word) word,
const char *const op_names[] = {OP_TABLE(OP_WORD) NULL};

enum result_kind op_is_full(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq)
{
	return RESULT_FULL;
}

enum result_kind op_is_half(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq)
{
	return RESULT_HALF;
}

enum result_kind op_is_call(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq)
{
	return RESULT_CALL;
}
