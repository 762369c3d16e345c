/* SPDX-License-Identifier: MIT */
#include "core/base/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/watch.h"

/*
 * getaddrinfo has no timeout, so it runs in a thread of its own. The last of the two
 * threads to use the lookup frees it.
 */
struct lookup {
	pthread_mutex_t lock;
	pthread_cond_t done_changed;
	bool done;
	bool abandoned;
	int result;
	struct addrinfo *found;
	char host[256];
};

static void lookup_free(struct lookup *lookup)
{
	if (lookup->found)
		freeaddrinfo(lookup->found);
	pthread_cond_destroy(&lookup->done_changed);
	pthread_mutex_destroy(&lookup->lock);
	free(lookup);
}

static const struct addrinfo lookup_hints = {.ai_socktype = SOCK_STREAM};

static void *lookup_run(void *argument)
{
	struct lookup *lookup = argument;
	struct addrinfo *found = NULL;
	int result = getaddrinfo(lookup->host, NULL, &lookup_hints, &found);
	bool abandoned;

	pthread_mutex_lock(&lookup->lock);
	lookup->result = result;
	lookup->found = result ? NULL : found;
	lookup->done = true;
	abandoned = lookup->abandoned;
	pthread_cond_signal(&lookup->done_changed);
	pthread_mutex_unlock(&lookup->lock);
	if (abandoned)
		lookup_free(lookup);
	return NULL;
}

static struct lookup *lookup_create(const char *host)
{
	struct lookup *lookup = calloc(1, sizeof(*lookup));
	pthread_condattr_t attributes;

	if (!lookup)
		return NULL;
	snprintf(lookup->host, sizeof(lookup->host), "%s", host);
	pthread_mutex_init(&lookup->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&lookup->done_changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return lookup;
}

static int lookup_start(struct lookup *lookup)
{
	pthread_t thread;
	int code = watch_start_thread(&thread, lookup_run, lookup);

	if (!code)
		pthread_detach(thread);
	return code;
}

static void base_address_take(struct address_list *list, const struct addrinfo *found,
			      uint16_t port)
{
	for (list->count = 0; found && list->count < ADDRESS_MAX; found = found->ai_next) {
		struct sockaddr_storage *address = &list->address[list->count];

		if (found->ai_family != AF_INET && found->ai_family != AF_INET6)
			continue;
		memset(address, 0, sizeof(*address));
		memcpy(address, found->ai_addr, found->ai_addrlen);
		address_set_port(address, port);
		list->count++;
	}
}

static int finish_lookup(struct lookup *lookup, struct address_list *list, uint16_t port,
			 struct error *error)
{
	if (lookup->result)
		return error_set(error, -ENOENT, "cannot resolve '%s': %s", lookup->host,
				 gai_strerror(lookup->result));
	base_address_take(list, lookup->found, port);
	if (!list->count)
		return error_set(error, -ENOENT, "'%s' has no IP address", lookup->host);
	return 0;
}

static int resolve_name(struct address_list *list, const char *host, uint16_t port,
			uint64_t deadline_ns, struct error *error)
{
	const struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / NS_PER_S),
					  .tv_nsec = (long)(deadline_ns % NS_PER_S)};
	struct lookup *lookup = lookup_create(host);
	int waited = 0;
	int code;

	if (!lookup)
		return error_set_errno(error, -ENOMEM, "cannot resolve '%s'", host);
	code = lookup_start(lookup);
	if (code) {
		lookup_free(lookup);
		return error_set_errno(error, code, "cannot resolve '%s'", host);
	}
	pthread_mutex_lock(&lookup->lock);
	while (!lookup->done && !waited)
		waited = pthread_cond_timedwait(&lookup->done_changed, &lookup->lock, &deadline);
	if (!lookup->done) {
		lookup->abandoned = true;
		pthread_mutex_unlock(&lookup->lock);
		return error_set(error, -ETIMEDOUT, "cannot resolve '%s': no answer in time", host);
	}
	pthread_mutex_unlock(&lookup->lock);
	code = finish_lookup(lookup, list, port, error);
	lookup_free(lookup);
	return code;
}

