/* SPDX-License-Identifier: MIT */
#include "core/test/lib/seen.h"

#include <stdbool.h>
#include <string.h>
#ifdef HAVE_MLX5DV
#include <infiniband/mlx5dv.h>
#endif

struct seen seen[SEEN_MAX];
size_t seen_count;
size_t seen_starts;
size_t seen_calls;

static struct seen *last(void)
{
	return &seen[seen_count - 1];
}

static void begin(struct ibv_qp_ex *qpx, enum ibv_wr_opcode opcode)
{
	seen[seen_count++] =
		(struct seen){.id = qpx->wr_id, .flags = qpx->wr_flags, .opcode = opcode};
}

static void on_start(struct ibv_qp_ex *qpx)
{
	seen_starts++;
}

static int on_complete(struct ibv_qp_ex *qpx)
{
	seen_calls++;
	return 0;
}

static void on_send(struct ibv_qp_ex *qpx)
{
	begin(qpx, IBV_WR_SEND);
}

static void on_send_imm(struct ibv_qp_ex *qpx, __be32 imm)
{
	begin(qpx, IBV_WR_SEND_WITH_IMM);
	last()->imm = imm;
}

static void on_one_sided(struct ibv_qp_ex *qpx, enum ibv_wr_opcode opcode, uint32_t rkey,
			 uint64_t remote)
{
	begin(qpx, opcode);
	last()->rkey = rkey;
	last()->remote = remote;
}

static void on_write(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote)
{
	on_one_sided(qpx, IBV_WR_RDMA_WRITE, rkey, remote);
}

static void on_write_imm(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote, __be32 imm)
{
	on_one_sided(qpx, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote);
	last()->imm = imm;
}

static void on_read(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote)
{
	on_one_sided(qpx, IBV_WR_RDMA_READ, rkey, remote);
}

static void on_fetch_add(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote, uint64_t add)
{
	on_one_sided(qpx, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote);
	last()->compare_add = add;
}

static void on_compare_swap(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote, uint64_t compare,
			    uint64_t swap)
{
	on_one_sided(qpx, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote);
	last()->compare_add = compare;
	last()->swap = swap;
}

#ifdef HAVE_ATOMIC_WRITE
static void on_atomic_write(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote,
			    const void *value)
{
	on_one_sided(qpx, IBV_WR_ATOMIC_WRITE, rkey, remote);
	memcpy(&last()->swap, value, sizeof(last()->swap));
}
#endif

static void on_ud_addr(struct ibv_qp_ex *qpx, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	last()->ah = ah;
	last()->qpn = qpn;
	last()->qkey = qkey;
}

static void on_srqn(struct ibv_qp_ex *qpx, uint32_t srqn)
{
	last()->srqn = srqn;
}

#ifdef HAVE_MLX5DV
static void on_dc_addr(struct mlx5dv_qp_ex *dci, struct ibv_ah *ah, uint32_t number, uint64_t key)
{
	last()->ah = ah;
	last()->qpn = number;
	last()->qkey = (uint32_t)key;
}

static struct mlx5dv_qp_ex dci = {.wr_set_dc_addr = on_dc_addr};
void *const seen_initiator = &dci;
#else
void *const seen_initiator = NULL;
#endif

static void on_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t address, uint32_t length)
{
	last()->lkey = lkey;
	last()->address = address;
	last()->length = length;
}

static void on_inline(struct ibv_qp_ex *qpx, void *address, size_t length)
{
	on_sge(qpx, 0, (uintptr_t)address, (uint32_t)length);
}

static void on_list(struct ibv_qp_ex *qpx, size_t n, const struct ibv_sge *sges)
{
	last()->length = 0;
	for (size_t i = 0; i < n; i++)
		last()->length += sges[i].length;
}

static void decode_bind(const struct ibv_mw *mw, const struct ibv_mw_bind_info *info)
{
	last()->swap = (uintptr_t)mw;
	last()->remote = info->addr;
	last()->compare_add = info->length;
	last()->qkey = info->mw_access_flags;
}

