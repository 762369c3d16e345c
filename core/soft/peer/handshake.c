/* SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/soft/peer/copy_client.h"
#include "core/soft/peer/mapping.h"
#include "core/soft/peer/parts.h"
#include "core/soft/peer/process.h"
#include "core/soft/time.h"

enum {
	PATIENCE_MS = 1000,
};

/* Tests whether the kernel lets this process read the peer's memory. */
static int try_copy(const struct soft_peer *peer)
{
	uint32_t magic = 0;
	struct iovec local = {.iov_base = &magic, .iov_len = sizeof(magic)};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)peer->arena->image->address,
			       .iov_len = sizeof(magic)};

	if (process_vm_readv(peer->pid, &local, 1, &remote, 1, 0) != sizeof(magic))
		return errno ? -errno : -EIO;
	return magic == SOFT_IMAGE_MAGIC ? 0 : -EIO;
}

/* The first members of struct soft_image. */
struct beginning {
	uint32_t magic;
	uint32_t version;
	uint32_t slot;
	uint32_t generation;
};

_Static_assert(sizeof(struct beginning) == offsetof(struct soft_image, size),
	       "must match the first members of struct soft_image");

/*
 * Opens the peer's memory as a file, or returns 0. /proc may belong to another PID namespace, so
 * the image found there must name the peer's slot.
 */
static int open_memory(const struct soft_peer *peer)
{
	struct beginning found;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)peer->pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (pread(fd, &found, sizeof(found), (off_t)peer->arena->image->address) ==
		    (ssize_t)sizeof(found) &&
	    found.magic == SOFT_IMAGE_MAGIC && found.slot == peer->slot &&
	    found.generation == peer->generation)
		return fd;
	close(fd);
	return 0;
}

/* Checks that the listening process has the same user and holds the slot. */
static int check_host(int fd, uint32_t slot, pid_t *pid)
{
	const struct soft_registry *registry = &soft_process.registry;
	struct ucred who;
	socklen_t size = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size))
		return -errno;
	if (who.uid != geteuid())
		return -EACCES;
	if (slot != registry->slot &&
	    !soft_registry_is_holder(registry, slot, soft_registry_generation(registry, slot),
				     who.pid))
		return -ECONNREFUSED;
	if (pid)
		*pid = who.pid;
	return 0;
}

int soft_peer_knock(uint32_t slot, uint32_t kind, pid_t *pid)
{
	static const struct timeval patience = {.tv_sec = 2};
	const int none[SOFT_MESSAGE_FDS] = {-1};
	const struct soft_message hello = {
		.kind = kind,
		.slot = soft_process.registry.slot,
		.generation = soft_process.registry.generation,
	};
	struct sockaddr_un address;
	int result = 0;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	soft_registry_address(&soft_process.registry, slot, &address);
	/* A stopped process accepts no connections, and its backlog fills up. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ||
	    connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		result = -errno;
	if (!result)
		result = check_host(fd, slot, pid);
	if (!result)
		result = soft_message_send(fd, &hello, none);
	if (!result)
		return fd;
	close(fd);
	return result;
}

static int knock(struct soft_peer *peer)
{
	int fd = soft_peer_knock(peer->slot, SOFT_MESSAGE_HELLO, &peer->pid);

	if (fd < 0)
		return fd;
	peer->source.fd = fd;
	return 0;
}

static int await_arena(struct soft_peer *peer)
{
	struct pollfd readable = {.fd = peer->source.fd, .events = POLLIN};
	uint64_t deadline_ns = soft_time_ns() + PATIENCE_MS * UINT64_C(1000000);
	int result = 0;

	while (!result && !peer->arena) {
		if (soft_time_ns() >= deadline_ns)
			return -ETIMEDOUT;
		if (poll(&readable, 1, PATIENCE_MS) > 0)
			result = soft_peer_receive(peer);
	}
	return result;
}

/*
 * Returns whether the kernel copies forward when writing to /proc/PID/mem. On x86 CPUs without fast
 * short moves, its memcpy sometimes starts with the last bytes.
 */
static bool copies_forward(void)
{
#ifdef __x86_64__
	const unsigned int fast_short_moves = 1U << 4;
	unsigned int a;
	unsigned int b;
	unsigned int c;
	unsigned int d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && d & fast_short_moves;
#else
	return true;
#endif
}

/* Sets up optional ways of copying that are faster than process_vm_writev. */
static void open_fast_paths(struct soft_peer *peer)
{
	peer->mappings = soft_mappings_open();
	peer->memory = open_memory(peer);
	peer->is_forward = copies_forward();
}

void soft_peer_handshake(uint32_t slot)
{
	struct soft_peer *peer = calloc(1, sizeof(*peer));
	int result;

	if (!peer)
		return;
	pthread_mutex_init(&peer->mutex, NULL);
	peer->slot = slot;
	peer->channel = calloc(SOFT_CHANNELS, sizeof(*peer->channel));
	result = peer->channel ? knock(peer) : -ENOMEM;
	if (!result)
		result = await_arena(peer);
	if (result) {
		soft_peer_destroy(peer);
		return;
	}
	peer->copy_error = try_copy(peer);
	if (peer->copy_error)
		peer->copy_client = soft_copy_client_open(slot);
	else
		open_fast_paths(peer);
	if (peer->copy_client)
		peer->copy_error = 0;
	soft_peer_show(peer);
}
