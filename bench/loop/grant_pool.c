/* SPDX-License-Identifier: MIT */
#include "bench/loop/grant_pool.h"

#include <errno.h>

int grant_pool_open(struct grant_pool *pool, const struct lane *lane, struct error *error)
{
	*pool = (struct grant_pool){0};
	return grants_open(&pool->grants, &lane->other, error);
}

void grant_pool_close(struct grant_pool *pool)
{
	/* A region that cannot be deregistered goes with the protection domain. */
	if (pool->grant)
		grants_give(&pool->grants, pool->grant);
	grants_close(&pool->grants);
}

void grant_pool_write(const struct lane *lane, const struct pool_message *words)
{
	const struct memory *memory = &lane->endpoint.memory;
	uint8_t bytes[POOL_MESSAGE];

	pool_encode(words, bytes);
	memory_write(memory, lane->flows[0].work.sges[0].addr - memory->address, bytes,
		     sizeof(bytes));
}

/* Decodes the message that was received. Returns as pool_decode does. */
static int decode_received(const struct lane *lane, struct pool_message *words)
{
	const struct memory *memory = &lane->endpoint.memory;
	uint8_t bytes[POOL_MESSAGE];

	memory_read(memory, lane->flows[0].first_receive - memory->address, bytes, sizeof(bytes));
	return pool_decode(words, bytes, sizeof(bytes));
}

static void allocate(struct grant_pool *pool, const struct lane *lane,
		     const struct pool_message *asked, struct pool_message *answer)
{
	enum pool_status status = POOL_EXHAUSTED;

	if (!pool->grant)
		status = grants_take(&pool->grants, lane->endpoint.pd, asked, pool->grants.size,
				     &pool->grant);
	*answer = (struct pool_message){.type = POOL_RESP_ALLOC, .status = status};
	if (status != POOL_OK)
		return;
	answer->size = pool->grant->mr->length;
	answer->address = (uintptr_t)pool->grant->mr->addr;
	answer->rkey = pool->grant->mr->rkey;
}

static void give_back(struct grant_pool *pool, const struct pool_message *asked,
		      struct pool_message *answer)
{
	const struct grant *grant = pool->grant;

	*answer = (struct pool_message){.type = POOL_RESP_FREE, .status = POOL_NO_GRANT};
	if (!grant || asked->address != (uintptr_t)grant->mr->addr)
		return;
	answer->status = POOL_HELD;
	if (grants_give(&pool->grants, pool->grant))
		return;
	pool->grant = NULL;
	answer->status = POOL_OK;
}

bool grant_pool_answer(struct grant_pool *pool, const struct lane *lane)
{
	struct pool_message answer = {.type = POOL_REFUSED, .status = POOL_MALFORMED};
	struct pool_message asked;
	bool is_known = !decode_received(lane, &asked);

	if (is_known && asked.type == POOL_REQ_ALLOC)
		allocate(pool, lane, &asked, &answer);
	else if (is_known && asked.type == POOL_REQ_FREE)
		give_back(pool, &asked, &answer);
	grant_pool_write(lane, &answer);
	return answer.type == POOL_RESP_ALLOC && answer.status == POOL_OK;
}

int grant_pool_read(const struct lane *lane, struct pool_message *words, struct error *error)
{
	/* The type of a reply is that of its request plus one. */
	const struct pool_message asked = *words;

	if (decode_received(lane, words) ||
	    (words->type != asked.type + 1 && words->type != POOL_REFUSED))
		return error_set(error, -EPROTO,
				 "received a message that is not a reply from the pool");
	if (words->status)
		return error_set(error, -EACCES, "%s", pool_status_text(words->status));
	if (asked.type == POOL_REQ_ALLOC && words->size != asked.size)
		return error_set(error, -EPROTO, "the pool granted a size that was not requested");
	return 0;
}
