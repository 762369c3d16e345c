/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/plan/plan.h"
#include "bench/plan/preset.h"
#include "bench/test/unit.d/words.h"
#include "core/base/clock.h"

#define MIB     1048576
#define LONGEST ((size_t)64 << 20)

static char folder[64];
static char path[96];

static int make_folder(void **unused)
{
	snprintf(folder, sizeof(folder), "/tmp/preset.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/plan.json", folder);
	return 0;
}

static int remove_folder(void **unused)
{
	unlink(path);
	return rmdir(folder);
}

/* The number of cases and the time limits of the design. */
static void test_presets(void **unused)
{
	static const struct {
		const char *line;
		size_t n_cases;
		uint64_t most_s;
	} rows[] = {
  /* 3 operations x 2 sizes x 2 modes for lat, and 3 x 3 x 2 for bw. */
		{"--preset|quick",     30,   15  },
 /* 4 x 2 metrics x 8 sizes x 2 modes. */
		{"--preset|standard",  128,  90  },
 /* (8 x 24 sizes + 3 atomics) x 2 x 3 modes, and 3 sizes of 2 x 3. */
		{"--preset|full",      1188, 1200},
 /* 7 streams, 1 reply, and 6 x 2 plus 2 x 2 timed cases. */
		{"--preset|semantics", 24,   60  },
 /* 5 sizes x 2, 4 lists, 3 modes, 3 sizes x 2, 3 and 3 queues, 3 places, 2 kinds of pages. */
		{"--preset|tips",      34,   60  },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct error error = {0};
		struct words words;
		struct plan plan;

		words_init(&words, rows[i].line);
		assert_int_equal(plan_open(&plan, words.argc, words.argv, &error), 0);
		assert_int_equal(plan.n_cases, rows[i].n_cases);
		for (size_t j = 0; j < plan.n_cases; j++)
			assert_string_equal(plan.cases[j].skipped, "");
		assert_true(plan_estimate_ns(&plan, plan.n_cases) <= rows[i].most_s * NS_PER_S);
		plan_close(&plan);
	}
}

/* Each operation that is no timed call, on each transport. */
static void test_verbs(void **unused)
{
	struct error error = {0};
	struct words words;
	struct plan plan;
	size_t count = 0;

	words_init(&words, "--preset|verbs");
	assert_int_equal(plan_open(&plan, words.argc, words.argv, &error), 0);
	for (size_t op = 0; op < OPERATIONS; op++)
		count += operations[op].kind != RESULT_CALL;
	assert_int_equal(plan.n_cases, count * TRANSPORTS * 2 * 3);
	plan_close(&plan);
}

static void test_names(void **unused)
{
	static const char *const none[] = {"", "Quick", "quic", "quick ", "nonsense"};

	for (size_t i = 0; i < ARRAY_LENGTH(none); i++) {
		struct error error = {0};
		json_t *plan = NULL;
		char text[128];

		assert_int_equal(preset_find(none[i], &plan, &error), -EINVAL);
		snprintf(text, sizeof(text), "--preset: '%s' is not one of " PRESET_NAMES, none[i]);
		assert_string_equal(error.text, text);
		assert_null(plan);
	}
}

static void put(const char *text, size_t length)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

static void test_reads_a_file(void **unused)
{
	static const char *const texts[] = {"{\"size\": [64]}", "[{\"size\": 64}, {}]\n", "[]"};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		json_t *wanted = json_loads(texts[i], 0, NULL);
		struct error error = {0};
		json_t *plan;

		put(texts[i], strlen(texts[i]));
		assert_int_equal(preset_load(path, &plan, &error), 0);
		assert_true(json_equal(plan, wanted));
		json_decref(plan);
		json_decref(wanted);
	}
}

static void check_refused(int code, const char *part)
{
	struct error error = {0};
	json_t *plan;

	assert_int_equal(preset_load(path, &plan, &error), code);
	assert_contains(error.text, path);
	assert_contains(error.text, part);
	assert_null(strchr(error.text, '\n'));
}

static void test_rejects_other_files(void **unused)
{
	static const char *const rows[][2] = {
		{"",				 "line 1: "},
		{"plan",			     "line 1: "},
		{"\x1b[2J",                          "near '?'"},
		{"64",			       "line 1: "},
		{"{\"size\": [64]\n",                "line 2: "},
		{"{\"size\": [64]}\n{}",             "line 2: "},
		{"{\n\"size\": 64,\n\"size\": 65}",  "line 3: "},
		{"{\"size\": \"\xff\"}",             "line 1: "},
		{"{\"size\": \"a\nb\"}",             "line 1: "},
		{"{\"size\": 99999999999999999999}", "line 1: "},
		{"\x7f"
		 "ELF\x02\x01",     "line 1: "},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		put(rows[i][0], strlen(rows[i][0]));
		check_refused(-EINVAL, rows[i][1]);
	}
}

/* Deeply nested JSON. */
static void test_rejects_deep_file(void **unused)
{
	char *text = test_malloc(MIB / 2);

	memset(text, '[', MIB / 2);
	put(text, MIB / 2);
	check_refused(-EINVAL, "line 1: ");
	test_free(text);
}

static void test_rejects_long_file(void **unused)
{
	char *text = test_malloc(LONGEST);
	struct error error = {0};
	json_t *plan;

	memset(text, ' ', LONGEST);
	text[0] = '{';
	text[1] = '}';
	put(text, LONGEST - 1);
	assert_int_equal(preset_load(path, &plan, &error), 0);
	json_decref(plan);
	put(text, LONGEST);
	check_refused(-EFBIG, " is too large for a plan");
	test_free(text);
}

static void test_unreadable_files(void **unused)
{
	struct error error = {0};
	json_t *plan;

	check_refused(-ENOENT, "cannot read the plan ");
	assert_int_equal(preset_load(folder, &plan, &error), -EISDIR);
	assert_contains(error.text, "Is a directory");
}

/* Reading stops at the limit. */
static void test_rejects_endless_file(void **unused)
{
	struct error error = {0};
	json_t *plan;

	assert_int_equal(preset_load("/dev/zero", &plan, &error), -EFBIG);
	assert_string_equal(error.text, "/dev/zero is too large for a plan");
}

/* The error is kept whole as far as possible, with the end of the path. */
static void test_error_names_the_file(void **unused)
{
	struct error fault = {.code = -EINVAL, .text = "it is wrong"};
	char long_path[512];

	assert_int_equal(preset_blame("plan.json", &fault), -EINVAL);
	assert_string_equal(fault.text, "plan.json: it is wrong");
	memset(long_path, 'x', sizeof(long_path));
	strcpy(long_path + sizeof(long_path) - sizeof("/plan.json"), "/plan.json");
	fault = (struct error){.code = -EINVAL, .text = "it is wrong"};
	preset_blame(long_path, &fault);
	assert_int_equal(strlen(fault.text), sizeof(fault.text) - 1);
	assert_memory_equal(fault.text, "...xxx", 6);
	assert_contains(fault.text, "xxx/plan.json: it is wrong");
	memset(fault.text, 'y', sizeof(fault.text) - 1);
	preset_blame(long_path, &fault);
	assert_memory_equal(fault.text, "...xxxxxxxxxxxxxx/plan.json: yyy", 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_presets),
		cmocka_unit_test(test_verbs),
		cmocka_unit_test(test_names),
		cmocka_unit_test_setup_teardown(test_reads_a_file, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_rejects_other_files, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(test_rejects_deep_file, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_rejects_long_file, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_unreadable_files, make_folder, remove_folder),
		cmocka_unit_test(test_rejects_endless_file),
		cmocka_unit_test(test_error_names_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
