/* SPDX-License-Identifier: MIT */
/*
 * A server that the run starts, locally or through a command such as ssh, and stops at the end.
 * A token known only to the two keeps other clients out, and the server exits when its standard
 * input is closed.
 */
#ifndef BENCH_CLIENT_LAUNCH_H
#define BENCH_CLIENT_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/error.h"

#define LAUNCH_TOKEN 33

struct launch {
	pid_t pid;     /* 0: none was started */
	bool is_own;   /* started locally, without a command */
	int input;     /* its standard input */
	int output;    /* its standard output */
	uint16_t port; /* the one it listens on */
	char token[LAUNCH_TOKEN];
};

/* Options of the server. */
struct launch_server {
	uint16_t port;      /* 0: a free one */
	const char *device; /* NULL: all devices */
};

/*
 * Starts 'verbmark serve --once' and waits for its ready line.
 * command: the words to run it with, in which %h is the host; NULL: run it on this machine.
 */
int launch_start(struct launch *launch, const char *command, const char *host,
		 const struct launch_server *server, struct error *error);

/*
 * Stops the server: closes its input, then sends SIGTERM, then SIGKILL. If the kernel does not let
 * it exit within a few seconds, leaves it behind and logs that. Does nothing if zeroed.
 */
void launch_stop(struct launch *launch);

#endif
