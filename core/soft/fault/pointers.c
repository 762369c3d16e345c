/* SPDX-License-Identifier: MIT */
/*
 * Calls that verbs.h makes through function pointers of a context, queue pair or other object.
 * The pointers are replaced only if there is a plan.
 */
#include <errno.h>
#include <infiniband/verbs.h>

#include "core/soft/device.h"
#include "core/soft/fault/fault.h"
#include "core/soft/memory/dm.h"
#include "core/soft/memory/mr.h"
#include "core/soft/memory/mw.h"
#include "core/soft/memory/on_demand.h"
#include "core/soft/op/cq.h"
#include "core/soft/op/moderation.h"
#include "core/soft/op/pd.h"
#include "core/soft/op/qp.h"
#include "core/soft/op/srq.h"
#include "core/soft/op/xrc.h"
#include "core/soft/port.h"

/* The original functions, which are the same for all objects. */
static struct verbs_context own;
static int (*wr_complete)(struct ibv_qp_ex *qp);
static void (*wr_abort)(struct ibv_qp_ex *qp);
static int (*start_poll)(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr);
static int (*next_poll)(struct ibv_cq_ex *cq);

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int error = soft_fault_call(SOFT_CALL_ibv_post_send);

	if (!error)
		return soft_qp_post_send(qp, wr, bad);
	*bad = wr;
	return errno = error;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int error = soft_fault_call(SOFT_CALL_ibv_post_recv);

	if (!error)
		return soft_qp_post_receive(qp, wr, bad);
	*bad = wr;
	return errno = error;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int error = soft_fault_call(SOFT_CALL_ibv_post_srq_recv);

	if (!error)
		return soft_srq_post(srq, wr, bad);
	*bad = wr;
	return errno = error;
}

static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	int error = soft_fault_call(SOFT_CALL_ibv_poll_cq);

	if (!error)
		return own.context.ops.poll_cq(cq, count, wc);
	errno = error;
	return -1;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	int error = soft_fault_call(SOFT_CALL_ibv_req_notify_cq);

	return error ? (errno = error) : soft_cq_arm(cq, solicited_only);
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
		      size_t size)
{
	int error = soft_fault_call(SOFT_CALL_ibv_query_port);

	return error ? (errno = error) : own.query_port(context, port, attr, size);
}

static int query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	int error = soft_fault_call(SOFT_CALL_ibv_query_device_ex);

	return error ? (errno = error) : own.query_device_ex(context, input, attr, size);
}

static int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	int error = soft_fault_call(SOFT_CALL_ibv_query_rt_values_ex);

	return error ? (errno = error) : own.query_rt_values(context, values);
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	int error = soft_fault_call(SOFT_CALL_ibv_create_cq_ex);

	if (!error)
		return soft_cq_create_ex(context, attr);
	errno = error;
	return NULL;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	int error = soft_fault_call(SOFT_CALL_ibv_create_qp_ex);

	if (!error)
		return soft_qp_create_ex(context, attr);
	errno = error;
	return NULL;
}

static struct ibv_qp *open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	int error = soft_fault_call(SOFT_CALL_ibv_open_qp);

	if (!error)
		return soft_qp_open(context, attr);
	errno = error;
	return NULL;
}

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	int error = soft_fault_call(SOFT_CALL_ibv_open_xrcd);

	if (!error)
		return soft_xrc_open(context, attr);
	errno = error;
	return NULL;
}

static int close_xrcd(struct ibv_xrcd *xrcd)
{
	int error = soft_fault_call(SOFT_CALL_ibv_close_xrcd);

	return error ? (errno = error) : soft_xrc_close(xrcd);
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	int error = soft_fault_call(SOFT_CALL_ibv_create_srq_ex);

	if (!error)
		return soft_srq_create_ex(context, attr);
	errno = error;
	return NULL;
}

static int get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
	int error = soft_fault_call(SOFT_CALL_ibv_get_srq_num);

	return error ? (errno = error) : soft_srq_number(srq, number);
}

static struct ibv_dm *alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	int error = soft_fault_call(SOFT_CALL_ibv_alloc_dm);

	if (!error)
		return soft_dm_alloc(context, attr);
	errno = error;
	return NULL;
}

static int free_dm(struct ibv_dm *dm)
{
	int error = soft_fault_call(SOFT_CALL_ibv_free_dm);

	return error ? (errno = error) : soft_dm_free(dm);
}

static struct ibv_mr *reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset,
				size_t length, unsigned int access)
{
	int error = soft_fault_call(SOFT_CALL_ibv_reg_dm_mr);

	if (!error)
		return soft_mr_create_of_dm(pd, dm, offset, length, access);
	errno = error;
	return NULL;
}

static int memcpy_to_dm(struct ibv_dm *dm, uint64_t offset, const void *from, size_t length)
{
	int error = soft_fault_call(SOFT_CALL_ibv_memcpy_to_dm);

	return error ? (errno = error) : soft_dm_write(dm, offset, from, length);
}

static int memcpy_from_dm(void *to, struct ibv_dm *dm, uint64_t offset, size_t length)
{
	int error = soft_fault_call(SOFT_CALL_ibv_memcpy_from_dm);

	return error ? (errno = error) : soft_dm_read(to, dm, offset, length);
}

static int advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		     struct ibv_sge *list, uint32_t count)
{
	int error = soft_fault_call(SOFT_CALL_ibv_advise_mr);

	return error ? (errno = error) : soft_on_demand_advise(pd, advice, flags, list, count);
}

