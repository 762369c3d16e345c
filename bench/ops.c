/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "bench/op.h"

const struct op *const ops[] = {
	&op_send,
	&op_write,
	&op_read,
};

const size_t n_ops = ARRAY_LENGTH(ops);

const struct op *op_find(const char *name)
{
	for (size_t i = 0; i < n_ops; i++)
		if (!strcmp(ops[i]->name, name))
			return ops[i];
	return NULL;
}
