/* SPDX-License-Identifier: MIT */
#include "core/soft/device.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/soft/export.h"
#include "core/soft/fault/fault.h"
#include "core/soft/link/send_queue.h"
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
#include "core/soft/peer/process.h"
#include "core/soft/port.h"
#include "core/soft/time.h"

/* The kernel's bit for atomic writes, which verbs.h does not define. */
#define ATOMIC_WRITE (UINT64_C(1) << 40)

#define ODP_MESSAGES (IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV)

/* "vmsoft" and a number, locally administered, so no vendor uses it. */
#define GUID   UINT64_C(0x02766dfffe000001)
#define VENDOR ((uint32_t)(GUID >> 40))

/*
 * libmlx5 and libefa read private members of libibverbs behind struct ibv_device to check whether a
 * device is theirs. Here they find zeros.
 */
static struct {
	struct ibv_device verbs;
	void *behind[16];
} soft0 = {
	.verbs =
		{
			.node_type = IBV_NODE_CA,
			.transport_type = IBV_TRANSPORT_IB,
			.name = "soft0",
			.dev_name = "soft0",
			.dev_path = "/sys/class/infiniband_verbs/soft0",
			.ibdev_path = "/sys/class/infiniband/soft0",
			},
};

SOFT_EXPORT struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list = calloc(2, sizeof(struct ibv_device *));
	bool is_there = list && !soft_fault_check();

	if (count)
		*count = is_there ? 1 : 0;
	if (is_there)
		list[0] = &soft0.verbs;
	return list;
}

SOFT_EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

SOFT_EXPORT const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

SOFT_EXPORT int ibv_get_device_index(struct ibv_device *device)
{
	return -1;
}

SOFT_EXPORT __be64 ibv_get_device_guid(struct ibv_device *device)
{
	return htobe64(GUID);
}

static void fill_limits(struct ibv_device_attr *attr)
{
	*attr = (struct ibv_device_attr){
		.fw_ver = "soft",
		.node_guid = htobe64(GUID),
		.sys_image_guid = htobe64(GUID),
		.max_mr_size = UINT64_MAX,
		.page_size_cap = ~UINT64_C(4095),
		.vendor_id = VENDOR,
		.vendor_part_id = 1,
		.max_qp = SOFT_QPS - 2,
		.max_qp_wr = SOFT_WR_MAX,
		.device_cap_flags = IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_CURR_QP_STATE_MOD |
				    IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_XRC |
				    IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_MGT_EXTENSIONS |
				    IBV_DEVICE_MEM_WINDOW_TYPE_2B,
		.max_sge = SOFT_SGE_MAX,
		.max_sge_rd = SOFT_SGE_MAX,
		.max_cq = SOFT_CQS - 1,
		.max_cqe = SOFT_CQE_MAX,
		.max_mr = SOFT_REGIONS - 1,
		.max_mw = SOFT_REGIONS - 1,
		.max_pd = 1 << 20,
		.max_qp_rd_atom = SOFT_RD_ATOMIC_MAX,
		.max_res_rd_atom = SOFT_RD_ATOMIC_MAX * (SOFT_QPS - 2),
		.max_qp_init_rd_atom = SOFT_RD_ATOMIC_MAX,
		.atomic_cap = IBV_ATOMIC_HCA,
		.max_mcast_grp = SOFT_MEMBERS,
		.max_mcast_qp_attach = SOFT_MEMBERS,
		.max_total_mcast_qp_attach = SOFT_MEMBERS,
		.max_ah = 1 << 20,
		.max_srq = SOFT_SRQS - 1,
		.max_srq_wr = SOFT_WR_MAX,
		.max_srq_sge = SOFT_SGE_MAX,
		.max_pkeys = SOFT_PKEYS,
		.phys_port_cnt = 1,
	};
}

SOFT_EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	fill_limits(attr);
	return 0;
}

static int query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	struct ibv_device_attr_ex all = {
		.completion_timestamp_mask = UINT64_MAX,
		.hca_core_clock = SOFT_CYCLES_KHZ,
		.phys_port_cnt_ex = 1,
		.packet_pacing_caps =
			{
					     .qp_rate_limit_min = 1,
					     .qp_rate_limit_max = SOFT_QP_RATE_MAX,
					     .supported_qpts = 1U << IBV_QPT_RC | 1U << IBV_QPT_UC |
						  1U << IBV_QPT_UD | 1U << IBV_QPT_XRC_SEND,
					     },
		.cq_mod_caps = {SOFT_MODERATION_COUNT, SOFT_MODERATION_US},
		.max_dm_size = SOFT_DM_MAX,
		.odp_caps =
			{
					     .general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT,
					     .per_transport_caps =
					{
						.rc_odp_caps = ODP_MESSAGES |
							       IBV_ODP_SUPPORT_WRITE |
							       IBV_ODP_SUPPORT_READ |
							       IBV_ODP_SUPPORT_ATOMIC |
							       IBV_ODP_SUPPORT_SRQ_RECV,
						.uc_odp_caps = ODP_MESSAGES | IBV_ODP_SUPPORT_WRITE,
						.ud_odp_caps =
							ODP_MESSAGES | IBV_ODP_SUPPORT_SRQ_RECV,
					}, },
		.xrc_odp_caps = ODP_MESSAGES | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
				IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV,
	};

	if (size < sizeof(attr->orig_attr))
		return EINVAL;
	fill_limits(&all.orig_attr);
	all.device_cap_flags_ex = all.orig_attr.device_cap_flags;
