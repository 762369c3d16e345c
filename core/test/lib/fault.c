/* SPDX-License-Identifier: MIT */
#include "core/test/lib/fault.h"

#include <dlfcn.h>
#include <errno.h>
#include <ifaddrs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

/* State of this process, an agent. The watcher's thread makes calls, too. */
static atomic_int armed = -1;
static atomic_int left;
static atomic_bool fired;

static bool fails(enum call call)
{
	if (atomic_load(&armed) != (int)call || atomic_fetch_sub(&left, 1) != 1)
		return false;
	atomic_store(&fired, true);
	errno = ENOMEM;
	return true;
}

/*
 * Functions of the program override those of shared libraries, so that librdmacm calls
 * them, too.
 */
#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

/* Types and parameter lists cannot be parenthesized. */
// NOLINTBEGIN(bugprone-macro-parentheses)
#define FAILING(call, type, name, parameters, arguments, failure) \
	type name parameters                                      \
	{                                                         \
		if (fails(call))                                  \
			return failure;                           \
		return REAL(name) arguments;                      \
	}
// NOLINTEND(bugprone-macro-parentheses)

FAILING(GET_DEVICE_LIST, struct ibv_device **, ibv_get_device_list, (int *count), (count), NULL)
FAILING(QUERY_DEVICE, int, ibv_query_device,
	(struct ibv_context * context, struct ibv_device_attr *attr), (context, attr), ENOMEM)
FAILING(QUERY_GID_TABLE, ssize_t, _ibv_query_gid_table,
	(struct ibv_context * context, struct ibv_gid_entry *entries, size_t max, uint32_t flags,
	 size_t size),
	(context, entries, max, flags, size), -ENOMEM)
FAILING(REG_MR, struct ibv_mr *, ibv_reg_mr_iova2,
	(struct ibv_pd * pd, void *address, size_t length, uint64_t iova, unsigned int access),
	(pd, address, length, iova, access), NULL)
#undef ibv_reg_mr
FAILING(REG_MR, struct ibv_mr *, ibv_reg_mr,
	(struct ibv_pd * pd, void *address, size_t length, int access),
	(pd, address, length, access), NULL)
FAILING(CREATE_COMP_CHANNEL, struct ibv_comp_channel *, ibv_create_comp_channel,
	(struct ibv_context * context), (context), NULL)
FAILING(CREATE_CQ, struct ibv_cq *, ibv_create_cq,
	(struct ibv_context * context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
	 int vector),
	(context, cqe, cq_context, channel, vector), NULL)
FAILING(MODIFY_QP, int, ibv_modify_qp, (struct ibv_qp * qp, struct ibv_qp_attr *attr, int mask),
	(qp, attr, mask), ENOMEM)
FAILING(CREATE_SRQ, struct ibv_srq *, ibv_create_srq,
	(struct ibv_pd * pd, struct ibv_srq_init_attr *attr), (pd, attr), NULL)
FAILING(CREATE_AH, struct ibv_ah *, ibv_create_ah, (struct ibv_pd * pd, struct ibv_ah_attr *attr),
	(pd, attr), NULL)
FAILING(GET_CM_DEVICES, struct ibv_context **, rdma_get_devices, (int *count), (count), NULL)
FAILING(CREATE_EVENT_CHANNEL, struct rdma_event_channel *, rdma_create_event_channel, (void), (),
	NULL)
FAILING(CREATE_ID, int, rdma_create_id,
	(struct rdma_event_channel * channel, struct rdma_cm_id **id, void *context,
	 enum rdma_port_space space),
	(channel, id, context, space), -1)
FAILING(BIND_ADDR, int, rdma_bind_addr, (struct rdma_cm_id * id, struct sockaddr *address),
	(id, address), -1)
FAILING(LISTEN, int, rdma_listen, (struct rdma_cm_id * id, int backlog), (id, backlog), -1)
FAILING(RESOLVE_ADDR, int, rdma_resolve_addr,
	(struct rdma_cm_id * id, struct sockaddr *from, struct sockaddr *to, int timeout_ms),
	(id, from, to, timeout_ms), -1)
FAILING(RESOLVE_ROUTE, int, rdma_resolve_route, (struct rdma_cm_id * id, int timeout_ms),
	(id, timeout_ms), -1)
FAILING(CM_CREATE_QP_EX, int, rdma_create_qp_ex,
	(struct rdma_cm_id * id, struct ibv_qp_init_attr_ex *attr), (id, attr), -1)
FAILING(CONNECT, int, rdma_connect, (struct rdma_cm_id * id, struct rdma_conn_param *param),
	(id, param), -1)
