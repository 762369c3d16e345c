/* SPDX-License-Identifier: MIT */
/* Malformed and odd lists of devices from another host. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/host/inventory.h"
#include "core/test/lib/check.h"

#define PORT_WITH(addresses)                                                      \
	"{\"device\":\"a\",\"port\":1,\"state\":\"ACTIVE\",\"link_layer\":\"x\"," \
	"\"rate_mbps\":1,\"mtu\":1,\"addresses\":" addresses "}"

static void test_malformed(void **unused)
{
	static const char *const texts[] = {
		"null",
		"{}",
		"[]",
		"[1]",
		"[{}]",
		"[\"rxe0\"]",
		"[{\"device\":\"a\"}]",
		"[" PORT_WITH("[1]") "]",
		"[" PORT_WITH("[{\"address\":1}]") "]",
		"[" PORT_WITH(
			"[{\"address\":\"192.0.2.1\",\"prefix\":\"24\",\"interface\":\"x\"}]") "]",
		"[" PORT_WITH("[]") ",null]",
		"[{\"device\":7,\"port\":1,\"state\":\"ACTIVE\",\"link_layer\":\"x\","
		"\"rate_mbps\":1,\"mtu\":1,\"addresses\":[]}]",
		"[{\"device\":\"a\",\"port\":0,\"state\":\"ACTIVE\",\"link_layer\":\"x\","
		"\"rate_mbps\":1,\"mtu\":1,\"addresses\":[]}]",
		"[{\"device\":\"a\",\"port\":257,\"state\":\"ACTIVE\",\"link_layer\":\"x\","
		"\"rate_mbps\":1,\"mtu\":1,\"addresses\":[]}]",
		"[{\"device\":\"a\",\"port\":1.5,\"state\":\"ACTIVE\",\"link_layer\":\"x\","
		"\"rate_mbps\":1,\"mtu\":1,\"addresses\":[]}]",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		json_t *json = json_loads(texts[i], JSON_DECODE_ANY, NULL);
		struct device_list list;
		struct error error = {0};

		assert_non_null(json);
		assert_int_equal(inventory_decode(&list, json, &error), -EPROTO);
		assert_contains(error.text, "the peer");
		assert_null(list.ports);
		assert_int_equal(list.n_ports, 0);
		json_decref(json);
	}
	assert_int_equal(inventory_decode(&(struct device_list){0}, NULL, &(struct error){0}),
			 -EPROTO);
}

static json_t *array_of(size_t count, const char *member)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_loads(member, 0, NULL));
	return array;
}

static void test_lists_are_bounded(void **unused)
{
	static const char address[] =
		"{\"address\":\"192.0.2.1\",\"prefix\":24,\"interface\":\"eth0\"}";
	json_t *many = array_of(257, PORT_WITH("[]"));
	struct device_list list;
	struct error error = {0};

	assert_int_equal(inventory_decode(&list, many, &error), -EPROTO);
	assert_contains(error.text, "257 device ports");
	assert_contains(error.text, "let 'serve --device' offer only one");
	json_array_remove(many, 0);
	error = (struct error){0};
	assert_int_equal(inventory_decode(&list, many, &error), 0);
	assert_int_equal(list.n_ports, 256);
	device_list_close(&list);
	json_object_set_new(json_array_get(many, 9), "addresses", array_of(257, address));
	assert_int_equal(inventory_decode(&list, many, &error), -EPROTO);
	assert_contains(error.text, "on one port: 257");
	json_decref(many);
}

/* Odd but well-formed values neither overflow a field nor reach a terminal. */
static void test_odd_values(void **unused)
{
	static const char text[] =
		"[{\"device\":\"\\u001b[2J0123456789012345678901234567890123456789012345678901234567"
		"890123456789\",\"port\":255,\"state\":\"\",\"link_layer\":\"\\u001b\","
		"\"rate_mbps\":-5,\"mtu\":-1,\"addresses\":["
		"{\"address\":\"x\",\"prefix\":-3,\"interface\":\"0123456789012345678901234567\"},"
		"{\"address\":\"192.0.2.1\",\"prefix\":2147483647,\"interface\":\"\"}]}]";
	json_t *json = json_loads(text, 0, NULL);
	const struct device_port *port;
	struct device_list list;
	struct error error = {0};

	assert_non_null(json);
	assert_int_equal(inventory_decode(&list, json, &error), 0);
	json_decref(json);
	port = &list.ports[0];
	assert_int_equal(strlen(port->device), sizeof(port->device) - 1);
	for (const char *at = port->device; *at; at++)
		assert_true(*at >= ' ' && *at <= '~');
	assert_string_equal(port->link_layer, "unspecified");
	assert_int_equal(port->port, 255);
	assert_int_not_equal(port->state, IBV_PORT_ACTIVE);
	assert_int_equal(port->rate_mbps, 0);
	assert_int_equal(port->active_mtu, 0);
	assert_int_equal(port->addresses[0].address.ss_family, AF_UNSPEC);
	assert_int_equal(port->addresses[0].prefix, 0);
	assert_int_equal(port->addresses[1].address.ss_family, AF_INET);
	device_list_close(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_lists_are_bounded),
		cmocka_unit_test(test_odd_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