static struct ibv_mr *alloc_null_mr(struct ibv_pd *pd)
{
	int error = soft_fault_call(SOFT_CALL_ibv_alloc_null_mr);

	if (!error)
		return soft_mr_create_null(pd);
	errno = error;
	return NULL;
}

static struct ibv_td *alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	int error = soft_fault_call(SOFT_CALL_ibv_alloc_td);

	if (!error)
		return soft_pd_alloc_td(context, attr);
	errno = error;
	return NULL;
}

static int dealloc_td(struct ibv_td *td)
{
	int error = soft_fault_call(SOFT_CALL_ibv_dealloc_td);

	return error ? (errno = error) : soft_pd_dealloc_td(td);
}

static struct ibv_pd *alloc_parent_domain(struct ibv_context *context,
					  struct ibv_parent_domain_init_attr *attr)
{
	int error = soft_fault_call(SOFT_CALL_ibv_alloc_parent_domain);

	if (!error)
		return soft_pd_alloc_parent(context, attr);
	errno = error;
	return NULL;
}

static int modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	int error = soft_fault_call(SOFT_CALL_ibv_modify_cq);

	return error ? (errno = error) : soft_moderation_modify(cq, attr);
}

static int modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
	int error = soft_fault_call(SOFT_CALL_ibv_modify_qp_rate_limit);

	return error ? (errno = error) : soft_qp_limit_rate(qp, attr);
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	int error = soft_fault_call(SOFT_CALL_ibv_alloc_mw);

	if (!error)
		return soft_mw_alloc(pd, type);
	errno = error;
	return NULL;
}

static int dealloc_mw(struct ibv_mw *mw)
{
	int error = soft_fault_call(SOFT_CALL_ibv_dealloc_mw);

	return error ? (errno = error) : soft_mw_dealloc(mw);
}

static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	int error = soft_fault_call(SOFT_CALL_ibv_bind_mw);

	return error ? (errno = error) : soft_mw_bind(qp, mw, bind);
}

/* A failing wr_complete aborts the batch: nothing is posted. */
static int complete(struct ibv_qp_ex *qp)
{
	int error = soft_fault_call(SOFT_CALL_ibv_wr_complete);

	if (!error)
		return wr_complete(qp);
	wr_abort(qp);
	return errno = error;
}

static int soft_pointers_start(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	int error = soft_fault_call(SOFT_CALL_ibv_start_poll);

	return error ? (errno = error) : start_poll(cq, attr);
}

static int next(struct ibv_cq_ex *cq)
{
	int error = soft_fault_call(SOFT_CALL_ibv_next_poll);

	return error ? (errno = error) : next_poll(cq);
}

void soft_fault_extend_context(struct ibv_context *context)
{
	struct verbs_context *verbs = &soft_device_context(context)->verbs;
	struct ibv_context_ops *ops = &context->ops;

	if (!soft_fault_is_planned)
		return;
	own.query_port = verbs->query_port;
	own.query_device_ex = verbs->query_device_ex;
	own.query_rt_values = verbs->query_rt_values;
	own.context.ops.poll_cq = ops->poll_cq;
	verbs->query_port = query_port;
	verbs->query_device_ex = query_device_ex;
	verbs->query_rt_values = query_rt_values;
	verbs->create_cq_ex = create_cq_ex;
	verbs->create_qp_ex = create_qp_ex;
	verbs->open_qp = open_qp;
	verbs->open_xrcd = open_xrcd;
	verbs->close_xrcd = close_xrcd;
	verbs->create_srq_ex = create_srq_ex;
	verbs->get_srq_num = get_srq_num;
	verbs->alloc_dm = alloc_dm;
	verbs->free_dm = free_dm;
	verbs->reg_dm_mr = reg_dm_mr;
	verbs->advise_mr = advise_mr;
	verbs->alloc_null_mr = alloc_null_mr;
	verbs->alloc_td = alloc_td;
	verbs->dealloc_td = dealloc_td;
	verbs->alloc_parent_domain = alloc_parent_domain;
	verbs->modify_cq = modify_cq;
	verbs->modify_qp_rate_limit = modify_qp_rate_limit;
	ops->poll_cq = poll_cq;
	ops->req_notify_cq = req_notify_cq;
	ops->post_send = post_send;
	ops->post_recv = post_recv;
	ops->post_srq_recv = post_srq_recv;
	ops->alloc_mw = alloc_mw;
	ops->dealloc_mw = dealloc_mw;
	ops->bind_mw = bind_mw;
}

void soft_fault_extend_qp(struct ibv_qp_ex *qp)
{
	if (!soft_fault_is_planned)
		return;
	wr_complete = qp->wr_complete;
	wr_abort = qp->wr_abort;
	qp->wr_complete = complete;
}

void soft_fault_extend_cq(struct ibv_cq_ex *cq)
{
	if (!soft_fault_is_planned)
		return;
	start_poll = cq->start_poll;
	next_poll = cq->next_poll;
	cq->start_poll = soft_pointers_start;
	cq->next_poll = next;
}

void soft_fault_extend_dm(struct ibv_dm *dm)
{
	if (!soft_fault_is_planned)
		return;
	dm->memcpy_to_dm = memcpy_to_dm;
	dm->memcpy_from_dm = memcpy_from_dm;
}
