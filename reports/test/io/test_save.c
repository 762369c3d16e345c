/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/test/lib/check.h"
#include "reports/io/save.h"

static char folder[64];
static char path[128];

static int n_synced;
static bool sync_fails;

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	n_synced++;
	if (!sync_fails)
		return __real_fsync(fd);
	errno = EIO;
	return -1;
}

static int open_folder(void **unused)
{
	snprintf(folder, sizeof(folder), "/tmp/save.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/result.json", folder);
	return 0;
}

static int close_folder(void **unused)
{
	unlink(path);
	return rmdir(folder);
}

static int write_text(FILE *out, const void *text)
{
	fputs(text, out);
	return 0;
}

/* Writes more than a stream buffers. */
static int write_much(FILE *out, const void *unused)
{
	for (int i = 0; i < 100000; i++)
		fputs("much", out);
	return 0;
}

static int write_nothing(FILE *out, const void *unused)
{
	return -ENOMEM;
}

static size_t files_in_folder(void)
{
	DIR *open = opendir(folder);
	size_t n = 0;

	assert_non_null(open);
	while (readdir(open))
		n++;
	closedir(open);
	return n - 2;
}

static void put(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void check_content(const char *text)
{
	char content[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_non_null(fgets(content, sizeof(content), file));
	fclose(file);
	assert_string_equal(content, text);
}

static void test_replaces_a_file(void **unused)
{
	struct error error = {0};

	put("old");
	assert_int_equal(save_path(path, write_text, "new", &error), 0);
	check_content("new");
	assert_int_equal(files_in_folder(), 1);
}

/* If the disk fills up after some bytes, the old file stays and nothing is left behind. */
static void test_a_failed_write_changes_nothing(void **unused)
{
	static const rlim_t rooms[] = {0, 1, 1000};
	struct rlimit limit;
	rlim_t before;

	put("old");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	before = limit.rlim_cur;
	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < ARRAY_LENGTH(rooms); i++) {
		struct error error = {0};
		int checked;
		int code;

		limit.rlim_cur = rooms[i];
		setrlimit(RLIMIT_FSIZE, &limit);
		code = save_path(path, write_much, NULL, &error);
		checked = save_check(path, NULL);
		limit.rlim_cur = before;
		setrlimit(RLIMIT_FSIZE, &limit);
		assert_int_equal(code, -EFBIG);
		/* save_check finds it before there is anything to write. */
		assert_int_equal(checked, -EFBIG);
		assert_contains(error.text, path);
		assert_contains(error.text, "cannot write ");
		check_content("old");
		assert_int_equal(files_in_folder(), 1);
	}
}

static void test_rejects_invalid_paths(void **unused)
{
	char below[160];
	const struct {
		const char *path;
		int code;
	} rows[] = {
		{"/nowhere/at/all.json", -ENOENT },
		{"/proc/result.json",    -ENOENT },
		{folder,                 -EISDIR },
		{below,                  -ENOTDIR},
	};

	put("old");
	snprintf(below, sizeof(below), "%s/result.json", path);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct error checked = {0};
		struct error written = {0};

		assert_int_equal(save_check(rows[i].path, &checked), rows[i].code);
		assert_int_equal(save_path(rows[i].path, write_text, "new", &written),
				 rows[i].code);
		assert_contains(checked.text, rows[i].path);
		assert_contains(written.text, rows[i].path);
	}
	assert_int_equal(files_in_folder(), 1);
}

static void test_a_check_leaves_nothing(void **unused)
{
	struct error error = {0};

	assert_int_equal(save_check(path, &error), 0);
	assert_int_equal(files_in_folder(), 0);
	put("old");
	assert_int_equal(save_check(path, &error), 0);
	check_content("old");
	assert_int_equal(files_in_folder(), 1);
	assert_int_equal(save_check("-", &error), 0);
}

/* A device is not replaced, and a full one is reported. */
static void test_devices(void **unused)
{
	struct error error = {0};
	struct stat found;

	assert_int_equal(save_check("/dev/null", &error), 0);
	assert_int_equal(save_path("/dev/null", write_text, "new", &error), 0);
	assert_int_equal(stat("/dev/null", &found), 0);
	assert_true(S_ISCHR(found.st_mode));
	assert_int_equal(save_path("/dev/full", write_text, "new", &error), -ENOSPC);
	assert_contains(error.text, "cannot write /dev/full: No space left on device");
	assert_int_equal(stat("/dev/full", &found), 0);
	assert_true(S_ISCHR(found.st_mode));
}

/* The error of the writer is reported, and the old file stays. */
static void test_a_writer_that_fails(void **unused)
{
	struct error error = {0};

	put("old");
	assert_int_equal(save_path(path, write_nothing, NULL, &error), -ENOMEM);
	assert_contains(error.text, "cannot write ");
	assert_contains(error.text, "memory");
	check_content("old");
	assert_int_equal(files_in_folder(), 1);
}

static int write_too_much(FILE *out, const void *unused)
{
	return -E2BIG;
}

static void test_a_writer_that_fails_on_standard_output(void **unused)
{
	struct error error = {0};

	assert_int_equal(save_output(NULL, write_too_much, NULL, &error), -E2BIG);
	assert_contains(error.text, "cannot write standard output: ");
}

/* A result has the mode of any new file. */
static void test_rights(void **unused)
{
	static const mode_t masks[] = {022, 077, 0};
	struct error error = {0};
	struct stat found;

	for (size_t i = 0; i < ARRAY_LENGTH(masks); i++) {
		mode_t before = umask(masks[i]);
		int code = save_path(path, write_text, "new", &error);

		umask(before);
		assert_int_equal(code, 0);
		assert_int_equal(stat(path, &found), 0);
		assert_int_equal(found.st_mode & 0777, 0666 & ~masks[i]);
	}
}

/* The file is synced once, before it gets its name; if that fails, the old file stays. */
static void test_syncs_before_rename(void **unused)
{
	struct error error = {0};

	n_synced = 0;
	assert_int_equal(save_path(path, write_text, "old", &error), 0);
	assert_int_equal(n_synced, 1);
	sync_fails = true;
	assert_int_equal(save_path(path, write_text, "new", &error), -EIO);
	sync_fails = false;
	check_content("old");
	assert_int_equal(files_in_folder(), 1);
}

#define in_folder(test) cmocka_unit_test_setup_teardown(test, open_folder, close_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_folder(test_replaces_a_file),
		in_folder(test_a_failed_write_changes_nothing),
		in_folder(test_rejects_invalid_paths),
		in_folder(test_a_check_leaves_nothing),
		in_folder(test_devices),
		in_folder(test_a_writer_that_fails),
		cmocka_unit_test(test_a_writer_that_fails_on_standard_output),
		in_folder(test_rights),
		in_folder(test_syncs_before_rename),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