int address_resolve(struct address_list *list, const char *host, uint16_t port,
		    uint64_t deadline_ns, struct error *error)
{
	if (!host || !host[0] || strlen(host) > 255)
		return error_set(error, -EINVAL, "'%.40s' is not a host", host ? host : "");
	if (!address_parse(&list->address[0], host))
		return resolve_name(list, host, port, deadline_ns, error);
	address_set_port(&list->address[0], port);
	list->count = 1;
	return 0;
}

bool address_parse(struct sockaddr_storage *address, const char *text)
{
	const struct addrinfo numeric = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
	struct addrinfo *found;

	if (getaddrinfo(text, NULL, &numeric, &found))
		return false;
	memset(address, 0, sizeof(*address));
	memcpy(address, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return true;
}

static const struct sockaddr_in *as_in(const struct sockaddr *address)
{
	return (const struct sockaddr_in *)(const void *)address;
}

static const struct sockaddr_in6 *as_in6(const struct sockaddr *address)
{
	return (const struct sockaddr_in6 *)(const void *)address;
}

const char *address_text(const struct sockaddr *address, char text[static ADDRESS_TEXT])
{
	char zone[IF_NAMESIZE];
	size_t used;

	if (address->sa_family == AF_INET) {
		inet_ntop(AF_INET, &as_in(address)->sin_addr, text, ADDRESS_TEXT);
	} else if (address->sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &as_in6(address)->sin6_addr, text, ADDRESS_TEXT);
		used = strlen(text);
		if (as_in6(address)->sin6_scope_id && address_is_link_local(address) &&
		    if_indextoname(as_in6(address)->sin6_scope_id, zone))
			snprintf(text + used, ADDRESS_TEXT - used, "%%%s", zone);
	} else {
		snprintf(text, ADDRESS_TEXT, "?");
	}
	return text;
}

const char *address_text_bare(const struct sockaddr *address, char text[static ADDRESS_TEXT])
{
	address_text(address, text);
	text[strcspn(text, "%")] = '\0';
	return text;
}

socklen_t address_length(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					      : sizeof(struct sockaddr_in);
}

uint16_t address_port(const struct sockaddr *address)
{
	return ntohs(address->sa_family == AF_INET6 ? as_in6(address)->sin6_port
						    : as_in(address)->sin_port);
}

void address_set_port(struct sockaddr_storage *address, uint16_t port)
{
	if (address->ss_family == AF_INET6)
		((struct sockaddr_in6 *)address)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)address)->sin_port = htons(port);
}

void address_unmap(struct sockaddr_storage *address)
{
	const struct sockaddr_in6 in6 = *as_in6((const struct sockaddr *)address);
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = in6.sin6_port};

	if (address->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr))
		return;
	memcpy(&in.sin_addr, &in6.sin6_addr.s6_addr[12], sizeof(in.sin_addr));
	memset(address, 0, sizeof(*address));
	memcpy(address, &in, sizeof(in));
}

/* Returns the bytes of the address only. */
static const uint8_t *bytes(const struct sockaddr *address, unsigned int *bits)
{
	if (address->sa_family == AF_INET6) {
		*bits = 128;
		return as_in6(address)->sin6_addr.s6_addr;
	}
	*bits = 32;
	return (const uint8_t *)&as_in(address)->sin_addr;
}

bool address_same_network(const struct sockaddr *a, const struct sockaddr *b, unsigned int prefix)
{
	unsigned int bits;
	const uint8_t *left = bytes(a, &bits);
	const uint8_t *right = bytes(b, &bits);
	unsigned int whole;
	unsigned int mask;

	if (a->sa_family != b->sa_family)
		return false;
	if (prefix > bits)
		prefix = bits;
	whole = prefix / 8;
	mask = 0xff00U >> (prefix % 8) & 0xff;
	return !memcmp(left, right, whole) && (!mask || !((left[whole] ^ right[whole]) & mask));
}

bool address_equal(const struct sockaddr *a, const struct sockaddr *b)
{
	return address_same_network(a, b, 128);
}

bool address_is_link_local(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&as_in6(address)->sin6_addr);
}

bool address_is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET6) {
		const struct in6_addr *in6 = &as_in6(address)->sin6_addr;

		return IN6_IS_ADDR_LOOPBACK(in6) ||
		       (IN6_IS_ADDR_V4MAPPED(in6) && in6->s6_addr[12] == IN_LOOPBACKNET);
	}
	return ntohl(as_in(address)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}
