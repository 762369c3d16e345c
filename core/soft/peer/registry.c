/* SPDX-License-Identifier: MIT */
#include "core/soft/peer/registry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/soft/cm/socket.h"
#include "core/soft/peer/message.h"

/*
 * A fingerprint of the layout of the structures that processes share: their sizes, and the offsets
 * of members that move if others are added in padding.
 */
static const size_t layout[] = {
	sizeof(struct soft_registry_file),
	sizeof(struct soft_image),
	sizeof(struct soft_completion),
	sizeof(struct soft_receive),
	sizeof(struct soft_message),
	sizeof(struct soft_cm_message),
	offsetof(struct soft_registry_file, member),
	offsetof(struct soft_registry_port, is_listening),
	offsetof(struct soft_queue, owed_head),
	offsetof(struct soft_queue, stride),
	offsetof(struct soft_qp_image, max_dest_rd_atomic),
	offsetof(struct soft_srq_image, xrcd),
	offsetof(struct soft_cq_image, held_ns),
	offsetof(struct soft_cq_image, event_period_us),
	offsetof(struct soft_completion, payload),
	offsetof(struct soft_region_image, qp),
	offsetof(struct soft_image, interface),
	offsetof(struct soft_cm_message, data),
};

/* Creates a directory. Rejects an existing one of another user or accessible to others. */
static int make_directory(const char *directory)
{
	struct stat status;

	if (mkdir(directory, 0700) && errno != EEXIST)
		return -errno;
	if (lstat(directory, &status))
		return -errno;
	if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || status.st_mode & 077)
		return -EACCES;
	return 0;
}

/* Creates the user's directory and the one for this layout below it. */
static int make_directories(struct soft_registry *registry, const char *user)
{
	size_t sum = 0;
	int result;

	for (size_t i = 0; i < ARRAY_LENGTH(layout); i++)
		sum = sum * 31 + layout[i];
	if ((size_t)snprintf(registry->directory, sizeof(registry->directory), "%s/%u-%08x", user,
			     SOFT_IMAGE_VERSION, (uint32_t)sum) >= sizeof(registry->directory))
		return -ENAMETOOLONG;
	result = make_directory(user);
	return result ? result : make_directory(registry->directory);
}

static int open_file(struct soft_registry *registry)
{
	char path[sizeof(registry->directory) + 16];

	snprintf(path, sizeof(path), "%s/registry", registry->directory);
	registry->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return registry->fd < 0 ? -errno : 0;
}

/*
 * Allocates all of the file, some 3 MiB, up front: on a full file system, touching an unallocated
 * page would kill the process.
 */
static int make_room(const struct soft_registry *registry)
{
	const off_t size = sizeof(*registry->file);
	struct stat status;
	int result;

	if (fstat(registry->fd, &status))
		return -errno;
	if (status.st_size >= size && status.st_blocks * 512 >= size)
		return 0;
	do
		result = fallocate(registry->fd, 0, 0, size);
	while (result && errno == EINTR);
	/* posix_fallocate() would fall back to writing, while other processes use the file. */
	if (result && errno == EOPNOTSUPP)
		result = ftruncate(registry->fd, size);
	return result ? -errno : 0;
}

static int map(struct soft_registry *registry)
{
	int result = make_room(registry);
	void *at;

	if (result)
		return result;
	at = mmap(NULL, sizeof(*registry->file), PROT_READ | PROT_WRITE, MAP_SHARED, registry->fd,
		  0);
	if (at == MAP_FAILED)
		return -errno;
	registry->file = at;
	if (!registry->file->magic) {
		registry->file->version = SOFT_IMAGE_VERSION;
		registry->file->magic = SOFT_IMAGE_MAGIC;
	}
	if (registry->file->magic != SOFT_IMAGE_MAGIC ||
	    registry->file->version != SOFT_IMAGE_VERSION)
		return -EPROTO;
	return 0;
}

/* Sets *is_of_place if the failure may not occur in another directory. */
static int open_in(struct soft_registry *registry, const char *user, bool *is_of_place)
{
	int result = make_directories(registry, user);

	*is_of_place = result;
	if (!result)
		result = open_file(registry);
	if (!result)
		result = map(registry);
	if (result == -ENOSPC || result == -EDQUOT)
		*is_of_place = true;
	if (result)
		soft_registry_close(registry);
	return result;
}

/*
 * Uses the first usable directory that has room. Processes meet only if they choose the same one:
 * after /dev/shm was full, end all of them or set VERBMARK_SOFT_DIR.
 */
static int soft_registry_find(struct soft_registry *registry)
{
	const char *given = getenv("VERBMARK_SOFT_DIR");
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	const char *const bases[] = {"/dev/shm", runtime && *runtime ? runtime : "/tmp", "/tmp"};
	char user[sizeof(registry->directory)];
	int result = -ENAMETOOLONG;
	bool is_of_place = true;

	if (given && *given)
		return open_in(registry, given, &is_of_place);
	for (size_t i = 0; i < ARRAY_LENGTH(bases) && result && is_of_place; i++)
		if ((size_t)snprintf(user, sizeof(user), "%s/verbmark-soft-%u", bases[i],
				     geteuid()) < sizeof(user))
			result = open_in(registry, user, &is_of_place);
	return result;
}

