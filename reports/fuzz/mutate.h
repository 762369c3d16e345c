/* SPDX-License-Identifier: MIT */
/*
 * A mutator for libFuzzer that knows JSON: bytes that are changed at random are mostly no
 * JSON any more, and end at its parser. This one changes values, copies them elsewhere,
 * and takes them out, and leaves JSON that is written as before.
 */
#ifndef REPORTS_FUZZ_MUTATE_H
#define REPORTS_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* What libFuzzer looks for; a fuzzer of JSON has one line of it: MUTATE_JSON('\n'). */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned int seed);

/*
 * Changes one of the texts, which the separator parts, or, every other time, any bytes
 * as libFuzzer would. Returns the new size, at most that much.
 */
size_t mutate_json(uint8_t *bytes, size_t size, size_t most, unsigned int seed, char separator);

#define MUTATE_JSON(separator)                                                   \
	size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, \
				       unsigned int seed)                        \
	{                                                                        \
		return mutate_json(bytes, size, most, seed, separator);          \
	}

#endif
