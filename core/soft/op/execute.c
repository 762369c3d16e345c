/* SPDX-License-Identifier: MIT */
#include "core/soft/op/execute.h"

#include <errno.h>
#include <stdlib.h>

#include "core/soft/memory/mw.h"
#include "core/soft/memory/region.h"
#include "core/soft/op/atomic.h"
#include "core/soft/op/deliver.h"
#include "core/soft/op/multicast.h"
#include "core/soft/op/qp.h"
#include "core/soft/op/receive_queue.h"
#include "core/soft/peer/process.h"
#include "core/soft/port.h"

enum {
	PSN_MASK = 0xffffff,
};

static bool is_datagram(const struct soft_qp *qp)
{
	return qp->type == IBV_QPT_UD;
}

/* Returns whether its messages carry PSNs that the target checks: not on DC and SRD. */
static bool is_numbered(const struct soft_qp *qp)
{
	return soft_qp_is_reliable(qp) && !soft_qp_is_addressed(qp);
}

static bool is_multicast(const struct soft_qp *qp, const struct soft_operation *operation)
{
	return is_datagram(qp) && unlikely(operation->remote_qp == SOFT_MULTICAST_QPN) &&
	       soft_multicast_is_group(&operation->gid);
}

/* A lost message means no answer on a reliable queue pair, and success on others. */
static enum soft_outcome lost(const struct soft_qp *qp)
{
	return soft_qp_is_reliable(qp) ? SOFT_SILENT : SOFT_DONE;
}

static bool is_receiving(uint32_t state)
{
	return state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD ||
	       state == IBV_QPS_SQE;
}

/* Returns the Q_Key that a datagram carries. If the highest bit is set, the sender's is used. */
static uint32_t qkey_of(const struct soft_qp *qp, const struct soft_operation *operation)
{
	return operation->remote_qkey >> 31 ? qp->attr.qkey : operation->remote_qkey;
}

bool soft_execute_is_open(const struct soft_qp *qp, const struct soft_target *target,
			  const struct soft_operation *operation)
{
	const struct soft_qp_image *remote = target->qp;
	const struct ibv_qp *local = &qp->verbs.qp_base;

	if (!is_receiving(atomic_load_explicit(&remote->state, memory_order_acquire)) ||
	    atomic_load_explicit(&remote->number, memory_order_relaxed) !=
		    soft_qp_target_of(qp, operation) ||
	    remote->type != soft_qp_peer_type(qp->type) ||
	    atomic_load_explicit(&remote->pkey_index, memory_order_relaxed) != qp->attr.pkey_index)
		return false;
	if (unlikely(qp->type == SOFT_QPT_DCI))
		return remote->dc_key == operation->dc_key;
	if (soft_qp_is_addressed(qp))
		return atomic_load(&remote->qkey) == qkey_of(qp, operation);
	if (atomic_load_explicit(&remote->peer, memory_order_relaxed) != local->qp_num)
		return false;
	return !is_numbered(qp) ||
	       atomic_load_explicit(&remote->queue.psn, memory_order_relaxed) == qp->attr.sq_psn;
}

/* Finds a queue pair by number, which is receiving, but may be another one by now. */
static ALWAYS_INLINE bool locate(const struct soft_qp *qp, const struct soft_operation *operation,
				 uint32_t number, struct soft_target *target)
{
	target->peer = soft_peer_find(soft_image_slot(number));
	if (!target->peer)
		return false;
	target->index = soft_image_index(number);
	target->srq =
		soft_qp_is_xrc(qp) && operation->remote_srq < SOFT_SRQS ? operation->remote_srq : 0;
	target->sender = qp->sender;
	target->qp = &target->peer->arena->image->qp[target->index];
	if (unlikely(atomic_load_explicit(&target->peer->arena->image->is_down,
					  memory_order_relaxed)))
		return false;
	return is_receiving(atomic_load_explicit(&target->qp->state, memory_order_acquire));
}

