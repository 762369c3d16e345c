/* SPDX-License-Identifier: MIT */
#include "core/pool/grants.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/verbs/verbs.h"

int grants_open(struct grants *grants, const struct memory *memory, struct error *error)
{
	*grants = (struct grants){.memory = memory, .size = memory->size};
	if (!chunks_open(&grants->chunks, grants->size / memory->page))
		return 0;
	grants_close(grants);
	return error_set_errno(error, -ENOMEM, "cannot create a pool");
}

/* Deallocates a domain with its last region, since its client could not. */
static void retry_abandoned(struct grants *grants)
{
	struct grant **link = &grants->abandoned;

	while (*link) {
		struct grant *grant = *link;
		struct grant *next = grant->next;
		struct ibv_pd *pd = grant->mr->pd;

		if (grants_give(grants, grant)) {
			link = &grant->next;
			continue;
		}
		*link = next;
		if (!grants->has_windows)
			ibv_dealloc_pd(pd);
	}
}

void grants_close(struct grants *grants)
{
	retry_abandoned(grants);
	while (grants->abandoned) {
		struct grant *grant = grants->abandoned;

		grants->abandoned = grant->next;
		free(grant);
	}
	chunks_close(&grants->chunks);
	*grants = (struct grants){0};
}

static size_t offset_of(const struct grants *grants, const struct grant *grant)
{
	return grant->first * grants->memory->page;
}

static int open_region(struct grants *grants, struct ibv_pd *pd, uint64_t size, struct grant *grant)
{
	const int rights = grants->has_windows ? IBV_ACCESS_MW_BIND
					       : IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	grant->mr = memory_register(grants->memory, offset_of(grants, grant), size, pd,
				    IBV_ACCESS_LOCAL_WRITE | rights, &grants->fault);
	if (!grant->mr)
		return grants->fault.code;
	grant->rkey = grant->mr->rkey;
	if (!grants->has_windows)
		return 0;
	grant->mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	if (grant->mw) {
		grant->rkey = ibv_inc_rkey(grant->mw->rkey);
		return 0;
	}
	error_set_errno(&grants->fault, verbs_null(), "cannot allocate a memory window");
	ibv_dereg_mr(grant->mr);
	return grants->fault.code;
}

static enum pool_status fill(struct grants *grants, struct ibv_pd *pd, uint64_t size,
			     struct grant *grant)
{
	grant->n_chunks = grants_taken_by(grants, size) / grants->memory->page;
	grant->first = chunks_take(&grants->chunks, grant->n_chunks);
	if (grant->first == SIZE_MAX)
		return POOL_EXHAUSTED;
	memory_clear(grants->memory, offset_of(grants, grant),
		     grant->n_chunks * grants->memory->page);
	if (!open_region(grants, pd, size, grant))
		return POOL_OK;
	chunks_give(&grants->chunks, grant->first, grant->n_chunks);
	return POOL_NO_REGION;
}

uint64_t grants_taken_by(const struct grants *grants, uint64_t size)
{
	return ((size - 1) / grants->memory->page + 1) * grants->memory->page;
}

enum pool_status grants_take(struct grants *grants, struct ibv_pd *pd,
			     const struct pool_message *asked, uint64_t left, struct grant **grant)
{
	enum pool_status status;
	struct grant *made;

	grants->fault = (struct error){0};
	retry_abandoned(grants);
	if (!asked->size)
		return POOL_ZERO;
	if (asked->size > grants->size)
		return POOL_TOO_LARGE;
	if (grants_taken_by(grants, asked->size) > left)
		return POOL_SHARE;
	made = calloc(1, sizeof(*made));
	if (!made) {
		error_set_errno(&grants->fault, -ENOMEM, "cannot allocate a grant");
		return POOL_NO_REGION;
	}
	made->every = asked->every;
	status = fill(grants, pd, asked->size, made);
	if (status != POOL_OK) {
		free(made);
		return status;
	}
	grants->count++;
	*grant = made;
	return POOL_OK;
}

void grant_revoke(struct grant *grant)
{
	if (grant->mw && !ibv_dealloc_mw(grant->mw))
		grant->mw = NULL;
}

int grants_give(struct grants *grants, struct grant *grant)
{
	int code;

	/* A region with a bound window cannot be deregistered. */
	grant_revoke(grant);
	code = verbs_result(ibv_dereg_mr(grant->mr));
	if (code)
		return code;
	chunks_give(&grants->chunks, grant->first, grant->n_chunks);
	grants->count--;
	free(grant);
	return 0;
}

int grants_abandon(struct grants *grants, struct grant *grant)
{
	int code = grants_give(grants, grant);

	if (code) {
		grant->next = grants->abandoned;
		grants->abandoned = grant;
	}
	return code;
}

uint32_t grant_value(const struct grant *grant, uint32_t number)
{
	uint64_t last = (uint64_t)number * grant->every - 1;
	const uint32_t *slots = grant->mr->addr;

	/* The client may write to the slot at any time. */
	return be32toh(
		__atomic_load_n(&slots[grant_slot(grant->mr->length, last)], __ATOMIC_RELAXED));
}
