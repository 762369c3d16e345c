/* SPDX-License-Identifier: MIT */
/*
 * Kinds of memory by name, as on a command line: NAME or NAME:DETAIL, for example "host",
 * "file:/dev/shm/x" or "cuda:0,path=dmabuf". For code that knows no verbs; core/memory has them.
 */
#ifndef CORE_BASE_MEMORY_CHOICE_H
#define CORE_BASE_MEMORY_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

/* Room for a name and its detail. */
#define MEMORY_TEXT 96

struct memory_kind;

/* Zeroed: the default memory. */
struct memory_choice {
	const struct memory_kind *kind;
	char text[MEMORY_TEXT];   /* NAME or NAME:DETAIL, the same for all spellings of a kind */
	char detail[MEMORY_TEXT]; /* of the text, after the first colon; empty: none */
	char path[MEMORY_TEXT];   /* of the file that the detail names; empty: none */
};

/* Returns -EINVAL for an unknown name, and for a detail that the kind does not understand. */
int memory_find(const char *text, struct memory_choice *choice, struct error *error);

/* Returns the name of the i-th kind; NULL beyond the last one. */
const char *memory_name(size_t i);

/* Returns the size of the huge pages, or 0 for ordinary pages. */
size_t memory_huge_page(const struct memory_choice *choice);

/* Returns whether the CPU can load the bytes, and thus poll them. */
bool memory_is_polled(const struct memory_choice *choice);

/* Returns whether the driver of a GPU allocates the memory. */
bool memory_is_of_gpu(const struct memory_choice *choice);

/*
 * Returns whether the peer gets no access: there is no memory, or it would be access to all of the
 * process.
 */
bool memory_is_private(const struct memory_choice *choice);

/* Returns whether there is no memory, so that nothing is stored. */
bool memory_is_null(const struct memory_choice *choice);

/*
 * Returns the path of the file that the memory consists of, exactly as it will be opened, or NULL.
 * A client must not choose files of the server's host unless the server allows it.
 */
const char *memory_path(const struct memory_choice *choice);

#endif
