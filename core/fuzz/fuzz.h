/* SPDX-License-Identifier: MIT */
/*
 * Common code of fuzzers. Each fuzzer is one function that takes a byte string. libFuzzer calls it
 * with generated inputs, replay.c with the files of a corpus. The function keeps no state between
 * calls and returns 0. A failed check prints a message and aborts.
 */
#ifndef CORE_FUZZ_FUZZ_H
#define CORE_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define FUZZ_CHECK(condition)                                                            \
	do {                                                                             \
		if (!(condition)) {                                                      \
			fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, \
				#condition);                                             \
			abort();                                                         \
		}                                                                        \
	} while (0)

/* Checks that a text is safe for terminals: no control characters, in ASCII or UTF-8. */
static inline void fuzz_check_text(const char *text)
{
	for (const unsigned char *byte = (const unsigned char *)text; *byte; byte++)
		FUZZ_CHECK(*byte >= 0x20 && *byte != 0x7f &&
			   !(byte[0] == 0xc2 && byte[1] >= 0x80 && byte[1] < 0xa0));
}

/* Checks that there is an error text exactly if the code is an error. */
static inline void fuzz_check_error(int code, const struct error *error)
{
	FUZZ_CHECK(code <= 0 && code == error->code && !code == !error->text[0]);
	fuzz_check_text(error->text);
}

#endif
