/* SPDX-License-Identifier: MIT */
/* Ordinary pages, private or in a sealed memfd, faulted in before use. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/memory/huge.h"
#include "core/memory/pages.h"

/* Returns a file of that size that nobody can shorten while others map it, or 0. */
static int create_file(size_t size)
{
	int file = memfd_create("verbmark", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (file < 0)
		return 0;
	/* 0 stands for no file. */
	if (file && !ftruncate(file, (off_t)size) && !fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK))
		return file;
	close(file);
	return 0;
}

static int host_allocate(struct memory *memory, const struct memory_request *request,
			 struct error *error)
{
	size_t size = request->size;
	int code = pages_measure(memory, size, (size_t)sysconf(_SC_PAGESIZE), error);

	if (!code)
		code = pages_promise(memory, size, error);
	if (code)
		return code;
	if (memory->kind == &memory_shared)
		memory->file = create_file(memory->size);
	code = pages_map(memory, 0, request->numa_node);
	if (code)
		return error_set_errno(error, code, "no memory for a buffer of %zu bytes", size);
	pages_touch(memory);
	return 0;
}

const struct memory_kind memory_host = {
	.name = "host",
	.parse = huge_parse,
	.allocate = host_allocate,
	.release = pages_unmap,
	.register_region = pages_register,
	.is_kept = true,
};

const struct memory_kind memory_shared = {
	.name = "host",
	.allocate = host_allocate,
	.release = pages_unmap,
	.register_region = pages_register,
	.is_kept = true,
};
