/* SPDX-License-Identifier: MIT */
/* Import of perftest's text output. The resulting document must load and be the same again. */
#include "reports/fuzz/imported.h"
#include "reports/import/perftest.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	return imported_try(perftest_add_text, bytes, size);
}
