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

int soft_peer_take_channel(struct soft_peer *peer, const struct soft_message *message, int *fd)
{
	struct soft_peer_channel *channel;

	if (!message->slot || message->slot >= SOFT_CHANNELS)
		return -EPROTO;
	channel = &peer->channel[message->slot];
	if (channel->generation)
		close(channel->fd);
	channel->generation = 0;
	if (message->kind == SOFT_MESSAGE_CHANNEL_GONE)
		return 0;
	if (!message->generation || !soft_peer_is_anonymous(fd[0]))
		return -EPROTO;
	*channel = (struct soft_peer_channel){fd[0], message->generation};
	fd[0] = -1;
	return 0;
}

void soft_peer_ring_channel(struct soft_peer *peer, uint32_t number, uint32_t generation,
			    uint32_t count)
{
	struct soft_peer_channel *channel;

	/* A completion queue without a channel has nothing to ring. */
	if (!generation || number >= SOFT_CHANNELS || !count)
		return;
	channel = &peer->channel[number];
	pthread_mutex_lock(&peer->mutex);
	/*
	 * A channel is announced before a completion queue can be on it. A peer whose channels
	 * cannot be rung is no peer: it may have no descriptors left, for example.
	 */
	if (channel->generation != generation && !peer->is_self && soft_peer_hear(peer))
		soft_peer_leave(peer);
	if (channel->generation == generation)
		for (; count; count--)
			soft_service_ring(channel->fd);
	pthread_mutex_unlock(&peer->mutex);
}
