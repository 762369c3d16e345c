/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/base/compiler.h"
#include "core/test/lib/check.h"
#include "core/verbs/link_rate.h"

/* Bits of ib_port_width and ib_port_speed, from rdma/ib_verbs.h of the kernel. */
#define WIDTH_1X 1
#define WIDTH_4X 2
#define WIDTH_8X 4

#define SPEED_EDR 32
#define SPEED_NDR 128

static char root[] = "/tmp/link.XXXXXX";

static int make_root(void **unused)
{
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **unused)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void make_rate(const char *text)
{
	static const char *const folders[] = {"/sys", "/class", "/infiniband",
					      "/x0",  "/ports", "/2"};
	char path[256];
	size_t used = (size_t)snprintf(path, sizeof(path), "%s", root);
	FILE *file;

	for (size_t i = 0; i < ARRAY_LENGTH(folders); i++) {
		used += (size_t)snprintf(path + used, sizeof(path) - used, "%s", folders[i]);
		mkdir(path, 0700);
	}
	snprintf(path + used, sizeof(path) - used, "/rate");
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* In the format of rate_show in the kernel's drivers/infiniband/core/sysfs.c. */
static void test_parse(void **unused)
{
	static const struct {
		const char *text;
		uint64_t mbps;
	} rows[] = {
		{"800 Gb/sec (4X XDR)\n",       800000},
		{"400 Gb/sec (4X NDR)\n",       400000},
		{"2.5 Gb/sec (1X SDR)\n",       2500  },
		{"112.5 Gb/sec (8X FDR)\n",     112500},
		{"0.125 Gb/sec (1X)\n",         125   },
		{"1.23456 Gb/sec (1X)",         1234  },
		{"40 Gb/sec (4X FDR10)",        40000 },
		{"",			    0     },
		{"\n",			  0     },
		{" 10 Gb/sec",                  0     },
		{"-10 Gb/sec",                  0     },
		{".5 Gb/sec",                   0     },
		{"10",			  0     },
		{"10 Mb/sec",                   0     },
		{"10.x Gb/sec",                 0     },
		{"99999999999999999999 Gb/sec", 0     },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		assert_int_equal(link_rate_parse(rows[i].text), rows[i].mbps);
}

static void test_product(void **unused)
{
	static const unsigned int widths[] = {1, 4, 8, 12, 2};
	static const unsigned int lane_mbps[] = {2500,  5000,  10000, 10000,
						 14000, 25000, 50000, 100000};

	assert_int_equal(link_rate_mbps(root, "x1", 2, WIDTH_4X, SPEED_NDR), 400000);
	assert_int_equal(link_rate_mbps(root, "x1", 2, WIDTH_1X, SPEED_EDR), 25000);
	/* Bits of active_width and active_speed, and lane rates, from rate_show in the kernel. */
	for (size_t i = 0; i < ARRAY_LENGTH(widths); i++)
		for (size_t j = 0; j < ARRAY_LENGTH(lane_mbps); j++)
			assert_int_equal(link_rate_mbps(root, "x1", 2, (uint8_t)(1U << i),
							(uint8_t)(1U << j)),
					 widths[i] * lane_mbps[j]);
	assert_int_equal(link_rate_mbps(root, "x1", 2, WIDTH_4X, 0), 0);
	assert_int_equal(link_rate_mbps(root, "x1", 2, 0, SPEED_NDR), 0);
}

static void test_larger_rate_is_used(void **unused)
{
	static const struct {
		const char *text;
		uint8_t width;
		uint8_t speed;
		uint64_t mbps;
	} rows[] = {
  /* Verbs report XDR as NDR, and an unknown speed as none. */
		{"800 Gb/sec (4X XDR)\n",  WIDTH_4X, SPEED_NDR, 800000 },
		{"1600 Gb/sec (8X XDR)\n", WIDTH_8X, SPEED_NDR, 1600000},
		{"800 Gb/sec (4X XDR)\n",  WIDTH_4X, 0,         800000 },
		{"400 Gb/sec (4X NDR)\n",  WIDTH_4X, SPEED_NDR, 400000 },
		{"10 Gb/sec (4X SDR)\n",   WIDTH_4X, SPEED_EDR, 100000 },
		{"nonsense\n",             WIDTH_4X, SPEED_EDR, 100000 },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		make_rate(rows[i].text);
		assert_int_equal(link_rate_mbps(root, "x0", 2, rows[i].width, rows[i].speed),
				 rows[i].mbps);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_product),
		cmocka_unit_test(test_larger_rate_is_used),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
