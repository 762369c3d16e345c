/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "bench/test/unit.d/machines.h"

static void test_round_trip(void **unused)
{
	struct machine machine = {0};
	struct error error = {0};
	struct device_list back;
	char text[ADDRESS_TEXT];
	json_t *json;

	add_port(&machine, "mlx5_0", "InfiniBand", 400000);
	machine.ports[0].port = 2;
	machine.ports[0].state = IBV_PORT_INIT;
	add_port(&machine, "rxe0", "Ethernet", 2500);
	machine.ports[1].kind = DEVICE_KIND_RXE;
	add_address(&machine, "192.0.2.1", 24);
	add_address(&machine, "2001:db8::1", 64);
	json = inventory_encode(&machine.list);
	assert_int_equal(inventory_decode(&back, json, &error), 0);
	assert_int_equal(back.ports[0].kind, DEVICE_KIND_UNKNOWN);
	assert_int_equal(back.ports[1].kind, DEVICE_KIND_RXE);
	json_decref(json);
	assert_int_equal(back.n_ports, 2);
	assert_string_equal(back.ports[0].device, "mlx5_0");
	assert_int_equal(back.ports[0].port, 2);
	assert_int_equal(back.ports[0].state, IBV_PORT_INIT);
	assert_string_equal(back.ports[0].link_layer, "InfiniBand");
	assert_int_equal(back.ports[0].rate_mbps, 400000);
	assert_int_equal(back.ports[0].n_addresses, 0);
	assert_string_equal(back.ports[1].device, "rxe0");
	assert_int_equal(back.ports[1].state, IBV_PORT_ACTIVE);
	assert_int_equal(back.ports[1].active_mtu, 1024);
	assert_int_equal(back.ports[1].n_addresses, 2);
	assert_string_equal(
		address_text((struct sockaddr *)&back.ports[1].addresses[0].address, text),
		"192.0.2.1");
	assert_int_equal(back.ports[1].addresses[0].prefix, 24);
	assert_string_equal(back.ports[1].addresses[0].interface, "eth7");
	assert_string_equal(
		address_text((struct sockaddr *)&back.ports[1].addresses[1].address, text),
		"2001:db8::1");
	assert_int_equal(back.ports[1].addresses[1].prefix, 64);
	device_list_close(&back);
}

/* The format of 'verbmark devices --json'. */
static void test_encoded(void **unused)
{
	struct machine machine = {0};
	json_t *wanted =
		json_pack("[{s:s, s:i, s:s, s:s, s:i, s:i, s:i, s:i, s:[{s:s, s:i, s:s}]}]",
			  "device", "rxe0", "port", 1, "state", "ACTIVE", "link_layer", "Ethernet",
			  "rate_mbps", 2500, "mtu", 1024, "max_mtu", 4096, "numa_node", -1,
			  "addresses", "address", "192.0.2.1", "prefix", 24, "interface", "eth7");
	json_t *json;

	assert_non_null(wanted);
	add_port(&machine, "rxe0", "Ethernet", 2500);
	add_address(&machine, "192.0.2.1", 24);
	json = inventory_encode(&machine.list);
	assert_true(json_equal(json, wanted));
	json_decref(json);
	json_decref(wanted);
}

static void test_common_network(void **unused)
{
	const struct inventory_wish any = {0};
	struct machine local = {0};
	struct machine remote = {0};
	struct pairing found;

	add_port(&local, "mlx5_0", "Ethernet", 100000);
	add_address(&local, "192.0.2.1", 24);
	add_port(&local, "mlx5_1", "Ethernet", 25000);
	local.ports[1].port = 2;
	add_address(&local, "198.51.100.1", 24);
	add_port(&remote, "bnxt_re0", "Ethernet", 10000);
	add_address(&remote, "203.0.113.9", 24);
	add_address(&remote, "198.51.100.7", 24);
	remote.ports[0].active_mtu = 4096;
	found = pair(&local, &remote, &any);
	assert_int_equal(found.code, 0);
	assert_string_equal(found.local.device, "mlx5_1");
	assert_int_equal(found.local.port, 2);
	assert_string_equal(found.local.address, "198.51.100.1");
	assert_string_equal(found.local.link_layer, "Ethernet");
	assert_int_equal(found.local.rate_mbps, 25000);
	assert_int_equal(found.local.mtu, 1024);
	assert_string_equal(found.remote.device, "bnxt_re0");
	assert_string_equal(found.remote.address, "198.51.100.7");
	assert_int_equal(found.remote.rate_mbps, 10000);
	assert_int_equal(found.remote.mtu, 4096);
}

