/* SPDX-License-Identifier: MIT */
#include "bench/control/dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"

#define STEP_MS  5000
#define AGAIN_MS 50
#define LOOK_MS  200
#define BACKLOG  SOMAXCONN

/* Disables Nagle's algorithm: a peer waits for each of these small messages. */
static int tune(int fd)
{
	int on = 1;

	return setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static bool is_over(const struct dial_stop *stop)
{
	return stop && stop->is_over(stop->owner);
}

static int finish_connect(int fd, uint64_t deadline, const struct dial_stop *stop)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
	int code = 0;
	socklen_t length = sizeof(code);
	int left_ms;
	int got;

	do {
		if (is_over(stop))
			return -EINTR;
		left_ms = clock_left_ms(deadline);
		got = poll(&poll_fd, 1, left_ms < LOOK_MS ? left_ms : LOOK_MS);
	} while ((!got && left_ms) || (got < 0 && errno == EINTR));
	if (!got)
		return -ETIMEDOUT;
	if (got < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &length))
		return -errno;
	return -code;
}

static int connect_to(const struct sockaddr *address, uint64_t deadline,
		      const struct dial_stop *stop)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int code = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, address, address_length(address)))
		code = errno == EINPROGRESS ? finish_connect(fd, deadline, stop) : -errno;
	if (!code && tune(fd))
		code = -errno;
	if (code) {
		close(fd);
		return code;
	}
	return fd;
}

static int try_all(const struct address_list *list, const struct dial_stop *stop)
{
	int code = -ENOENT;

	for (unsigned int i = 0; i < list->count; i++) {
		code = connect_to((const struct sockaddr *)&list->address[i],
				  clock_deadline(STEP_MS), stop);
		if (code >= 0 || code == -EINTR)
			break;
	}
	return code;
}

/* Returns whether the failure may go away once the server is up. */
static bool may_come(int code)
{
	return code == -ECONNREFUSED || code == -EHOSTUNREACH || code == -ENETUNREACH ||
	       code == -ETIMEDOUT || code == -ECONNRESET;
}

/* Recognizes HOST:PORT, as other programs accept it, but not a plain IPv6 address. */
static bool is_with_port(const char *host)
{
	const char *colon = strrchr(host, ':');

	if (!colon || (host[0] == '[' ? colon[-1] != ']' : strchr(host, ':') != colon))
		return false;
	return colon[1] && !colon[1 + strspn(colon + 1, "0123456789")];
}

int dial_until(const char *host, uint16_t port, unsigned int wait_ms, const struct dial_stop *stop,
	       struct error *error)
{
	const struct timespec pause = {.tv_nsec = AGAIN_MS * NS_PER_MS};
	uint64_t deadline = clock_deadline(wait_ms);
	struct address_list list;
	int code = address_resolve(&list, host, port, clock_deadline(STEP_MS), error);

	if (code && is_with_port(host))
		error_append(error, "use -p to give a port");
	if (code)
		return code;
	for (;;) {
		code = is_over(stop) ? -EINTR : try_all(&list, stop);
		if (!may_come(code) || !clock_left_ms(deadline))
			break;
		nanosleep(&pause, NULL);
	}
	if (code == -EINTR)
		return error_set(error, code, "interrupted");
	if (code == -ECONNREFUSED)
		return error_set(error, code, "nothing listens on %s:%u", host, port);
	if (code == -ETIMEDOUT)
		return error_set(error, code,
				 "%s:%u does not answer: is the host up, and TCP %u open?", host,
				 port, port);
	if (code < 0)
		return error_set_errno(error, code, "cannot reach %s:%u", host, port);
	return code;
}

static int listen_on(int fd, struct sockaddr_storage *address)
{
	socklen_t length = sizeof(*address);
	int on = 1;
	int off = 0;

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)))
		return -errno;
	if (address->ss_family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)))
		return -errno;
	if (bind(fd, (struct sockaddr *)address, address_length((struct sockaddr *)address)) ||
	    listen(fd, BACKLOG) || getsockname(fd, (struct sockaddr *)address, &length))
		return -errno;
	return 0;
}

static int make_socket(int family)
{
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int cannot_listen(const char *own, uint16_t port, int code, struct error *error)
{
	if (code == -EADDRINUSE)
		return error_set(error, code, "TCP port %u is in use; use another --port", port);
	if (code == -EADDRNOTAVAIL)
		return error_set(error, code,
				 "--bind: this host has no address %s: 'ip address' lists them",
				 own);
	return error_set_errno(error, code, "cannot listen on TCP port %u", port);
}

int dial_listen(const char *own, uint16_t *port, struct error *error)
{
	/* An IPv6 socket also accepts IPv4. */
	struct sockaddr_storage address = {.ss_family = AF_INET6};
	int code;
	int fd;

	if (own && !address_parse(&address, own))
		return error_set(error, -EINVAL, "'%s' is not an address", own);
	fd = make_socket(address.ss_family);
	/* The kernel may lack IPv6. */
	if (fd < 0 && !own) {
		address.ss_family = AF_INET;
		fd = make_socket(AF_INET);
	}
	if (fd < 0)
		return error_set_errno(error, -errno, "cannot create a socket");
	address_set_port(&address, *port);
	code = listen_on(fd, &address);
	if (code) {
		close(fd);
		return cannot_listen(own ? own : "*", *port, code, error);
	}
	*port = address_port((struct sockaddr *)&address);
	return fd;
}

int dial_accept(int listener, struct error *error)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int code;

	if (fd < 0)
		return error_set_errno(error, -errno, "cannot accept a client");
	if (!tune(fd))
		return fd;
	code = error_set_errno(error, -errno, "cannot set up a client's socket");
	close(fd);
	return code;
}

bool dial_peer(int fd, struct sockaddr_storage *address, char text[static ADDRESS_TEXT])
{
	socklen_t length = sizeof(*address);

	memset(address, 0, sizeof(*address));
	if (getpeername(fd, (struct sockaddr *)address, &length)) {
		snprintf(text, ADDRESS_TEXT, "disconnected peer");
		return false;
	}
	address_unmap(address);
	address_text((struct sockaddr *)address, text);
	return true;
}
