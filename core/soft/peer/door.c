/* SPDX-License-Identifier: MIT */
#include "core/soft/peer/door.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/soft/cm/socket.h"
#include "core/soft/memory/region.h"
#include "core/soft/op/channel.h"
#include "core/soft/peer/message.h"
#include "core/soft/peer/process.h"
#include "core/soft/time.h"

enum {
	BACKLOG = 128,
	PATIENCE_MS = 1000, /* for a guest that does not read; covers all messages sent in one go */
};

struct soft_guest {
	struct soft_source source;
	struct soft_guest *next;
	uint32_t slot; /* 0: no hello yet, or replaced by a new connection */
	uint32_t generation;
	uint64_t deadline_ns;
};

static void remove_guest(struct soft_door *door, struct soft_guest *guest)
{
	struct soft_guest **at = &door->guests;

	pthread_mutex_lock(&door->mutex);
	while (*at != guest)
		at = &(*at)->next;
	*at = guest->next;
	pthread_mutex_unlock(&door->mutex);
	soft_service_remove(&soft_process.service, &guest->source);
	close(guest->source.fd);
	/* A dead process no longer copies anything. A live one releases its lanes itself. */
	if (guest->slot &&
	    !soft_registry_is_alive(&soft_process.registry, guest->slot, guest->generation))
		soft_region_forget(guest->slot);
	free(guest);
}

static void set_deadline(struct soft_guest *guest)
{
	guest->deadline_ns = soft_time_ns() + PATIENCE_MS * UINT64_C(1000000);
}

/* Sends to a guest. If its socket is full, waits until the guest's deadline. */
static int send_to_guest(struct soft_guest *guest, const struct soft_message *message,
			 const int *fd)
{
	struct pollfd writable = {.fd = guest->source.fd, .events = POLLOUT};
	int result;

	while ((result = soft_message_send(guest->source.fd, message, fd)) == -EAGAIN) {
		uint64_t now_ns = soft_time_ns();

		if (now_ns >= guest->deadline_ns)
			break;
		poll(&writable, 1, (int)((guest->deadline_ns - now_ns) / 1000000) + 1);
	}
	return result;
}

static int send_channel(struct soft_guest *guest, uint32_t number, uint32_t generation, int fd)
{
	const int fds[SOFT_MESSAGE_FDS] = {fd, -1};
	struct soft_message message = {
		.kind = fd < 0 ? SOFT_MESSAGE_CHANNEL_GONE : SOFT_MESSAGE_CHANNEL,
		.slot = number,
		.generation = generation,
	};

	return send_to_guest(guest, &message, fds);
}

/*
 * Disconnects earlier guests that claim this slot. If another process held the slot before, it no
 * longer copies anything, even if it was not yet known to be dead when its guest was removed.
 */
static void replace(struct soft_door *door, uint32_t slot, uint32_t generation)
{
	for (struct soft_guest *guest = door->guests; guest; guest = guest->next) {
		if (guest->slot != slot)
			continue;
		guest->slot = 0;
		shutdown(guest->source.fd, SHUT_RDWR);
	}
	if (door->generation[slot] != generation)
		soft_region_forget(slot);
	door->generation[slot] = generation;
}

/* Sends the channels before the arena, so that a peer that has the arena knows all channels. */
static int welcome(struct soft_guest *guest, const struct soft_message *hello)
{
	const struct soft_message message = {
		.kind = SOFT_MESSAGE_HELLO,
		.slot = soft_process.registry.slot,
		.generation = soft_process.registry.generation,
	};
	const int fds[SOFT_MESSAGE_FDS] = {soft_process.arena.fd, soft_process.service.doorbell.fd,
					   soft_process.arena.memory_fd};

	replace(&soft_process.door, hello->slot, hello->generation);
	set_deadline(guest);
	for (uint32_t i = 1; i < SOFT_CHANNELS; i++) {
		struct soft_channel *channel = soft_table_get(&soft_process.channels, i);
		int result = 0;

		if (channel)
			result = send_channel(guest, i, channel->generation, channel->verbs.fd);
		if (result)
			return result;
	}
	guest->slot = hello->slot;
	guest->generation = hello->generation;
	if (atomic_load(&soft_process.guest_slots) <= hello->slot)
		atomic_store(&soft_process.guest_slots, hello->slot + 1);
	return send_to_guest(guest, &message, fds);
}

