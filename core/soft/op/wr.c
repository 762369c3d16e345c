/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/soft/fault/fault.h"
#include "core/soft/memory/mw.h"
#include "core/soft/op/pd.h"
#include "core/soft/op/qp.h"

static struct soft_qp *of(struct ibv_qp_ex *verbs)
{
	return CONTAINER_OF(verbs, struct soft_qp, verbs);
}

/* From here until complete or abort, this thread holds the queue pair's lock. */
static void wr_start(struct ibv_qp_ex *verbs)
{
	struct soft_qp *qp = of(verbs);

	soft_qp_expect(qp);
	soft_lock_take(&qp->lock);
	qp->tail_before = qp->sends.tail;
	qp->building = NULL;
	qp->build_error = soft_qp_takes_sends(qp) ? 0 : EINVAL;
}

static void fail(struct soft_qp *qp, int error)
{
	if (!qp->build_error)
		qp->build_error = error;
}

/* Fields that neither this function nor its callers set are not read for the opcode. */
static ALWAYS_INLINE struct soft_operation *build(struct ibv_qp_ex *verbs,
						  enum ibv_wr_opcode opcode)
{
	struct soft_qp *qp = of(verbs);
	struct soft_operation *operation = soft_send_next(&qp->sends);

	qp->building = NULL;
	if (!operation)
		fail(qp, ENOMEM);
	if (!soft_qp_can(qp->type, opcode))
		fail(qp, EINVAL);
	if (qp->build_error)
		return NULL;
	operation->wr_id = verbs->wr_id;
	operation->opcode = opcode;
	operation->flags = verbs->wr_flags;
	operation->count = 0;
	operation->is_inline = 0;
	operation->length = 0;
	/* If the caller sets no destination, the request reaches nobody, and XRC fails. */
	if (soft_qp_is_addressed(qp))
		operation->remote_qp = 0;
	if (soft_qp_is_xrc(qp))
		operation->remote_srq = 0;
	soft_send_add(&qp->sends);
	qp->building = operation;
	return operation;
}

static ALWAYS_INLINE struct soft_operation *
build_remote(struct ibv_qp_ex *verbs, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t address)
{
	struct soft_operation *operation = build(verbs, opcode);

	if (operation) {
		operation->rkey = rkey;
		operation->remote_address = address;
	}
	return operation;
}

