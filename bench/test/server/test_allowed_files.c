/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "bench/server/allowed_files.h"
#include "core/test/lib/check.h"

/* Only the path that will be opened counts, not a part of it. */
static void test_paths(void **unused)
{
	static const struct {
		const char *memory;
		bool is_allowed;
	} rows[] = {
		{"host",                        true },
		{"dmabuf:memfd",                true },
		{"file:/dev/shm/x",             true },
		{"file:/dev/shm/x,offset=4096", true },
		{"dax:/dev/shm/x,offset=0",     true },
		{"dmabuf:/dev/shm/x",           true },
		{"file:/dev/shm/a,b",           true },
		{"file:/dev/shm/x,y",           false},
		{"file:/dev/shm/x,/../y",       false},
		{"file:/dev/shm/x,y,offset=0",  false},
		{"file:/dev/shm/a",             false},
		{"file:/dev/shm/xy",            false},
		{"dax:/dev/shm/x,/../y",        false},
		{"dmabuf:/dev/shm/x,y",         false},
		{"dmabuf:/dev/shm/x,/../y",     false},
		{"dmabuf:/dev/shm/x,offset=0",  false},
	};
	struct allowed_files allowed = {0};

	assert_null(allowed_files_parse("/dev/shm/x", &allowed));
	assert_null(allowed_files_parse("/dev/shm/a,b", &allowed));
	assert_string_equal(allowed_files_parse("x", &allowed), "is not an absolute path");
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct memory_choice choice;
		struct error error = {0};

		assert_int_equal(memory_find(rows[i].memory, &choice, &error), 0);
		assert_int_equal(allowed_files_check(&allowed, &choice, &error),
				 rows[i].is_allowed ? 0 : -EOPNOTSUPP);
		if (memory_path(&choice))
			assert_int_equal(allowed_files_check(NULL, &choice, &error), -EOPNOTSUPP);
	}
}

static void test_memory_of_gpus(void **unused)
{
	struct allowed_files allowed = {0};
	struct memory_choice cuda;
	struct memory_choice rocm;
	struct error error = {0};

	assert_int_equal(memory_find("cuda:1", &cuda, &error), 0);
	assert_int_equal(memory_find("rocm", &rocm, &error), 0);
	assert_int_equal(allowed_files_check(&allowed, &cuda, &error), -EOPNOTSUPP);
	assert_non_null(allowed_files_parse_memory("host", &allowed));
	assert_non_null(allowed_files_parse_memory("cuda:0", &allowed));
	assert_null(allowed_files_parse_memory("cuda-pinned,cuda", &allowed));
	assert_int_equal(allowed_files_check(&allowed, &cuda, &error), 0);
	assert_int_equal(allowed_files_check(&allowed, &rocm, &error), -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_memory_of_gpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