/* Returns whether the guest's process holds the slot that it claims. */
static bool is_slot_holder(const struct soft_guest *guest, const struct soft_message *message)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	return !getsockopt(guest->source.fd, SOL_SOCKET, SO_PEERCRED, &who, &size) &&
	       soft_registry_is_holder(&soft_process.registry, message->slot, message->generation,
				       who.pid);
}

/*
 * Returns 0 if it stays a guest. Connections and the copy server get a duplicate of the descriptor.
 */
static int admit(struct soft_guest *guest, const struct soft_message *message)
{
	struct soft_door *door = &soft_process.door;
	int result = -EPROTO;

	if (guest->slot ||
	    (message->kind != SOFT_MESSAGE_CONNECTION && !is_slot_holder(guest, message)))
		return -EPROTO;
	switch (message->kind) {
	case SOFT_MESSAGE_HELLO:
		pthread_mutex_lock(&door->mutex);
		result = welcome(guest, message);
		pthread_mutex_unlock(&door->mutex);
		return result;
	case SOFT_MESSAGE_CONNECTION:
		soft_cm_socket_adopt(fcntl(guest->source.fd, F_DUPFD_CLOEXEC, 0));
		return -ESHUTDOWN;
	case SOFT_MESSAGE_COPY:
		soft_copy_server_adopt(&soft_process.copy_server,
				       fcntl(guest->source.fd, F_DUPFD_CLOEXEC, 0), message->slot);
		return -ESHUTDOWN;
	default:
		return -EPROTO;
	}
}

static int listen_to(struct soft_guest *guest)
{
	struct soft_message message;
	int fd[SOFT_MESSAGE_FDS];
	int result = soft_message_receive(guest->source.fd, &message, fd);

	if (result)
		return result == -EAGAIN ? 0 : result;
	for (unsigned int i = 0; i < SOFT_MESSAGE_FDS; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return admit(guest, &message);
}

static void on_guest(struct soft_source *source, uint32_t events)
{
	struct soft_guest *guest = CONTAINER_OF(source, struct soft_guest, source);
	bool is_peer;

	if (!listen_to(guest))
		return;
	is_peer = guest->slot;
	remove_guest(&soft_process.door, guest);
	/*
	 * A process that only sends datagrams to this one may not be in the peer table, so repair
	 * here what it left half done.
	 */
	if (is_peer)
		soft_process_repair();
}

static int is_of_this_user(int fd)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) && who.uid == geteuid();
}

static void on_knock(struct soft_source *source, uint32_t events)
{
	static const struct timespec nap = {.tv_nsec = 10000000};
	struct soft_door *door = CONTAINER_OF(source, struct soft_door, source);
	int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct soft_guest *guest;

	if (fd < 0) {
		/* The peer stays in the backlog; do not spin until a descriptor is free. */
		if (errno == EMFILE || errno == ENFILE)
			nanosleep(&nap, NULL);
		return;
	}
	guest = is_of_this_user(fd) ? calloc(1, sizeof(*guest)) : NULL;
	if (!guest) {
		close(fd);
		return;
	}
	guest->source = (struct soft_source){fd, on_guest};
	pthread_mutex_lock(&door->mutex);
	guest->next = door->guests;
	door->guests = guest;
	pthread_mutex_unlock(&door->mutex);
	if (soft_service_add(&soft_process.service, &guest->source))
		remove_guest(door, guest);
}

int soft_door_open(struct soft_door *door)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memset(door, 0, sizeof(*door));
	if (fd < 0)
		return -errno;
	pthread_mutex_init(&door->mutex, NULL);
	door->source = (struct soft_source){fd, on_knock};
	soft_registry_address(&soft_process.registry, soft_process.registry.slot, &address);
	/* This process holds the slot, so an existing socket was left by a dead process. */
	unlink(address.sun_path);
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) || listen(fd, BACKLOG)) {
		int result = -errno;

		soft_door_close(door);
		return result;
	}
	return soft_service_add(&soft_process.service, &door->source);
}

void soft_door_close(struct soft_door *door)
{
	if (door->source.fd <= 0)
		return;
	while (door->guests)
		remove_guest(door, door->guests);
	close(door->source.fd);
	pthread_mutex_destroy(&door->mutex);
	memset(door, 0, sizeof(*door));
}

void soft_door_announce(struct soft_door *door, uint32_t number, uint32_t generation, int fd)
{
	pthread_mutex_lock(&door->mutex);
	for (struct soft_guest *guest = door->guests; guest; guest = guest->next) {
		set_deadline(guest);
		if (guest->slot && send_channel(guest, number, generation, fd))
			shutdown(guest->source.fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&door->mutex);
}
