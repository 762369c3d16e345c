/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "core/base/sysfs.h"
#include "core/memory/memory.h"
#include "core/test/lib/check.h"

/* Simulates the module udmabuf with this limit; 0: the real one. */
static int64_t udmabuf_mb;

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode)
{
	return udmabuf_mb && !strcmp(path, "/dev/udmabuf") ? 0 : __real_access(path, mode);
}

bool __real_sysfs_number(const char *root, int64_t *number, const char *format, ...);
bool __wrap_sysfs_number(const char *root, int64_t *number, const char *format, ...) FORMAT(3, 4);
bool __wrap_sysfs_number(const char *root, int64_t *number, const char *format, ...)
{
	char path[256];
	va_list args;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (!udmabuf_mb || strcmp(path, "/sys/module/udmabuf/parameters/size_limit_mb") != 0)
		return __real_sysfs_number(root, number, "%s", path);
	*number = udmabuf_mb;
	return true;
}

static void test_known_kinds(void **unused)
{
	static const struct {
		const char *text;
		const struct memory_kind *kind;
		const char *detail;
		const char *path;
		bool is_polled;
		bool is_private;
	} rows[] = {
		{"host",                &memory_host,   "",               NULL,          true,  false},
		{"HOST",                &memory_host,   "",               NULL,          true,  false},
		{"host:hugepages",      &memory_huge,   "hugepages",      NULL,          true,  false},
		{"host:hugepages=2M",   &memory_huge,   "hugepages=2M",   NULL,          true,  false},
		{"host:hugepages=1G",   &memory_huge,   "hugepages=1G",   NULL,          true,  false},
		{"file:/a",             &memory_file,   "/a",             "/a",          true,  false},
		{"file:/a:b",           &memory_file,   "/a:b",           "/a:b",        true,  false},
		{"file:/a,offset=4096", &memory_file,   "/a,offset=4096", "/a",          true,  false},
		{"file:/a,b",           &memory_file,   "/a,b",           "/a,b",        true,  false},
		{"dmabuf:/a,offset=0",  &memory_dmabuf, "/a,offset=0",    "/a,offset=0", true,  false},
		{"dax:/dev/dax0.0",     &memory_dax,    "/dev/dax0.0",    "/dev/dax0.0", true,  false},
		{"odp",                 &memory_odp,    "",               NULL,          true,  false},
		{"odp:prefetch",        &memory_odp,    "prefetch",       NULL,          true,  false},
		{"odp:implicit",        &memory_odp,    "implicit",       NULL,          true,  true },
		{"nic",                 &memory_nic,    "",               NULL,          false, false},
		{"null",                &memory_null,   "",               NULL,          false, true },
		{"dmabuf",              &memory_dmabuf, "udmabuf",        NULL,          true,  false},
		{"dmabuf:udmabuf",      &memory_dmabuf, "udmabuf",        NULL,          true,  false},
		{"dmabuf:/h",           &memory_dmabuf, "/h",             "/h",          true,  false},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct memory_choice choice;
		struct error error = {0};

		assert_int_equal(memory_find(rows[i].text, &choice, &error), 0);
		assert_ptr_equal(choice.kind, rows[i].kind);
		assert_string_equal(choice.detail, rows[i].detail);
		assert_int_equal(memory_is_polled(&choice), rows[i].is_polled);
		assert_int_equal(memory_is_private(&choice), rows[i].is_private);
		if (rows[i].path)
			assert_string_equal(memory_path(&choice), rows[i].path);
		else
			assert_null(memory_path(&choice));
	}
}

/* Spellings of one kind are one kind in results. */
static void test_spellings(void **unused)
{
	static const struct {
		const char *text;
		const char *spelling;
	} rows[] = {
		{"Host",                  "host"               },
		{"host:HugePages=2m",     "host:hugepages=2M"  },
		{"host:hugepages",        "host:hugepages"     },
		{"ODP:Warm",              "odp:warm"           },
		{"odp",                   "odp"                },
		{"dmabuf",                "dmabuf:udmabuf"     },
		{"dmabuf:UDMABUF",        "dmabuf:udmabuf"     },
		{"dmabuf:Memfd",          "dmabuf:memfd"       },
		{"DMABUF:/A,offset=0",    "dmabuf:/A,offset=0" },
		{"file:/A,offset=0",      "file:/A"            },
		{"file:/A,offset=004096", "file:/A,offset=4096"},
		{"dax:/A",                "dax:/A"             },
		{"cuda",                  "cuda"               },
		{"cuda:00",               "cuda:0"             },
		{"cuda:010,path=dmabuf",  "cuda:10,path=dmabuf"},
		{"rocm:path=dmabuf",      "rocm:path=dmabuf"   },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct memory_choice choice;
		struct error error = {0};

		assert_int_equal(memory_find(rows[i].text, &choice, &error), 0);
		assert_string_equal(choice.text, rows[i].spelling);
		assert_int_equal(memory_find(rows[i].spelling, &choice, &error), 0);
		assert_string_equal(choice.text, rows[i].spelling);
	}
}

