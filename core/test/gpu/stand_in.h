/* SPDX-License-Identifier: MIT */
/*
 * The memory of the stand-in GPUs. A buffer's address is reserved and inaccessible, so that a stray
 * access by the CPU crashes; its bytes are in a memfd, which the export returns. Of the environment,
 * STAND_IN_FAIL=[CALL:]N makes the N-th call fail, of CALL or of all, STAND_IN_WRONG=N makes the
 * last byte of every N-th copy to a GPU wrong, and STAND_IN_GPUS sets the number of GPUs (1). Buffers and contexts that are left at exit are printed.
 */
#ifndef CORE_TEST_GPU_STAND_IN_H
#define CORE_TEST_GPU_STAND_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STAND_IN_NAME    "stand-in GPU"
#define STAND_IN_ADDRESS "0000:FE:%02X.0"
#define EXPORTED         __attribute__((visibility("default")))

/* Where a buffer begins in its memfd. Each library defines it. */
extern const size_t stand_in_lead;

/* Counts a call. Returns whether it fails. */
EXPORTED bool stand_in_fails(const char *call);

int stand_in_count(void);

/* With is_shared the CPU may access the bytes at the address. Returns 0 if there is no memory. */
uint64_t stand_in_allocate(size_t size, bool is_shared);
/* Returns whether there was such a buffer. */
bool stand_in_release(uint64_t address);
/* Returns the bytes of an address range within one buffer, or NULL. */
char *stand_in_bytes(uint64_t address, size_t size);
/* Copies to the bytes of a buffer. */
void stand_in_copy(char *bytes, const void *from, size_t size);
/* Returns a new descriptor for the buffer, and sets *offset to the address in it; or -1. */
EXPORTED int stand_in_export(uint64_t address, size_t size, uint64_t *offset);

#endif