static void test_no_common_network(void **unused)
{
	const struct inventory_wish any = {0};
	struct machine local = {0};
	struct machine remote = {0};
	struct pairing found;

	add_port(&local, "mlx5_0", "Ethernet", 100000);
	add_address(&local, "192.168.1.1", 24);
	add_port(&remote, "mlx5_1", "Ethernet", 100000);
	add_address(&remote, "192.168.2.2", 24);
	found = pair(&local, &remote, &any);
	assert_int_equal(found.code, -ENETUNREACH);
	assert_string_equal(found.error.text,
			    "mlx5_0 (192.168.1.1/24) and a.example's mlx5_1 (192.168.2.2/24) share "
			    "no network; if there is a route, name both devices: -d and "
			    "--server-device");
	/* The prefix of the local address counts. */
	local.addresses[0][0].prefix = 16;
	assert_int_equal(pair(&local, &remote, &any).code, 0);
}

static void test_no_common_family(void **unused)
{
	const struct inventory_wish any = {0};
	struct machine local = {0};
	struct machine remote = {0};
	struct machine bare = {0};
	struct pairing found;

	add_port(&local, "mlx5_0", "Ethernet", 100000);
	add_address(&local, "192.0.2.1", 24);
	add_port(&remote, "mlx5_0", "Ethernet", 100000);
	add_address(&remote, "2001:db8::1", 64);
	found = pair(&local, &remote, &any);
	assert_int_equal(found.code, -ENETUNREACH);
	assert_contains(found.error.text,
			"no active ports of both ends have addresses of the same family");
	add_port(&bare, "mlx5_0", "InfiniBand", 100000);
	assert_int_equal(pair(&local, &bare, &any).code, -ENETUNREACH);
	assert_int_equal(pair(&bare, &bare, &any).code, -ENETUNREACH);
}

static void test_inactive_ports(void **unused)
{
	const struct inventory_wish any = {0};
	struct machine local = {0};
	struct machine remote = {0};

	add_port(&local, "mlx5_0", "Ethernet", 100000);
	add_address(&local, "192.0.2.1", 24);
	add_port(&remote, "mlx5_0", "Ethernet", 100000);
	add_address(&remote, "192.0.2.2", 24);
	assert_int_equal(pair(&local, &remote, &any).code, 0);
	remote.ports[0].state = IBV_PORT_DOWN;
	assert_int_equal(pair(&local, &remote, &any).code, -ENETUNREACH);
	remote.ports[0].state = IBV_PORT_ACTIVE;
	local.ports[0].state = IBV_PORT_INIT;
	assert_int_equal(pair(&local, &remote, &any).code, -ENETUNREACH);
}

static void test_fastest_pair(void **unused)
{
	struct machine local;
	struct machine remote;
	struct pairing found;

	two_each(&local, &remote);
	found = pair(&local, &remote, &(struct inventory_wish){0});
	assert_string_equal(found.local.device, "fast0");
	assert_string_equal(found.remote.device, "fast1");
	/* A pair is as fast as its slower port. */
	local.ports[1].rate_mbps = 5000;
	found = pair(&local, &remote, &(struct inventory_wish){0});
	assert_string_equal(found.local.device, "slow0");
	assert_string_equal(found.remote.device, "slow1");
	/* Pairs of different link layers come last: they need a router, if they work at all. */
	remote.ports[0].link_layer = "InfiniBand";
	found = pair(&local, &remote, &(struct inventory_wish){0});
	assert_string_equal(found.local.device, "fast0");
}

static void test_wishes(void **unused)
{
	static const struct inventory_wish wishes[] = {
		{.device = "slow0"},
		{		 .server_device = "slow1"                },
		{ .device = "slow0",                 .server_device = "slow1"},
	};
	struct machine local;
	struct machine remote;
	struct pairing found;

	two_each(&local, &remote);
	for (size_t i = 0; i < ARRAY_LENGTH(wishes); i++) {
		found = pair(&local, &remote, &wishes[i]);
		assert_int_equal(found.code, 0);
		assert_string_equal(found.local.device, "slow0");
		assert_string_equal(found.remote.device, "slow1");
	}
	/* A user who names both devices may know a route between their networks. */
	found = pair(&local, &remote,
		     &(struct inventory_wish){.device = "slow0", .server_device = "fast1"});
	assert_int_equal(found.code, 0);
	assert_string_equal(found.local.device, "slow0");
	assert_string_equal(found.remote.device, "fast1");
	local.ports[1].state = IBV_PORT_DOWN;
	found = pair(&local, &remote, &(struct inventory_wish){.server_device = "fast1"});
	assert_int_equal(found.code, -ENETUNREACH);
	assert_string_equal(found.error.text,
			    "slow0 (192.0.2.1/24) and a.example's fast1 (198.51.100.2/24) share "
			    "no network; try --server-device slow1");
	local.ports[1].state = IBV_PORT_ACTIVE;
	remote.ports[0].state = IBV_PORT_DOWN;
	found = pair(&local, &remote, &(struct inventory_wish){.device = "slow0"});
	assert_int_equal(found.code, -ENETUNREACH);
	assert_string_equal(found.error.text,
			    "slow0 (192.0.2.1/24) and a.example's fast1 (198.51.100.2/24) share "
			    "no network; try -d fast0");
}

