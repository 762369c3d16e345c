/* SPDX-License-Identifier: MIT */
#include "bench/op/timed_call.h"

#include <errno.h>

#include "core/rdma/qp.h"
#include "core/verbs/qp_kind.h"
#include "core/verbs/verbs.h"

struct ibv_qp_init_attr timed_call_queue(const struct lane *lane)
{
	const struct parameters *p = lane->settings.parameters;

	return (struct ibv_qp_init_attr){
		.send_cq = lane->endpoint.completion.cq,
		.recv_cq = lane->endpoint.completion.cq,
		.srq = lane->endpoint.srq,
		.cap = {.max_send_wr = (uint32_t)p->tx_depth,
			.max_recv_wr = lane->endpoint.srq ? 0 : (uint32_t)p->rx_depth,
			.max_send_sge = (uint32_t)p->sge,
			.max_recv_sge = lane->endpoint.srq ? 0 : (uint32_t)p->sge,
			.max_inline_data =
				p->inline_size == PARAMETER_AUTO ? 0 : (uint32_t)p->inline_size},
		.qp_type = qp_kinds[p->transport].type,
	};
}

int calling_register(struct timed_call *calling, struct error *error)
{
	static const int rights[] = {
		[MR_LOCAL] = IBV_ACCESS_LOCAL_WRITE,
		[MR_REMOTE] =
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
		[MR_ATOMIC] = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
	};
	const struct parameters *p = calling->lane->settings.parameters;

	calling->mr =
		memory_register(&calling->lane->other, 0, p->size, calling->lane->endpoint.pd,
				rights[p->mr_access] | calling->lane->endpoint.ordering, error);
	return calling->mr ? 0 : error->code;
}

int calling_deregister(struct timed_call *calling, struct error *error)
{
	int code = verbs_result(ibv_dereg_mr(calling->mr));

	if (code)
		return error_set_errno(error, code, "cannot deregister memory");
	calling->mr = NULL;
	return 0;
}

/* Cleans up what a failure left behind. */
static void timed_call_end(struct timed_call *calling)
{
	if (calling->mr)
		ibv_dereg_mr(calling->mr);
	if (calling->qp)
		ibv_destroy_qp(calling->qp);
	if (calling->cq)
		ibv_destroy_cq(calling->cq);
	if (calling->pd)
		ibv_dealloc_pd(calling->pd);
	if (calling->verbs)
		ibv_close_device(calling->verbs);
}

static int once(struct timed_call *calling, const struct loop_run *run,
		const struct call_kind *kind, struct error *error)
{
	uint64_t start;
	uint64_t ticks;
	int code = kind->before ? kind->before(calling, error) : 0;

	if (code)
		return code;
	start = clock_ticks(run->is_counter);
	code = kind->timed(calling, error);
	ticks = clock_ticks(run->is_counter) - start;
	if (!code && kind->after)
		code = kind->after(calling, error);
	if (!code)
		loop_record(run, ticks);
	return code;
}

int timed_call_run(struct lane *lane, const struct loop_run *run, const struct call_kind *kind,
		   struct error *error)
{
	struct timed_call calling = {.lane = lane};
	struct alarm *alarm = &lane->endpoint.alarm;
	uint64_t count = 0;
	int code;

	/* At least one, however long it takes. */
	do {
		code = alarm_raised(alarm) ? alarm_reason(alarm, error)
					   : once(&calling, run, kind, error);
		count += !code;
	} while (!code && count < run->messages && clock_ticks(run->is_counter) < run->until);
	timed_call_end(&calling);
	lane->result.messages += count;
	return code;
}
