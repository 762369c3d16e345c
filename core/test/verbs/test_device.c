/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/address.h"
#include "core/test/lib/check.h"
#include "core/verbs/device_fault.h"

/* A fake device list: empty, or failing with this errno. */
static int list_errno;

struct ibv_device **ibv_get_device_list(int *count)
{
	errno = list_errno;
	if (count)
		*count = 0;
	return list_errno ? NULL : calloc(1, sizeof(struct ibv_device *));
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

/* A fake file with the contents 3. */
static char opened[256];
static int opened_with;

int open(const char *path, int flags, ...)
{
	int ends[2];

	snprintf(opened, sizeof(opened), "%s", path);
	opened_with = flags;
	if (!*path) {
		errno = ENOENT;
		return -1;
	}
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "3\n", 2), 2);
	close(ends[1]);
	return ends[0];
}

static void test_numa_node(void **unused)
{
	char long_name[PATH_MAX + 1];

	assert_int_equal(device_numa_node("x0"), 3);
	assert_string_equal(opened, "/sys/class/infiniband/x0/device/numa_node");
	assert_true(opened_with & O_NONBLOCK);
	assert_true(opened_with & O_CLOEXEC);
	/* A path that is too long is not opened, whatever its beginning refers to. */
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	opened[0] = '\0';
	assert_int_equal(device_numa_node(long_name), -1);
	assert_string_equal(opened, "");
}

static void test_no_device(void **unused)
{
	/* An empty list, and a kernel without RDMA. */
	static const int errnos[] = {0, ENOSYS};

	for (size_t i = 0; i < ARRAY_LENGTH(errnos); i++) {
		struct device_list list;
		struct error error = {0};

		list_errno = errnos[i];
		assert_int_equal(device_require(&error), -ENODEV);
		/* This machine's kernel may have some. */
		assert_contains(error.text, "no RDMA device");
		error = (struct error){0};
		assert_int_equal(device_list_open(&list, &error), -ENODEV);
		assert_int_equal(list.n_ports, 0);
		device_list_close(&list);
	}
	list_errno = EPERM;
	assert_int_equal(device_require(&(struct error){0}), -EPERM);
}