static void wr_send(struct ibv_qp_ex *verbs)
{
	build(verbs, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *verbs, __be32 imm)
{
	struct soft_operation *operation = build(verbs, IBV_WR_SEND_WITH_IMM);

	if (operation)
		operation->imm = imm;
}

static void wr_rdma_write(struct ibv_qp_ex *verbs, uint32_t rkey, uint64_t address)
{
	build_remote(verbs, IBV_WR_RDMA_WRITE, rkey, address);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *verbs, uint32_t rkey, uint64_t address, __be32 imm)
{
	struct soft_operation *operation =
		build_remote(verbs, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, address);

	if (operation)
		operation->imm = imm;
}

static void wr_rdma_read(struct ibv_qp_ex *verbs, uint32_t rkey, uint64_t address)
{
	build_remote(verbs, IBV_WR_RDMA_READ, rkey, address);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *verbs, uint32_t rkey, uint64_t address,
			      uint64_t compare, uint64_t swap)
{
	struct soft_operation *operation =
		build_remote(verbs, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, address);

	if (operation) {
		operation->compare_add = compare;
		operation->swap = swap;
	}
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *verbs, uint32_t rkey, uint64_t address,
				uint64_t add)
{
	struct soft_operation *operation =
		build_remote(verbs, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, address);

	if (operation)
		operation->compare_add = add;
}

static void wr_send_inv(struct ibv_qp_ex *verbs, uint32_t rkey)
{
	struct soft_operation *operation = build(verbs, IBV_WR_SEND_WITH_INV);

	if (operation)
		operation->imm = rkey;
}

static void wr_local_inv(struct ibv_qp_ex *verbs, uint32_t rkey)
{
	struct soft_operation *operation = build(verbs, IBV_WR_LOCAL_INV);

	if (operation)
		operation->imm = rkey;
}

static void wr_bind_mw(struct ibv_qp_ex *verbs, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct soft_operation *operation = build(verbs, IBV_WR_BIND_MW);

	if (operation)
		soft_mw_set_bind(operation, mw, rkey, info);
}

#ifdef HAVE_ATOMIC_WRITE
static void wr_atomic_write(struct ibv_qp_ex *verbs, uint32_t rkey, uint64_t address,
			    const void *value)
{
	struct soft_operation *operation = build_remote(verbs, IBV_WR_ATOMIC_WRITE, rkey, address);

	if (!operation)
		return;
	memcpy(&operation->swap, value, sizeof(operation->swap));
	operation->length = sizeof(operation->swap);
}
#endif

static void wr_set_ud_addr(struct ibv_qp_ex *verbs, struct ibv_ah *ah, uint32_t number,
			   uint32_t qkey)
{
	struct soft_operation *operation = of(verbs)->building;

	if (operation && !soft_model_is_local(operation))
		soft_send_set_target(operation, &soft_pd_ah(ah)->attr.grh, number, qkey);
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *verbs, uint32_t number)
{
	struct soft_operation *operation = of(verbs)->building;

	/* A memory window to bind is in the same place. */
	if (operation && !soft_model_is_local(operation))
		operation->remote_srq = number;
}

static void wr_set_sge_list(struct ibv_qp_ex *verbs, size_t count, const struct ibv_sge *list)
{
	struct soft_qp *qp = of(verbs);
	struct soft_operation *operation = qp->building;

	if (count > qp->cap.max_send_sge)
		fail(qp, EINVAL);
	if (!operation || qp->build_error)
		return;
	operation->count = (uint32_t)count;
	operation->length = 0;
	for (size_t i = 0; i < count; i++) {
		operation->sge[i] = list[i];
		operation->length += list[i].length;
	}
}

static void wr_set_sge(struct ibv_qp_ex *verbs, uint32_t lkey, uint64_t address, uint32_t length)
{
	struct soft_operation *operation = of(verbs)->building;

	if (unlikely(!operation || !of(verbs)->cap.max_send_sge)) {
		fail(of(verbs), EINVAL);
		return;
	}
	operation->count = 1;
	operation->length = length;
	operation->sge[0] = (struct ibv_sge){.addr = address, .length = length, .lkey = lkey};
}

/* EFA rejects inline data of WRITEs, unless the queue pair was created with a flag for them. */
static bool takes_inline(const struct soft_qp *qp, const struct soft_operation *operation)
{
	if (unlikely(qp->type == SOFT_QPT_SRD))
		return operation->opcode == IBV_WR_SEND ||
		       operation->opcode == IBV_WR_SEND_WITH_IMM;
	return !soft_model_is_fetch(operation);
}

static ALWAYS_INLINE void set_inline_data(struct ibv_qp_ex *verbs, size_t count,
					  const struct ibv_data_buf *list)
{
	struct soft_qp *qp = of(verbs);
	struct soft_operation *operation = qp->building;

	if (!operation)
		return;
	if (!takes_inline(qp, operation)) {
		fail(qp, EINVAL);
		return;
	}
	operation->is_inline = 1;
	operation->length = 0;
	for (size_t i = 0; i < count; i++)
		if (!soft_send_add_inline(operation, qp->cap.max_inline_data, list[i].addr,
					  list[i].length))
			fail(qp, EINVAL);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *verbs, size_t count,
				    const struct ibv_data_buf *list)
{
	set_inline_data(verbs, count, list);
}

static void wr_set_inline_data(struct ibv_qp_ex *verbs, void *address, size_t length)
{
	const struct ibv_data_buf one = {.addr = address, .length = length};

	set_inline_data(verbs, 1, &one);
}

static int wr_complete(struct ibv_qp_ex *verbs)
{
	struct soft_qp *qp = of(verbs);
	int result = qp->build_error;

	if (result)
		qp->sends.tail = qp->tail_before;
	else
		soft_send_run(qp);
	qp->building = NULL;
	soft_lock_release(&qp->lock);
	return result;
}

static void wr_abort(struct ibv_qp_ex *verbs)
{
	struct soft_qp *qp = of(verbs);

	qp->sends.tail = qp->tail_before;
	qp->building = NULL;
	soft_lock_release(&qp->lock);
}

void soft_qp_extend(struct ibv_qp_ex *verbs)
{
	verbs->wr_start = wr_start;
	verbs->wr_complete = wr_complete;
	verbs->wr_abort = wr_abort;
	verbs->wr_send = wr_send;
	verbs->wr_send_imm = wr_send_imm;
	verbs->wr_rdma_write = wr_rdma_write;
	verbs->wr_rdma_write_imm = wr_rdma_write_imm;
	verbs->wr_rdma_read = wr_rdma_read;
	verbs->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	verbs->wr_atomic_fetch_add = wr_atomic_fetch_add;
	verbs->wr_send_inv = wr_send_inv;
	verbs->wr_local_inv = wr_local_inv;
	verbs->wr_bind_mw = wr_bind_mw;
#ifdef HAVE_ATOMIC_WRITE
	verbs->wr_atomic_write = wr_atomic_write;
#endif
	verbs->wr_set_ud_addr = wr_set_ud_addr;
	verbs->wr_set_xrc_srqn = wr_set_xrc_srqn;
	verbs->wr_set_sge = wr_set_sge;
	verbs->wr_set_sge_list = wr_set_sge_list;
	verbs->wr_set_inline_data = wr_set_inline_data;
	verbs->wr_set_inline_data_list = wr_set_inline_data_list;
	soft_fault_extend_qp(verbs);
}