static void check_unknown(const struct machine *local, const struct machine *remote,
			  const struct inventory_wish *wish, const char *text)
{
	const struct pairing found = pair(local, remote, wish);

	assert_int_equal(found.code, -ENODEV);
	assert_string_equal(found.error.text, text);
}

static void test_unknown_devices(void **unused)
{
	struct machine local;
	struct machine remote;

	two_each(&local, &remote);
	check_unknown(&local, &remote, &(struct inventory_wish){.device = "slow1"},
		      "no device 'slow1'; available: slow0, fast0");
	check_unknown(&local, &remote, &(struct inventory_wish){.server_device = "slow0"},
		      "a.example: no device 'slow0'; available: slow1, fast1");
}

/* Makes two devices with two ports each; the second ports are on another, slower network. */
static void two_ports_each(struct machine *machine)
{
	static const char *const addresses[] = {"192.0.2.1", "198.51.100.1", "192.0.2.3",
						"198.51.100.3"};

	*machine = (struct machine){0};
	for (uint8_t i = 0; i < 4; i++) {
		add_port(machine, i < 2 ? "mlx4_0" : "mlx4_1", "Ethernet", i % 2 ? 10000 : 40000);
		machine->ports[i].port = i % 2 + 1;
		add_address(machine, addresses[i], 24);
	}
}

static void test_device_ports(void **unused)
{
	static const struct {
		struct inventory_wish wish;
		const char *device;
		const char *address;
	} rows[] = {
		{{0},				      "mlx4_0", "192.0.2.1"   },
		{{.device_port = 2},                       "mlx4_0", "198.51.100.1"},
		{{.device_port = 1},                       "mlx4_0", "192.0.2.1"   },
		{{.device = "mlx4_1", .device_port = 2},   "mlx4_1", "198.51.100.3"},
		{{.device = "mlx4_1/2", .device_port = 2}, "mlx4_1", "198.51.100.3"},
	};
	struct machine local;
	struct machine remote;

	two_ports_each(&local);
	two_ports_each(&remote);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct pairing found = pair(&local, &remote, &rows[i].wish);

		assert_int_equal(found.code, 0);
		assert_string_equal(found.local.device, rows[i].device);
		assert_string_equal(found.local.address, rows[i].address);
		if (rows[i].wish.device_port)
			assert_int_equal(found.local.port, rows[i].wish.device_port);
	}
}

static void test_unknown_ports(void **unused)
{
	static const struct {
		const char *device;
		unsigned int port;
		const char *text;
	} rows[] = {
		{NULL,       3,
		 "no device has port 3; available: mlx4_0/1, mlx4_0/2, mlx4_1/1, mlx4_1/2"},
		{"mlx4_1",   255, "mlx4_1 has no port 255; available: mlx4_1/1, mlx4_1/2" },
		{"mlx4_1/1", 2,   "mlx4_1/1 has no port 2; available: mlx4_1/1"           },
		{"mlx5_0",   2,   "no device 'mlx5_0'; available: mlx4_0, mlx4_1"         },
		{"mlx4_1/3", 0,   "mlx4_1 has no port 3; available: mlx4_1/1, mlx4_1/2"   },
	};
	struct machine local;
	struct machine remote;
	struct pairing found;

	two_ports_each(&local);
	two_ports_each(&remote);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check_unknown(&local, &remote,
			      &(struct inventory_wish){.device = rows[i].device,
						       .device_port = rows[i].port},
			      rows[i].text);
	/* A port that is down exists but cannot be used. */
	local.ports[1].state = local.ports[3].state = IBV_PORT_DOWN;
	found = pair(&local, &remote, &(struct inventory_wish){.device_port = 2});
	assert_int_equal(found.code, -ENETUNREACH);
}

/* If a port has several addresses, the one that the user named is chosen. */
static void test_named_address(void **unused)
{
	struct machine local = {0};
	struct machine remote = {0};
	struct pairing found;

	add_port(&local, "rxe0", "Ethernet", 2500);
	add_address(&local, "192.0.2.1", 24);
	add_address(&local, "2001:db8::1", 64);
	add_port(&remote, "rxe0", "Ethernet", 2500);
	add_address(&remote, "192.0.2.2", 24);
	add_address(&remote, "192.0.2.3", 24);
	add_address(&remote, "2001:db8::2", 64);
	found = pair(&local, &remote, &(struct inventory_wish){.host = "192.0.2.3"});
	assert_string_equal(found.remote.address, "192.0.2.3");
	assert_string_equal(found.local.address, "192.0.2.1");
	found = pair(&local, &remote, &(struct inventory_wish){.host = "2001:db8::2"});
	assert_string_equal(found.remote.address, "2001:db8::2");
	assert_string_equal(found.local.address, "2001:db8::1");
	found = pair(&local, &remote, &(struct inventory_wish){.host = "192.0.2.2"});
	assert_string_equal(found.remote.address, "192.0.2.2");
}

