/* SPDX-License-Identifier: MIT */
/* Import of perftest's JSON output; see fuzz_import_text.c. */
#include "reports/fuzz/imported.h"
#include "reports/import/perftest.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	return imported_try(perftest_add_json, bytes, size);
}
