/* SPDX-License-Identifier: MIT */
#include "bench/cli/signals.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/base/compiler.h"

static void find_signals(sigset_t *signals)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action;

	sigemptyset(signals);
	for (size_t i = 0; i < ARRAY_LENGTH(ends); i++)
		if (!sigaction(ends[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(signals, ends[i]);
}

int interrupt_block(sigset_t *before, struct error *error)
{
	sigset_t signals;
	int fd;

	find_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, before);
	fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? error_set_errno(error, -errno, "cannot wait for signals") : fd;
}

int interrupt_open(struct interrupt *interrupt, struct error *error)
{
	interrupt->fd = interrupt_block(&interrupt->before, error);
	if (interrupt->fd >= 0)
		return 0;
	sigprocmask(SIG_SETMASK, &interrupt->before, NULL);
	return interrupt->fd;
}

bool interrupt_has_come(const struct interrupt *interrupt)
{
	struct pollfd waiting = {.fd = interrupt->fd, .events = POLLIN};

	return poll(&waiting, 1, 0) > 0;
}

void interrupt_close(struct interrupt *interrupt)
{
	struct signalfd_siginfo info;

	while (read(interrupt->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		continue;
	close(interrupt->fd);
	sigprocmask(SIG_SETMASK, &interrupt->before, NULL);
}
