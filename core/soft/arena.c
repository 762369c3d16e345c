/* SPDX-License-Identifier: MIT */
#include "core/soft/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

enum {
	CLASS_MIN = 8,
	CLASS_PAGES = 16, /* from this on, free blocks give their pages back */
};

static int map(struct soft_arena *arena)
{
	void *at = mmap(NULL, SOFT_ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			arena->fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	arena->image = at;
	madvise(at, SOFT_ARENA_SIZE, MADV_DONTDUMP);
	return 0;
}

int soft_arena_create(struct soft_arena *arena)
{
	int result;

	memset(arena, 0, sizeof(*arena));
	pthread_mutex_init(&arena->mutex, NULL);
	arena->fd = memfd_create("verbmark-soft", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (arena->fd < 0)
		return -errno;
	if (ftruncate(arena->fd, (off_t)SOFT_ARENA_SIZE) || fcntl(arena->fd, F_ADD_SEALS, SEALS)) {
		result = -errno;
		goto fail;
	}
	result = map(arena);
	if (result)
		goto fail;
	arena->end = (sizeof(struct soft_image) + 4095) & ~UINT64_C(4095);
	arena->image->magic = SOFT_IMAGE_MAGIC;
	arena->image->version = SOFT_IMAGE_VERSION;
	arena->image->size = SOFT_ARENA_SIZE;
	arena->image->address = (uintptr_t)arena->image;
	return 0;
fail:
	soft_arena_finish(arena);
	return result;
}

/* Only what nobody can shorten is touched. */
static int check(const struct soft_arena *arena)
{
	struct stat status;
	int seals = fcntl(arena->fd, F_GET_SEALS);

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(arena->fd, &status))
		return -EPROTO;
	return status.st_size == (off_t)SOFT_ARENA_SIZE ? 0 : -EPROTO;
}

int soft_arena_map(struct soft_arena *arena, int fd)
{
	int result;

	memset(arena, 0, sizeof(*arena));
	pthread_mutex_init(&arena->mutex, NULL);
	arena->fd = fd;
	result = check(arena);
	if (!result)
		result = map(arena);
	if (!result && (arena->image->magic != SOFT_IMAGE_MAGIC ||
			arena->image->version != SOFT_IMAGE_VERSION))
		result = -EPROTO;
	if (result)
		soft_arena_finish(arena);
	return result;
}

void soft_arena_finish(struct soft_arena *arena)
{
	if (!arena->image && arena->fd <= 0)
		return;
	if (arena->image)
		munmap(arena->image, SOFT_ARENA_SIZE);
	close(arena->fd);
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

/* From the end, where there is no free one. */
static uint64_t take(struct soft_arena *arena, unsigned int class)
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
	offset = take(arena, class);
	pthread_mutex_unlock(&arena->mutex);
	return offset;
}

/* A block that cannot be remembered is lost until the arena goes. */
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
