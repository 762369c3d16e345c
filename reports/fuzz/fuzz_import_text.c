/* SPDX-License-Identifier: MIT */
/*
 * What perftest prints. What was taken becomes a document, which loads, and makes the same
 * again.
 */
#include "reports/fuzz/imported.h"
#include "reports/import/perftest.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	return imported_try(perftest_add_text, bytes, size);
}
