/* SPDX-License-Identifier: MIT */
#include "bench/cli/log.h"

#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t n_lost;

/* A writable pipe takes PIPE_BUF bytes without blocking: pipe(7). */
static bool has_room(void)
{
	struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};

	return poll(&out, 1, 0) > 0 && !(out.revents & (POLLERR | POLLNVAL));
}

/* Writes the line in one call, so that it is not interleaved with others. */
static bool print(const char *line)
{
	char text[PIPE_BUF];
	int length = n_lost ? snprintf(text, sizeof(text),
				       "verbmark: %" PRIu64 " lines omitted: standard error "
				       "was not read\nverbmark: %s\n",
				       n_lost, line)
			    : snprintf(text, sizeof(text), "verbmark: %s\n", line);

	return has_room() && write(STDERR_FILENO, text, (size_t)length) == length;
}

void log_say(const char *format, ...)
{
	char line[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	pthread_mutex_lock(&lock);
	n_lost = print(line) ? 0 : n_lost + 1;
	pthread_mutex_unlock(&lock);
}
