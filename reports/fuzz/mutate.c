/* SPDX-License-Identifier: MIT */
#include "reports/fuzz/mutate.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"

/* Provided by libFuzzer; missing, and not called, when a corpus is only replayed. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most) __attribute__((weak));

/* Longer than any name that is stored. */
#define LONG "01234567890123456789012345678901234567890123456789012345678901234567890123456789"

/* A value and its place in an object or an array. */
struct node {
	json_t *parent; /* NULL: the root */
	const char *key;
	size_t index;
	json_t *value;
};

struct draw {
	unsigned int state;
	size_t seen;
	struct node node;
};

static unsigned int roll(struct draw *draw, size_t below)
{
	draw->state = draw->state * 1664525 + 1013904223;
	return (unsigned int)((draw->state >> 8) % below);
}

/* Selects each node with the same probability (reservoir sampling). */
static void consider(struct draw *draw, const struct node *node)
{
	if (!roll(draw, ++draw->seen))
		draw->node = *node;
}

static void walk(struct draw *draw, json_t *whole)
{
	const char *key;
	json_t *value;
	size_t i;

	json_object_foreach(whole, key, value)
	{
		consider(draw, &(struct node){whole, key, 0, value});
		walk(draw, value);
	}
	json_array_foreach(whole, i, value)
	{
		consider(draw, &(struct node){whole, NULL, i, value});
		walk(draw, value);
	}
}

static struct node pick(struct draw *draw, json_t *whole)
{
	draw->seen = 0;
	consider(draw, &(struct node){.value = whole});
	walk(draw, whole);
	return draw->node;
}

static json_t *number(struct draw *draw)
{
	static const json_int_t numbers[] = {
		0,         1,         -1,        2,         255,         256,
		65535,     65536,     INT32_MAX, 1LL << 31, 1LL << 32,   1LL << 37,
		1LL << 53, 1LL << 62, INT64_MAX, INT64_MIN, -(1LL << 53)};
	static const double reals[] = {0.5, -0.5, 0.0, 1e300, 1e-300, 1.7976931348623157e308, 1e18};

	if (!roll(draw, 4))
		return json_real(reals[roll(draw, ARRAY_LENGTH(reals))]);
	return json_integer(numbers[roll(draw, ARRAY_LENGTH(numbers))]);
}

static json_t *text(struct draw *draw)
{
	static const char *const texts[] = {
		"",        "auto",     "off",      "all", "1:8m", "1:1g:+1", "10s",
		"\x1b[2J", "\xc2\x85", "complete", "RC",  "64",   "%s%n",    "18446744073709551615",
		LONG};

	return json_string(texts[roll(draw, ARRAY_LENGTH(texts))]);
}

static json_t *anything(struct draw *draw)
{
	switch (roll(draw, 8)) {
	case 0:
		return json_object();
	case 1:
		return json_array();
	case 2:
		return roll(draw, 2) ? json_true() : json_false();
	case 3:
		return json_null();
	case 4:
	case 5:
		return text(draw);
	default:
		return number(draw);
	}
}

/* Repeats a text, which after some rounds exceeds any buffer. */
static json_t *repeated(struct draw *draw, const char *from)
{
	unsigned int times = 2 + roll(draw, 30);
	char *whole = NULL;
	size_t length;
	FILE *out = open_memstream(&whole, &length);
	json_t *made;

	if (!out)
		return NULL;
	while (times--)
		fputs(from, out);
	made = fclose(out) ? NULL : json_string(whole);
	free(whole);
	return made;
}

/* Changes one byte, or cuts the text there. Returns NULL if the result is not UTF-8. */
static json_t *corrupted(struct draw *draw, const char *from)
{
	char *copy = strdup(from);
	size_t length = strlen(from);
	json_t *made;

	if (copy && length) {
		char *at = &copy[roll(draw, length)];

		*at = (char)(roll(draw, 3) ? roll(draw, 128) : 0);
	}
	made = copy ? json_string(copy) : NULL;
	free(copy);
	return made;
}

static json_t *other_text(struct draw *draw, const char *from)
{
	return roll(draw, 3) ? corrupted(draw, from) : repeated(draw, from);
}

/* Returns a slightly different number or text; for other types, any value. */
static json_t *nearby(struct draw *draw, const json_t *value)
{
	uint64_t number;

	if (json_is_string(value))
		return other_text(draw, json_string_value(value));
	if (!json_is_integer(value))
		return anything(draw);
	number = (uint64_t)json_integer_value(value);
	switch (roll(draw, 4)) {
	case 0:
		number++;
		break;
	case 1:
		number--;
		break;
	case 2:
		number *= 2;
		break;
	default:
		number ^= 1ULL << roll(draw, 64);
		break;
	}
	return json_integer((json_int_t)number);
}

