/* SPDX-License-Identifier: MIT */
/*
 * Memory for the device to work on: whole pages, faulted in, on a NUMA node when
 * one is named.
 */
#ifndef CORE_BASE_BUFFER_H
#define CORE_BASE_BUFFER_H

#include <stddef.h>

#include "core/base/error.h"

enum buffer_pages {
	BUFFER_ORDINARY,
	BUFFER_HUGE,
	BUFFER_SHARED, /* others may map them: a sealed memfd. Ordinary ones where there is none */
};

struct buffer {
	char *address;           /* NULL: none */
	size_t mapped;           /* bytes, whole pages */
	size_t page;             /* bytes of one */
	int file;                /* of shared ones; 0: none */
	enum buffer_pages pages; /* and */
	int numa_node;           /* that were asked for */
};

/* A negative numa_node leaves the choice to the kernel. The memory is zeroed. */
int buffer_open(struct buffer *buffer, size_t size, enum buffer_pages pages, int numa_node,
		struct error *error);
void buffer_close(struct buffer *buffer);

/*
 * The same, but the spare one becomes the buffer if it is as was asked for: its pages are
 * there. If not, it is closed before.
 */
int buffer_take(struct buffer *buffer, struct buffer *spare, size_t size, enum buffer_pages pages,
		int numa_node, struct error *error);
/* Instead of buffer_close: it is the spare one from now on. */
void buffer_keep(struct buffer *buffer, struct buffer *spare);

/* The NUMA node that its first and its last page are on; -1: two, or not to be known. */
int buffer_node(const struct buffer *buffer);

#endif
