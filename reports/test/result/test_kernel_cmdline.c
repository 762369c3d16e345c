/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "core/test/lib/check.h"
#include "reports/result/kernel_cmdline.h"

static void test_kept(void **unused)
{
	char kept[KERNEL_CMDLINE_KEPT];

	assert_int_equal(
		kernel_cmdline_keep("root=UUID=1b4e isolcpus=2 quiet mitigations=off", kept), 0);
	assert_string_equal(kept, "isolcpus=2 mitigations=off");
	assert_int_equal(kernel_cmdline_keep("", kept), 0);
	assert_string_equal(kept, "");
}

/* Words are kept whole or not at all: a cut one would have another value. */
static void test_too_long(void **unused)
{
	char kept[KERNEL_CMDLINE_KEPT];

	for (int length = KERNEL_CMDLINE_KEPT - 4; length < KERNEL_CMDLINE_KEPT + 4; length++) {
		char line[KERNEL_CMDLINE_KEPT + 64];
		char *digits = line + snprintf(line, sizeof(line), "nosmt isolcpus=");
		int used = length - (int)strlen(line);

		memset(digits, '1', (size_t)used);
		snprintf(digits + used, 32, " tsc=x");
		assert_int_equal(kernel_cmdline_keep(line, kept), 0);
		if (length < KERNEL_CMDLINE_KEPT) {
			digits[used] = '\0';
			assert_string_equal(kept, line);
		} else {
			assert_string_equal(kept, "nosmt tsc=x");
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
