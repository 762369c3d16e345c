/* SPDX-License-Identifier: MIT */
#include "core/soft/memory/mw.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/soft/memory/mr.h"
#include "core/soft/memory/region.h"
#include "core/soft/op/pd.h"
#include "core/soft/op/qp.h"
#include "core/soft/peer/process.h"

/* The consumer chooses the low bits of the key of a type 2 window. */
#define CHOSEN UINT32_C(0xff)

#define CHANGES ((unsigned int)(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC))
#define RIGHTS  (CHANGES | (unsigned int)(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED))

struct soft_mw {
	struct ibv_mw verbs;
	uint32_t parent; /* key of the region; only valid while the window is bound */
	struct soft_mw *next;
};

static struct soft_mw *of(struct ibv_mw *mw)
{
	return CONTAINER_OF(mw, struct soft_mw, verbs);
}

static struct soft_region_image *image_of(uint32_t key)
{
	return &soft_process.arena.memory->region[soft_region_number(key)];
}

static _Atomic uint32_t *revoked(uint32_t key)
{
	return &soft_process.arena.image->revoked[soft_region_number(key)];
}

static bool is_bound(const struct soft_mw *mw)
{
	uint32_t key = atomic_load(&image_of(mw->verbs.handle << SOFT_KEY_BITS)->key);

	return key && atomic_load(revoked(key)) != key;
}

/* Ends all accesses by the window's key. */
static void unbind(const struct soft_mw *mw)
{
	struct soft_region_image *image = image_of(mw->verbs.handle << SOFT_KEY_BITS);
	uint32_t key = atomic_exchange(&image->key, 0);

	if (key)
		soft_mr_await_lanes(key);
}

static void list(struct soft_mw *mw)
{
	pthread_mutex_lock(&soft_process.windows_mutex);
	mw->next = soft_process.windows;
	soft_process.windows = mw;
	pthread_mutex_unlock(&soft_process.windows_mutex);
}

static void unlist(const struct soft_mw *mw)
{
	struct soft_mw **at = &soft_process.windows;

	pthread_mutex_lock(&soft_process.windows_mutex);
	/* A forked child does not list what it inherited. */
	while (*at && *at != mw)
		at = &(*at)->next;
	if (*at)
		*at = mw->next;
	pthread_mutex_unlock(&soft_process.windows_mutex);
}

struct ibv_mw *soft_mw_alloc(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct soft_mw *mw = calloc(1, sizeof(*mw));
	uint32_t number = mw ? soft_table_take(&soft_process.regions) : 0;
	uint32_t count = atomic_fetch_add(&soft_process.next_key, 1) << 8;

	if (!number || (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)) {
		if (number)
			soft_table_remove(&soft_process.regions, number);
		free(mw);
		errno = number ? EINVAL : ENOMEM;
		return NULL;
	}
	mw->verbs = (struct ibv_mw){
		.context = pd->context,
		.pd = pd,
		.rkey = number << SOFT_KEY_BITS | (count & ((1U << SOFT_KEY_BITS) - 1)),
		.handle = number,
		.type = type,
	};
	atomic_fetch_add(&soft_pd_of(pd)->users, 1);
	list(mw);
	return &mw->verbs;
}

int soft_mw_dealloc(struct ibv_mw *verbs)
{
	struct soft_mw *mw = of(verbs);

	unbind(mw);
	unlist(mw);
	soft_table_remove(&soft_process.regions, verbs->handle);
	atomic_fetch_sub(&soft_pd_of(verbs->pd)->users, 1);
	free(mw);
	return 0;
}

int soft_mw_bind(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct ibv_send_wr wr = {
		.wr_id = bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = bind->send_flags,
		.bind_mw = {mw, ibv_inc_rkey(mw->rkey), bind->bind_info},
	};
	struct ibv_send_wr *bad;
	int result = soft_qp_post_send(qp, &wr, &bad);

	if (!result)
		mw->rkey = wr.bind_mw.rkey;
	return result;
}

/* Call with the mutex held. */
static bool is_used(uint32_t key)
{
	const struct soft_mw *mw = soft_process.windows;

	while (mw && (mw->parent != key || !is_bound(mw)))
		mw = mw->next;
	return mw != NULL;
}

int soft_mw_close_region(uint32_t key)
{
	int result;

	pthread_mutex_lock(&soft_process.windows_mutex);
	result = is_used(key) ? EBUSY : 0;
	if (!result) {
		atomic_store(&image_of(key)->key, 0);
		for (const struct soft_mw *mw = soft_process.windows; mw; mw = mw->next)
			if (mw->parent == key)
				unbind(mw);
	}
	pthread_mutex_unlock(&soft_process.windows_mutex);
	return result;
}

