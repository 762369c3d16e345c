/* SPDX-License-Identifier: MIT */
#include "bench/lane/verify.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "bench/plan/rules.h"
#include "core/base/random.h"

/* The inverse of random_mix. */
static uint64_t unmix(uint64_t value)
{
	value ^= value >> 31 ^ value >> 62;
	value *= 0x319642b2d24d8ec3ULL;
	value ^= value >> 27 ^ value >> 54;
	value *= 0x96de1b173f119089ULL;
	return value ^ value >> 30 ^ value >> 60;
}

static uint64_t hash(const char *text)
{
	uint64_t value = 0;

	for (; *text; text++)
		value = random_mix(value + (unsigned char)*text);
	return value;
}

void verify_init(struct verify *verify, uint64_t every, const char *id, bool is_server,
		 unsigned int flow)
{
	uint64_t name = hash(id) + 2 * (uint64_t)flow;

	*verify = (struct verify){
		.every = every,
		.until = 1,
		.own_key = random_mix(name + is_server),
		.peer_key = random_mix(name + !is_server),
	};
}

void verify_begin(struct verify *verify)
{
	verify->until = 1;
	verify->sequence = 0;
}

#define STEP         0x9e3779b97f4a7c15ULL
#define STEP_INVERSE 0xf1de83e19937733dULL

/*
 * Returns eight bytes of the pattern at offset, a multiple of eight. They are little-endian on
 * both sides, whose byte orders may differ.
 */
static uint64_t word_at(uint64_t sender, uint64_t sequence, size_t offset)
{
	return htole64(random_mix(sender + random_mix(sequence * STEP + offset)));
}

static uint64_t sequence_of(uint64_t sender, uint64_t word, size_t offset)
{
	return (unmix(unmix(le64toh(word)) - sender) - offset) * STEP_INVERSE;
}

static uint64_t pattern_of(const struct verify *verify)
{
	return verify->is_fixed ? 0 : verify->sequence;
}

/* Payloads are generated and compared in parts of this size. */
#define PART_WORDS 64
#define PART_BYTES (PART_WORDS * sizeof(uint64_t))

/* Generates the part of a sender's pattern at offset. Returns its length. */
static size_t make_part(const struct verify *verify, uint64_t sender, size_t offset,
			uint64_t words[static PART_WORDS])
{
	size_t rest = verify->length - offset;
	size_t length = rest < PART_BYTES ? rest : PART_BYTES;

	for (size_t i = 0; 8 * i < length; i++)
		words[i] = word_at(sender, pattern_of(verify), offset + 8 * i);
	return length;
}

void verify_fill(struct verify *verify)
{
	for (size_t offset = 0; offset < verify->length; offset += PART_BYTES) {
		uint64_t words[PART_WORDS];
		size_t length = make_part(verify, verify->own_key, offset, words);

		memory_write(verify->memory, verify->sent + offset, words, length);
	}
}

void verify_name(struct verify *verify)
{
	uint64_t word = word_at(verify->own_key, pattern_of(verify), 0);

	memory_write(verify->memory, verify->sent, &word, sizeof(word));
}

static int mismatch(const struct verify *verify, size_t offset, uint8_t found, uint8_t expected,
		    struct error *error)
{
	return error_set(error, -EBADMSG,
			 "byte %zu of message %" PRIu64 " is 0x%02x, expected 0x%02x", offset,
			 verify->sequence, found, expected);
}

int verify_check(struct verify *verify, struct error *error)
{
	for (size_t offset = 0; offset < verify->length; offset += PART_BYTES) {
		uint64_t words[PART_WORDS];
		const uint8_t *expected = (const uint8_t *)words;
		size_t length = make_part(verify, verify->peer_key, offset, words);
		uint8_t found[PART_BYTES];

		memory_read(verify->memory, verify->received + offset, found, length);
		for (size_t i = 0; i < length && memcmp(found, expected, length) != 0; i++)
			if (found[i] != expected[i])
				return mismatch(verify, offset + i, found[i], expected[i], error);
	}
	return 0;
}

/* A number further than this from the expected one comes from a corrupt byte. */
#define BELIEVABLE (1ULL << 32)

void verify_find(struct verify *verify)
{
	/* Only if every message has the full pattern does each word contain the number. */
	size_t looked_at = verify->every == 1 ? verify->length : RULES_VERIFY_NAME;
	uint64_t past;

	for (size_t offset = 0; offset + 8 <= looked_at; offset += 8) {
		uint64_t sequence;
		uint64_t word;

		memory_read(verify->memory, verify->received + offset, &word, sizeof(word));
		sequence = sequence_of(verify->peer_key, word, offset);
		if (sequence - verify->sequence + BELIEVABLE >= 2 * BELIEVABLE)
			continue;
		verify->sequence = sequence;
		past = sequence % verify->every;
		verify->until = past ? verify->every - past + 1 : 1;
		return;
	}
	verify->until = 1;
}
