/* SPDX-License-Identifier: MIT */
/* Devices of EFA support more or less, depending on their generation. */
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/test/lib/check.h"
#include "core/verbs/completion.h"
#include "core/verbs/provider.h"
#include "core/verbs/srd.h"

#ifdef HAVE_EFADV
#include <infiniband/efadv.h>

/* EFADV_DEVICE_ATTR_CAPS_RDMA_WRITE of newer headers. */
#define RDMA_WRITE (1U << 3)

static struct {
	int result;
	uint32_t caps;
} device;

static int query(struct ibv_context *verbs, struct efadv_device_attr *attr, uint32_t size)
{
	attr->device_caps = device.caps;
	return device.result;
}

void *provider_function(const char *library, const char *name)
{
	const union {
		__typeof__(&query) call;
		void *found;
	} function = {.call = query};

	assert_string_equal(name, "efadv_query_device");
	return function.found;
}

static void test_access(void **unused)
{
	enum {
		LOCAL = IBV_ACCESS_LOCAL_WRITE,
		READ = IBV_ACCESS_REMOTE_READ,
		WRITE = IBV_ACCESS_REMOTE_WRITE,
	};
	static const struct {
		int result;
		uint32_t caps;
		int access;
	} rows[] = {
		{0,          0,					     LOCAL               },
		{0,          EFADV_DEVICE_ATTR_CAPS_RDMA_READ,              LOCAL | READ        },
		{0,          RDMA_WRITE,				    LOCAL | WRITE       },
		{0,          EFADV_DEVICE_ATTR_CAPS_RDMA_READ | RDMA_WRITE, LOCAL | READ | WRITE},
 /* Not a device of EFA. */
		{EOPNOTSUPP, 0,					     LOCAL | READ | WRITE},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		device.result = rows[i].result;
		device.caps = rows[i].caps;
		assert_int_equal(srd_access(NULL, LOCAL | READ | WRITE), rows[i].access);
	}
}
#endif

static struct ibv_comp_channel made_up_channel;
static struct ibv_cq made_up_cq;

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	made_up_channel.fd = eventfd(0, 0);
	return &made_up_channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	return close(channel->fd);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int vector)
{
	errno = EOPNOTSUPP;
	return channel ? NULL : &made_up_cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	return 0;
}

/* Only waiting for events needs them. */
static void test_no_events(void **unused)
{
	struct completion completion = {.mode = RDMA_POLL};
	struct error error = {0};

	assert_int_equal(completion_open(&completion, NULL, 1, NULL, &error), 0);
	assert_ptr_equal(completion.cq, &made_up_cq);
	assert_int_equal(completion_close(&completion), 0);
	completion.mode = RDMA_EVENT;
	assert_int_equal(completion_open(&completion, NULL, 1, NULL, &error), -EOPNOTSUPP);
	assert_int_equal(completion_close(&completion), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef HAVE_EFADV
		cmocka_unit_test(test_access),
#endif
		cmocka_unit_test(test_no_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
