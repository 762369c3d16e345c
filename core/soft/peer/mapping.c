/* SPDX-License-Identifier: MIT */
#include "core/soft/peer/mapping.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/soft/memory/memory_file.h"
#include "core/soft/memory/region.h"
#include "core/soft/peer/image.h"
#include "core/soft/peer/peer.h"
#include "core/soft/peer/process.h"

enum {
	MAPPINGS = 128,       /* if two regions share a place, the later one is not mapped */
	POPULATED = 64 << 20, /* larger mappings are faulted in page by page */
};

/* A snapshot of a region; its owner may change the original at any time. */
struct extent {
	uint64_t address; /* in the owner */
	uint64_t length;
	uint64_t inode;
	uint64_t offset;
	uint32_t file;
};

struct mapping {
	_Atomic uint32_t key; /* of the region; 0: free */
	struct extent extent; /* of the region when it was mapped */
	char *at;             /* the local address; NULL: mapping failed */
	void *mapped;
	size_t size;
	enum {
		HERE,
		RETIRED, /* no new users; threads may still use it */
		PARTING, /* retired before the operations in progress */
	} part;
};

struct soft_mappings {
	pthread_mutex_t mutex; /* held to open a mapping */
	struct mapping mapping[MAPPINGS];
};

static _Atomic bool has_retired;

struct soft_mappings *soft_mappings_open(void)
{
	struct soft_mappings *mappings = calloc(1, sizeof(*mappings));

	if (mappings)
		pthread_mutex_init(&mappings->mutex, NULL);
	return mappings;
}

static void unmap(struct mapping *mapping)
{
	if (mapping->mapped)
		munmap(mapping->mapped, mapping->size);
	mapping->mapped = NULL;
	mapping->at = NULL;
}

void soft_mappings_close(struct soft_mappings *mappings)
{
	if (!mappings)
		return;
	for (unsigned int i = 0; i < MAPPINGS; i++)
		unmap(&mappings->mapping[i]);
	pthread_mutex_destroy(&mappings->mutex);
	free(mappings);
}

static const struct soft_region_image *region_of(const struct soft_peer *peer, uint32_t key)
{
	return &peer->arena->memory->region[soft_region_number(key)];
}

/* The kernel applies the same access check as for process_vm_writev. */
static int fetch(pid_t pid, int number)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0);
	int fd;

	if (process < 0)
		return -1;
	fd = (int)syscall(SYS_pidfd_getfd, process, number, 0);
	close(process);
	return fd;
}

static struct extent read_extent(const struct soft_region_image *region)
{
	return (struct extent){
		.address = soft_image_read_long(&region->address),
		.length = soft_image_read_long(&region->length),
		.inode = soft_image_read_long(&region->inode),
		.offset = soft_image_read_long(&region->offset),
		.file = soft_image_read(&region->file),
	};
}

/* Returns whether fd is the region's file and can never become too short for the region. */
static bool is_right(int fd, const struct extent *region)
{
	struct soft_memory_file file;

	return !soft_memory_look(fd, &file) && file.is_steady && file.inode == region->inode &&
	       region->offset <= file.size && region->length <= file.size - region->offset;
}

static void map(struct mapping *mapping, int fd, uint64_t offset, uint64_t length)
{
	uint64_t within = offset % (uint64_t)sysconf(_SC_PAGESIZE);
	size_t size = (size_t)(length + within);
	int flags = MAP_SHARED | (size <= POPULATED ? MAP_POPULATE : 0);
	void *mapped =
		mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, (off_t)(offset - within));

	if (mapped == MAP_FAILED)
		return;
	madvise(mapped, size, MADV_DONTDUMP);
	madvise(mapped, size, MADV_DONTFORK);
	mapping->mapped = mapped;
	mapping->size = size;
	mapping->at = (char *)mapped + within;
}

static COLD bool is_unchanged(const struct mapping *mapping, const struct soft_region_image *region)
{
	const struct extent *old = &mapping->extent;
	const struct extent new = read_extent(region);

	return old->address == new.address && old->length == new.length &&
	       old->inode == new.inode && old->offset == new.offset;
}

/* A memory window may have been bound again by the same key. */
static ALWAYS_INLINE bool is_current(const struct mapping *mapping,
				     const struct soft_region_image *region, uint32_t key)
{
	return atomic_load_explicit(&mapping->key, memory_order_acquire) == key &&
	       (likely(!(region->pd & SOFT_WINDOW)) || is_unchanged(mapping, region));
}

/* The mapped region still exists, so no other region can use its place. */
static bool is_taken(const struct soft_peer *peer, const struct mapping *mapping)
{
	uint32_t key = atomic_load(&mapping->key);
	const struct soft_region_image *region = region_of(peer, key);

	return key && atomic_load(&region->key) == key && is_current(mapping, region, key);
}