static void put(const struct node *node, json_t *value)
{
	if (!value || !node->parent)
		json_decref(value);
	else if (node->key)
		json_object_set_new(node->parent, node->key, value);
	else
		json_array_set_new(node->parent, node->index, value);
}

static void take_out(const struct node *node)
{
	if (node->key)
		json_object_del(node->parent, node->key);
	else if (node->parent)
		json_array_remove(node->parent, node->index);
}

/* Copies the node to a random place: into an object or array, or in place of another value. */
static void copy(struct draw *draw, json_t *whole, const struct node *node)
{
	struct node other = pick(draw, whole);
	json_t *made = json_deep_copy(node->value);

	if (json_is_object(other.value) && node->key)
		json_object_set_new(other.value, node->key, made);
	else if (json_is_array(other.value))
		json_array_append_new(other.value, made);
	else
		put(&other, made);
}

/* Changes the key, probably to an unknown one. */
static void rename_key(struct draw *draw, const struct node *node)
{
	json_t *name = node->key ? other_text(draw, node->key) : NULL;

	if (name && json_object_set(node->parent, json_string_value(name), node->value) == 0)
		json_object_del(node->parent, node->key);
	json_decref(name);
}

static void change(struct draw *draw, json_t *whole)
{
	struct node node = pick(draw, whole);

	switch (roll(draw, 9)) {
	case 0:
		take_out(&node);
		break;
	case 8:
		rename_key(draw, &node);
		break;
	case 1:
	case 2:
		copy(draw, whole, &node);
		break;
	case 3:
	case 4:
		put(&node, anything(draw));
		break;
	default:
		put(&node, nearby(draw, node.value));
		break;
	}
}

/*
 * Memory for the JSON during a mutation. Mutations are not under test, and with the allocator of a
 * sanitizer they would be slower than the tests.
 */
static struct {
	_Alignas(max_align_t) unsigned char bytes[4 << 20];
	size_t used;
} arena;

static void *arena_take(size_t size)
{
	size_t rounded =
		(size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	void *taken = arena.bytes + arena.used;

	if (rounded > sizeof(arena.bytes) - arena.used)
		return NULL;
	arena.used += rounded;
	return taken;
}

/* The arena is freed as a whole. */
static void arena_leave(void *unused)
{
	(void)unused;
}

static char *changed_in_arena(struct draw *draw, const uint8_t *bytes, size_t size)
{
	json_t *whole = json_loadb((const char *)bytes, size, 0, NULL);

	if (!whole)
		return NULL;
	for (unsigned int i = 1 + roll(draw, 3); i; i--)
		change(draw, whole);
	return json_dumps(whole, JSON_COMPACT);
}

/*
 * Returns the mutated text, which is valid until the next call; NULL if the input is not JSON or
 * memory runs out.
 */
static char *changed(struct draw *draw, const uint8_t *bytes, size_t size)
{
	json_malloc_t before_malloc;
	json_free_t before_free;
	char *made;

	json_get_alloc_funcs(&before_malloc, &before_free);
	arena.used = 0;
	json_set_alloc_funcs(arena_take, arena_leave);
	made = changed_in_arena(draw, bytes, size);
	json_set_alloc_funcs(before_malloc, before_free);
	return made;
}

size_t mutate_json(uint8_t *bytes, size_t size, size_t most, unsigned int seed, char separator)
{
	struct draw draw = {.state = seed};
	size_t from = 0;
	size_t length;
	size_t made;
	const uint8_t *end;
	char *text;

	if (!size || roll(&draw, 2))
		return LLVMFuzzerMutate(bytes, size, most);
	/* Select the text that contains a random byte. */
	for (size_t i = roll(&draw, size); i > 0 && !from; i--)
		if (bytes[i - 1] == (uint8_t)separator)
			from = i;
	end = memchr(bytes + from, separator, size - from);
	length = end ? (size_t)(end - bytes) - from : size - from;
	text = changed(&draw, bytes + from, length);
	made = text ? strlen(text) : 0;
	if (!text || size - length + made > most)
		return LLVMFuzzerMutate(bytes, size, most);
	memmove(bytes + from + made, bytes + from + length, size - from - length);
	memcpy(bytes + from, text, made);
	return size - length + made;
}