/* Finds the target's queue pair. It is receiving, but may belong to another connection by now. */
static ALWAYS_INLINE bool soft_execute_find(const struct soft_qp *qp,
					    const struct soft_operation *operation,
					    struct soft_target *target)
{
	const union ibv_gid *gid =
		soft_qp_is_addressed(qp) ? &operation->gid : &qp->attr.ah_attr.grh.dgid;

	return locate(qp, operation, soft_qp_target_of(qp, operation), target) &&
	       soft_peer_has_gid(target->peer, gid);
}

static bool find_open(const struct soft_qp *qp, const struct soft_operation *operation,
		      struct soft_target *target)
{
	return soft_execute_find(qp, operation, target) &&
	       soft_execute_is_open(qp, target, operation);
}

bool soft_execute_is_ready(const struct soft_qp *qp, const struct soft_operation *operation)
{
	struct soft_target target;
	struct soft_image *image;
	const struct soft_queue *queue;
	uint32_t srq;

	if (operation->opcode == IBV_WR_RDMA_WRITE || soft_model_is_fetch(operation))
		return true;
	if (is_multicast(qp, operation) || !find_open(qp, operation, &target) ||
	    !soft_target_has_srq(&target))
		return false;
	image = target.peer->arena->image;
	srq = target.srq ? target.srq : soft_image_read(&target.qp->srq);
	queue = srq ? &image->srq[srq % SOFT_SRQS].queue : &target.qp->queue;
	return soft_queue_count(queue) &&
	       !soft_image_read(&image->cq[soft_target_cq(&target) % SOFT_CQS].armed);
}

enum soft_outcome soft_execute_copied(int result)
{
	switch (result) {
	case 0:
		return SOFT_DONE;
	case -ESRCH:
		return SOFT_SILENT;
	default:
		return (enum soft_outcome)IBV_WC_REM_OP_ERR;
	}
}

/* Returns whether the target's queue pair permits this access. Checked before lengths and keys. */
static bool is_taken(const struct soft_target *target, uint32_t access)
{
	return atomic_load_explicit(&target->qp->access, memory_order_relaxed) & access;
}

/* kind: SOFT_CAREFUL or SOFT_WINDOW, or both. */
static ALWAYS_INLINE _Atomic uint32_t *enter(const struct soft_target *target,
					     const struct soft_operation *operation,
					     uint32_t access, uint32_t kind,
					     struct soft_span *remote)
{
	struct soft_reach reach = {
		.address = operation->remote_address,
		.length = operation->length,
		.key = operation->rkey,
		.pd = soft_target_pd(target) | kind,
		.access = access,
		.qp = target->index,
	};
	uint64_t place;
	_Atomic uint32_t *lane;

	lane = soft_region_enter(target->peer->arena, &reach, target->sender, &place);
	if (lane) {
		remote->count = 1;
		remote->length = operation->length;
		remote->qp = target->index;
		remote->srq = target->srq;
		remote->access = access;
		remote->key[0] = operation->rkey;
		remote->way = kind & SOFT_CAREFUL ? SOFT_BY_KERNEL : SOFT_HELD;
		remote->piece[0] =
			(struct iovec){(void *)(uintptr_t)place, (size_t)operation->length};
	}
	return lane;
}

static _Atomic uint32_t *enter_region(const struct soft_target *target,
				      const struct soft_operation *operation, uint32_t access,
				      struct soft_span *remote)
{
	return enter(target, operation, access, 0, remote);
}

static COLD _Atomic uint32_t *enter_other(const struct soft_target *target,
					  const struct soft_operation *operation, uint32_t access,
					  struct soft_span *remote)
{
	static const uint32_t kinds[] = {SOFT_WINDOW, SOFT_CAREFUL, SOFT_WINDOW | SOFT_CAREFUL};
	_Atomic uint32_t *lane = NULL;