static void test_devices_known_only_to_the_kernel(void **unused)
{
	char root[] = "/tmp/device.XXXXXX";
	char command[64];
	struct error error = {0};

	assert_non_null(mkdtemp(root));
	assert_int_equal(device_none(root, &error), -ENODEV);
	assert_string_equal(error.text, "no RDMA device; for Soft-RoCE: modprobe rdma_rxe && "
					"rdma link add rxe0 type rxe netdev eth0");
	snprintf(command, sizeof(command), "mkdir -p %s/sys/class/infiniband/mlx5_0", root);
	assert_int_equal(system(command), 0);
	error = (struct error){0};
	assert_int_equal(device_none(root, &error), -ENODEV);
	assert_string_equal(error.text,
			    "no RDMA device in user space, although the kernel has mlx5_0; "
			    "install ibverbs-providers, or start the container with "
			    "--device /dev/infiniband");
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

static void test_devices_that_cannot_be_opened(void **unused)
{
	static const struct {
		const char *device;
		int code;
		const char *text;
	} rows[] = {
		{"mlx5_0", -EACCES, "Permission denied; check the permissions of /dev/infiniband" },
		{"soft0",  -EACCES,
		 "Permission denied; soft0's directory must belong to the user and have mode 0700"},
		{"soft0",  -ENOSPC, "No space left on device; no space for soft0's directory"     },
		{"soft0",  -EPROTO, "cannot open device soft0: Protocol error"                    },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct error error = {0};

		assert_int_equal(device_not_opened(rows[i].device, rows[i].code, &error),
				 rows[i].code);
		assert_contains(error.text, rows[i].text);
	}
}

static struct device_address address_of(const char *text, unsigned int prefix)
{
	struct device_address address = {.prefix = prefix};
	struct address_list list;
	struct error error = {0};

	assert_int_equal(address_resolve(&list, text, 0, 0, &error), 0);
	address.address = list.address[0];
	return address;
}

/*
 * x0 has two ports, the first of which is down; x1 has no address; x2 has IPv6 only; the
 * ports of x3 and x4 are not active; x5 cannot be opened.
 */
static struct device_address down[1];
static struct device_address up[4];
static struct device_address six[2];
static struct device_port ports[] = {
	{.device = "x0",            .port = 1,        .state = IBV_PORT_DOWN,   .addresses = down, .n_addresses = 1},
	{.device = "x0",            .port = 2,        .state = IBV_PORT_ACTIVE, .addresses = up,   .n_addresses = 4},
	{.device = "x1",            .port = 1,        .state = IBV_PORT_ACTIVE},
	{.device = "x2", .port = 1, .state = IBV_PORT_ACTIVE,         .addresses = six,                  .n_addresses = 2                    },
	{.device = "x3",   .port = 1,  .state = IBV_PORT_DOWN,         .addresses = down, .n_addresses = 1},
	{.device = "x4",   .port = 1,  .state = IBV_PORT_INIT,         .addresses = down,                  .n_addresses = 1                                     },
};
static struct device_left left[] = {
	{"x5", {-EACCES, "cannot open device x5: Permission denied"}},
};
static const struct device_list devices = {
	.ports = ports, .n_ports = ARRAY_LENGTH(ports), .left = left, .n_left = ARRAY_LENGTH(left)};

static int make_devices(void **unused)
{
	down[0] = address_of("10.9.0.1", 24);
	strcpy(down[0].interface, "lo");
	ports[4].link_layer = "Ethernet";
	ports[5].link_layer = "InfiniBand";
	up[0] = address_of("fe80::1%lo", 64);
	up[1] = address_of("10.1.0.1", 24);
	up[2] = address_of("10.2.0.1", 16);
	up[3] = address_of("fd00::1", 64);
	six[0] = address_of("fe80::2%lo", 64);
	six[1] = address_of("fd01::2", 64);
	return 0;
}

static void test_addresses_of_devices(void **unused)
{
	static const struct {
		const char *device;
		sa_family_t family;
		int code;
		const char *text; /* the address, or a part of the error */
	} rows[] = {
		{"x0",   AF_UNSPEC, 0,              "10.1.0.1"                                       },
		{"x0",   AF_INET,   0,              "10.1.0.1"                                       },
		{"x0",   AF_INET6,  0,              "fd00::1"                                        },
		{"x2",   AF_UNSPEC, 0,              "fd01::2"                                        },
		{"x2",   AF_INET,   -EADDRNOTAVAIL,
		 "device x2 has no active port with an IPv4 address"                                 },
		{"x1",   AF_UNSPEC, -EADDRNOTAVAIL, "device x1 has no active port with an address"   },
		{"x1",   AF_INET6,  -EADDRNOTAVAIL,
		 "device x1 has no active port with an IPv6 address"                                 },
		{"x3",   AF_UNSPEC, -EADDRNOTAVAIL,
		 "port 1 of device x3 is DOWN; try 'ip link set lo up'"                              },
		{"x3",   AF_INET6,  -EADDRNOTAVAIL,
		 "device x3 has no active port with an IPv6 address"                                 },
		{"x4",   AF_INET,   -EADDRNOTAVAIL,
		 "port 1 of device x4 is INIT; is a subnet manager running?"                         },
		{"x5",   AF_INET,   -EACCES,        "cannot open device x5: Permission denied"       },
		{"y0",   AF_UNSPEC, -ENODEV,        "no device 'y0'; available: x0, x1, x2, x3, x4"  },
		{"",     AF_UNSPEC, -ENODEV,        "no device ''; available: x0, x1, x2, x3, x4"    },
		{"x1/7", AF_UNSPEC, -ENODEV,        "no device 'x1/7'; available: x0, x1, x2, x3, x4"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct device_address found = {0};
		struct error error = {0};
		char text[ADDRESS_TEXT];

		const struct sockaddr_storage remote = {.ss_family = rows[i].family};

		assert_int_equal(device_find_address(
					 &devices, rows[i].device,
					 rows[i].family ? (const struct sockaddr *)&remote : NULL,
					 &found, &error),
				 rows[i].code);
		if (rows[i].code)
			assert_contains(error.text, rows[i].text);
		else
			assert_string_equal(address_text((struct sockaddr *)&found.address, text),
					    rows[i].text);
	}
}

static void test_source_addresses(void **unused)
{
	static const struct {
		const char *remote;
		const char *source;
	} rows[] = {
		{"10.1.0.77",    "10.1.0.1"  },
                {"10.2.200.200", "10.2.0.1"  },
		{"192.0.2.1",    "10.1.0.1"  },
                {"10.9.0.2",     "10.1.0.1"  }, /* that port is down */
		{"fd00::99",     "fd00::1"   },
                {"2001:db8::1",  "fd00::1"   },
		{"fe80::99%lo",  "fe80::1%lo"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct device_address remote = address_of(rows[i].remote, 0);
		struct device_address found = {0};
		struct error error = {0};
		char text[ADDRESS_TEXT];

		assert_int_equal(device_find_address(&devices, "x0",
						     (struct sockaddr *)&remote.address, &found,
						     &error),
				 0);
		assert_string_equal(address_text((struct sockaddr *)&found.address, text),
				    rows[i].source);
	}
}

static void test_long_device_list_is_truncated(void **unused)
{
	static struct device_port many[40];
	const struct device_list list = {.ports = many, .n_ports = ARRAY_LENGTH(many)};
	struct device_address found;
	struct error error = {0};

	for (int i = 0; i < 40; i++)
		snprintf(many[i].device, sizeof(many[i].device), "a_device_of_some_length_%d", i);
	assert_int_equal(device_find_address(&list, "y0", NULL, &found, &error), -ENODEV);
	assert_contains(error.text, "a_device_of_some_length_0, a_device");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_device),
		cmocka_unit_test(test_devices_known_only_to_the_kernel),
		cmocka_unit_test(test_devices_that_cannot_be_opened),
		cmocka_unit_test(test_addresses_of_devices),
		cmocka_unit_test(test_source_addresses),
		cmocka_unit_test(test_long_device_list_is_truncated),
		cmocka_unit_test(test_numa_node),
	};

	return cmocka_run_group_tests(tests, make_devices, NULL);
}
