/* SPDX-License-Identifier: MIT */
/* Ordinary pages, private or in a sealed memfd, faulted in before use. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/free_memory.h"
#include "core/memory/huge.h"
#include "core/memory/pages.h"

/* A buffer of this size is always allowed; a larger one leaves 1/RESERVED of the free memory. */
#define ALWAYS_ALLOWED (16UL << 20)
#define RESERVED       16

/*
 * Touch this much between updates of `promised`. Until an update, touched pages count
 * twice: as promised, and as used.
 */
#define TOUCHED_AT_ONCE (16UL << 20)

/* Memory that was promised to buffers of this process, which have not touched it yet. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t promised;

/* Touching pages that the machine does not have would get a process killed: refuse instead. */
static int promise(const struct memory *memory, size_t size, struct error *error)
{
	uint64_t available = UINT64_MAX;
	bool is_available;

	pthread_mutex_lock(&lock);
	if (size > ALWAYS_ALLOWED)
		available = free_memory_available("");
	if (available != UINT64_MAX)
		available -= available < promised ? available : promised;
	is_available = available == UINT64_MAX || size <= available - available / RESERVED;
	promised += is_available ? memory->size : 0;
	pthread_mutex_unlock(&lock);
	if (is_available)
		return 0;
	return error_set(error, -ENOMEM,
			 "no memory for a buffer of %zu bytes: this machine has %" PRIu64
			 " MiB left, a sixteenth of which is reserved",
			 size, available >> 20);
}

static void keep_promise(size_t size)
{
	pthread_mutex_lock(&lock);
	promised -= size;
	pthread_mutex_unlock(&lock);
}

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

/* Faults the pages in now, not in the middle of a measurement. */
static void touch(const struct memory *memory)
{
	for (size_t i = 0; i < memory->size; i += TOUCHED_AT_ONCE) {
		size_t rest = memory->size - i;
		size_t size = rest < TOUCHED_AT_ONCE ? rest : TOUCHED_AT_ONCE;

		memset(memory->cpu + i, 0, size);
		keep_promise(size);
	}
}

static int host_allocate(struct memory *memory, const struct memory_request *request,
			 struct error *error)
{
	size_t size = request->size;
	int code = pages_measure(memory, size, (size_t)sysconf(_SC_PAGESIZE), error);

	if (!code)
		code = promise(memory, size, error);
	if (code)
		return code;
	if (memory->kind == &memory_shared)
		memory->file = create_file(memory->size);
	code = pages_map(memory, 0, request->numa_node);
	if (code) {
		keep_promise(memory->size);
		return error_set_errno(error, code, "no memory for a buffer of %zu bytes", size);
	}
	touch(memory);
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