static void test_unknown_kinds(void **unused)
{
	static const char *const rows[][2] = {
		{"",				    "is not one of host, file, dax, odp, nic"},
		{"hos",				 "is not one of host"                     },
		{"hosts",			       "is not one of host"                     },
		{"host:hugepages=4M",                   "is not hugepages=2M, =32M or =1G"       },
		{"host:",			       "is not hugepages=2M"                    },
		{"file:a",			      "absolute path"                          },
		{"file:/a,offset=",                     "offset"                                 },
		{"file:/a,offset=-4096",                "offset"                                 },
		{"file:/a,offset=4k",                   "offset"                                 },
		{"file:/a,offset=99999999999999999999", "offset"                                 },
		{"odp:cold",                            "is not warm, prefetch or implicit"      },
		{"nic:0",			       "nic takes no details"                   },
		{"dmabuf:x",                            "unknown source; use udmabuf, memfd"     },
	};
	char longest[MEMORY_TEXT + 1];
	struct memory_choice choice;
	struct error fault = {0};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct error error = {0};

		assert_int_equal(memory_find(rows[i][0], &choice, &error), -EINVAL);
		assert_contains(error.text, rows[i][1]);
	}
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "file:/", 6);
	longest[MEMORY_TEXT - 1] = '\0';
	assert_int_equal(memory_find(longest, &choice, &fault), 0);
	longest[MEMORY_TEXT - 1] = 'a';
	longest[MEMORY_TEXT] = '\0';
	assert_int_equal(memory_find(longest, &choice, &fault), -EINVAL);
	assert_contains(fault.text, "longer than 95");
}

static void test_names(void **unused)
{
	size_t i;

	for (i = 0; memory_name(i); i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(memory_name(i), memory_name(j));
	assert_true(i >= 6);
}

/* A file is mapped from its offset on, and must be long enough. */
static void test_mapped_files(void **unused)
{
	char path[] = "/tmp/verbmark-choice-XXXXXX";
	int file = mkstemp(path);
	char detail[MEMORY_TEXT];
	struct memory_request request = {.size = 4096, .numa_node = -1, .detail = detail};
	struct memory buffer;
	struct error error = {0};
	char byte;

	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, 8192), 0);
	assert_int_equal(pwrite(file, "ab", 2, 4095), 2);
	snprintf(detail, sizeof(detail), "%s,offset=4096", path);
	assert_int_equal(memory_open(&buffer, &memory_file, &request, &error), 0);
	assert_int_equal(buffer.cpu[0], 0);
	buffer.cpu[1] = 'x';
	assert_string_equal(memory_describe(&buffer).path, "MAP_SHARED");
	memory_close(&buffer);
	assert_int_equal(pread(file, &byte, 1, 4095), 1);
	assert_int_equal(byte, 'a');
	assert_int_equal(pread(file, &byte, 1, 4097), 1);
	assert_int_equal(byte, 'x');

	request.size = 4097;
	assert_int_equal(memory_check(&memory_file, &request, &error), -EOPNOTSUPP);
	assert_contains(error.text, "has 8192 bytes, but the buffer needs");
	error = (struct error){0};
	assert_int_equal(memory_open(&buffer, &memory_file, &request, &error), -EOPNOTSUPP);
	snprintf(detail, sizeof(detail), "%s,offset=1", path);
	error = (struct error){0};
	assert_int_equal(memory_check(&memory_file, &request, &error), -EINVAL);
	assert_contains(error.text, "multiple of 4096");
	close(file);
	unlink(path);
	error = (struct error){0};
	assert_int_equal(memory_check(&memory_file, &request, &error), -ENOENT);
}

/* A sparse file on a full file system: touching its pages would raise SIGBUS. */
static void test_full_file_system(void **unused)
{
	static const struct memory_kind *const kinds[] = {&memory_file, &memory_dmabuf};
	char folder[] = "/tmp/verbmark-full-XXXXXX";
	char path[64];
	struct memory_request request = {.size = 1 << 20, .numa_node = -1, .detail = path};
	struct memory buffer;
	int file;

	assert_non_null(mkdtemp(folder));
	if (mount("none", folder, "tmpfs", 0, "size=64k")) {
		rmdir(folder);
		skip();
	}
	snprintf(path, sizeof(path), "%s/sparse", folder);
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(file, 1 << 20), 0);
	close(file);
	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
		struct error error = {0};

		assert_int_equal(memory_open(&buffer, kinds[i], &request, &error), -ENOSPC);
		assert_contains(error.text, "no room for 1048576 bytes in /tmp/verbmark-full-");
	}
	assert_int_equal(umount(folder), 0);
	rmdir(folder);
}

