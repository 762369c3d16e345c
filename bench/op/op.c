/* SPDX-License-Identifier: MIT */
#include "bench/op/op.h"

#define ADDRESS(number, name, ...) &op_##name,

const struct op_loops *op_loops_of(const struct operation *op)
{
	static const struct op_loops *const loops[] = {OPERATION_LIST(ADDRESS)};

	return loops[op - operations];
}

op_loop *op_latency(const struct operation *op, enum result_kind kind)
{
	const struct op_loops *loops = op_loops_of(op);

	return kind == RESULT_COMPLETION ? loops->completion : loops->latency;
}