	for (size_t i = 0; i < ARRAY_LENGTH(kinds) && !lane; i++)
		lane = enter(target, operation, access, kinds[i], remote);
	return lane;
}

/*
 * Locates memory of the target and holds it in a lane. Returns NULL if the access is not allowed.
 */
static ALWAYS_INLINE _Atomic uint32_t *reach(const struct soft_target *target,
					     const struct soft_operation *operation,
					     uint32_t access, struct soft_span *remote)
{
	_Atomic uint32_t *lane = enter_region(target, operation, access, remote);

	return likely(lane) ? lane : enter_other(target, operation, access, remote);
}

enum soft_outcome soft_execute_write(const struct soft_target *target,
				     const struct soft_operation *operation,
				     const struct soft_span *data)
{
	struct soft_span remote;
	_Atomic uint32_t *lane;
	int result;

	if (!is_taken(target, IBV_ACCESS_REMOTE_WRITE))
		return (enum soft_outcome)IBV_WC_REM_INV_REQ_ERR;
	/* A zero-length write does not check the key. */
	if (!operation->length)
		return SOFT_DONE;
	lane = reach(target, operation, IBV_ACCESS_REMOTE_WRITE, &remote);
	if (!lane)
		return (enum soft_outcome)IBV_WC_REM_ACCESS_ERR;
	result = soft_copy_to(target->peer, &remote, data);
	soft_region_leave(lane);
	return soft_execute_copied(result);
}

static bool may_read(const struct soft_qp *qp, const struct soft_target *target, uint32_t access,
		     enum soft_outcome *outcome)
{
	if (!qp->attr.max_rd_atomic) {
		*outcome = (enum soft_outcome)IBV_WC_LOC_QP_OP_ERR;
		return false;
	}
	if (!is_taken(target, access) ||
	    !atomic_load_explicit(&target->qp->max_dest_rd_atomic, memory_order_relaxed)) {
		*outcome = (enum soft_outcome)IBV_WC_REM_INV_REQ_ERR;
		return false;
	}
	return true;
}

static enum soft_outcome read_from(const struct soft_qp *qp, const struct soft_target *target,
				   const struct soft_operation *operation,
				   const struct soft_span *data)
{
	struct soft_span remote;
	_Atomic uint32_t *lane;
	enum soft_outcome outcome;
	int result;

	if (!may_read(qp, target, IBV_ACCESS_REMOTE_READ, &outcome))
		return outcome;
	if (!operation->length)
		return SOFT_DONE;
	lane = reach(target, operation, IBV_ACCESS_REMOTE_READ, &remote);
	if (!lane)
		return (enum soft_outcome)IBV_WC_REM_ACCESS_ERR;
	result = soft_copy_from(target->peer, &remote, data);
	soft_region_leave(lane);
	return soft_execute_copied(result);
}

static enum soft_outcome do_atomic(const struct soft_qp *qp, const struct soft_target *target,
				   const struct soft_operation *operation,
				   const struct soft_span *data)
{
	uint32_t access = operation->opcode == SOFT_ATOMIC_WRITE ? IBV_ACCESS_REMOTE_WRITE
								 : IBV_ACCESS_REMOTE_ATOMIC;
	struct soft_span remote;
	_Atomic uint32_t *lane;
	enum soft_outcome outcome;
	uint64_t before;
	int result;

	if (!may_read(qp, target, access, &outcome))
		return outcome;
	if (operation->length != sizeof(uint64_t))
		return (enum soft_outcome)IBV_WC_LOC_LEN_ERR;
	if (operation->remote_address % sizeof(uint64_t))
		return (enum soft_outcome)IBV_WC_REM_INV_REQ_ERR;
	lane = reach(target, operation, access, &remote);
	if (!lane)
		return (enum soft_outcome)IBV_WC_REM_ACCESS_ERR;
	result = soft_atomic_do(target->peer, &remote, operation, &before);
	soft_region_leave(lane);
	if (!result)
		soft_atomic_return(data, before);
	return soft_execute_copied(result);
}

