/* SPDX-License-Identifier: MIT */
/* The error for a word that is not an operation, spelled out: several tests expect it. */
#ifndef BENCH_TEST_UNIT_D_NO_OPERATION_H
#define BENCH_TEST_UNIT_D_NO_OPERATION_H

#define NO_OPERATION                                                                               \
	"is not one of send, write, read, write-imm, send-imm, fetch-add, compare-swap, "          \
	"write-notify, read-notify, doorbell, alloc, register, deregister, create-qp, create-cq, " \
	"open-device, alloc-pd, post-send, post-recv, poll-cq, connect"

#endif
