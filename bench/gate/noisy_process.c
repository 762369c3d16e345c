/* SPDX-License-Identifier: MIT */
#include "bench/gate/noisy_process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/compiler.h"

/* It computes for 20 to 320 ms, and sleeps as long: some rounds have it, others have not. */
#define LEAST_MS 20
#define SPAN_MS  300

static uint64_t draw_ms(void)
{
	return LEAST_MS + (uint64_t)random() % SPAN_MS;
}

static void __attribute__((noreturn)) live(pid_t parent)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent) {
		uint64_t until = clock_now_ns() + draw_ms() * NS_PER_MS;

		while (clock_now_ns() < until)
			cpu_relax();
		usleep((useconds_t)draw_ms() * 1000);
	}
	_exit(0);
}

pid_t noisy_process_start(struct error *error)
{
	pid_t parent = getpid();
	pid_t neighbour = fork();

	if (!neighbour)
		live(parent);
	if (neighbour < 0)
		return error_set_errno(error, -errno, "cannot start a neighbour");
	return neighbour;
}

void noisy_process_stop(pid_t neighbour)
{
	if (neighbour <= 0)
		return;
	kill(neighbour, SIGKILL);
	waitpid(neighbour, NULL, 0);
}
