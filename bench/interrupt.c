/* SPDX-License-Identifier: MIT */
#include "bench/interrupt.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

int interrupt_open(struct interrupt *interrupt, struct error *error)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, &interrupt->before);
	interrupt->fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (interrupt->fd >= 0)
		return 0;
	error_set_errno(error, -errno, "cannot wait for signals");
	sigprocmask(SIG_SETMASK, &interrupt->before, NULL);
	return error->code;
}

void interrupt_close(struct interrupt *interrupt)
{
	struct signalfd_siginfo info;

	while (read(interrupt->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		continue;
	close(interrupt->fd);
	sigprocmask(SIG_SETMASK, &interrupt->before, NULL);
}
