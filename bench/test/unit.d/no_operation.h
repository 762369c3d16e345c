/* SPDX-License-Identifier: MIT */
/* The error for a word that is not an operation: several tests expect it. */
#ifndef BENCH_TEST_UNIT_D_NO_OPERATION_H
#define BENCH_TEST_UNIT_D_NO_OPERATION_H

#define NO_OPERATION                                                                      \
	"is not one of send, write, read, write-imm, send-imm, fetch-add, compare-swap, " \
	"atomic-write, ...; --op help lists all"

#endif
