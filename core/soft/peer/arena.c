/* SPDX-License-Identifier: MIT */
#include "core/soft/peer/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

enum {
	CLASS_MIN = 8,
	CLASS_PAGES = 16, /* blocks of this class and up return their pages when freed */
};

static int map(int fd, size_t size, int protection, void *at)
{
	void *mapped = mmap(NULL, size, protection, MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (mapped == MAP_FAILED)
		return -errno;
	madvise(mapped, size, MADV_DONTDUMP);
	memcpy(at, &mapped, sizeof(mapped));
	return 0;
}

/* Creates and maps a file of fixed size. */
static int create(const char *name, size_t size, int *fd, void *at)
{
	int result;

	*fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0 || ftruncate(*fd, (off_t)size))
		return -errno;
	result = map(*fd, size, PROT_READ | PROT_WRITE, at);
	if (!result && fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		result = -errno;
	return result;
}

/* Existing mappings stay writable. Kernels before 5.1 do not have this seal. */
static int seal_against_writes(int fd)
{
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) && errno != EINVAL)
		return -errno;
	return 0;
}

int soft_arena_create(struct soft_arena *arena)
{
	int result;

	memset(arena, 0, sizeof(*arena));
	pthread_mutex_init(&arena->mutex, NULL);
	result = create("verbmark-soft", SOFT_ARENA_SIZE, &arena->fd, &arena->image);
	if (!result)
		result = create("verbmark-soft-memory", sizeof(*arena->memory), &arena->memory_fd,
				&arena->memory);
	if (!result)
		result = seal_against_writes(arena->memory_fd);
	if (!result && (fcntl(arena->fd, F_ADD_SEALS, F_SEAL_SEAL) ||
			fcntl(arena->memory_fd, F_ADD_SEALS, F_SEAL_SEAL)))
		result = -errno;
	if (result) {
		soft_arena_finish(arena);
		return result;
	}
	arena->end = (sizeof(struct soft_image) + 4095) & ~UINT64_C(4095);
	arena->image->magic = SOFT_IMAGE_MAGIC;
	arena->image->version = SOFT_IMAGE_VERSION;
	arena->image->size = SOFT_ARENA_SIZE;
	arena->image->address = (uintptr_t)arena->image;
	return 0;
}

/*
 * Accepts only files that nobody can shrink, so that access never faults. Huge pages are rejected
 * because allocating one may fail on first touch.
 */
static int soft_arena_check(int fd, size_t size)
{
	struct stat status;
	struct statfs system;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &status) || fstatfs(fd, &system))
		return -EPROTO;
	return system.f_type == TMPFS_MAGIC && status.st_size == (off_t)size ? 0 : -EPROTO;
}

int soft_arena_map(struct soft_arena *arena, int fd, int memory_fd)
{
	int result;

	memset(arena, 0, sizeof(*arena));
	pthread_mutex_init(&arena->mutex, NULL);
	arena->fd = fd;
	arena->memory_fd = memory_fd;
	result = soft_arena_check(fd, SOFT_ARENA_SIZE);
	if (!result)
		result = soft_arena_check(memory_fd, sizeof(*arena->memory));
	if (!result)
		result = map(fd, SOFT_ARENA_SIZE, PROT_READ | PROT_WRITE, &arena->image);
	if (!result)
		result = map(memory_fd, sizeof(*arena->memory), PROT_READ, &arena->memory);
	if (!result && (arena->image->magic != SOFT_IMAGE_MAGIC ||
			arena->image->version != SOFT_IMAGE_VERSION))
		result = -EPROTO;
	if (result)
		soft_arena_finish(arena);
	return result;
}

static void unmap_and_close(int fd, void *at, size_t size)
{
	if (at)
		munmap(at, size);
	if (fd > 0)
		close(fd);
}

void soft_arena_finish(struct soft_arena *arena)
{
	if (!arena->image && !arena->fd)
		return;
	unmap_and_close(arena->fd, arena->image, SOFT_ARENA_SIZE);
	unmap_and_close(arena->memory_fd, arena->memory, sizeof(*arena->memory));
	for (size_t i = 0; i < ARRAY_LENGTH(arena->freed); i++)
		free(arena->freed[i].offset);
	pthread_mutex_destroy(&arena->mutex);
	memset(arena, 0, sizeof(*arena));
}

static unsigned int class_of(uint64_t size)
{
	unsigned int class = CLASS_MIN;

	while (class < SOFT_ARENA_CLASSES && UINT64_C(1) << class < size)
		class ++;
	return class;
}

/* Takes a freed block of the class if any, else one from the end. */
static uint64_t soft_arena_take(struct soft_arena *arena, unsigned int class)
{
	struct soft_arena_block *freed = &arena->freed[class];
	uint64_t align = class < 12 ? UINT64_C(1) << class : 4096;
	uint64_t offset = (arena->end + align - 1) & ~(align - 1);

	if (freed->count)
		return freed->offset[--freed->count];
	if (SOFT_ARENA_SIZE - offset < UINT64_C(1) << class)
		return 0;
	arena->end = offset + (UINT64_C(1) << class);
	return offset;
}

uint64_t soft_arena_allocate(struct soft_arena *arena, uint64_t size)
{
	unsigned int class = class_of(size);
	uint64_t offset;

	if (class >= SOFT_ARENA_CLASSES)
		return 0;
	pthread_mutex_lock(&arena->mutex);
	offset = soft_arena_take(arena, class);
	pthread_mutex_unlock(&arena->mutex);
	return offset;
}

/*
 * Adds a block to the free list. If that runs out of memory, the block is lost until the arena
 * goes.
 */
static void remember(struct soft_arena_block *freed, uint64_t offset)
{
	if (freed->count == freed->room) {
		size_t room = freed->room ? 2 * freed->room : 16;
		uint64_t *more = reallocarray(freed->offset, room, sizeof(*more));

		if (!more)
			return;
		freed->offset = more;
		freed->room = room;
	}
	freed->offset[freed->count++] = offset;
}

void soft_arena_free(struct soft_arena *arena, uint64_t offset, uint64_t size)
{
	unsigned int class = class_of(size);
	char *at = (char *)arena->image + offset;

	if (!offset)
		return;
	if (class < CLASS_PAGES || madvise(at, UINT64_C(1) << class, MADV_REMOVE))
		memset(at, 0, size);
	pthread_mutex_lock(&arena->mutex);
	remember(&arena->freed[class], offset);
	pthread_mutex_unlock(&arena->mutex);
}
