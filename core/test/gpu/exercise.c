/* SPDX-License-Identifier: MIT */
/*
 * Uses each kind of memory that is named on the command line, without an RDMA device: allocates,
 * exports, fills, checks, copies, frees. Prints a line for each step. The exit status is the number
 * of kinds that do not work.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/memory/memory.h"

#define SIZE (8UL << 20)

static char pattern(size_t at, unsigned int seed)
{
	return (char)((at * 131 + (at >> 12) + seed) % 251);
}

/* Returns where the bytes differ from the pattern, or SIZE. */
static size_t differs_at(const char *bytes, unsigned int seed)
{
	size_t at = 0;

	while (at < SIZE && bytes[at] == pattern(at, seed))
		at++;
	return at;
}

static int report(const char *text, const char *step, size_t at)
{
	if (at == SIZE)
		printf("ok    %s: %s\n", text, step);
	else
		printf("FAILS %s: %s: byte %zu is wrong\n", text, step, at);
	return at != SIZE;
}

static int copy(const char *text, const struct memory *memory, char *bytes)
{
	struct error error = {0};
	uint64_t start;
	uint64_t middle;
	uint64_t end;

	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = pattern(i, 1);
	start = clock_now_ns();
	memory_write(memory, 0, bytes, SIZE);
	middle = clock_now_ns();
	memset(bytes, 0, SIZE);
	memory_read(memory, 0, bytes, SIZE);
	end = clock_now_ns();
	if (memory_copy_error(memory, &error)) {
		printf("FAILS %s: %s\n", text, error.text);
		return 1;
	}
	printf("ok    %s: wrote %zu bytes in %.1f us, read them in %.1f us\n", text, SIZE,
	       (double)(middle - start) / 1000, (double)(end - middle) / 1000);
	return report(text, "read what was written", differs_at(bytes, 1));
}

/* A byte that the CPU stores through the driver or the mapping is seen by the other one. */
static int poke(const char *text, const struct memory *memory)
{
	memory_poke(memory, SIZE - 1, 'x');
	memory_poke(memory, 4095, 'y');
	return report(text, "single bytes",
		      memory_peek(memory, SIZE - 1) == 'x' && memory_peek(memory, 4095) == 'y'
			      ? SIZE
			      : 4095);
}

static int zeroed(const char *text, const struct memory *memory, char *bytes)
{
	size_t at = 0;

	memory_read(memory, 0, bytes, SIZE);
	while (at < SIZE && !bytes[at])
		at++;
	return report(text, "new memory is zero", at);
}

static int exercise(const char *text, char *bytes)
{
	struct memory_choice choice;
	struct memory_request request = {.size = SIZE, .numa_node = -1};
	struct error error = {0};
	struct memory memory;
	struct memory_facts facts;
	int code = memory_find(text, &choice, &error);

	request.detail = choice.detail[0] ? choice.detail : NULL;
	if (!code)
		code = memory_open(&memory, choice.kind, &request, &error);
	if (code) {
		printf("FAILS %s: %s\n", text, error.text);
		return 1;
	}
	facts = memory_describe(&memory);
	printf("ok    %s: %s (%s, %s), %s the CPU\n", text, facts.owner, facts.driver, facts.pcie,
	       memory.cpu ? "mapped for" : "hidden from");
	code = zeroed(text, &memory, bytes) || copy(text, &memory, bytes) || poke(text, &memory);
	memory_close(&memory);
	return code;
}

int main(int argc, char *argv[])
{
	char *bytes = malloc(SIZE);
	int failures = 0;

	for (int i = 1; i < argc && bytes; i++)
		failures += exercise(argv[i], bytes);
	free(bytes);
	return failures;
}