#ifdef HAVE_ATOMIC_WRITE
	all.device_cap_flags_ex |= ATOMIC_WRITE;
#endif
	memset(attr, 0, size);
	memcpy(attr, &all, size < sizeof(all) ? size : sizeof(all));
	return 0;
}

/* Reads the clock of completion timestamps. As on mlx5, the nanoseconds are cycles. */
static int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	if (values->comp_mask & ~(uint32_t)IBV_VALUES_MASK_RAW_CLOCK)
		return EINVAL;
	if (values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK)
		values->raw_clock =
			(struct timespec){.tv_nsec = (long)soft_time_cycles(soft_time_ns())};
	return 0;
}

static void fill_operations(struct verbs_context *verbs)
{
	verbs->query_port = soft_port_query;
	verbs->query_device_ex = query_device_ex;
	verbs->query_rt_values = query_rt_values;
	verbs->create_cq_ex = soft_cq_create_ex;
	verbs->create_qp_ex = soft_qp_create_ex;
	verbs->open_qp = soft_qp_open;
	verbs->open_xrcd = soft_xrc_open;
	verbs->close_xrcd = soft_xrc_close;
	verbs->create_srq_ex = soft_srq_create_ex;
	verbs->get_srq_num = soft_srq_number;
	verbs->alloc_dm = soft_dm_alloc;
	verbs->free_dm = soft_dm_free;
	verbs->reg_dm_mr = soft_mr_create_of_dm;
	verbs->advise_mr = soft_on_demand_advise;
	verbs->alloc_null_mr = soft_mr_create_null;
	verbs->alloc_td = soft_pd_alloc_td;
	verbs->dealloc_td = soft_pd_dealloc_td;
	verbs->alloc_parent_domain = soft_pd_alloc_parent;
	verbs->modify_cq = soft_moderation_modify;
	verbs->modify_qp_rate_limit = soft_qp_limit_rate;
	verbs->context.ops.poll_cq = soft_process.link.is_on ? soft_flight_poll : soft_cq_poll;
	verbs->context.ops.req_notify_cq = soft_cq_arm;
	verbs->context.ops.post_srq_recv = soft_srq_post;
	verbs->context.ops.post_send = soft_qp_post_send;
	verbs->context.ops.post_recv = soft_qp_post_receive;
	verbs->context.ops.alloc_mw = soft_mw_alloc;
	verbs->context.ops.dealloc_mw = soft_mw_dealloc;
	verbs->context.ops.bind_mw = soft_mw_bind;
}

static void list(struct soft_context *context)
{
	pthread_mutex_lock(&soft_process.contexts_mutex);
	context->next = soft_process.contexts;
	soft_process.contexts = context;
	pthread_mutex_unlock(&soft_process.contexts_mutex);
}

static void unlist(const struct soft_context *context)
{
	struct soft_context **at = &soft_process.contexts;

	pthread_mutex_lock(&soft_process.contexts_mutex);
	while (*at && *at != context)
		at = &(*at)->next;
	if (*at)
		*at = context->next;
	pthread_mutex_unlock(&soft_process.contexts_mutex);
}

void soft_device_report(enum ibv_event_type type)
{
	pthread_mutex_lock(&soft_process.contexts_mutex);
	for (struct soft_context *one = soft_process.contexts; one; one = one->next)
		soft_event_report(&one->events, type, SOFT_PORT);
	pthread_mutex_unlock(&soft_process.contexts_mutex);
}

SOFT_EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct soft_context *context = calloc(1, sizeof(*context));
	int result;

	if (!context) {
		errno = ENOMEM;
		return NULL;
	}
	result = soft_process_enter();
	if (result)
		goto free;
	result = soft_event_init(&context->events);
	if (result)
		goto leave;
	context->pid = getpid();
	fill_operations(&context->verbs);
	context->verbs.sz = sizeof(context->verbs);
	context->verbs.context.device = device;
	context->verbs.context.cmd_fd = -1;
	context->verbs.context.async_fd = context->events.fd;
	context->verbs.context.num_comp_vectors = SOFT_VECTORS;
	context->verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	pthread_mutex_init(&context->verbs.context.mutex, NULL);
	soft_fault_extend_context(&context->verbs.context);
	list(context);
	return &context->verbs.context;
leave:
	soft_process_leave();
free:
	free(context);
	errno = -result;
	return NULL;
}

SOFT_EXPORT int ibv_close_device(struct ibv_context *verbs)
{
	struct soft_context *context = soft_device_context(verbs);
	bool is_own = context->pid == getpid();

	if (is_own) {
		unlist(context);
		soft_event_orphan(verbs);
	}
	soft_event_finish(&context->events);
	pthread_mutex_destroy(&verbs->mutex);
	if (is_own)
		soft_process_leave();
	free(context);
	return 0;
}
