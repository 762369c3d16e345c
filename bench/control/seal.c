/* SPDX-License-Identifier: MIT */
#include "bench/control/seal.h"

#include <endian.h>
#include <sodium.h>
#include <string.h>

void seal_begin(struct seal *seal, const uint8_t key[static SEAL_KEY])
{
	*seal = (struct seal){.is_set = true};
	memcpy(seal->key, key, sizeof(seal->key));
}

void seal_end(struct seal *seal)
{
	sodium_memzero(seal, sizeof(*seal));
}

void seal_make(struct seal *seal, uint32_t head, const void *body, size_t length,
	       uint8_t made[static SEAL_SIZE])
{
	const uint64_t count = htobe64(seal->count++);
	const uint32_t encoded = htobe32(head);
	crypto_generichash_state state;

	crypto_generichash_init(&state, seal->key, sizeof(seal->key), SEAL_SIZE);
	crypto_generichash_update(&state, (const uint8_t *)&count, sizeof(count));
	crypto_generichash_update(&state, (const uint8_t *)&encoded, sizeof(encoded));
	crypto_generichash_update(&state, body, length);
	crypto_generichash_final(&state, made, SEAL_SIZE);
}

bool seal_check(struct seal *seal, uint32_t head, const void *body, size_t length,
		const uint8_t found[static SEAL_SIZE])
{
	uint8_t made[SEAL_SIZE];

	seal_make(seal, head, body, length, made);
	return !sodium_memcmp(made, found, sizeof(made));
}
