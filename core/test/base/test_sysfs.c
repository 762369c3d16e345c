/* SPDX-License-Identifier: MIT */
#include "core/base/compiler.h"
#include "core/base/sysfs.h"
#include "core/test/lib/made_up.h"

static void test_lines(void **unused)
{
	static const struct {
		const char *text;
		const char *line; /* NULL: none */
	} rows[] = {
		{"  two words \t",      "two words"      },
		{"first\nsecond",       "first"          },
		{"gr\303\274n",         "gr??n"          },
		{"0123456789abcdefghi", "0123456789abcde"},
		{"\n",                  NULL             },
		{"   ",                 NULL             },
	};
	struct made_up machine;
	char line[16];

	made_up_open(&machine);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		bool found;

		made_up_file(&machine, "/x", rows[i].text);
		found = sysfs_line(machine.root, line, sizeof(line), "/%s", "x");
		assert_int_equal(found, rows[i].line != NULL);
		if (found)
			assert_string_equal(line, rows[i].line);
	}
	assert_false(sysfs_line(machine.root, line, sizeof(line), "/missing"));
	assert_false(sysfs_line(machine.root, line, sizeof(line), "%s", "/"));
	assert_false(sysfs_line(machine.root, line, sizeof(line), "/x%600s", ""));
	made_up_close(&machine);
}

/* Reading must not wait for a writer. */
static void test_pipe_without_writer(void **unused)
{
	struct made_up machine;
	char path[512];
	char line[16];

	made_up_open(&machine);
	made_up_path(&machine, "/pipe", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(sysfs_line(machine.root, line, sizeof(line), "/pipe"));
	made_up_close(&machine);
}

static void test_numbers(void **unused)
{
	static const struct {
		const char *text;
		bool good;
		int64_t number;
	} rows[] = {
		{"0",                   true,  0        },
		{"-1",                  true,  -1       },
		{"0x15b3",              true,  5555     },
		{"9223372036854775807", true,  INT64_MAX},
		{"9223372036854775808", false, 0        },
		{"12 13",               false, 0        },
		{"4: ACTIVE",           false, 0        },
		{"many",                false, 0        },
	};
	struct made_up machine;

	made_up_open(&machine);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		int64_t number = 0;

		made_up_file(&machine, "/x", rows[i].text);
		assert_int_equal(sysfs_number(machine.root, &number, "/x"), rows[i].good);
		assert_true(number == rows[i].number);
	}
	made_up_close(&machine);
}

static void test_names(void **unused)
{
	struct made_up machine;
	struct sysfs_names names;

	made_up_open(&machine);
	made_up_file(&machine, "/n/node10", "");
	made_up_file(&machine, "/n/node9", "");
	made_up_file(&machine, "/n/.hidden", "");
	made_up_file(&machine,
		     "/n/a_name_that_is_longer_than_any_that_the_kernel_gives_to_anything_so_far",
		     "");
	sysfs_names_open(&names, machine.root, "/n");
	assert_int_equal(names.count, 2);
	assert_string_equal(names.name[0], "node9");
	assert_string_equal(names.name[1], "node10");
	sysfs_names_close(&names);
	sysfs_names_open(&names, machine.root, "/none");
	assert_int_equal(names.count, 0);
	sysfs_names_close(&names);
	for (unsigned int i = 0; i < SYSFS_NAMES + 10; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/m/%u", i);
		made_up_bytes(&machine, path, "", 0);
	}
	sysfs_names_open(&names, machine.root, "/m");
	assert_int_equal(names.count, SYSFS_NAMES);
	sysfs_names_close(&names);
	made_up_close(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_pipe_without_writer),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
