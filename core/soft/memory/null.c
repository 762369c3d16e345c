/* SPDX-License-Identifier: MIT */
#include "core/soft/memory/null.h"

#include <pthread.h>
#include <sys/mman.h>

static void *memory;

static void map(void)
{
	char *start = mmap(NULL, 2 * SOFT_NULL_BYTES, PROT_READ,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (start == MAP_FAILED)
		return;
	if (mprotect(start + SOFT_NULL_BYTES, SOFT_NULL_BYTES, PROT_READ | PROT_WRITE))
		munmap(start, 2 * SOFT_NULL_BYTES);
	else
		memory = start;
}

void *soft_null_memory(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, map);
	return memory;
}
