/* SPDX-License-Identifier: MIT */
/*
 * A libFuzzer mutator for JSON. Random changes of bytes mostly give invalid JSON, which the parser
 * rejects. This mutator changes, copies and removes values, and the result is valid JSON.
 */
#ifndef REPORTS_FUZZ_MUTATE_H
#define REPORTS_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* The hook that libFuzzer looks for; fuzzers define it by a line such as MUTATE_JSON('\n'). */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned int seed);

/*
 * Changes one of the texts, which are separated by separator; every other time, changes any bytes,
 * like libFuzzer itself. Returns the new size, which is at most most.
 */
size_t mutate_json(uint8_t *bytes, size_t size, size_t most, unsigned int seed, char separator);

#define MUTATE_JSON(separator)                                                   \
	size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, \
				       unsigned int seed)                        \
	{                                                                        \
		return mutate_json(bytes, size, most, seed, separator);          \
	}

#endif
