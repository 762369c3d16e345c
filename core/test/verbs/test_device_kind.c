/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/compiler.h"
#include "core/test/lib/check.h"
#include "core/verbs/device_kind.h"

#define CLASS "/sys/class/infiniband"

static char root[] = "/tmp/kind.XXXXXX";

static void make(const char *path, const char *text)
{
	char full[256];
	FILE *file;

	/* Creates the folders. */
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(full, sizeof(full), "%s%.*s", root, (int)(slash - path), path);
		mkdir(full, 0700);
	}
	snprintf(full, sizeof(full), "%s%s", root, path);
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int make_machine(void **unused)
{
	if (!mkdtemp(root))
		return -1;
	make(CLASS "/mlx5_0/node_desc", "n01 mlx5_0\n");
	make(CLASS "/mlx5_0/device/vendor", "0x15b3\n");
	make(CLASS "/rxe0/parent", "eth0\n");
	/* Some kernels place it below the NIC that it uses. */
	make(CLASS "/rxe0/device/vendor", "0x15b3\n");
	make(CLASS "/siw0/node_desc", "Software iWARP stack\n");
	make(CLASS "/siw0/device/vendor", "0x15b3\n");
	make(CLASS "/new0/node_desc", "Software iWARP stack of others\n");
	return 0;
}

static int remove_machine(void **unused)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void test_kinds_from_sysfs(void **unused)
{
	assert_int_equal(device_kind_find(root, "mlx5_0"), DEVICE_KIND_HARDWARE);
	assert_int_equal(device_kind_find(root, "rxe0"), DEVICE_KIND_RXE);
	assert_int_equal(device_kind_find(root, "siw0"), DEVICE_KIND_SIW);
	assert_int_equal(device_kind_find(root, "new0"), DEVICE_KIND_OTHER);
	assert_int_equal(device_kind_find(root, "soft0"), DEVICE_KIND_OTHER);
}

/* Hardware has another vendor id. Soft-RoCE has vendor id 0 and no firmware version. */
static void test_soft_device_attributes(void **unused)
{
	static const struct {
		const char *fw_ver;
		uint32_t vendor_id;
		bool is_soft;
	} rows[] = {
		{"soft",       0x02766d, true },
		{"",           0,        false},
		{"soft",       0,        false},
		{"soft",       0x15b3,   false},
		{"20.39.2048", 0x15b3,   false},
		{"software",   0x02766d, false},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct ibv_device_attr attr = {.vendor_id = rows[i].vendor_id};

		snprintf(attr.fw_ver, sizeof(attr.fw_ver), "%s", rows[i].fw_ver);
		assert_int_equal(device_kind_is_soft(&attr), rows[i].is_soft);
	}
}

static void test_mapped_memory(void **unused)
{
	struct ibv_device_attr soft = {.vendor_id = 0x02766d, .fw_ver = "soft"};
	struct ibv_device_attr card = {.vendor_id = 0x15b3, .fw_ver = "28.35.1012"};

	unsetenv("VERBMARK_SOFT_COPY");
	assert_true(device_kind_is_mapped(&soft));
	assert_false(device_kind_is_mapped(&card));
	setenv("VERBMARK_SOFT_COPY", "", 1);
	assert_true(device_kind_is_mapped(&soft));
	setenv("VERBMARK_SOFT_COPY", "kernel", 1);
	assert_false(device_kind_is_mapped(&soft));
	assert_false(device_kind_is_mapped(&card));
	unsetenv("VERBMARK_SOFT_COPY");
}

static void test_names(void **unused)
{
	static const char *const names[] = {"hardware", "rxe", "siw", "other", "soft"};

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		assert_int_not_equal(device_kind_named(names[i]), DEVICE_KIND_UNKNOWN);
		assert_string_equal(device_kind_name(device_kind_named(names[i])), names[i]);
	}
	assert_int_equal(device_kind_named("soft"), DEVICE_KIND_SOFT);
	assert_int_equal(device_kind_named("SOFT"), DEVICE_KIND_UNKNOWN);
	assert_int_equal(device_kind_named(NULL), DEVICE_KIND_UNKNOWN);
	assert_null(device_kind_name(DEVICE_KIND_UNKNOWN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds_from_sysfs),
		cmocka_unit_test(test_soft_device_attributes),
		cmocka_unit_test(test_mapped_memory),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