/* Reads the fields that any provider reads: imm_data always, others by operation. */
static void decode(const struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
	bool is_inline = wr->send_flags & IBV_SEND_INLINE;

	seen[seen_count++] = (struct seen){
		.id = wr->wr_id,
		.flags = wr->send_flags,
		.opcode = wr->opcode,
		.imm = wr->imm_data,
		.address = wr->num_sge ? wr->sg_list[0].addr : 0,
		.length = wr->num_sge ? wr->sg_list[0].length : 0,
		.lkey = wr->num_sge && !is_inline ? wr->sg_list[0].lkey : 0,
	};
	if (qp->qp_type == IBV_QPT_XRC_SEND)
		last()->srqn = wr->qp_type.xrc.remote_srqn;
	switch ((int)wr->opcode) {
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_SEND:
		if (qp->qp_type != IBV_QPT_UD)
			break;
		last()->ah = wr->wr.ud.ah;
		last()->qpn = wr->wr.ud.remote_qpn;
		last()->qkey = wr->wr.ud.remote_qkey;
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		last()->remote = wr->wr.atomic.remote_addr;
		last()->rkey = wr->wr.atomic.rkey;
		last()->compare_add = wr->wr.atomic.compare_add;
		last()->swap = wr->wr.atomic.swap;
		break;
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
		break;
	case IBV_WR_BIND_MW:
		decode_bind(wr->bind_mw.mw, &wr->bind_mw.bind_info);
		last()->rkey = wr->bind_mw.rkey;
		break;
	default:
		last()->remote = wr->wr.rdma.remote_addr;
		last()->rkey = wr->wr.rdma.rkey;
	}
}

static int on_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	seen_calls++;
	for (; wr; wr = wr->next)
		decode(qp, wr);
	return 0;
}

static int on_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	seen_calls++;
	for (; wr; wr = wr->next)
		seen[seen_count++] = (struct seen){.id = wr->wr_id,
						   .address = wr->sg_list[0].addr,
						   .length = wr->sg_list[0].length,
						   .lkey = wr->sg_list[0].lkey};
	return 0;
}

static int on_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return on_post_recv(NULL, wr, bad);
}

static int on_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	seen_calls++;
	seen[seen_count++] = (struct seen){
		.id = bind->wr_id, .flags = bind->send_flags, .opcode = IBV_WR_BIND_MW};
	decode_bind(mw, &bind->bind_info);
	return 0;
}

struct ibv_context seen_context = {
	.ops = {.bind_mw = on_bind_mw,
		.post_send = on_post_send,
		.post_recv = on_post_recv,
		.post_srq_recv = on_post_srq_recv},
};
static struct ibv_srq srq = {.context = &seen_context};
struct ibv_qp_ex seen_qpx = {
	.qp_base = {.context = &seen_context},
	.wr_start = on_start,
	.wr_complete = on_complete,
	.wr_send = on_send,
	.wr_send_imm = on_send_imm,
	.wr_rdma_write = on_write,
	.wr_rdma_write_imm = on_write_imm,
	.wr_rdma_read = on_read,
	.wr_atomic_fetch_add = on_fetch_add,
	.wr_atomic_cmp_swp = on_compare_swap,
#ifdef HAVE_ATOMIC_WRITE
	.wr_atomic_write = on_atomic_write,
#endif
	.wr_set_ud_addr = on_ud_addr,
	.wr_set_xrc_srqn = on_srqn,
	.wr_set_sge = on_sge,
	.wr_set_inline_data = on_inline,
	.wr_set_sge_list = on_list,
};
const struct post_queue seen_queue = {.qp = &seen_qpx.qp_base, .qpx = &seen_qpx, .srq = &srq};
const struct post_queue seen_classic = {.qp = &seen_qpx.qp_base};

int seen_forget(void **unused)
{
	memset(seen, 0, sizeof(seen));
	seen_count = seen_starts = seen_calls = 0;
	return 0;
}
