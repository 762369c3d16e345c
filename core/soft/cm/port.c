/* SPDX-License-Identifier: MIT */
#include "core/soft/cm/port.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "core/soft/peer/peer.h"
#include "core/soft/peer/process.h"

enum {
	FIRST_FREE_PORT = 32768,
	LAST_FREE_PORT = 60999,
	TRIES = LAST_FREE_PORT - FIRST_FREE_PORT + 1,
};

/* Returns the thread's network namespace, or 0 if unknown. */
static uint64_t find_network(void)
{
	struct stat status;

	return stat("/proc/self/ns/net", &status) ? 0 : status.st_ino;
}

static struct soft_registry_port *port_at(uint32_t entry)
{
	return &soft_process.registry.file->port[entry];
}

/* Limits the count to the table's size, whatever the file says. */
static uint32_t port_count(void)
{
	uint32_t count = soft_process.registry.file->port_count;

	return count < 1 ? 1 : count > SOFT_PORTS ? SOFT_PORTS : count;
}

static void lock(void)
{
	soft_lock_take(&soft_process.registry.file->lock);
}

static void unlock(void)
{
	soft_lock_release(&soft_process.registry.file->lock);
}

static uint32_t slot_of(const struct soft_registry_port *port)
{
	return port->owner & (SOFT_SLOTS - 1);
}

static bool is_taken(const struct soft_registry_port *port)
{
	return port->owner && soft_registry_is_alive(&soft_process.registry, slot_of(port),
						     port->owner >> SOFT_SLOT_BITS);
}

static struct soft_cm_address address_of(const struct soft_registry_port *port)
{
	return (struct soft_cm_address){
		.gid = port->gid,
		.family = port->is_v6 ? AF_INET6 : AF_INET,
		.port = port->port,
	};
}

static bool is_any(const struct soft_registry_port *port)
{
	const struct soft_cm_address address = address_of(port);

	return soft_cm_address_is_any(&address);
}

/* Returns whether an entry bound to the wildcard address receives connections of this family. */
static bool covers(const struct soft_registry_port *any, bool is_v6)
{
	return is_any(any) && (any->is_v6 ? is_v6 || !any->is_v6_only : !is_v6);
}

static bool overlaps(const struct soft_registry_port *one, const struct soft_registry_port *other)
{
	return !memcmp(&one->gid, &other->gid, sizeof(one->gid)) || covers(one, other->is_v6) ||
	       covers(other, one->is_v6);
}

static bool is_free(const struct soft_registry_port *wanted)
{
	for (uint32_t i = 1; i < port_count(); i++) {
		const struct soft_registry_port *port = port_at(i);

		if (port == wanted || port->port != wanted->port || port->space != wanted->space ||
		    port->network != wanted->network || !overlaps(port, wanted))
			continue;
		if (port->is_sharing && wanted->is_sharing &&
		    !(port->is_listening && wanted->is_listening))
			continue;
		if (is_taken(port))
			return false;
	}
	return true;
}

static int choose_port(struct soft_registry_port *wanted)
{
	uint16_t start = 0;

	if (wanted->port)
		return is_free(wanted) ? 0 : -EADDRINUSE;
	/* If no random number is available, start at the first port. */
	if (getrandom(&start, sizeof(start), GRND_NONBLOCK) < 0)
		start = 0;
	for (uint32_t i = 0; i < TRIES; i++) {
		wanted->port = (uint16_t)(FIRST_FREE_PORT + (start + i) % TRIES);
		if (is_free(wanted))
			return 0;
	}
	return -EADDRNOTAVAIL;
}

/* Prefers entries never used; checking that an entry's process is dead costs a system call. */
static int find_entry(uint32_t *entry)
{
	uint32_t count = port_count();

	for (uint32_t i = 1; i < count; i++) {
		if (!port_at(i)->owner) {
			*entry = i;
			return 0;
		}
	}
	if (count < SOFT_PORTS) {
		*entry = count;
		soft_process.registry.file->port_count = count + 1;
		return 0;
	}
	for (uint32_t i = 1; i < count; i++) {
		if (!is_taken(port_at(i))) {
			*entry = i;
			return 0;
		}
	}
	return -ENOBUFS;
}

int soft_cm_port_take(struct soft_cm_claim *claim, uint32_t *entry)
{
	struct soft_registry_port wanted = {
		.owner = soft_lock_self,
		.space = claim->space,
		.network = find_network(),
		.gid = claim->address.gid,
		.port = claim->address.port,
		.is_v6 = claim->address.family == AF_INET6,
		.is_v6_only = claim->is_v6_only,
		.is_sharing = claim->is_sharing,
	};
	uint32_t found = 0;
	int result;

	lock();
	result = choose_port(&wanted);
	if (!result)
		result = find_entry(&found);
	if (!result) {
		*port_at(found) = wanted;
		claim->address.port = wanted.port;
		*entry = found;
	}
	unlock();
	return result;
}

void soft_cm_port_release(uint32_t entry)
{
	if (!entry)
		return;
	lock();
	memset(port_at(entry), 0, sizeof(struct soft_registry_port));
	unlock();
}

int soft_cm_port_listen(uint32_t entry)
{
	struct soft_registry_port *port = port_at(entry);
	int result = 0;

	lock();
	port->is_listening = true;
	if (!is_free(port)) {
		port->is_listening = false;
		result = -EADDRINUSE;
	}
	unlock();
	return result;
}

/*
 * Rates how well an entry matches: a specific address before a wildcard, this network namespace
 * before others; 0 means no match.
 */
static int fit(const struct soft_registry_port *port, const struct soft_cm_address *to,
	       uint64_t network)
{
	int result = port->network == network ? 2 : 1;

	if (!memcmp(&port->gid, &to->gid, sizeof(to->gid)))
		return result + 2;
	if (!covers(port, to->family == AF_INET6))
		return 0;
	/* Processes in the same network namespace have the same addresses. */
	if (port->network == network && soft_cm_address_index(to) >= 0)
		return result;
	return soft_peer_of_slot_has_gid(slot_of(port), &to->gid) ? result : 0;
}

/* Copies a listening entry, so that no thread waits for a peer with the table locked. */
static bool soft_cm_port_look(uint32_t entry, struct soft_registry_port *port)
{
	bool is_one;

	lock();
	*port = *port_at(entry);
	is_one = port->is_listening && is_taken(port);
	unlock();
	return is_one;
}

static bool is_wanted(const struct soft_registry_port *port, const struct soft_cm_address *to,
		      uint32_t space)
{
	return port->port == to->port && port->space == space;
}

int soft_cm_port_find(const struct soft_cm_address *to, uint32_t space, uint32_t *slot,
		      uint32_t *entry)
{
	uint64_t network = find_network();
	int best = 0;

	for (uint32_t i = 1; i < port_count(); i++) {
		struct soft_registry_port port = *port_at(i);
		int fits;

		/* The entry was read without the lock and may have changed. */
		if (!is_wanted(&port, to, space) || !soft_cm_port_look(i, &port) ||
		    !is_wanted(&port, to, space))
			continue;
		fits = fit(&port, to, network);
		if (fits <= best)
			continue;
		best = fits;
		*slot = slot_of(&port);
		*entry = i;
	}
	return best ? 0 : -ECONNREFUSED;
}

bool soft_cm_port_is_known(const struct soft_cm_address *address)
{
	for (uint32_t i = 1; i < port_count(); i++) {
		struct soft_registry_port port;

		if (soft_cm_port_look(i, &port) &&
		    soft_peer_of_slot_has_gid(slot_of(&port), &address->gid))
			return true;
	}
	return false;
}