static ALWAYS_INLINE struct soft_reach wanted_of(const struct soft_qp *qp,
						 const struct soft_operation *operation)
{
	return (struct soft_reach){
		.length = operation->length,
		.pd = qp->verbs.qp_base.pd->handle,
		.access = soft_model_is_fetch(operation) ? IBV_ACCESS_LOCAL_WRITE : 0,
	};
}

/* Translates the operation's local memory. Returns false if it is not allowed. */
static bool gather(const struct soft_qp *qp, struct soft_operation *operation,
		   struct soft_span *data)
{
	struct soft_reach wanted;

	if (operation->is_inline) {
		data->length = operation->length;
		data->count = operation->length ? 1 : 0;
		data->piece[0] =
			(struct iovec){soft_send_inline_data(operation), (size_t)operation->length};
		return true;
	}
	wanted = wanted_of(qp, operation);
	return soft_region_span(&soft_process.arena, operation->sge, operation->count, &wanted,
				data);
}

static uint32_t packets_of(const struct soft_qp *qp, uint64_t length)
{
	uint64_t mtu = UINT64_C(128) << (qp->attr.path_mtu ? qp->attr.path_mtu : SOFT_MTU);

	return length > mtu ? (uint32_t)((length + mtu - 1) / mtu) : 1;
}

static uint32_t psn_behind(const struct soft_qp *qp, uint64_t length)
{
	return (qp->attr.sq_psn + packets_of(qp, length)) & PSN_MASK;
}

static void count_packets(struct soft_qp *qp, uint64_t length)
{
	const struct soft_registry *registry = &soft_process.registry;
	_Atomic uint64_t *sent = &registry->file->counts[registry->slot].sent[qp->sender].packets;

	/*
	 * Threads that share a completion queue may lose counts: this only shows that there is
	 * traffic.
	 */
	atomic_store_explicit(
		sent, atomic_load_explicit(sent, memory_order_relaxed) + packets_of(qp, length),
		memory_order_relaxed);
	qp->attr.sq_psn = psn_behind(qp, length);
}

/* Advances the target's expected PSN, unless it belongs to another connection by now. */
static void expect_next(const struct soft_qp *qp, const struct soft_target *target, uint64_t length)
{
	_Atomic uint32_t *psn = &target->qp->queue.psn;

	if (is_numbered(qp) && atomic_load_explicit(psn, memory_order_relaxed) == qp->attr.sq_psn)
		atomic_store_explicit(psn, psn_behind(qp, length), memory_order_relaxed);
}

/*
 * If the target rejects the operation, its queue pair fails; if no receive can report the error, it
 * raises an event. On unreliable queue pairs, errors go unnoticed. A target of DC keeps serving
 * others, and so does a queue pair of SRD.
 */
static enum soft_outcome answer(const struct soft_qp *qp, const struct soft_target *target,
				const struct soft_operation *operation, enum soft_outcome outcome)
{
	int event = SOFT_QP_NO_EVENT;

	switch ((int)outcome) {
	case IBV_WC_REM_ACCESS_ERR:
		event = IBV_EVENT_QP_ACCESS_ERR;
		break;
	case IBV_WC_REM_INV_REQ_ERR:
		if (operation->opcode != IBV_WR_SEND && operation->opcode != IBV_WR_SEND_WITH_IMM &&
		    operation->opcode != IBV_WR_SEND_WITH_INV)
			event = IBV_EVENT_QP_REQ_ERR;
		break;
	case IBV_WC_REM_OP_ERR:
	case SOFT_REFUSED:
	case SOFT_SILENT:
		break;
	default:
		return outcome;
	}
	if (!soft_qp_is_reliable(qp))
		return SOFT_DONE;
	if (outcome > 0 && !soft_qp_is_addressed(qp) && soft_execute_is_open(qp, target, operation))
		soft_qp_fail_held(target->peer, target->index, event);
	return outcome;
}

