/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/soft/peer/parts.h"

bool soft_peer_is_anonymous(int fd)
{
	struct stat status;

	return fd >= 0 && !fstat(fd, &status) && !(status.st_mode & S_IFMT);
}

/* Readers check generation before and after they read fd, so they get the matching descriptor. */
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
			/* The last writer has just left. */
			close_parting(channel, writers);
			continue;
		}
		/*
		 * Only one descriptor can wait for its writers; if an earlier one still does, leave
		 * this one open.
		 */
		if (writers >> SOFT_PARTING ||
		    atomic_compare_exchange_weak(&channel->writers, &writers,
						 writers | (uint64_t)(fd + 1) << SOFT_PARTING))
			return;
	}
	close(fd);
}

int soft_peer_take_channel(struct soft_peer *peer, const struct soft_message *message, int *fd)
{
	struct soft_peer_channel *channel;

	if (!message->slot || message->slot >= SOFT_CHANNELS)
		return -EPROTO;
	channel = &peer->channel[message->slot];
	soft_peer_part_channel(channel);
	atomic_store(&channel->fd, -1);
	if (message->kind == SOFT_MESSAGE_CHANNEL_GONE)
		return 0;
	if (!message->generation || !soft_peer_is_anonymous(fd[0]))
		return -EPROTO;
	soft_peer_set_channel(channel, fd[0], message->generation);
	fd[0] = -1;
	return 0;
}

static ALWAYS_INLINE void leave(struct soft_peer_channel *channel)
{
	uint64_t writers = atomic_fetch_sub(&channel->writers, 1) - 1;

	if (unlikely(writers && !(uint32_t)writers))
		close_parting(channel, writers);
}

/*
 * Returns the descriptor of a channel, open until leave(), or -1 if the channel is gone. Threads
 * that signal the same channel do not wait for each other.
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

static COLD int learn_and_enter(struct soft_peer *peer, struct soft_peer_channel *channel,
				uint32_t generation)
{
	pthread_mutex_lock(&peer->mutex);
	/*
	 * Channels are announced before a queue can use them, so an unknown one is in the socket.
	 * If it cannot be received (no descriptors left, for example), the peer is dropped.
	 */
	if (!peer->is_self && channel->generation != generation && soft_peer_receive(peer))
		soft_peer_leave(peer);
	pthread_mutex_unlock(&peer->mutex);
	return enter(channel, generation);
}

void soft_peer_ring_channel(struct soft_peer *peer, uint32_t number, uint32_t generation,
			    uint32_t count)
{
	struct soft_peer_channel *channel;
	int fd;

	/* The completion queue has no channel. */
	if (!generation || number >= SOFT_CHANNELS || !count)
		return;
	channel = &peer->channel[number];
	fd = enter(channel, generation);
	if (unlikely(fd < 0))
		fd = learn_and_enter(peer, channel, generation);
	if (unlikely(fd < 0))
		return;
	for (; count; count--)
		soft_service_ring(fd);
	leave(channel);
}
