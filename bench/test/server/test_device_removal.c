/* SPDX-License-Identifier: MIT */
/* Watching devices for removal if several share an address, with a made-up librdmacm. */
#include <stdlib.h>
#include <unistd.h>

#include "bench/server/device_removal.h"
#include "core/base/address.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

/* An address binds to the first device that has it. */
static struct ibv_device devices[] = {{.name = "card0"}, {.name = "soft0"}};
static struct ibv_context contexts[] = {{.device = &devices[0]}, {.device = &devices[1]}};
static const struct {
	const char *address;
	struct ibv_context *context;
} bound[] = {
	{"10.88.0.1", &contexts[0]},
	{"10.89.0.1", &contexts[1]},
	{"127.0.0.1", &contexts[0]},
};
static int n_ids;

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct rdma_event_channel *channel = calloc(1, sizeof(*channel));

	if (channel)
		channel->fd = dup(STDIN_FILENO);
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
	n_ids++;
	return *id ? 0 : -1;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	free(id);
	n_ids--;
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
	char text[ADDRESS_TEXT];

	for (size_t i = 0; i < ARRAY_LENGTH(bound); i++)
		if (!strcmp(address_text(address, text), bound[i].address))
			id->verbs = bound[i].context;
	return id->verbs ? 0 : -1;
}

/* Returns the watched device for a port with up to two addresses, or NULL. */
static const char *watched(const char *device, const char *const texts[2])
{
	struct device_address addresses[2];
	struct device_port port = {.addresses = addresses};
	const struct device_list list = {.ports = &port, .n_ports = 1};
	struct error error = {0};
	struct device_removal removal;
	const char *found = NULL;

	snprintf(port.device, sizeof(port.device), "%s", device);
	for (; port.n_addresses < 2 && texts[port.n_addresses]; port.n_addresses++)
		assert_true(address_parse(&addresses[port.n_addresses].address,
					  texts[port.n_addresses]));
	assert_int_equal(device_removal_open(&removal, &list, &error), 0);
	assert_int_equal(removal.n_ids, n_ids);
	assert_true(n_ids <= 1);
	if (removal.n_ids)
		found = removal.ids[0]->verbs->device->name;
	device_removal_close(&removal);
	assert_int_equal(n_ids, 0);
	return found;
}

static void test_device_of_a_port(void **unused)
{
	static const struct {
		const char *device;
		const char *addresses[2];
		bool is_watched;
	} rows[] = {
		{"card0", {"10.88.0.1", "127.0.0.1"}, true },
		{"soft0", {"10.88.0.1", "10.89.0.1"}, true },
		{"soft0", {"10.90.0.1", "10.89.0.1"}, true },
		{"soft0", {"10.88.0.1", "127.0.0.1"}, false},
		{"soft0", {"10.90.0.1"},              false},
		{"soft0", {NULL},                     false},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const char *found = watched(rows[i].device, rows[i].addresses);

		assert_string_equal(found ? found : "", rows[i].is_watched ? rows[i].device : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device_of_a_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