enum soft_outcome soft_execute_settle(const struct soft_qp *qp, const struct soft_target *target,
				      const struct soft_operation *operation,
				      enum soft_outcome outcome)
{
	if (outcome != SOFT_DONE)
		return answer(qp, target, operation, outcome);
	expect_next(qp, target, operation->length);
	return SOFT_DONE;
}

static enum soft_outcome hold_and_settle(const struct soft_qp *qp, const struct soft_target *target,
					 const struct soft_operation *operation,
					 enum soft_outcome outcome)
{
	soft_queue_hold(&target->qp->queue);
	outcome = soft_execute_settle(qp, target, operation, outcome);
	soft_lock_release(&target->qp->queue.lock);
	return outcome;
}

/*
 * Executes operations that access the target's memory without a receive. Holds the target's `work`
 * lock: the target stops its queue pair, waits for that lock, and from then on no peer accesses its
 * memory.
 */
static enum soft_outcome work(struct soft_qp *qp, const struct soft_target *target,
			      struct soft_operation *operation, const struct soft_span *data)
{
	struct soft_lock *lock = &target->qp->work;
	enum soft_outcome outcome = SOFT_SILENT;

	soft_lock_take(lock);
	if (soft_execute_is_open(qp, target, operation)) {
		if (unlikely(!soft_target_has_srq(target)))
			outcome = (enum soft_outcome)IBV_WC_REM_INV_REQ_ERR;
		else if (operation->opcode == IBV_WR_RDMA_WRITE)
			outcome = soft_execute_write(target, operation, data);
		else if (operation->opcode == IBV_WR_RDMA_READ)
			outcome = read_from(qp, target, operation, data);
		else
			outcome = do_atomic(qp, target, operation, data);
		/* A process that stopped the queue pair has taken the lock over. */
		if (!soft_lock_is_held(lock))
			outcome = SOFT_SILENT;
		else if (outcome == SOFT_DONE)
			expect_next(qp, target, operation->length);
	}
	if (outcome != SOFT_DONE)
		outcome = hold_and_settle(qp, target, operation, outcome);
	soft_lock_release(lock);
	return outcome;
}

static enum soft_outcome perform(struct soft_qp *qp, const struct soft_target *target,
				 struct soft_operation *operation, const struct soft_span *data)
{
	if (operation->opcode == IBV_WR_RDMA_WRITE || soft_model_is_fetch(operation))
		return work(qp, target, operation, data);
	return soft_deliver(qp, target, operation, data);
}

/* Delivers a copy of a datagram to every member of a group, including the sender if attached. */
static COLD enum soft_outcome perform_multicast(struct soft_qp *qp,
						const struct soft_operation *operation,
						const struct soft_span *data)
{
	enum soft_outcome outcome = SOFT_DONE;
	struct soft_operation copy = *operation;
	struct soft_multicast_member member;

	for (uint32_t at = 0; soft_multicast_next(&operation->gid, &at, &member);) {
		struct soft_target target;
		enum soft_outcome one;
		bool is_found;

		copy.remote_qp = member.qp_num;
		is_found = locate(qp, &copy, member.qp_num, &target);
		/* Another process may have the slot by now. */
		if (!target.peer || soft_registry_holder(target.peer->slot,
							 target.peer->generation) != member.owner) {
			soft_multicast_drop_dead(&member);
			continue;
		}
		one = is_found ? soft_deliver(qp, &target, &copy, data) : SOFT_DONE;
		if (outcome == SOFT_DONE)
			outcome = one;
	}
	return outcome;
}

