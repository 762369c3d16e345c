/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "bench/test/unit.d/machines.h"

/*
 * A leaf-spine network: each host has a network of its own, with a route between them. Link-local
 * prefixes are equal on both hosts, but do not connect them.
 */
static void test_link_local_and_a_route(void **unused)
{
	const struct inventory_wish any = {0};
	const struct inventory_wish both = {.device = "mlx5_0", .server_device = "mlx5_0/1"};
	const struct inventory_wish written = {.host = "fe80::2"};
	struct machine local = {0};
	struct machine remote = {0};
	struct pairing found;

	add_port(&local, "mlx5_0", "Ethernet", 100000);
	add_address(&local, "fe80::1", 64);
	add_port(&remote, "mlx5_0", "Ethernet", 100000);
	add_address(&remote, "fe80::2", 64);
	/* Link-local addresses are used if one side has no others. */
	assert_string_equal(pair(&local, &remote, &any).remote.address, "fe80::2");
	add_address(&local, "192.0.2.1", 24);
	assert_string_equal(pair(&local, &remote, &any).remote.address, "fe80::2");
	add_address(&remote, "198.51.100.2", 24);
	add_address(&remote, "fe80::3", 64);
	found = pair(&local, &remote, &any);
	assert_int_equal(found.code, -ENETUNREACH);
	assert_string_equal(found.error.text,
			    "mlx5_0 (192.0.2.1/24) and a.example's mlx5_0 (198.51.100.2/24) share "
			    "no network; if there is a route, name both devices: -d and "
			    "--server-device");
	found = pair(&local, &remote, &both);
	assert_int_equal(found.code, 0);
	assert_string_equal(found.local.address, "192.0.2.1");
	assert_string_equal(found.remote.address, "198.51.100.2");
	/* A user who names a link-local address means it. */
	found = pair(&local, &remote, &written);
	assert_string_equal(found.local.address, "fe80::1");
	assert_string_equal(found.remote.address, "fe80::2");
}

/* InfiniBand without IPoIB: rdma_cm needs addresses, queue pairs do not. */
static void test_no_addresses(void **unused)
{
	const struct inventory_wish by_cm = {0};
	const struct inventory_wish by_hand = {.is_by_hand = true};
	struct machine local = {0};
	struct machine remote = {0};
	struct pairing found;

	add_port(&local, "mlx5_0", "InfiniBand", 100000);
	add_port(&local, "mlx5_1", "InfiniBand", 200000);
	add_port(&remote, "mlx5_0", "Ethernet", 400000);
	add_port(&remote, "mlx5_2", "InfiniBand", 200000);
	found = pair(&local, &remote, &by_cm);
	assert_int_equal(found.code, -ENETUNREACH);
	assert_string_equal(found.error.text,
			    "no active ports of both ends have addresses of the same family; use "
			    "'modprobe ib_ipoib' and 'ip address add', or --connect qp");
	found = pair(&local, &remote, &by_hand);
	assert_int_equal(found.code, 0);
	assert_string_equal(found.local.device, "mlx5_1");
	assert_string_equal(found.remote.device, "mlx5_2");
	assert_string_equal(found.local.address, "");
	assert_string_equal(found.remote.address, "");
	/* An address with the zone of another host is useless here. */
	remote.ports[1].n_addresses = 1;
	found = pair(&local, &remote, &by_hand);
	assert_string_equal(found.remote.device, "mlx5_2");
	/* Ports with addresses are preferred, however slow. */
	add_port(&local, "rxe0", "Ethernet", 1000);
	add_address(&local, "192.0.2.1", 24);
	add_port(&remote, "rxe0", "Ethernet", 1000);
	add_address(&remote, "192.0.2.2", 24);
	assert_string_equal(pair(&local, &remote, &by_hand).remote.device, "rxe0");
	/* iWARP queue pairs can only be connected by rdma_cm. */
	local = remote = (struct machine){0};
	add_port(&local, "irdma0", "iWARP", 100000);
	add_port(&remote, "irdma0", "iWARP", 100000);
	assert_int_equal(pair(&local, &remote, &by_hand).code, -ENETUNREACH);
}

/* For a named port that cannot be used, the error says why and suggests another one. */
static void test_useless_ports(void **unused)
{
	const struct inventory_wish local_wish = {.device = "slow0"};
	const struct inventory_wish remote_wish = {.server_device = "slow1"};
	const struct inventory_wish port = {.device = "slow0", .device_port = 1};
	struct machine local;
	struct machine remote;

	two_each(&local, &remote);
	local.ports[0].state = IBV_PORT_DOWN;
	assert_string_equal(pair(&local, &remote, &local_wish).error.text,
			    "slow0/1 is DOWN; try -d fast0");
	assert_string_equal(pair(&local, &remote, &port).error.text,
			    "slow0/1 is DOWN; try -d fast0 -i 1");
	local.ports[0].state = IBV_PORT_ACTIVE;
	local.ports[0].n_addresses = 0;
	local.ports[1].state = IBV_PORT_INIT;
	assert_string_equal(pair(&local, &remote, &local_wish).error.text,
			    "slow0/1 has no IP address; use 'ip address add', or --connect qp");
	local.ports[0].link_layer = "InfiniBand";
	assert_string_equal(
		pair(&local, &remote, &local_wish).error.text,
		"slow0/1 has no IP address; use 'modprobe ib_ipoib' and 'ip address add', "
		"or --connect qp");
	two_each(&local, &remote);
	remote.ports[0].state = IBV_PORT_INIT;
	assert_string_equal(pair(&local, &remote, &remote_wish).error.text,
			    "a.example's slow1/1 is INIT; try --server-device fast1");
	local.ports[1].state = remote.ports[1].state = IBV_PORT_DOWN;
	assert_string_equal(pair(&local, &remote, &remote_wish).error.text,
			    "a.example's slow1/1 is INIT; run 'verbmark doctor' on that host");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link_local_and_a_route),
		cmocka_unit_test(test_no_addresses),
		cmocka_unit_test(test_useless_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