/* On one machine, client and server use the named address. */
static void test_one_machine(void **unused)
{
	static const char *const hosts[] = {"192.0.2.1", "192.0.2.2", "2001:db8::2"};
	struct machine machine = {0};

	add_port(&machine, "rxe0", "Ethernet", 2500);
	add_address(&machine, "192.0.2.1", 24);
	add_address(&machine, "192.0.2.2", 24);
	add_address(&machine, "2001:db8::1", 64);
	add_address(&machine, "2001:db8::2", 64);
	for (size_t i = 0; i < ARRAY_LENGTH(hosts); i++) {
		const struct inventory_wish wish = {.host = hosts[i]};
		struct pairing found = pair(&machine, &machine, &wish);

		assert_string_equal(found.local.address, hosts[i]);
		assert_string_equal(found.remote.address, hosts[i]);
	}
}

/* A link-local address needs the zone of this machine, so any other one is better. */
static void test_link_local_comes_last(void **unused)
{
	struct machine local = {0};
	struct machine remote = {0};
	struct pairing found;

	add_port(&local, "rxe0", "Ethernet", 2500);
	add_address(&local, "fe80::1", 64);
	add_address(&local, "2001:db8::1", 64);
	add_port(&remote, "rxe0", "Ethernet", 2500);
	add_address(&remote, "fe80::2", 64);
	add_address(&remote, "2001:db8::2", 64);
	found = pair(&local, &remote, &(struct inventory_wish){0});
	assert_int_equal(found.code, 0);
	assert_string_equal(found.remote.address, "2001:db8::2");
	assert_string_equal(found.local.address, "2001:db8::1");
}

/* The software device reaches no other device, even on the same network. */
static void test_software_device(void **unused)
{
	struct machine local = {0};
	struct machine remote = {0};
	struct pairing found;

	add_port(&local, "mlx5_0", "Ethernet", 100000);
	add_address(&local, "192.0.2.1", 24);
	add_port(&remote, "soft0", "Ethernet", 100000);
	add_address(&remote, "192.0.2.1", 24);
	remote.ports[0].kind = DEVICE_KIND_SOFT;
	found = pair(&local, &remote, &(struct inventory_wish){0});
	assert_int_equal(found.code, -ENETUNREACH);
	assert_contains(found.error.text, "soft0, the software device, reaches only soft0");
	local.ports[0].kind = DEVICE_KIND_SOFT;
	assert_string_equal(pair(&local, &remote, &(struct inventory_wish){0}).local.kind, "soft");
}

/* Returns how many of the ports a0/1 and b0/2 are kept. */
static size_t count_kept(const char *wish)
{
	struct device_list list = {.ports = calloc(2, sizeof(*list.ports)), .n_ports = 2};
	size_t count;

	assert_non_null(list.ports);
	for (uint8_t i = 0; i < 2; i++) {
		list.ports[i] = (struct device_port){
			.port = i + 1, .device = {(char)('a' + i), '0'}
                };
		list.ports[i].addresses = malloc(sizeof(*list.ports[i].addresses));
	}
	count = inventory_keep(&list, wish, &(struct error){0}) ? 0 : list.n_ports;
	device_list_close(&list);
	return count;
}

static void test_kept(void **unused)
{
	assert_int_equal(count_kept(NULL), 2);
	assert_int_equal(count_kept("b0"), 1);
	assert_int_equal(count_kept("a0/1"), 1);
	assert_int_equal(count_kept("a0/2"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_encoded),
		cmocka_unit_test(test_common_network),
		cmocka_unit_test(test_no_common_network),
		cmocka_unit_test(test_no_common_family),
		cmocka_unit_test(test_inactive_ports),
		cmocka_unit_test(test_fastest_pair),
		cmocka_unit_test(test_wishes),
		cmocka_unit_test(test_unknown_devices),
		cmocka_unit_test(test_device_ports),
		cmocka_unit_test(test_unknown_ports),
		cmocka_unit_test(test_named_address),
		cmocka_unit_test(test_one_machine),
		cmocka_unit_test(test_link_local_comes_last),
		cmocka_unit_test(test_software_device),
		cmocka_unit_test(test_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
