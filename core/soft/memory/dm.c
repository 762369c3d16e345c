/* SPDX-License-Identifier: MIT */
#include "core/soft/memory/dm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/soft/fault/fault.h"
#include "core/soft/memory/memory_file.h"
#include "core/soft/peer/process.h"

enum {
	UNIT = 64,     /* of allocation */
	LOG_PAGE = 12, /* highest alignment */
	WORD_MASK = 3,
};

static size_t taken_by(size_t length)
{
	return (length + UNIT - 1) / UNIT * UNIT;
}

/* Returns whether the process may have that much more. */
static bool take(size_t length)
{
	size_t before = atomic_load(&soft_process.dm_bytes);

	while (length <= SOFT_DM_MAX && taken_by(length) <= SOFT_DM_MAX - before)
		if (atomic_compare_exchange_weak(&soft_process.dm_bytes, &before,
						 before + taken_by(length)))
			return true;
	return false;
}

static void give_back(size_t length)
{
	atomic_fetch_sub(&soft_process.dm_bytes, taken_by(length));
}

struct ibv_dm *soft_dm_alloc(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	struct soft_dm *dm = NULL;
	int result = ENOMEM;

	if (attr->comp_mask || !attr->length || attr->log_align_req > LOG_PAGE) {
		errno = EINVAL;
		return NULL;
	}
	if (!take(attr->length))
		goto fail;
	dm = calloc(1, sizeof(*dm));
	if (dm)
		result = soft_memory_create(attr->length, &dm->memory);
	if (result) {
		give_back(attr->length);
		goto fail;
	}
	dm->length = attr->length;
	dm->verbs.context = context;
	dm->verbs.memcpy_to_dm = soft_dm_write;
	dm->verbs.memcpy_from_dm = soft_dm_read;
	soft_fault_extend_dm(&dm->verbs);
	return &dm->verbs;
fail:
	free(dm);
	errno = result;
	return NULL;
}

int soft_dm_free(struct ibv_dm *verbs)
{
	struct soft_dm *dm = soft_dm_of(verbs);

	if (atomic_load(&dm->users))
		return errno = EBUSY;
	soft_memory_forget(&dm->memory);
	give_back(dm->length);
	free(dm);
	return 0;
}

static int check(const struct soft_dm *dm, uint64_t offset, size_t length)
{
	if (offset > dm->length || length > dm->length - offset)
		return EFAULT;
	return offset & WORD_MASK || length & WORD_MASK ? EINVAL : 0;
}

int soft_dm_write(struct ibv_dm *verbs, uint64_t offset, const void *from, size_t length)
{
	const struct soft_dm *dm = soft_dm_of(verbs);
	int result = check(dm, offset, length);

	if (!result)
		memcpy(dm->memory.at + offset, from, length);
	return result;
}

int soft_dm_read(void *to, struct ibv_dm *verbs, uint64_t offset, size_t length)
{
	const struct soft_dm *dm = soft_dm_of(verbs);
	int result = check(dm, offset, length);

	if (!result)
		memcpy(to, dm->memory.at + offset, length);
	return result;
}
