/* SPDX-License-Identifier: MIT */
/* Error messages of rdma_setup_client, such as for a name with several unreachable addresses. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/rdma/context.h"
#include "core/test/lib/check.h"

/* Results of resolving 10.0.0.1, 10.0.0.2, and so on: errno, or 0 for no event. */
static const int *endings;
static size_t n_endings;

static struct ibv_device device = {.name = "x0"};

struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list = calloc(2, sizeof(struct ibv_device *));

	assert_non_null(list);
	list[0] = &device;
	if (count)
		*count = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct rdma_event_channel *channel = calloc(1, sizeof(*channel));
	int ends[2];

	assert_non_null(channel);
	assert_int_equal(pipe(ends), 0);
	close(ends[1]);
	channel->fd = ends[0];
	return channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	free(channel);
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space space)
{
	*id = calloc(1, sizeof(**id));
	return *id ? 0 : -1;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	free(id);
	return 0;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	errno = EAGAIN;
	return -1;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to,
		      int timeout_ms)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)to;

	errno = endings[(ntohl(in->sin_addr.s_addr) & 255) - 1];
	return errno ? -1 : 0;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
		struct addrinfo **found)
{
	static struct addrinfo all[4];
	static struct sockaddr_in in[4];

	if (hints->ai_flags & AI_NUMERICHOST)
		return EAI_NONAME;
	for (size_t i = 0; i < n_endings; i++) {
		in[i] = (struct sockaddr_in){.sin_family = AF_INET,
					     .sin_addr.s_addr = htonl(0x0a000001 + (uint32_t)i)};
		all[i] = (struct addrinfo){.ai_family = AF_INET,
					   .ai_addr = (struct sockaddr *)&in[i],
					   .ai_addrlen = sizeof(in[i]),
					   .ai_next = i + 1 < n_endings ? &all[i + 1] : NULL};
	}
	*found = all;
	return 0;
}

void freeaddrinfo(struct addrinfo *list)
{
}

static void check(const int *of_each, size_t count, int code, const char *reason)
{
	struct rdma_context context = {.settings.timeout_ms = 100};

	endings = of_each;
	n_endings = count;
	assert_int_equal(rdma_setup_client(&context, "node7", 1, NULL), -1);
	assert_int_equal(context.code, code);
	assert_string_equal(context.reason, reason);
	assert_int_equal(rdma_close(&context), 0);
}

/* An error of a device is preferred to "no device", and names its address. */
static void test_most_informative_error(void **unused)
{
	static const int none[] = {ENODEV, ENODEV};
	static const int first[] = {EHOSTUNREACH, ENODEV};
	static const int last[] = {ENODEV, ENODEV, EHOSTUNREACH};
	static const int two[] = {ENETUNREACH, EHOSTUNREACH};
	static const int one[] = {EHOSTUNREACH};

	check(none, 2, -ENODEV, "node7: 10.0.0.1: no RDMA device has a route to this address");
	check(first, 2, -EHOSTUNREACH,
	      "node7: 10.0.0.1: cannot resolve the address: No route to host");
	check(last, 3, -EHOSTUNREACH,
	      "node7: 10.0.0.3: cannot resolve the address: No route to host");
	check(two, 2, -ENETUNREACH,
	      "node7: 10.0.0.1: cannot resolve the address: Network is unreachable");
	check(one, 1, -EHOSTUNREACH, "node7: cannot resolve the address: No route to host");
}

/* Each address has its share of the time limit. */
static void test_silent_address(void **unused)
{
	static const int silent[] = {0, ENODEV};
	uint64_t begin_ns = clock_now_ns();

	check(silent, 2, -ETIMEDOUT,
	      "node7: 10.0.0.1: cannot resolve the address: no answer within 50 ms");
	assert_true(clock_now_ns() - begin_ns >= 50 * NS_PER_MS);
}

/* A program built for a later library must not lose a setting silently. */
static void test_unknown_setting(void **unused)
{
	struct rdma_context context = {.settings.reserved = {[7] = 1}};

	assert_int_equal(rdma_setup_client(&context, "node7", 1, NULL), -1);
	assert_int_equal(context.code, -EINVAL);
	assert_string_equal(context.reason, "settings.reserved is not 0: zero the context, or use "
					    "the library that belongs to its header");
	assert_int_equal(rdma_close(&context), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_most_informative_error),
		cmocka_unit_test(test_silent_address),
		cmocka_unit_test(test_unknown_setting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
