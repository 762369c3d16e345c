/* SPDX-License-Identifier: MIT */
#include "core/test/soft/network.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t size;

	if (fd < 0)
		return -errno;
	size = write(fd, text, strlen(text));
	close(fd);
	return size == (ssize_t)strlen(text) ? 0 : -EIO;
}

/* Gains root's rights by entering a user namespace, for the whole process. */
static int gain_rights(void)
{
	char map[64];
	int result;

	snprintf(map, sizeof(map), "%u %u 1", geteuid(), geteuid());
	if (unshare(CLONE_NEWUSER))
		return -errno;
	result = put("/proc/self/setgroups", "deny");
	return result ? result : put("/proc/self/uid_map", map);
}

int network_enter(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int result = 0;
	int fd;

	if (unshare(CLONE_NEWNET))
		return -errno;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, SIOCSIFFLAGS, &request))
		result = -errno;
	close(fd);
	return result;
}

int network_enter_mounts(void)
{
	int result = unshare(CLONE_NEWNS) ? gain_rights() : 0;

	/* Retry with the rights that were gained. */
	if (!result && unshare(CLONE_NEWNS))
		result = -errno;
	if (result)
		return result;
	return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ? -errno : 0;
}

static bool may_enter(void)
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(network_enter() != 0);
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

bool network_prepare(void)
{
	return may_enter() || (!gain_rights() && may_enter());
}
