/* SPDX-License-Identifier: MIT */
#include "core/pool/memory_windows.h"

#include <errno.h>

#include "core/rdma/context.h"
#include "core/rdma/manual_qp.h"
#include "core/verbs/post.h"
#include "core/verbs/verbs.h"

#define DEPTH  16
#define LENGTH 8
/* A busy machine may take this long to answer. */
#define TIMEOUT_NS (15 * NS_PER_S)

/* Queue pairs: a client and its server, and another client and its server. */
enum {
	OWNER,
	SERVER,
	STRANGER,
	OTHER,
	ENDS
};

struct stand {
	struct endpoint endpoint;
	struct rdma_context ends[ENDS];
	struct memory memory;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	uint32_t rkey; /* of the window, once it is bound */
	uint64_t deadline;
};

static int connect_ends(struct stand *stand, uint8_t port, struct error *error)
{
	const struct manual_qp_settings settings = {
		.transport = TRANSPORT_RC, .port = port, .gid_index = MANUAL_QP_GID_BEST};
	int code = 0;

	for (size_t i = 0; i < ENDS && !code; i++) {
		stand->ends[i].settings =
			(struct rdma_settings){.send_depth = DEPTH, .own_receives = true};
		code = manual_qp_open(&stand->ends[i], &stand->endpoint, &settings, error);
	}
	for (size_t i = 0; i < ENDS && !code; i++) {
		struct manual_qp_address other;

		manual_qp_local(&stand->ends[i ^ 1], &other);
		code = manual_qp_connect(&stand->ends[i], &other, error);
	}
	return code;
}

static int make_window(struct stand *stand, struct error *error)
{
	int code = memory_open(&stand->memory, &memory_host,
			       &(struct memory_request){.size = LENGTH, .numa_node = -1}, error);

	if (code)
		return code;
	stand->mr = memory_register(&stand->memory, 0, LENGTH, stand->endpoint.pd,
				    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, error);
	if (!stand->mr)
		return error->code;
	stand->mw = ibv_alloc_mw(stand->endpoint.pd, IBV_MW_TYPE_2);
	if (!stand->mw)
		return error_set_errno(error, verbs_null(), "cannot allocate a memory window");
	stand->rkey = ibv_inc_rkey(stand->mw->rkey);
	return 0;
}

static int open_stand(struct stand *stand, struct ibv_context *verbs, uint8_t port,
		      struct error *error)
{
	const struct endpoint_settings settings = {
		.cq_depth = ENDS * DEPTH, .wait = RDMA_POLL, .numa_node = -1};
	int code = endpoint_open(&stand->endpoint, verbs, &settings, error);

	if (!code)
		code = make_window(stand, error);
	return code ? code : connect_ends(stand, port, error);
}

static void close_stand(struct stand *stand)
{
	/* A queue pair with a bound window cannot be destroyed. */
	if (stand->mw)
		ibv_dealloc_mw(stand->mw);
	for (size_t i = 0; i < ENDS; i++)
		rdma_close(&stand->ends[i]);
	if (stand->mr)
		ibv_dereg_mr(stand->mr);
	memory_close(&stand->memory);
	endpoint_close(&stand->endpoint);
}

/* Waits for the completion of the one outstanding request. */
static enum ibv_wc_status memory_windows_take(struct stand *stand)
{
	struct ibv_wc wc;

	while (clock_now_ns() < stand->deadline)
		if (completion_poll(&stand->endpoint.completion, 1, &wc) == 1)
			return wc.status;
	return IBV_WC_RETRY_EXC_ERR;
}

static enum ibv_wc_status bind_window(struct stand *stand)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {.mw = stand->mw,
			    .rkey = stand->rkey,
			    .bind_info = {stand->mr, (uintptr_t)stand->mr->addr, LENGTH,
					  IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ}},
	};
	struct ibv_send_wr *bad;

	if (ibv_post_send(context_queue(&stand->ends[SERVER])->qp, &wr, &bad))
		return IBV_WC_GENERAL_ERR;
	return memory_windows_take(stand);
}

static enum ibv_wc_status write_by(struct stand *stand, size_t end, uint32_t rkey)
{
	struct post_work work = {
		.remote = (uintptr_t)stand->mr->addr,
		.rkey = rkey,
		.n_sges = 1,
		.sges = {{stand->endpoint.memory.address, LENGTH, stand->endpoint.mr->lkey}},
	};

	if (post_send(context_queue(&stand->ends[end]), &work, POST_WRITE, POST_CLASSIC,
		      IBV_SEND_SIGNALED))
		return IBV_WC_GENERAL_ERR;
	return memory_windows_take(stand);
}

static int memory_windows_judge(enum ibv_wc_status status, enum ibv_wc_status wanted,
				const char *sentence, struct error *error)
{
	if (status == wanted)
		return 0;
	if (status == IBV_WC_RETRY_EXC_ERR)
		return error_set(error, -EAGAIN, "the device does not answer its own requests");
	return error_set(error, -EOPNOTSUPP, "%s (%s)", sentence, ibv_wc_status_str(status));
}

/* A rejected write breaks its queue pair, so it is the last write of that queue pair. */
static int try_window(struct stand *stand, struct error *error)
{
	uint32_t beneath = stand->mr->rkey ? stand->mr->rkey : stand->mr->lkey;
	int code = memory_windows_judge(bind_window(stand), IBV_WC_SUCCESS,
					"cannot bind a memory window", error);

	if (!code)
		code = memory_windows_judge(write_by(stand, OWNER, stand->rkey), IBV_WC_SUCCESS,
					    "a memory window does not give access to its region",
					    error);
	if (!code)
		code = memory_windows_judge(
			write_by(stand, STRANGER, stand->rkey), IBV_WC_REM_ACCESS_ERR,
			"a memory window gives access to another queue pair", error);
	if (!code)
		code = memory_windows_judge(write_by(stand, OWNER, beneath), IBV_WC_REM_ACCESS_ERR,
					    "the region of a memory window is directly accessible",
					    error);
	return code;
}

int memory_windows_check(struct ibv_context *verbs, uint8_t port, struct error *error)
{
	uint64_t deadline = clock_now_ns() + TIMEOUT_NS;
	int code = -EAGAIN;

	while (code == -EAGAIN && clock_now_ns() < deadline) {
		struct stand stand = {.deadline = deadline};

		*error = (struct error){0};
		code = open_stand(&stand, verbs, port, error);
		if (!code)
			code = try_window(&stand, error);
		close_stand(&stand);
	}
	return code;
}
