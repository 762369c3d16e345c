/* SPDX-License-Identifier: MIT */
/* Mappings of the kinds of memory that consist of the kernel's pages. */
#ifndef CORE_MEMORY_PAGES_H
#define CORE_MEMORY_PAGES_H

#include "core/memory/memory.h"

/* Rounds size up to whole pages. Sets memory->page and memory->size, or the error. */
int pages_measure(struct memory *memory, size_t size, size_t page, struct error *error);

/*
 * Reserves memory->size bytes of this machine's memory until they are touched or unmapped. Fails if
 * the machine has too few: touching pages that it does not have would get a process killed. The
 * error names the requested size.
 */
int pages_promise(struct memory *memory, size_t size, struct error *error);

/* Zeroes the memory: its pages fault in now, not in the middle of a measurement. */
void pages_touch(struct memory *memory);

/*
 * Maps memory->size bytes of memory->file, or anonymous ones with further mmap flags, and
 * prefers the NUMA node. Returns 0 or a negative errno and sets no error.
 */
int pages_map(struct memory *memory, int flags, int numa_node);

/*
 * Makes the pages present. Touching pages that a file system, a pool or a control group cannot
 * provide would kill the process. Returns 0 or a negative errno and sets no error; 0 also before
 * Linux 5.14, which has no such call.
 */
int pages_populate(const struct memory *memory);

/*
 * Allocates space for a part of a regular file, which may be sparse. Returns 0 or a negative errno
 * and sets no error.
 */
int pages_fill_file(int file, uint64_t offset, size_t size);
/* Sets the error of pages_populate and pages_fill_file for a file. */
int pages_no_room(const char *path, size_t size, int code, struct error *error);

/*
 * Keeps the file until pages_unmap, with the memory's bytes from the offset on locked, so that two
 * buffers on a host do not share them. Takes the descriptor, even on failure.
 */
int pages_keep_file(struct memory *memory, int file, uint64_t offset, const char *path,
		    struct error *error);

/* Returns the bytes of a page of the file: hugetlbfs has its own. */
size_t pages_of_file(int file);

void pages_unmap(struct memory *memory);

/* The struct memory_kind's register_region: ibv_reg_mr. */
struct ibv_mr *pages_register(const struct memory *memory, size_t offset, size_t length,
			      struct ibv_pd *pd, int access, struct error *error);

#endif