/*
 * Returns whether this process may still copy through the mapping of a region that is gone. If a
 * window was bound again, lanes that hold its key are of copies to the new memory.
 */
static bool is_held(const struct soft_peer *peer, uint32_t key)
{
	return atomic_load(&region_of(peer, key)->key) != key &&
	       soft_region_is_held(peer->arena, key);
}

/*
 * Retires the mappings of regions that are gone or changed. The lanes are in the peer's arena,
 * where the peer may clear them, so free lanes do not prove that no thread uses a mapping. The
 * service thread unmaps it without relying on them.
 */
static void sweep(const struct soft_peer *peer)
{
	bool is_any = false;

	for (unsigned int i = 0; i < MAPPINGS; i++) {
		struct mapping *mapping = &peer->mappings->mapping[i];
		uint32_t key = atomic_load(&mapping->key);

		if (!key || is_taken(peer, mapping) || is_held(peer, key))
			continue;
		mapping->part = RETIRED;
		atomic_store(&mapping->key, 0);
		is_any = true;
	}
	if (!is_any)
		return;
	atomic_store(&has_retired, true);
	soft_peer_ring(&soft_process.self);
}

static void part(struct soft_mappings *mappings)
{
	pthread_mutex_lock(&mappings->mutex);
	for (unsigned int i = 0; i < MAPPINGS; i++)
		if (mappings->mapping[i].part == RETIRED)
			mappings->mapping[i].part = PARTING;
	pthread_mutex_unlock(&mappings->mutex);
}

static void clear(struct soft_mappings *mappings)
{
	pthread_mutex_lock(&mappings->mutex);
	for (unsigned int i = 0; i < MAPPINGS; i++) {
		if (mappings->mapping[i].part != PARTING)
			continue;
		unmap(&mappings->mapping[i]);
		mappings->mapping[i].part = HERE;
	}
	pthread_mutex_unlock(&mappings->mutex);
}

static void each(void what(struct soft_mappings *mappings))
{
	for (uint32_t slot = 0; slot < SOFT_SLOTS; slot++) {
		struct soft_peer *peer = soft_peer_known(slot);

		if (peer && peer->mappings)
			what(peer->mappings);
	}
}

void soft_mappings_sweep(void)
{
	if (!atomic_exchange(&has_retired, false))
		return;
	each(part);
	soft_process_quiesce();
	each(clear);
}

/* Marks the mapping as opened even if mapping fails, so that it is not tried again. */
static void open_mapping(const struct soft_peer *peer, struct mapping *mapping, uint32_t key)
{
	const struct extent region = read_extent(region_of(peer, key));
	int fd = fetch(peer->pid, (int)region.file - 1);

	if (fd >= 0 && is_right(fd, &region))
		map(mapping, fd, region.offset, region.length);
	if (fd >= 0)
		close(fd);
	mapping->extent = region;
	atomic_store_explicit(&mapping->key, key, memory_order_release);
}

static COLD void open_if_free(const struct soft_peer *peer, struct mapping *mapping, uint32_t key)
{
	pthread_mutex_lock(&peer->mappings->mutex);
	if (!is_current(mapping, region_of(peer, key), key)) {
		sweep(peer);
		if (!atomic_load(&mapping->key) && mapping->part == HERE)
			open_mapping(peer, mapping, key);
	}
	pthread_mutex_unlock(&peer->mappings->mutex);
}

/*
 * Returns NULL if the region is not mapped. Checks the bounds of the mapping, because the owner may
 * change the region's at any time.
 */
static ALWAYS_INLINE char *place_of(const struct soft_peer *peer, uint32_t key, uint64_t address,
				    uint64_t length)
{
	struct mapping *mapping = &peer->mappings->mapping[soft_region_number(key) % MAPPINGS];
	const struct soft_region_image *region = region_of(peer, key);

	if (!region->file)
		return NULL;
	if (unlikely(!is_current(mapping, region, key))) {
		if (is_taken(peer, mapping))
			return NULL;
		open_if_free(peer, mapping, key);
		if (!is_current(mapping, region, key))
			return NULL;
	}
	address -= mapping->extent.address;
	if (unlikely(!mapping->at || address > mapping->extent.length ||
		     length > mapping->extent.length - address))
		return NULL;
	return mapping->at + address;
}

bool soft_mapping_span(const struct soft_peer *peer, const struct soft_span *remote,
		       struct soft_span *translated)
{
	if (!peer->mappings)
		return false;
	translated->count = remote->count;
	translated->length = remote->length;
	for (unsigned int i = 0; i < remote->count; i++) {
		const struct iovec *piece = &remote->piece[i];
		char *at =
			place_of(peer, remote->key[i], (uintptr_t)piece->iov_base, piece->iov_len);

		if (!at)
			return false;
		translated->piece[i] = (struct iovec){at, piece->iov_len};
	}
	return true;
}
