/* SPDX-License-Identifier: MIT */
#include "core/soft/peer/registry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/soft/cm/socket.h"
#include "core/soft/peer/message.h"

/* What processes share, as much of it as its sizes tell. */
static const size_t layout[] = {
	sizeof(struct soft_registry_file), sizeof(struct soft_image),
	sizeof(struct soft_completion),    sizeof(struct soft_receive),
	sizeof(struct soft_message),       sizeof(struct soft_cm_message),
};

/* Others' directories, and such as others may look into, are not used. */
static int soft_registry_check(const char *directory)
{
	struct stat status;

	if (lstat(directory, &status))
		return -errno;
	if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || status.st_mode & 077)
		return -EACCES;
	return 0;
}

static int own(const char *directory)
{
	if (mkdir(directory, 0700) && errno != EEXIST)
		return -errno;
	return soft_registry_check(directory);
}

/* The layout's directory, below the user's: one that is made where it is missing, or not. */
static int enter(struct soft_registry *registry, const char *user, int (*have)(const char *))
{
	size_t sum = 0;
	int result = have(user);

	if (result)
		return result;
	for (size_t i = 0; i < ARRAY_LENGTH(layout); i++)
		sum = sum * 31 + layout[i];
	if ((size_t)snprintf(registry->directory, sizeof(registry->directory), "%s/%u-%08x", user,
			     SOFT_IMAGE_VERSION, (uint32_t)sum) >= sizeof(registry->directory))
		return -ENAMETOOLONG;
	return have(registry->directory);
}

static int open_file(struct soft_registry *registry, int flags)
{
	char path[sizeof(registry->directory) + 16];

	snprintf(path, sizeof(path), "%s/registry", registry->directory);
	registry->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
	return registry->fd < 0 ? -errno : 0;
}

/*
 * Some 3 MiB, all of it there from the beginning: where the place is full, whoever touched what
 * is not would be killed.
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
	/* posix_fallocate() would write then, beside others who have the file already. */
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

static bool is_inhabited(const struct soft_registry *registry)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = SOFT_SLOTS};

	return !fcntl(registry->fd, F_GETLK, &lock) && lock.l_type != F_UNLCK;
}

static void leave(struct soft_registry *registry)
{
	if (registry->fd > 0)
		close(registry->fd);
	registry->fd = 0;
}

/* Whether it is this user's, and somebody is there. */
static bool join(struct soft_registry *registry, const char *user)
{
	if (!enter(registry, user, soft_registry_check) && !open_file(registry, 0) &&
	    is_inhabited(registry))
		return true;
	leave(registry);
	return false;
}

/* Final, unless another place may be had, or have room. */
static int settle(struct soft_registry *registry, const char *user, bool *is_final)
{
	int result = enter(registry, user, own);

	*is_final = false;
	if (result)
		return result;
	result = open_file(registry, O_CREAT);
	if (!result)
		result = map(registry);
	*is_final = result != -ENOSPC && result != -EDQUOT;
	if (!*is_final)
		leave(registry);
	return result;
}

/*
 * Whoever keeps this user out of one place keeps all his processes out: they meet in the next.
 * One that is full is so for a while only: those who come later go to where somebody is.
 */
static int find_place(struct soft_registry *registry)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	const char *const bases[] = {"/dev/shm", runtime && *runtime ? runtime : "/tmp", "/tmp"};
	char user[ARRAY_LENGTH(bases)][sizeof(registry->directory)];
	bool is_final = false;
	int result = -ENAMETOOLONG;

	for (size_t i = 0; i < ARRAY_LENGTH(bases); i++) {
		if ((size_t)snprintf(user[i], sizeof(user[i]), "%s/verbmark-soft-%u", bases[i],
				     geteuid()) >= sizeof(user[i]))
			user[i][0] = '\0';
		else if (join(registry, user[i]))
			return map(registry);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(bases) && !is_final; i++)
		if (user[i][0])
			result = settle(registry, user[i], &is_final);
	return result;
}

static int soft_registry_find(struct soft_registry *registry)
{
	const char *given = getenv("VERBMARK_SOFT_DIR");
	bool ignored;

	if (!given || !*given)
		return find_place(registry);
	return strlen(given) < sizeof(registry->directory) ? settle(registry, given, &ignored)
							   : -ENAMETOOLONG;
}

static int set_lock(const struct soft_registry *registry, uint32_t slot, short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = slot, .l_len = 1};

	return fcntl(registry->fd, F_SETLK, &lock) ? -errno : 0;
}

/* The next generation; never 0, neither whole nor as much of it as a lock holds. */
static uint32_t following(uint32_t generation)
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
		registry->generation = following(soft_registry_generation(registry, slot));
		memset(registry->file->counts[slot].of, 0, sizeof(registry->file->counts[slot].of));
		atomic_store(&registry->file->generation[slot], registry->generation);
		return 0;
	}
	return -EUSERS;
}

/* Who holds its lock has the slot: nobody else's socket is there meanwhile. */
void soft_registry_sweep(const struct soft_registry *registry, uint32_t slot)
{
	struct sockaddr_un address;

	if (!slot || slot >= SOFT_SLOTS || slot == registry->slot)
		return;
	soft_registry_address(registry, slot, &address);
	if (access(address.sun_path, F_OK) || set_lock(registry, slot, F_WRLCK))
		return;
	unlink(address.sun_path);
	set_lock(registry, slot, F_UNLCK);
}

static void sweep_all(const struct soft_registry *registry)
{
	DIR *directory = opendir(registry->directory);
	const struct dirent *entry;

	if (!directory)
		return;
	while ((entry = readdir(directory)))
		soft_registry_sweep(registry, (uint32_t)strtoul(entry->d_name, NULL, 10));
	closedir(directory);
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
	else
		sweep_all(registry);
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

/* Who holds a slot's lock, 0: a process of a PID namespace that is none of ours'; -1: nobody. */
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
	/* A process does not see its own locks. */
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
	/* Its name is in parentheses, and may hold any. */
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
		/* What nobody ever had is not looked at. */
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
