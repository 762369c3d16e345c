/* SPDX-License-Identifier: MIT */
#include "core/soft/peer.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/compiler.h"
#include "core/soft/errand.h"
#include "core/soft/event.h"
#include "core/soft/message.h"
#include "core/soft/process.h"
#include "core/soft/time.h"
#include "core/soft/window.h"

enum {
	PATIENCE_MS = 1000,
	WORDS_MAX = 2 * SOFT_CHANNELS, /* of a peer that goes on and on, at once */
};

/* In the table, it stands for one that is being met. */
static struct soft_peer coming;

/* Whether somebody is still at one: stopped for long, he counts himself out when he goes on. */
static bool close_channels(const struct soft_peer *peer)
{
	bool has_writers = false;

	for (uint32_t i = 0; i < SOFT_CHANNELS; i++) {
		soft_peer_part_channel(&peer->channel[i]);
		has_writers = has_writers || atomic_load(&peer->channel[i].writers);
	}
	return has_writers;
}

static void destroy(struct soft_peer *peer)
{
	if (peer->source.fd > 0)
		close(peer->source.fd);
	if (peer->doorbell > 0)
		close(peer->doorbell);
	if (peer->memory)
		close(peer->memory);
	if (peer->channel && !close_channels(peer))
		free(peer->channel);
	soft_errand_close(peer->errands);
	soft_windows_close(peer->windows);
	soft_arena_finish(&peer->mapped);
	pthread_mutex_destroy(&peer->mutex);
	free(peer);
}

static void close_fds(const int *fd)
{
	for (unsigned int i = 0; i < SOFT_MESSAGE_FDS; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

/*
 * Whether writing to it can neither block for others than its readers nor raise a signal:
 * an eventfd and its like, which have no type of file.
 */
static bool is_anonymous(int fd)
{
	struct stat status;

	return fd >= 0 && !fstat(fd, &status) && !(status.st_mode & S_IFMT);
}

/* Who reads the number of one before and behind its descriptor has the one of that number. */
void soft_peer_set_channel(struct soft_peer_channel *channel, int fd, uint32_t generation)
{
	atomic_store(&channel->generation, 0);
	atomic_store(&channel->fd, fd);
	atomic_store(&channel->generation, generation);
}

static COLD void close_parting(struct soft_peer_channel *channel, uint64_t parting)
{
	if (atomic_compare_exchange_strong(&channel->writers, &parting, 0))
		close((int)(parting >> SOFT_PARTING) - 1);
}

void soft_peer_part_channel(struct soft_peer_channel *channel)
{
	int fd = channel->fd;
	uint64_t writers;

	if (!channel->generation)
		return;
	soft_peer_set_channel(channel, -1, 0);
	while ((writers = atomic_load(&channel->writers))) {
		if (!(uint32_t)writers) {
			/* The last one has just left. */
			close_parting(channel, writers);
			continue;
		}
		/* Behind one whose writers are stuck, another is left open. */
		if (writers >> SOFT_PARTING ||
		    atomic_compare_exchange_weak(&channel->writers, &writers,
						 writers | (uint64_t)(fd + 1) << SOFT_PARTING))
			return;
	}
	close(fd);
}

/* A descriptor that is kept is -1 afterwards. */
static int take_channel(struct soft_peer *peer, const struct soft_message *message, int *fd)
{
	struct soft_peer_channel *channel;

	if (!message->slot || message->slot >= SOFT_CHANNELS)
		return -EPROTO;
	channel = &peer->channel[message->slot];
	soft_peer_part_channel(channel);
	atomic_store(&channel->fd, -1);
	if (message->kind == SOFT_MESSAGE_CHANNEL_GONE)
		return 0;
	if (!message->generation || !is_anonymous(fd[0]))
		return -EPROTO;
	soft_peer_set_channel(channel, fd[0], message->generation);
	fd[0] = -1;
	return 0;
}

/* There was no room here for its descriptor: the peer rings it by itself. */
static COLD int miss_channel(struct soft_peer *peer, const struct soft_message *message)
{
	struct soft_peer_channel *channel;

	if (message->kind != SOFT_MESSAGE_CHANNEL || !message->slot ||
	    message->slot >= SOFT_CHANNELS)
		return -EMFILE;
	channel = &peer->channel[message->slot];
	soft_peer_part_channel(channel);
	atomic_store(&channel->fd, SOFT_MISSING);
	return 0;
}

static int take_arena(struct soft_peer *peer, const struct soft_message *message, int *fd)
{
	int result;

	if (peer->arena || fd[0] < 0 || fd[2] < 0 || message->slot != peer->slot ||
	    !is_anonymous(fd[1]))
		return -EPROTO;
	peer->doorbell = fd[1];
	result = soft_arena_map(&peer->mapped, fd[0], fd[2]);
	fd[0] = fd[1] = fd[2] = -1;
	if (result)
		return result;
	peer->generation = message->generation;
	peer->arena = &peer->mapped;
	return 0;
}

static int take(struct soft_peer *peer, const struct soft_message *message, int *fd)
{
	int result = -EPROTO;

	switch (message->kind) {
	case SOFT_MESSAGE_CHANNEL:
	case SOFT_MESSAGE_CHANNEL_GONE:
		result = take_channel(peer, message, fd);
		break;
	case SOFT_MESSAGE_HELLO:
		result = take_arena(peer, message, fd);
		break;
	default:
		break;
	}
	close_fds(fd);
	return result;
}

/* Takes what the peer has said until now: 0, or a negative errno at its end. */
static int hear(struct soft_peer *peer)
{
	struct soft_message message;
	int fd[SOFT_MESSAGE_FDS];
	int result = 0;

	for (unsigned int i = 0; i < WORDS_MAX && !result; i++) {
		result = soft_message_receive(peer->source.fd, &message, fd);
		if (!result)
			result = take(peer, &message, fd);
		else if (result == -EMFILE)
			result = miss_channel(peer, &message);
	}
	return result == -EAGAIN ? 0 : result;
}

/* The service thread's: a channel that is new, or the peer's end. */
static void on_peer(struct soft_source *source, uint32_t events)
{
	struct soft_peer *peer = CONTAINER_OF(source, struct soft_peer, source);
	int result;

	pthread_mutex_lock(&peer->mutex);
	result = hear(peer);
	pthread_mutex_unlock(&peer->mutex);
	if (!result)
		return;
	soft_service_remove(&soft_process.service, source);
	atomic_store(&soft_process.peer[peer->slot], NULL);
	soft_errand_stop(peer->errands);
	soft_process_quiesce();
	pthread_mutex_lock(&soft_process.looking);
	pthread_mutex_unlock(&soft_process.looking);
	soft_process_mend();
	soft_registry_sweep(&soft_process.registry, peer->slot);
	destroy(peer);
}

/* Tries out whether the kernel lets this process into the peer's memory. */
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

/* As an image begins. */
struct beginning {
	uint32_t magic;
	uint32_t version;
	uint32_t slot;
	uint32_t generation;
};

_Static_assert(sizeof(struct beginning) == offsetof(struct soft_image, size),
	       "an image begins otherwise");

/*
 * Its memory as a file. /proc may be that of others than this process and those it meets: what
 * is in the memory has to say that it has the slot.
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

/* Who listens there is the process that holds the slot. */
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
	/* A process that is stopped accepts nothing, and its backlog fills. */
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
			result = hear(peer);
	}
	return result;
}

