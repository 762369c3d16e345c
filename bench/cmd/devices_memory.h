/* SPDX-License-Identifier: MIT */
/* 'verbmark devices --memory': the GPUs, and the RDMA device that is nearest to each. */
#ifndef BENCH_CMD_DEVICES_MEMORY_H
#define BENCH_CMD_DEVICES_MEMORY_H

#include <stdbool.h>

#include "core/base/error.h"

/* Prints a table or a JSON array. Returns an error if there is no GPU. */
int devices_memory(bool json, struct error *error);

#endif