void soft_mw_close_qp(uint32_t qp)
{
	pthread_mutex_lock(&soft_process.windows_mutex);
	for (const struct soft_mw *mw = soft_process.windows; mw; mw = mw->next)
		if (image_of(mw->verbs.handle << SOFT_KEY_BITS)->qp == qp)
			unbind(mw);
	pthread_mutex_unlock(&soft_process.windows_mutex);
}

/* Returns whether the range and the rights lie within those of the region. */
static bool is_within(const struct soft_region_image *region, const struct ibv_mw_bind_info *info)
{
	uint64_t offset = info->addr - region->iova;

	return atomic_load(&region->key) == info->mr->lkey && region->access & IBV_ACCESS_MW_BIND &&
	       (!(info->mw_access_flags & CHANGES) || region->access & IBV_ACCESS_LOCAL_WRITE) &&
	       offset <= region->length && info->length <= region->length - offset;
}

/* Makes the checks of the InfiniBand specification for both types. */
static bool may_bind(const struct soft_qp *qp, const struct soft_mw *mw,
		     const struct soft_operation *operation)
{
	const struct ibv_mw_bind_info *info = &operation->bound;
	const struct ibv_pd *pd = qp->verbs.qp_base.pd;

	if (mw->verbs.pd->handle != pd->handle || (operation->rkey ^ mw->verbs.rkey) & ~CHOSEN ||
	    info->mw_access_flags & ~RIGHTS)
		return false;
	if (mw->verbs.type == IBV_MW_TYPE_1 && info->mw_access_flags & IBV_ACCESS_ZERO_BASED)
		return false;
	if (mw->verbs.type == IBV_MW_TYPE_2 && (is_bound(mw) || !info->length))
		return false;
	/* A window of type 1 and no length is only unbound. */
	if (!info->length)
		return true;
	return info->mr && info->mr->pd->handle == pd->handle &&
	       is_within(image_of(info->mr->lkey), info);
}

static void publish(const struct soft_qp *qp, const struct soft_mw *mw,
		    const struct soft_operation *operation)
{
	const struct ibv_mw_bind_info *info = &operation->bound;
	const struct soft_region_image *region = image_of(info->mr->lkey);
	struct soft_region_image *image = image_of(operation->rkey);
	uint64_t offset = info->addr - region->iova;

	image->pd = region->pd | SOFT_WINDOW;
	image->access = info->mw_access_flags;
	image->file = region->file;
	image->address = region->address + offset;
	image->iova = info->mw_access_flags & IBV_ACCESS_ZERO_BASED ? 0 : info->addr;
	image->length = info->length;
	image->offset = region->offset + offset;
	image->inode = region->inode;
	image->qp = mw->verbs.type == IBV_MW_TYPE_2 ? qp->index : 0;
	atomic_store(revoked(operation->rkey), 0);
	atomic_store(&image->key, operation->rkey);
}

static enum soft_outcome bind_window(const struct soft_qp *qp,
				     const struct soft_operation *operation)
{
	struct soft_mw *mw = of(operation->mw);
	bool is_allowed;

	pthread_mutex_lock(&soft_process.windows_mutex);
	is_allowed = may_bind(qp, mw, operation);
	if (is_allowed) {
		unbind(mw);
		if (operation->bound.length) {
			mw->parent = operation->bound.mr->lkey;
			publish(qp, mw, operation);
		}
	}
	pthread_mutex_unlock(&soft_process.windows_mutex);
	return is_allowed ? SOFT_DONE : (enum soft_outcome)IBV_WC_MW_BIND_ERR;
}

/* The key of a window that is already invalid may be invalidated again, as on Soft-RoCE. */
static bool may_revoke(const struct soft_region_image *region, uint32_t key, uint32_t pd)
{
	return key && atomic_load(&region->key) == key && region->pd & SOFT_WINDOW && region->qp &&
	       (region->pd & ~(SOFT_CAREFUL | SOFT_WINDOW)) == pd;
}

static enum soft_outcome invalidate(const struct soft_qp *qp, uint32_t key)
{
	if (!may_revoke(image_of(key), key, qp->verbs.qp_base.pd->handle))
		return (enum soft_outcome)IBV_WC_LOC_QP_OP_ERR;
	atomic_store(revoked(key), key);
	soft_mr_await_lanes(key);
	return SOFT_DONE;
}

enum soft_outcome soft_mw_execute(const struct soft_qp *qp, const struct soft_operation *operation)
{
	return operation->opcode == IBV_WR_BIND_MW ? bind_window(qp, operation)
						   : invalidate(qp, operation->imm);
}

bool soft_mw_may_revoke(const struct soft_target *target, uint32_t key)
{
	const struct soft_region_image *region =
		&target->peer->arena->memory->region[soft_region_number(key)];

	return may_revoke(region, key, target->qp->pd) && region->qp == target->index;
}

void soft_mw_revoke(const struct soft_target *target, uint32_t key)
{
	atomic_store(&target->peer->arena->image->revoked[soft_region_number(key)], key);
}
