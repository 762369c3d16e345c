/* SPDX-License-Identifier: MIT */
/*
 * Kinds of memory that the CPU does not access as its own: memfds, dma-bufs and device memory, which
 * the program has not mapped, and memory on demand. Any failure here fails the test.
 */
#ifndef CORE_TEST_SOFT_KINDS_H
#define CORE_TEST_SOFT_KINDS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	KINDS_PAGE = 4096,
	KINDS_BYTES = 8 * KINDS_PAGE,
	KINDS_ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		       IBV_ACCESS_REMOTE_ATOMIC,
};

struct held {
	const struct kind *kind;
	struct ibv_mr *mr;
	struct ibv_dm *dm;
	unsigned char *mapped;
	int fd;
	int dmabuf;
	uint64_t address; /* for requests */
};

struct kind {
	const char *name;
	const char *device; /* the kind exists if this file does; NULL: always */
	void (*open)(struct held *held, struct ibv_pd *pd);
	void (*write)(struct held *held, size_t at, const void *from, size_t size);
	void (*read)(struct held *held, size_t at, void *to, size_t size);
	void (*vanish)(struct held *held); /* NULL: it cannot */
};

enum {
	KIND_SEALED,
	KIND_UNSEALED,
	KIND_DMABUF,
	KIND_DEVICE,
	KIND_ON_DEMAND,
	KIND_IMPLICIT,
	KINDS,
};

extern const struct kind kinds[KINDS];

/* Prints once why a kind does not exist. */
bool kinds_exists(const struct kind *kind);
void kinds_open(struct held *held, const struct kind *kind, struct ibv_pd *pd);
void kinds_close(struct held *held);

#endif
