/* SPDX-License-Identifier: MIT */
#include "core/soft/memory/copy.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/soft/peer/copy_client.h"
#include "core/soft/peer/mapping.h"
#include "core/soft/peer/peer.h"
#include "core/soft/peer/process.h"

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

static int by_pages_to(const struct soft_peer *peer, const struct soft_span *remote,
		       const struct soft_span *local)
{
	return result_of(process_vm_writev(peer->pid, local->piece, local->count, remote->piece,
					   remote->count, 0),
			 local);
}

static int by_pages_from(const struct soft_peer *peer, const struct soft_span *remote,
			 const struct soft_span *local)
{
	return result_of(process_vm_readv(peer->pid, local->piece, local->count, remote->piece,
					  remote->count, 0),
			 local);
}

static int kernel_to(const struct soft_peer *peer, const struct soft_span *remote,
		     const struct soft_span *local)
{
	int result = by_file(SYS_pwrite64, peer, remote, local);

	return likely(result <= 0) ? result : by_pages_to(peer, remote, local);
}

static int kernel_from(const struct soft_peer *peer, const struct soft_span *remote,
		       const struct soft_span *local)
{
	int result = by_file(SYS_pread64, peer, remote, local);

	return likely(result <= 0) ? result : by_pages_from(peer, remote, local);
}

/*
 * Where process_vm_readv is forbidden, or cannot read the memory of a dma-buf. Reading and writing a
 * file reports bad addresses, too.
 */
static ssize_t by_new_file(const struct soft_span *to, const struct soft_span *from)
{
	ssize_t copied = -1;
	int canceled;
	int fd;

	/* Posting is not a cancellation point. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &canceled);
	fd = memfd_create("verbmark-soft-copy", MFD_CLOEXEC);
	if (fd >= 0 && pwritev(fd, from->piece, (int)from->count, 0) == (ssize_t)from->length)
		copied = preadv(fd, to->piece, (int)to->count, 0);
	if (fd >= 0)
		close(fd);
	pthread_setcancelstate(canceled, NULL);
	return copied;
}

int soft_copy_carefully(const struct soft_span *to, const struct soft_span *from)
{
	ssize_t copied = process_vm_readv(soft_process.self.pid, to->piece, to->count, from->piece,
					  from->count, 0);

	if (copied != (ssize_t)from->length)
		copied = by_new_file(to, from);
	return copied == (ssize_t)from->length ? 0 : -EFAULT;
}

/* Unlike process_vm_writev, /proc/PID/mem ignores protection, which may stand for missing memory. */
static COLD int carefully_to(const struct soft_peer *peer, const struct soft_span *remote,
			     const struct soft_span *local)
{
	return peer->is_self ? soft_copy_carefully(remote, local)
			     : by_pages_to(peer, remote, local);
}

static COLD int carefully_from(const struct soft_peer *peer, const struct soft_span *remote,
			       const struct soft_span *local)
{
	return peer->is_self ? soft_copy_carefully(local, remote)
			     : by_pages_from(peer, remote, local);
}

int soft_copy_to(const struct soft_peer *peer, const struct soft_span *remote,
		 const struct soft_span *local)
{
	struct soft_span translated;

	if (!local->length)
		return 0;
	if (peer->copy_client)
		return soft_copy_client_run(peer, SOFT_COPY_TO, remote, local);
	if (likely(remote->way == SOFT_HELD)) {
		if (soft_mapping_span(peer, remote, &translated)) {
			move(&translated, local);
			return 0;
		}
	} else if (remote->way == SOFT_BY_KERNEL) {
		return carefully_to(peer, remote, local);
	}
	if (!peer->is_self)
		return kernel_to(peer, remote, local);
	move(remote, local);
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
	if (likely(remote->way == SOFT_HELD)) {
		if (soft_mapping_span(peer, remote, &translated)) {
			move(local, &translated);
			return 0;
		}
	} else if (remote->way == SOFT_BY_KERNEL) {
		return carefully_from(peer, remote, local);
	}
	if (!peer->is_self)
		return kernel_from(peer, remote, local);
	move(local, remote);
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