/*
 * As soon as the service thread looks at it, that may find it dead and free it: then it does
 * not come into the table any more.
 */
static void show(struct soft_peer *peer)
{
	_Atomic(struct soft_peer *) *place = &soft_process.peer[peer->slot];
	struct soft_peer *expected = &coming;

	atomic_store(place, &coming);
	if (!soft_service_add(&soft_process.service, &peer->source)) {
		atomic_compare_exchange_strong(place, &expected, peer);
		return;
	}
	atomic_store(place, NULL);
	destroy(peer);
}

/*
 * Whether the kernel's memcpy, by which it writes to a file of memory, goes forward: on x86 it
 * begins with the last bytes now and then where the processor has no fast short moves.
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

/* What is faster than process_vm_writev; none of it has to be. */
static void open_ways(struct soft_peer *peer)
{
	peer->windows = soft_windows_open();
	peer->memory = open_memory(peer);
	peer->has_order = copies_forward();
}

static void meet(uint32_t slot)
{
	struct soft_peer *peer = calloc(1, sizeof(*peer));
	int result;

	if (!peer)
		return;
	pthread_mutex_init(&peer->mutex, NULL);
	peer->slot = slot;
	peer->source.ready = on_peer;
	peer->channel = calloc(SOFT_CHANNELS, sizeof(*peer->channel));
	result = peer->channel ? knock(peer) : -ENOMEM;
	if (!result)
		result = await_arena(peer);
	if (result) {
		destroy(peer);
		return;
	}
	peer->copy_error = try_copy(peer);
	if (peer->copy_error)
		peer->errands = soft_errand_open(slot);
	else
		open_ways(peer);
	if (peer->errands)
		peer->copy_error = 0;
	show(peer);
}

/* The peer of a slot, if it is known and no other has the slot by now. */
static ALWAYS_INLINE struct soft_peer *known(uint32_t slot)
{
	struct soft_peer *peer =
		atomic_load_explicit(&soft_process.peer[slot], memory_order_acquire);

	if (!peer || peer == &coming ||
	    peer->generation != soft_registry_generation(&soft_process.registry, slot))
		return NULL;
	return peer;
}

struct soft_peer *soft_peer_known(uint32_t slot)
{
	struct soft_peer *peer = atomic_load(&soft_process.peer[slot]);

	return peer == &coming ? NULL : peer;
}