/* Two buffers would share the bytes, and poll their own writes. */
static void test_file_in_use(void **unused)
{
	char path[] = "/tmp/verbmark-choice-XXXXXX";
	int file = mkstemp(path);
	const struct memory_request request = {.size = 4096, .numa_node = -1, .detail = path};
	struct memory first;
	struct memory second;
	struct error error = {0};

	assert_int_equal(ftruncate(file, 4096), 0);
	close(file);
	for (int i = 0; i < 2; i++) {
		error = (struct error){0};
		assert_int_equal(memory_open(&first, &memory_file, &request, &error), 0);
		assert_int_equal(memory_open(&second, &memory_file, &request, &error), -EBUSY);
		assert_contains(error.text, "bytes 0 to 4095 of /tmp/verbmark-choice-");
		error = (struct error){0};
		assert_int_equal(memory_open(&second, &memory_dmabuf, &request, &error), -EBUSY);
		memory_close(&first);
	}
	unlink(path);
}

/* Buffers share a file if their ranges do not overlap. */
static void test_ranges_of_a_file(void **unused)
{
	static const struct {
		size_t size;
		const char *offset;
		int code;
	} rows[] = {
		{8192, "",              -EBUSY},
		{4096, "",              0     },
		{4096, ",offset=4096",  -EBUSY},
		{1,    ",offset=8192",  -EBUSY},
		{4096, ",offset=12288", 0     },
	};
	char path[] = "/tmp/verbmark-choice-XXXXXX";
	char detail[MEMORY_TEXT];
	int file = mkstemp(path);
	struct memory_request request = {.size = 4097, .numa_node = -1, .detail = detail};
	struct error error = {0};
	struct memory first;

	assert_int_equal(ftruncate(file, 16384), 0);
	close(file);
	snprintf(detail, sizeof(detail), "%s,offset=4096", path);
	assert_int_equal(memory_open(&first, &memory_file, &request, &error), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct memory second;

		error = (struct error){0};
		request.size = rows[i].size;
		snprintf(detail, sizeof(detail), "%s%s", path, rows[i].offset);
		assert_int_equal(memory_open(&second, &memory_file, &request, &error),
				 rows[i].code);
		memory_close(&second);
	}
	memory_close(&first);
	unlink(path);
}

/* The last page of a buffer must fit as well. */
static void test_part_of_a_page(void **unused)
{
	static const struct memory_kind *const kinds[] = {&memory_file, &memory_dmabuf};
	char path[] = "/tmp/verbmark-choice-XXXXXX";
	int file = mkstemp(path);
	struct memory_request request = {.numa_node = -1, .detail = path};

	assert_int_equal(ftruncate(file, 4200), 0);
	close(file);
	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
		struct error error = {0};

		request.size = 4096;
		assert_int_equal(memory_check(kinds[i], &request, &error), 0);
		request.size = 4097;
		assert_int_equal(memory_check(kinds[i], &request, &error), -EOPNOTSUPP);
		assert_contains(error.text, "try 'fallocate -l 8192 /tmp/verbmark-choice-");
	}
	unlink(path);
}

/* The error names the parameter of the module and the value that suffices. */
static void test_limit_of_udmabuf(void **unused)
{
	struct memory_request request = {.size = 64 << 20, .numa_node = -1};
	struct memory buffer;
	struct error error = {0};

	udmabuf_mb = 64;
	assert_int_equal(memory_check(&memory_dmabuf, &request, &error), 0);
	request.size++;
	assert_int_equal(memory_check(&memory_dmabuf, &request, &error), -EOPNOTSUPP);
	assert_string_equal(error.text,
			    "the buffer needs 65 MiB, but udmabuf allows 64; try 'echo 65 > "
			    "/sys/module/udmabuf/parameters/size_limit_mb', or a smaller --size or "
			    "--buffer");
	assert_int_equal(memory_open(&buffer, &memory_dmabuf, &request, &error), -EOPNOTSUPP);
	udmabuf_mb = 0;
}

/* Devices and folders are not mapped. */
static void test_other_files(void **unused)
{
	static const char *const paths[] = {"/dev/zero", "/dev/null", "/tmp"};
	const struct memory_kind *const kinds[] = {&memory_file, &memory_dax};

	for (size_t i = 0; i < 2 * ARRAY_LENGTH(paths); i++) {
		const struct memory_request request = {.size = 1, .detail = paths[i / 2]};
		struct error error = {0};

		assert_true(memory_check(kinds[i % 2], &request, &error) < 0);
	}
}

static void test_memory_without_a_device(void **unused)
{
	const struct memory_request request = {.size = 4096, .numa_node = -1};
	struct memory buffer;
	struct error error = {0};

	assert_int_equal(memory_check(&memory_nic, &request, &error), 0);
	assert_int_equal(memory_open(&buffer, &memory_nic, &request, &error), -EINVAL);
	assert_null(buffer.kind);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_kinds),
		cmocka_unit_test(test_unknown_kinds),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_mapped_files),
		cmocka_unit_test(test_other_files),
		cmocka_unit_test(test_memory_without_a_device),
		cmocka_unit_test(test_file_in_use),
		cmocka_unit_test(test_full_file_system),
		cmocka_unit_test(test_part_of_a_page),
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_limit_of_udmabuf),
		cmocka_unit_test(test_ranges_of_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
