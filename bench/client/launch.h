/* SPDX-License-Identifier: MIT */
/*
 * A server that a run starts for itself, here or by a command such as ssh, and that
 * ends with it: a token that only the two know keeps others out, and the end of its
 * standard input tells it that the run is gone.
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
	bool is_own;   /* here, by nobody's command */
	int input;     /* its standard input, */
	int output;    /* and output */
	uint16_t port; /* that it listens on */
	char token[LAUNCH_TOKEN];
};

/* What it is told. */
struct launch_server {
	uint16_t port;      /* 0: a free one */
	const char *device; /* NULL: all that there are */
	const char *token;  /* NULL: one is made */
	bool drives;        /* others, and serves until it is ended, not one client */
};

/*
 * Starts 'verbmark serve --once', or with --drive, by the words of command, in which %h is the host
 * (NULL: on this machine, directly), and waits for its ready line.
 */
int launch_start(struct launch *launch, const char *command, const char *host,
		 const struct launch_server *server, struct error *error);

/*
 * Ends it: politely first. One that the kernel does not let go is left behind after some
 * seconds, and told of. A zeroed one is fine.
 */
void launch_stop(struct launch *launch);

#endif
