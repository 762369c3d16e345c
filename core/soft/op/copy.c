/* SPDX-License-Identifier: MIT */
#include "core/soft/op/copy.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/soft/peer/copy_client.h"
#include "core/soft/peer/mapping.h"
#include "core/soft/peer/peer.h"

enum {
	SHORT = 4096, /* bytes that are written faster than a cache line is fetched */
	PAGE = 4096,  /* smallest page size */
};

/*
 * Copies like memmove. A program that polls for the last bytes sees all others once they arrive,
 * and sees an aligned number change in one step.
 */
static void put(char *to, const char *from, size_t size)
{
	uintptr_t end = (uintptr_t)to + size;
	uint64_t last = 0;
	size_t width = sizeof(last);

	if (!size)
		return;
	while (width > size || end % width)
		width /= 2;
	/*
	 * Fetch the line of the last bytes, which the target may be polling, while writing the
	 * others.
	 */
	if (size <= SHORT)
		prefetch_to_write(to + size - width);
	size -= width;
	memcpy(&last, from + size, width);
	memmove(to, from, size);
	switch (width) {
	case 8:
		__atomic_store_n((uint64_t *)(void *)(to + size), last, __ATOMIC_RELEASE);
		break;
	case 4:
		__atomic_store_n((uint32_t *)(void *)(to + size), (uint32_t)last, __ATOMIC_RELEASE);
		break;
	case 2:
		__atomic_store_n((uint16_t *)(void *)(to + size), (uint16_t)last, __ATOMIC_RELEASE);
		break;
	default:
		__atomic_store_n((uint8_t *)to + size, (uint8_t)last, __ATOMIC_RELEASE);
	}
}

static void move(const struct soft_span *to, const struct soft_span *from)
{
	unsigned int i = 0;
	unsigned int j = 0;
	size_t done_i = 0;
	size_t done_j = 0;

	while (i < to->count && j < from->count) {
		size_t room = to->piece[i].iov_len - done_i;
		size_t left = from->piece[j].iov_len - done_j;
		size_t size = room < left ? room : left;

		put((char *)to->piece[i].iov_base + done_i,
		    (const char *)from->piece[j].iov_base + done_j, size);
		done_i += size;
		done_j += size;
		if (done_i == to->piece[i].iov_len) {
			i++;
			done_i = 0;
		}
		if (done_j == from->piece[j].iov_len) {
			j++;
			done_j = 0;
		}
	}
}

static int result_of(ssize_t copied, const struct soft_span *span)
{
	if (copied < 0)
		return -errno;
	return (uint64_t)copied == span->length ? 0 : -EFAULT;
}

/*
 * Copies through /proc/PID/mem. Within one page, that is faster than process_vm_writev, which pins
 * the page; across pages it is slower. Returns 1 if this path is unavailable or failed, so that the
 * caller falls back. Makes the system call directly because libc's wrapper is a cancellation point.
 */
static int by_file(long number, const struct soft_peer *peer, const struct soft_span *remote,
		   const struct soft_span *local)
{
	char *to = remote->piece[0].iov_base;
	long copied;

	if (!peer->memory || remote->count != 1 || local->count != 1 ||
	    local->length > PAGE - (uintptr_t)to % PAGE)
		return 1;
	if (number == SYS_pwrite64 && !peer->is_forward)
		return 1;
	copied = syscall(number, peer->memory, local->piece[0].iov_base, local->length, to);
	if (likely(copied == (long)local->length))
		return 0;
	/* Zero bytes mean that the process has exited. */
	return copied ? 1 : -ESRCH;
}

static int kernel_to(const struct soft_peer *peer, const struct soft_span *remote,
		     const struct soft_span *local)
{
	int result = by_file(SYS_pwrite64, peer, remote, local);

	if (likely(result <= 0))
		return result;
	return result_of(process_vm_writev(peer->pid, local->piece, local->count, remote->piece,
					   remote->count, 0),
			 local);
}

static int kernel_from(const struct soft_peer *peer, const struct soft_span *remote,
		       const struct soft_span *local)
{
	int result = by_file(SYS_pread64, peer, remote, local);

	if (likely(result <= 0))
		return result;
	return result_of(process_vm_readv(peer->pid, local->piece, local->count, remote->piece,
					  remote->count, 0),
			 local);
}

int soft_copy_to(const struct soft_peer *peer, const struct soft_span *remote,
		 const struct soft_span *local)
{
	struct soft_span translated;

	if (!local->length)
		return 0;
	if (peer->copy_client)
		return soft_copy_client_run(peer, SOFT_COPY_TO, remote, local);
	if (remote->is_held && soft_mapping_span(peer, remote, &translated))
		move(&translated, local);
	else if (peer->is_self)
		move(remote, local);
	else
		return kernel_to(peer, remote, local);
	return 0;
}

int soft_copy_from(const struct soft_peer *peer, const struct soft_span *remote,
		   const struct soft_span *local)
{
	struct soft_span translated;

	if (!local->length)
		return 0;
	if (peer->copy_client)
		return soft_copy_client_run(peer, SOFT_COPY_FROM, remote, local);
	if (remote->is_held && soft_mapping_span(peer, remote, &translated))
		move(local, &translated);
	else if (peer->is_self)
		move(local, remote);
	else
		return kernel_from(peer, remote, local);
	return 0;
}

void soft_copy_gather(void *to, const struct soft_span *span)
{
	char *at = to;

	if (likely(span->count == 1)) {
		memcpy(to, span->piece[0].iov_base, span->piece[0].iov_len);
		return;
	}
	for (unsigned int i = 0; i < span->count; i++) {
		memcpy(at, span->piece[i].iov_base, span->piece[i].iov_len);
		at += span->piece[i].iov_len;
	}
}