static void introduce(uint32_t slot)
{
	const struct soft_registry *registry = &soft_process.registry;
	const struct soft_peer *peer = atomic_load(&soft_process.peer[slot]);
	int cancelled;

	if ((peer && peer != &coming) || !slot || soft_service_is_this_thread())
		return;
	/* A post that meets somebody is no cancellation point. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled);
	pthread_mutex_lock(&soft_process.meeting);
	if (!atomic_load(&soft_process.peer[slot]) &&
	    soft_registry_is_alive(registry, slot, soft_registry_generation(registry, slot)))
		meet(slot);
	pthread_mutex_unlock(&soft_process.meeting);
	pthread_setcancelstate(cancelled, NULL);
}

static COLD struct soft_peer *meet_and_find(uint32_t slot)
{
	introduce(slot);
	return known(slot);
}

struct soft_peer *soft_peer_find(uint32_t slot)
{
	struct soft_peer *peer = known(slot);

	return likely(peer) ? peer : meet_and_find(slot);
}

void soft_peer_leave(const struct soft_peer *peer)
{
	shutdown(peer->source.fd, SHUT_RDWR);
}

void soft_peer_ring(const struct soft_peer *peer)
{
	soft_service_ring(peer->doorbell);
}

static ALWAYS_INLINE void leave(struct soft_peer_channel *channel)
{
	uint64_t writers = atomic_fetch_sub(&channel->writers, 1) - 1;

	if (unlikely(writers && !(uint32_t)writers))
		close_parting(channel, writers);
}

/*
 * The descriptor of a channel, open until leave(); -1: it is not there. Threads that wake
 * another's threads do not wait for each other.
 */
static ALWAYS_INLINE int enter(struct soft_peer_channel *channel, uint32_t generation)
{
	int fd;

	atomic_fetch_add(&channel->writers, 1);
	if (likely(atomic_load(&channel->generation) == generation)) {
		fd = atomic_load(&channel->fd);
		if (likely(atomic_load(&channel->generation) == generation))
			return fd;
	}
	leave(channel);
	return -1;
}

/* It was announced before there was a completion queue on it. */
static COLD int learn_and_enter(struct soft_peer *peer, struct soft_peer_channel *channel,
				uint32_t generation)
{
	pthread_mutex_lock(&peer->mutex);
	if (!peer->is_self && channel->generation != generation)
		hear(peer);
	pthread_mutex_unlock(&peer->mutex);
	return enter(channel, generation);
}

static COLD void have_rung(struct soft_peer *peer, const struct soft_peer_channel *channel,
			   uint32_t count)
{
	if (atomic_load(&channel->fd) != SOFT_MISSING)
		return;
	for (; count; count--)
		soft_event_leave(peer, SOFT_EVENT_RING, (uint32_t)(channel - peer->channel));
}

void soft_peer_ring_channel(struct soft_peer *peer, uint32_t number, uint32_t generation,
			    uint32_t count)
{
	struct soft_peer_channel *channel;
	int fd;

	/* Of a completion queue without one there is nothing to ring. */
	if (!generation || number >= SOFT_CHANNELS || !count)
		return;
	channel = &peer->channel[number];
	fd = enter(channel, generation);
	if (unlikely(fd < 0))
		fd = learn_and_enter(peer, channel, generation);
	if (unlikely(fd < 0)) {
		have_rung(peer, channel, count);
		return;
	}
	for (; count; count--)
		soft_service_ring(fd);
	leave(channel);
}

bool soft_peer_has_gid(const struct soft_peer *peer, const union ibv_gid *gid)
{
	const struct soft_image *image = peer->arena->image;

	for (uint32_t i = 0; i < image->gid_count && i < SOFT_GIDS; i++)
		if (!memcmp(&image->gid[i], gid, sizeof(*gid)))
			return true;
	return false;
}

/* Nobody is met with the mutex: the service thread waits for it. */
bool soft_peer_of_slot_has_gid(uint32_t slot, const union ibv_gid *gid)
{
	const struct soft_peer *peer;
	bool result;

	introduce(slot);
	pthread_mutex_lock(&soft_process.looking);
	peer = known(slot);
	result = peer && soft_peer_has_gid(peer, gid);
	pthread_mutex_unlock(&soft_process.looking);
	return result;
}

void soft_peer_init_self(struct soft_peer *peer)
{
	memset(peer, 0, sizeof(*peer));
	pthread_mutex_init(&peer->mutex, NULL);
	peer->slot = soft_process.registry.slot;
	peer->generation = soft_process.registry.generation;
	peer->pid = getpid();
	peer->is_self = true;
	peer->doorbell = soft_process.service.doorbell.fd;
	peer->arena = &soft_process.arena;
	peer->channel = soft_process.own_channels;
}

void soft_peer_leave_all(void)
{
	for (uint32_t slot = 0; slot < SOFT_SLOTS; slot++) {
		struct soft_peer *peer = atomic_exchange(&soft_process.peer[slot], NULL);

		if (peer && !peer->is_self)
			destroy(peer);
	}
}