FAILING(ACCEPT, int, rdma_accept, (struct rdma_cm_id * id, struct rdma_conn_param *param),
	(id, param), -1)
FAILING(GET_CM_EVENT, int, rdma_get_cm_event,
	(struct rdma_event_channel * channel, struct rdma_cm_event **event), (channel, event), -1)
FAILING(MIGRATE_ID, int, rdma_migrate_id,
	(struct rdma_cm_id * id, struct rdma_event_channel *channel), (id, channel), -1)
FAILING(SET_OPTION, int, rdma_set_option,
	(struct rdma_cm_id * id, int level, int name, void *value, size_t length),
	(id, level, name, value, length), -1)

/* Inline functions of verbs.h call these through pointers in the context. */
static int (*query_port)(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
			 size_t size);
static struct ibv_qp *(*create_qp_ex)(struct ibv_context *context,
				      struct ibv_qp_init_attr_ex *attr);
static int (*req_notify_cq)(struct ibv_cq *cq, int solicited);
static int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

static int failing_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
			      size_t size)
{
	return fails(QUERY_PORT) ? ENOMEM : query_port(context, port, attr, size);
}

static struct ibv_qp *failing_create_qp_ex(struct ibv_context *context,
					   struct ibv_qp_init_attr_ex *attr)
{
	return fails(CREATE_QP_EX) ? NULL : create_qp_ex(context, attr);
}

static int failing_req_notify_cq(struct ibv_cq *cq, int solicited)
{
	return fails(REQ_NOTIFY_CQ) ? ENOMEM : req_notify_cq(cq, solicited);
}

static int failing_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return fails(POST_RECV) ? ENOMEM : post_recv(qp, wr, bad);
}

static void take_over(struct ibv_context *context)
{
	struct verbs_context *extended = verbs_get_ctx(context);

	if (!extended || context->ops.post_recv == failing_post_recv)
		return;
	query_port = extended->query_port;
	extended->query_port = failing_query_port;
	create_qp_ex = extended->create_qp_ex;
	extended->create_qp_ex = failing_create_qp_ex;
	req_notify_cq = context->ops.req_notify_cq;
	context->ops.req_notify_cq = failing_req_notify_cq;
	post_recv = context->ops.post_recv;
	context->ops.post_recv = failing_post_recv;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *context = fails(OPEN_DEVICE) ? NULL : REAL(ibv_open_device)(device);

	if (context)
		take_over(context);
	return context;
}

/* Also covers contexts that a library opens internally. */
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	take_over(context);
	return fails(ALLOC_PD) ? NULL : REAL(ibv_alloc_pd)(context);
}

/* For C library functions, only calls from this program fail (ld --wrap). */
// NOLINTBEGIN(bugprone-macro-parentheses)
#define WRAPPED(call, type, name, parameters, arguments, failure) \
	type __real_##name parameters;                            \
	type __wrap_##name parameters;                            \
	type __wrap_##name parameters                             \
	{                                                         \
		if (fails(call))                                  \
			return failure;                           \
		return __real_##name arguments;                   \
	}
// NOLINTEND(bugprone-macro-parentheses)

WRAPPED(EVENTFD, int, eventfd, (unsigned int count, int flags), (count, flags), -1)
WRAPPED(PTHREAD_CREATE, int, pthread_create,
	(pthread_t * thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument),
	(thread, attr, run, argument), EAGAIN)
WRAPPED(CALLOC, void *, calloc, (size_t count, size_t size), (count, size), NULL)
WRAPPED(REALLOCARRAY, void *, reallocarray, (void *old, size_t count, size_t size),
	(old, count, size), NULL)
WRAPPED(MMAP, void *, mmap64,
	(void *address, size_t length, int protection, int flags, int fd, off_t offset),
	(address, length, protection, flags, fd, offset), MAP_FAILED)
WRAPPED(GETIFADDRS, int, getifaddrs, (struct ifaddrs * *list), (list), -1)

static int run_arm(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	atomic_store(&left, (int)task->b);
	atomic_store(&fired, false);
	atomic_store(&armed, (int)task->a);
	return 0;
}

static int run_disarm(struct rdma_context *ctx, const struct task *task, size_t *value)
{
	atomic_store(&armed, -1);
	*value = atomic_load(&fired);
	return 0;
}

void fault_arm(struct agent *agent, enum call call, size_t n)
{
	agent_must(agent, (struct task){.run = run_arm, .a = call, .b = n});
}

bool fault_disarm(struct agent *agent)
{
	return agent_must(agent, (struct task){.run = run_disarm}).value;
}