void soft_execute_meet(const struct soft_operation *operation)
{
	struct soft_multicast_member member;

	if (operation->remote_qp != SOFT_MULTICAST_QPN) {
		soft_peer_find(soft_image_slot(operation->remote_qp));
		return;
	}
	for (uint32_t at = 0; soft_multicast_next(&operation->gid, &at, &member);)
		soft_peer_find(soft_image_slot(member.qp_num));
}

/* Executes an operation with `copy` as its local memory, as if that were inline data. */
static enum soft_outcome soft_execute_on_copy(struct soft_qp *qp, const struct soft_span *data,
					      struct soft_operation *copy, uint32_t *rnr_timer)
{
	const struct soft_span inlined = {
		.length = data->length,
		.count = 1,
		.piece = {{soft_send_inline_data(copy), data->length}},
	};
	bool is_fetch = soft_model_is_fetch(copy);
	enum soft_outcome outcome;

	copy->is_inline = 1;
	if (!is_fetch && soft_copy_carefully(&inlined, data))
		return (enum soft_outcome)IBV_WC_LOC_PROT_ERR;
	outcome = soft_execute(qp, copy, rnr_timer);
	if (is_fetch && outcome == SOFT_DONE && soft_copy_carefully(data, &inlined))
		return (enum soft_outcome)IBV_WC_LOC_PROT_ERR;
	return outcome;
}

/* Executes an operation whose local memory may vanish, unless the access is not allowed at all. */
static COLD enum soft_outcome
soft_execute_carefully(struct soft_qp *qp, struct soft_operation *operation, uint32_t *rnr_timer)
{
	const struct soft_reach wanted = wanted_of(qp, operation);
	enum soft_outcome outcome = (enum soft_outcome)IBV_WC_LOC_QP_OP_ERR;
	struct soft_operation *copy;
	struct soft_span data;

	if (!soft_region_span_carefully(&soft_process.arena, operation->sge, operation->count,
					&wanted, &data))
		return (enum soft_outcome)IBV_WC_LOC_PROT_ERR;
	copy = malloc(sizeof(*copy) + data.length);
	if (copy) {
		*copy = *operation;
		outcome = soft_execute_on_copy(qp, &data, copy, rnr_timer);
	}
	free(copy);
	return outcome;
}

enum soft_outcome soft_execute(struct soft_qp *qp, struct soft_operation *operation,
			       uint32_t *rnr_timer)
{
	uint64_t most = is_datagram(qp) ? SOFT_MTU_BYTES : SOFT_MESSAGE_MAX;
	struct soft_target target;
	struct soft_span data;
	enum soft_outcome outcome;

	if (unlikely(soft_model_is_local(operation)))
		return soft_mw_execute(qp, operation);
	if (operation->length > most)
		return (enum soft_outcome)IBV_WC_LOC_LEN_ERR;
	if (!gather(qp, operation, &data))
		return soft_execute_carefully(qp, operation, rnr_timer);
	if (is_multicast(qp, operation)) {
		outcome = perform_multicast(qp, operation, &data);
	} else {
		if (!soft_execute_find(qp, operation, &target))
			return lost(qp);
		outcome = perform(qp, &target, operation, &data);
	}
	if (outcome == SOFT_DONE)
		count_packets(qp, operation->length);
	else if (outcome == SOFT_REFUSED)
		*rnr_timer = atomic_load(&target.qp->min_rnr_timer);
	return outcome;
}

enum soft_outcome soft_execute_refuse(const struct soft_qp *qp,
				      const struct soft_operation *operation,
				      enum soft_outcome outcome, uint32_t *rnr_timer)
{
	struct soft_target target;

	if (!soft_qp_is_reliable(qp))
		return outcome == SOFT_REFUSED ? SOFT_DONE : outcome;
	if (!find_open(qp, operation, &target))
		return outcome == SOFT_REFUSED ? SOFT_SILENT : outcome;
	*rnr_timer = atomic_load(&target.qp->min_rnr_timer);
	return hold_and_settle(qp, &target, operation, outcome);
}