static int set_lock(const struct soft_registry *registry, uint32_t slot, short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = slot, .l_len = 1};

	return fcntl(registry->fd, F_SETLK, &lock) ? -errno : 0;
}

/* Returns the next generation. It fits into the generation bits of a lock and is never 0. */
static uint32_t next_generation(uint32_t generation)
{
	uint32_t mask = UINT32_MAX >> SOFT_SLOT_BITS;

	generation = (generation + 1) & mask;
	return generation ? generation : 1;
}

static int claim(struct soft_registry *registry)
{
	for (uint32_t slot = 1; slot < SOFT_SLOTS; slot++) {
		int result = set_lock(registry, slot, F_WRLCK);

		if (result == -EAGAIN || result == -EACCES)
			continue;
		if (result)
			return result;
		registry->slot = slot;
		registry->generation = next_generation(soft_registry_generation(registry, slot));
		memset(registry->file->counts[slot].of, 0, sizeof(registry->file->counts[slot].of));
		atomic_store(&registry->file->generation[slot], registry->generation);
		return 0;
	}
	return -EUSERS;
}

int soft_registry_open(struct soft_registry *registry)
{
	int result;

	memset(registry, 0, sizeof(*registry));
	result = soft_registry_find(registry);
	if (!result)
		result = claim(registry);
	if (result)
		soft_registry_close(registry);
	return result;
}

void soft_registry_retire(const struct soft_registry *registry)
{
	struct sockaddr_un address;

	if (!registry->slot)
		return;
	soft_registry_address(registry, registry->slot, &address);
	unlink(address.sun_path);
}

void soft_registry_close(struct soft_registry *registry)
{
	soft_registry_retire(registry);
	if (registry->file)
		munmap(registry->file, sizeof(*registry->file));
	if (registry->fd > 0)
		close(registry->fd);
	memset(registry, 0, sizeof(*registry));
}

/*
 * Returns the PID that holds a slot, 0 if it is in a foreign PID namespace, or -1 if the slot is
 * free.
 */
static pid_t holder_of(const struct soft_registry *registry, uint32_t slot)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = slot, .l_len = 1};

	return !fcntl(registry->fd, F_GETLK, &lock) && lock.l_type != F_UNLCK ? lock.l_pid : -1;
}

bool soft_registry_is_alive(const struct soft_registry *registry, uint32_t slot,
			    uint32_t generation)
{
	if (!slot || slot >= SOFT_SLOTS || soft_registry_generation(registry, slot) != generation)
		return false;
	/* F_GETLK does not report a process's own locks. */
	return slot == registry->slot || holder_of(registry, slot) >= 0;
}

bool soft_registry_is_holder(const struct soft_registry *registry, uint32_t slot,
			     uint32_t generation, pid_t pid)
{
	if (!slot || slot >= SOFT_SLOTS || slot == registry->slot)
		return false;
	return soft_registry_generation(registry, slot) == generation &&
	       holder_of(registry, slot) == pid;
}

static bool is_thread_stopped(int tasks, const char *thread)
{
	char text[512];
	const char *state;
	ssize_t size;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "%.20s/stat", thread);
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[size > 0 ? size : 0] = '\0';
	/* The name is in parentheses and may itself contain any character. */
	state = strrchr(text, ')');
	return state && (state[2] == 'T' || state[2] == 't');
}

static bool are_threads_stopped(pid_t process)
{
	const struct dirent *entry;
	bool is_stopped = true;
	char path[32];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", process);
	tasks = opendir(path);
	if (!tasks)
		return false;
	while (is_stopped && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			is_stopped = is_thread_stopped(dirfd(tasks), entry->d_name);
	closedir(tasks);
	return is_stopped;
}

bool soft_registry_is_stopped(const struct soft_registry *registry, uint32_t slot,
			      uint32_t generation)
{
	pid_t process =
		soft_registry_is_alive(registry, slot, generation) ? holder_of(registry, slot) : 0;

	return process > 0 && are_threads_stopped(process);
}

void soft_registry_sum(const struct soft_registry *registry, uint32_t sum[SOFT_KINDS])
{
	memset(sum, 0, SOFT_KINDS * sizeof(*sum));
	for (uint32_t slot = 1; slot < SOFT_SLOTS; slot++) {
		if (!soft_registry_is_alive(registry, slot,
					    soft_registry_generation(registry, slot)))
			continue;
		for (int kind = 0; kind < SOFT_KINDS; kind++)
			sum[kind] += atomic_load(&registry->file->counts[slot].of[kind]);
	}
}

uint64_t soft_registry_sent(const struct soft_registry *registry)
{
	uint64_t sum = 0;

	for (uint32_t slot = 1; slot < SOFT_SLOTS; slot++) {
		/* Skip slots that were never used. */
		for (uint32_t i = 0; i < SOFT_SENDERS && soft_registry_generation(registry, slot);
		     i++)
			sum += atomic_load(&registry->file->counts[slot].sent[i].packets);
	}
	return sum;
}

void soft_registry_address(const struct soft_registry *registry, uint32_t slot,
			   struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(address->sun_path, sizeof(address->sun_path), "%s/%u.sock", registry->directory,
		 slot);
}
