/* SPDX-License-Identifier: MIT */
#include "core/soft/op/multicast.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "core/soft/export.h"
#include "core/soft/op/qp.h"
#include "core/soft/peer/process.h"
#include "core/soft/port.h"

struct group {
	uint64_t half[2];
};

static struct soft_registry_member *member_at(uint32_t entry)
{
	return &soft_process.registry.file->member[entry];
}

/* Limits the count to the table's size, whatever the file says. */
static uint32_t member_count(void)
{
	uint32_t count = atomic_load(&soft_process.registry.file->member_count);

	return count > SOFT_MEMBERS ? SOFT_MEMBERS : count;
}

static void lock(void)
{
	soft_lock_take(&soft_process.registry.file->members_lock);
}

/* Returns false if another process took the lock over, and may have changed the members. */
static bool has_lock(void)
{
	return likely(soft_lock_is_held(&soft_process.registry.file->members_lock));
}

static void unlock(void)
{
	soft_lock_release(&soft_process.registry.file->members_lock);
}

static struct group group_of(const union ibv_gid *gid)
{
	struct group group;

	memcpy(&group, gid, sizeof(group));
	return group;
}

bool soft_multicast_is_group(const union ibv_gid *gid)
{
	uint32_t v4;

	memcpy(&v4, &gid->raw[12], sizeof(v4));
	return gid->raw[0] == 0xff || (soft_port_is_v4(gid) && IN_MULTICAST(ntohl(v4)));
}

static bool is_in(const struct soft_registry_member *member, const struct group *group)
{
	return atomic_load(&member->owner) && atomic_load(&member->group[0]) == group->half[0] &&
	       atomic_load(&member->group[1]) == group->half[1];
}

/* Reads an entry. Returns false if it is of another group or is being changed. */
static bool soft_multicast_read(uint32_t entry, const struct group *group,
				struct soft_multicast_member *member)
{
	const struct soft_registry_member *from = member_at(entry);
	uint32_t sequence = atomic_load(&from->sequence);

	if (sequence % 2 || !is_in(from, group))
		return false;
	member->entry = entry;
	member->owner = atomic_load(&from->owner);
	member->qp_num = atomic_load(&from->qp_num);
	return atomic_load(&from->sequence) == sequence;
}

bool soft_multicast_next(const union ibv_gid *gid, uint32_t *at,
			 struct soft_multicast_member *member)
{
	const struct group group = group_of(gid);

	while (*at < member_count())
		if (soft_multicast_read((*at)++, &group, member))
			return true;
	return false;
}

/* Changes an entry with the lock held; owner 0 frees it. A killed process may have left it odd. */
static void soft_multicast_write(uint32_t entry, uint32_t owner, uint32_t qp_num,
				 const struct group *group)
{
	struct soft_registry_member *member = member_at(entry);
	uint32_t sequence = atomic_load(&member->sequence) | 1;

	atomic_store(&member->sequence, sequence);
	atomic_store(&member->owner, owner);
	atomic_store(&member->qp_num, qp_num);
	atomic_store(&member->group[0], group->half[0]);
	atomic_store(&member->group[1], group->half[1]);
	atomic_store(&member->sequence, sequence + 1);
}

static void soft_multicast_clear(uint32_t entry)
{
	static const struct group none;
	uint32_t count = member_count();

	soft_multicast_write(entry, 0, 0, &none);
	while (count && !atomic_load(&member_at(count - 1)->owner))
		count--;
	atomic_store(&soft_process.registry.file->member_count, count);
}

static bool is_dead(uint32_t owner)
{
	return !soft_registry_is_alive(&soft_process.registry, owner & (SOFT_SLOTS - 1),
				       owner >> SOFT_SLOT_BITS);
}

void soft_multicast_drop_dead(const struct soft_multicast_member *member)
{
	if (!is_dead(member->owner))
		return;
	lock();
	if (has_lock() && atomic_load(&member_at(member->entry)->owner) == member->owner)
		soft_multicast_clear(member->entry);
	unlock();
}

/* Finds the entry of a queue pair, or returns SOFT_MEMBERS. Call with the lock held. */
static uint32_t find(uint32_t qp_num, const struct group *group)
{
	for (uint32_t i = 0; i < member_count(); i++) {
		const struct soft_registry_member *member = member_at(i);

		if (is_in(member, group) && atomic_load(&member->qp_num) == qp_num &&
		    atomic_load(&member->owner) == soft_lock_self)
			return i;
	}
	return SOFT_MEMBERS;
}

bool soft_multicast_is_attached(uint32_t qp_num)
{
	for (uint32_t i = 0; i < member_count(); i++) {
		const struct soft_registry_member *member = member_at(i);

		if (atomic_load(&member->owner) == soft_lock_self &&
		    atomic_load(&member->qp_num) == qp_num)
			return true;
	}
	return false;
}

/*
 * Returns a free entry, or SOFT_MEMBERS. Prefers entries never used: checking that a process is dead
 * costs a system call.
 */
static uint32_t find_free(void)
{
	uint32_t count = member_count();

	for (uint32_t i = 0; i < count; i++)
		if (!atomic_load(&member_at(i)->owner))
			return i;
	if (count < SOFT_MEMBERS)
		return count;
	for (uint32_t i = 0; i < count; i++)
		if (is_dead(atomic_load(&member_at(i)->owner)))
			return i;
	return SOFT_MEMBERS;
}

static int check(const struct ibv_qp *qp, const union ibv_gid *gid)
{
	return qp->qp_type == IBV_QPT_UD && soft_multicast_is_group(gid) ? 0 : EINVAL;
}

/* Returns 0, ENOMEM, or EAGAIN if the lock was lost. Call with the lock held. */
static int attach(uint32_t qp_num, const struct group *group)
{
	uint32_t entry;

	if (find(qp_num, group) != SOFT_MEMBERS)
		return 0;
	entry = find_free();
	if (!has_lock())
		return EAGAIN;
	if (entry == SOFT_MEMBERS)
		return ENOMEM;
	soft_multicast_write(entry, soft_lock_self, qp_num, group);
	if (entry >= member_count())
		atomic_store(&soft_process.registry.file->member_count, entry + 1);
	return 0;
}

/* Returns 0, EINVAL, or EAGAIN if the lock was lost. Call with the lock held. */
static int detach(uint32_t qp_num, const struct group *group)
{
	uint32_t entry = find(qp_num, group);

	if (entry == SOFT_MEMBERS)
		return EINVAL;
	if (!has_lock())
		return EAGAIN;
	soft_multicast_clear(entry);
	return 0;
}

static int change(const struct ibv_qp *qp, const union ibv_gid *gid,
		  int (*how)(uint32_t qp_num, const struct group *group))
{
	const struct group group = group_of(gid);
	int result = check(qp, gid);

	if (result)
		return errno = result;
	do {
		lock();
		result = how(qp->qp_num, &group);
		unlock();
	} while (unlikely(result == EAGAIN));
	return errno = result;
}

/* Attaching twice changes nothing, as in the kernel. RoCE ignores the LID. */
SOFT_EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return change(qp, gid, attach);
}

SOFT_EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return change(qp, gid, detach);
}
