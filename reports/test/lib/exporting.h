/* SPDX-License-Identifier: MIT */
/* Helpers for tests of export formats. */
#ifndef REPORTS_TEST_LIB_EXPORTING_H
#define REPORTS_TEST_LIB_EXPORTING_H

#include <errno.h>

#include "reports/export/export.h"
#include "reports/result/banner.h"
#include "reports/test/lib/loads.h"

struct exporting {
	struct export_choice choice;
	const struct export_format *format;
	void *state;
	char *text;
	struct error error;
};

static struct exporting exporting;
static struct result sample;

static inline void exporting_open(const struct export_format *format)
{
	exporting.format = format;
	exporting.state = format->open(&exporting.choice);
	assert_non_null(exporting.state);
}

static inline int exporting_add(const struct result *result, const char *name)
{
	return exporting.format->add(exporting.state, result, name, &exporting.error);
}

static inline int exporting_finish(void)
{
	return exporting.format->finish(exporting.state, &exporting.text, &exporting.error);
}

/* Exports the sample and compares the whole text. */
static inline void exporting_check(const struct export_format *format, const char *wanted)
{
	exporting_open(format);
	assert_int_equal(exporting_add(&sample, "a.json"), 0);
	assert_int_equal(exporting_finish(), 0);
	assert_string_equal(exporting.text, wanted);
}

static inline void exporting_refused(int code, int wanted, const char *sentence)
{
	assert_int_equal(code, wanted);
	assert_string_equal(exporting.error.text, sentence);
}

static int exporting_setup(void **unused)
{
	sample_init(&sample);
	exporting = (struct exporting){0};
	return 0;
}

static int exporting_teardown(void **unused)
{
	if (exporting.format)
		exporting.format->close(exporting.state);
	free(exporting.text);
	result_finish(&sample);
	return 0;
}

#define exporting_test(test) \
	cmocka_unit_test_setup_teardown(test, exporting_setup, exporting_teardown)

#endif
