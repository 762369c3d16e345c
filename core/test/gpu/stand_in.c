/* SPDX-License-Identifier: MIT */
#include "core/test/gpu/stand_in.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUFFERS 64

struct buffer {
	char *address;
	char *bytes; /* the address itself if the CPU may access it */
	size_t size; /* 0: free */
	int file;
};

static struct buffer buffers[BUFFERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The calls are counted from the last change of the environment. */
bool stand_in_fails(const char *call)
{
	static char last[64];
	static unsigned long calls;
	const char *wish = getenv("STAND_IN_FAIL");
	const char *number = wish ? strchr(wish, ':') : NULL;
	bool fails;

	if (!wish || (number && (strlen(call) != (size_t)(number - wish) ||
				 strncmp(call, wish, strlen(call)) != 0)))
		return false;
	pthread_mutex_lock(&lock);
	if (strcmp(last, wish) != 0) {
		snprintf(last, sizeof(last), "%s", wish);
		calls = 0;
	}
	fails = ++calls == strtoul(number ? number + 1 : wish, NULL, 10);
	pthread_mutex_unlock(&lock);
	if (fails)
		fprintf(stderr, "stand-in: %s fails\n", call);
	return fails;
}

int stand_in_count(void)
{
	const char *wish = getenv("STAND_IN_GPUS");

	return wish ? atoi(wish) : 1;
}

static bool map(struct buffer *buffer, size_t size, bool is_shared)
{
	const int writable = PROT_READ | PROT_WRITE;

	buffer->file = memfd_create("stand-in GPU", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (buffer->file < 0 || ftruncate(buffer->file, (off_t)(stand_in_lead + size)))
		return false;
	buffer->bytes = mmap(NULL, size, writable, MAP_SHARED, buffer->file, (off_t)stand_in_lead);
	if (buffer->bytes == MAP_FAILED)
		return false;
	buffer->address = is_shared
				  ? buffer->bytes
				  : mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffer->address == MAP_FAILED)
		return false;
	/* Memory that nobody has written holds anything. */
	memset(buffer->bytes, 0xd5, size);
	buffer->size = size;
	return true;
}

uint64_t stand_in_allocate(size_t size, bool is_shared)
{
	uint64_t address = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < BUFFERS && size; i++) {
		if (buffers[i].size)
			continue;
		if (map(&buffers[i], (size + 4095) / 4096 * 4096, is_shared))
			address = (uintptr_t)buffers[i].address;
		break;
	}
	pthread_mutex_unlock(&lock);
	return address;
}

static struct buffer *find(uint64_t address, size_t size)
{
	for (size_t i = 0; i < BUFFERS; i++) {
		uint64_t start = (uintptr_t)buffers[i].address;

		if (buffers[i].size && address >= start && address - start <= buffers[i].size &&
		    size <= buffers[i].size - (address - start))
			return &buffers[i];
	}
	return NULL;
}

bool stand_in_release(uint64_t address)
{
	struct buffer *buffer;
	bool is_known;

	pthread_mutex_lock(&lock);
	buffer = find(address, 1);
	is_known = buffer && (uintptr_t)buffer->address == address;
	if (is_known) {
		munmap(buffer->bytes, buffer->size);
		if (buffer->address != buffer->bytes)
			munmap(buffer->address, buffer->size);
		close(buffer->file);
		*buffer = (struct buffer){0};
	}
	pthread_mutex_unlock(&lock);
	return is_known;
}

char *stand_in_bytes(uint64_t address, size_t size)
{
	struct buffer *buffer;
	char *bytes;

	pthread_mutex_lock(&lock);
	buffer = find(address, size);
	bytes = buffer ? buffer->bytes + (address - (uintptr_t)buffer->address) : NULL;
	pthread_mutex_unlock(&lock);
	return bytes;
}

void stand_in_copy(char *bytes, const void *from, size_t size)
{
	static atomic_ulong copies;
	const char *wish = getenv("STAND_IN_WRONG");
	unsigned long every = wish ? strtoul(wish, NULL, 10) : 0;

	memcpy(bytes, from, size);
	if (every && size && ++copies % every == 0)
		bytes[size - 1] ^= 1;
}

int stand_in_export(uint64_t address, size_t size, uint64_t *offset)
{
	struct buffer *buffer;
	int file = -1;

	pthread_mutex_lock(&lock);
	buffer = find(address, size);
	if (buffer) {
		*offset = stand_in_lead + address - (uintptr_t)buffer->address;
		file = fcntl(buffer->file, F_DUPFD_CLOEXEC, 3);
	}
	pthread_mutex_unlock(&lock);
	return file;
}

static __attribute__((destructor)) void report(void)
{
	for (size_t i = 0; i < BUFFERS; i++)
		if (buffers[i].size)
			fprintf(stderr, "stand-in: a buffer of %zu bytes is left\n",
				buffers[i].size);
}
