/* SPDX-License-Identifier: MIT */
/*
 * What every fuzzer is made of: one function of some bytes, which libFuzzer calls with
 * what it thinks of, and replay.c with the files of a corpus. It keeps nothing from one
 * call to the next, and returns 0. What is wrong ends the program, with a sentence.
 */
#ifndef CORE_FUZZ_FUZZ_H
#define CORE_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define FUZZ_CHECK(condition)                                                                  \
	do {                                                                                   \
		if (!(condition)) {                                                            \
			fprintf(stderr, "%s:%d: this does not hold: %s\n", __FILE__, __LINE__, \
				#condition);                                                   \
			abort();                                                               \
		}                                                                              \
	} while (0)

/* It goes to terminals: control characters are none of it, in ASCII and in UTF-8. */
static inline void fuzz_check_text(const char *text)
{
	for (const unsigned char *byte = (const unsigned char *)text; *byte; byte++)
		FUZZ_CHECK(*byte >= 0x20 && *byte != 0x7f &&
			   !(byte[0] == 0xc2 && byte[1] >= 0x80 && byte[1] < 0xa0));
}

/* A failure has a code and a sentence, and nothing else has. */
static inline void fuzz_check_error(int code, const struct error *error)
{
	FUZZ_CHECK(code <= 0 && code == error->code && !code == !error->text[0]);
	fuzz_check_text(error->text);
}

#endif
