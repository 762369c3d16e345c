/* SPDX-License-Identifier: MIT */
#include "core/soft/peer/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/soft/peer/copy_client.h"
#include "core/soft/peer/mapping.h"
#include "core/soft/peer/parts.h"
#include "core/soft/peer/process.h"

enum {
	MESSAGES_MAX =
		2 * SOFT_CHANNELS, /* handled in one go from a peer that never stops sending */
};

/* Table entry of a slot whose peer is being connected. */
static struct soft_peer connecting;

/*
 * Closes all channels. Returns whether a writer is still using one: a thread that was stopped for
 * long leaves when it continues.
 */
static bool close_channels(const struct soft_peer *peer)
{
	bool has_writers = false;

	for (uint32_t i = 0; i < SOFT_CHANNELS; i++) {
		soft_peer_part_channel(&peer->channel[i]);
		has_writers = has_writers || atomic_load(&peer->channel[i].writers);
	}
	return has_writers;
}

void soft_peer_destroy(struct soft_peer *peer)
{
	if (peer->source.fd > 0)
		close(peer->source.fd);
	if (peer->doorbell > 0)
		close(peer->doorbell);
	if (peer->memory)
		close(peer->memory);
	if (peer->channel && !close_channels(peer))
		free(peer->channel);
	soft_copy_client_close(peer->copy_client);
	soft_mappings_close(peer->mappings);
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

static int take_arena(struct soft_peer *peer, const struct soft_message *message, int *fd)
{
	int result;

	if (peer->arena || fd[0] < 0 || fd[2] < 0 || message->slot != peer->slot ||
	    !soft_peer_is_anonymous(fd[1]))
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

static int soft_peer_take(struct soft_peer *peer, const struct soft_message *message, int *fd)
{
	int result = -EPROTO;

	switch (message->kind) {
	case SOFT_MESSAGE_CHANNEL:
	case SOFT_MESSAGE_CHANNEL_GONE:
		result = soft_peer_take_channel(peer, message, fd);
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

int soft_peer_receive(struct soft_peer *peer)
{
	struct soft_message message;
	int fd[SOFT_MESSAGE_FDS];
	int result = 0;

	for (unsigned int i = 0; i < MESSAGES_MAX && !result; i++) {
		result = soft_message_receive(peer->source.fd, &message, fd);
		if (!result)
			result = soft_peer_take(peer, &message, fd);
	}
	return result == -EAGAIN ? 0 : result;
}

/* Called on the service thread when a peer announces a channel or its connection ends. */
static void on_peer(struct soft_source *source, uint32_t events)
{
	struct soft_peer *peer = CONTAINER_OF(source, struct soft_peer, source);
	int result;

	pthread_mutex_lock(&peer->mutex);
	result = soft_peer_receive(peer);
	pthread_mutex_unlock(&peer->mutex);
	if (!result)
		return;
	soft_service_remove(&soft_process.service, source);
	atomic_store(&soft_process.peer[peer->slot], NULL);
	soft_copy_client_stop(peer->copy_client);
	soft_process_quiesce();
	pthread_mutex_lock(&soft_process.lookup_mutex);
	pthread_mutex_unlock(&soft_process.lookup_mutex);
	soft_process_repair();
	soft_peer_destroy(peer);
}

/*
 * The service thread may find the peer dead and free it as soon as it polls the socket. In that
 * case the peer does not enter the table.
 */
void soft_peer_show(struct soft_peer *peer)
{
	_Atomic(struct soft_peer *) *place = &soft_process.peer[peer->slot];
	struct soft_peer *expected = &connecting;

	peer->source.ready = on_peer;
	atomic_store(place, &connecting);
	if (!soft_service_add(&soft_process.service, &peer->source)) {
		atomic_compare_exchange_strong(place, &expected, peer);
		return;
	}
	atomic_store(place, NULL);
	soft_peer_destroy(peer);
}

/* Returns the peer of a slot if it is connected and still holds the slot. */
static ALWAYS_INLINE struct soft_peer *known(uint32_t slot)
{
	struct soft_peer *peer =
		atomic_load_explicit(&soft_process.peer[slot], memory_order_acquire);

	if (!peer || peer == &connecting ||
	    peer->generation != soft_registry_generation(&soft_process.registry, slot))
		return NULL;
	return peer;
}

struct soft_peer *soft_peer_known(uint32_t slot)
{
	struct soft_peer *peer = atomic_load(&soft_process.peer[slot]);

	return peer == &connecting ? NULL : peer;
}

static void connect_to(uint32_t slot)
{
	const struct soft_registry *registry = &soft_process.registry;
	const struct soft_peer *peer = atomic_load(&soft_process.peer[slot]);
	int canceled;

	if ((peer && peer != &connecting) || !slot || soft_service_is_this_thread())
		return;
	/* Posting is not a cancellation point, even if it connects to a peer. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &canceled);
	pthread_mutex_lock(&soft_process.connect_mutex);
	if (!atomic_load(&soft_process.peer[slot]) &&
	    soft_registry_is_alive(registry, slot, soft_registry_generation(registry, slot)))
		soft_peer_handshake(slot);
	pthread_mutex_unlock(&soft_process.connect_mutex);
	pthread_setcancelstate(canceled, NULL);
}

static COLD struct soft_peer *connect_and_find(uint32_t slot)
{
	connect_to(slot);
	return known(slot);
}

struct soft_peer *soft_peer_find(uint32_t slot)
{
	struct soft_peer *peer = known(slot);

	return likely(peer) ? peer : connect_and_find(slot);
}

void soft_peer_leave(const struct soft_peer *peer)
{
	shutdown(peer->source.fd, SHUT_RDWR);
}

void soft_peer_ring(const struct soft_peer *peer)
{
	soft_service_ring(peer->doorbell);
}

bool soft_peer_has_gid(const struct soft_peer *peer, const union ibv_gid *gid)
{
	const struct soft_image *image = peer->arena->image;
	uint32_t count = __atomic_load_n(&image->gid_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count && i < SOFT_GIDS; i++)
		if (!memcmp(&image->gid[i], gid, sizeof(*gid)))
			return true;
	return false;
}

/*
 * Disconnects a peer that lost its slot to another process: it is dead, though a forked child may
 * keep its sockets open. Call with soft_process.lookup_mutex held, so that the peer is not freed in
 * the meantime.
 */
static void drop_previous_holder(uint32_t slot)
{
	const struct soft_peer *peer = soft_peer_known(slot);

	if (peer && !peer->is_self &&
	    peer->generation != soft_registry_generation(&soft_process.registry, slot))
		soft_peer_leave(peer);
}

/* Connects before it takes the mutex, because the service thread waits for that mutex. */
bool soft_peer_of_slot_has_gid(uint32_t slot, const union ibv_gid *gid)
{
	const struct soft_peer *peer;
	bool result;

	connect_to(slot);
	pthread_mutex_lock(&soft_process.lookup_mutex);
	drop_previous_holder(slot);
	peer = known(slot);
	result = peer && soft_peer_has_gid(peer, gid);
	pthread_mutex_unlock(&soft_process.lookup_mutex);
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
			soft_peer_destroy(peer);
	}
}
