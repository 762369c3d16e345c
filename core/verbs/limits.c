/* SPDX-License-Identifier: MIT */
#include "core/verbs/limits.h"

#include <errno.h>
#include <inttypes.h>

#include "core/verbs/qp_kind.h"
#include "core/verbs/verbs.h"

#define BITS_5 31
#define BITS_4 15
#define BITS_3 7

static uint64_t least(int a, int b)
{
	int lesser = a < b ? a : b;

	return lesser > 0 ? (uint64_t)lesser : 0;
}

static void limits_check_one(struct error *error, const char *what, uint64_t asked,
			     uint64_t allowed)
{
	if (asked > allowed)
		error_set(error, -EINVAL, "%s %" PRIu64 " exceeds the device's limit %" PRIu64,
			  what, asked, allowed);
}

/* A limit of zero means that the device does not report it. */
static uint64_t zero_is_unlimited(uint64_t most)
{
	return most ? most : UINT64_MAX;
}

static void check_srq(const struct limits *wanted, const struct ibv_device_attr *device,
		      struct error *error)
{
	if (wanted->srq_depth && device->max_srq < 1)
		error_set(error, -EOPNOTSUPP, "the device does not support shared receive queues");
	limits_check_one(error, "number of shared receive queues", wanted->srqs,
			 zero_is_unlimited(least(device->max_srq, INT32_MAX)));
	limits_check_one(error, "shared receive queue depth", wanted->srq_depth,
			 least(device->max_srq_wr, INT32_MAX));
}

static void check_port(const struct limits *wanted, const struct ibv_port_attr *port,
		       struct error *error)
{
	uint64_t active = limits_mtu_bytes(port->active_mtu);
	uint64_t mtu = wanted->mtu ? limits_mtu_bytes(wanted->mtu) : active;

	if (wanted->mtu && (!mtu || mtu > active))
		error_set(error, -EINVAL, "MTU %" PRIu64 " exceeds the port's MTU %" PRIu64, mtu,
			  active);
	if (transport_has(wanted->transport, TRANSPORT_DATAGRAM) && wanted->message_bytes > mtu)
		error_set(error, -EINVAL,
			  "message size %" PRIu64 " exceeds the MTU %" PRIu64
			  ", the limit of a datagram",
			  wanted->message_bytes, mtu);
	limits_check_one(error, "message size", wanted->message_bytes, port->max_msg_sz);
}

int limits_check(const struct limits *wanted, const struct ibv_device_attr *device,
		 const struct ibv_port_attr *port, struct error *error)
{
	uint64_t depth = least(device->max_qp_wr, INT32_MAX);
	uint64_t reads = least(device->max_qp_rd_atom, device->max_qp_init_rd_atom);
	int sge = wanted->srq_depth ? device->max_srq_sge : INT32_MAX;

	/* Runs all checks; the error keeps the first failure. */
	limits_check_one(error, "send queue depth", wanted->send_depth, depth);
	limits_check_one(error, "receive queue depth", wanted->recv_depth, depth);
	check_srq(wanted, device, error);
	limits_check_one(error, "completion queue depth", wanted->cq_depth,
			 least(device->max_cqe, INT32_MAX));
	limits_check_one(error, "number of scatter/gather entries", wanted->sge,
			 least(device->max_sge, sge));
	limits_check_one(error, "number of scatter/gather entries of a read", wanted->read_sge,
			 zero_is_unlimited(least(device->max_sge_rd, INT32_MAX)));
	limits_check_one(error, "number of queue pairs", wanted->queue_pairs,
			 zero_is_unlimited(least(device->max_qp, INT32_MAX)));
	limits_check_one(error, "number of completion queues", wanted->completion_queues,
			 zero_is_unlimited(least(device->max_cq, INT32_MAX)));
	limits_check_one(error, "number of memory regions", wanted->regions,
			 zero_is_unlimited(least(device->max_mr, INT32_MAX)));
	limits_check_one(error, "size of registered memory", wanted->memory_bytes,
			 zero_is_unlimited(device->max_mr_size));
	limits_check_one(error, "number of outstanding reads", wanted->reads, reads);
	if (port)
		check_port(wanted, port, error);
	limits_check_one(error, "acknowledgment timeout", wanted->ack_timeout, BITS_5);
	limits_check_one(error, "retry count", wanted->retries, BITS_3);
	limits_check_one(error, "RNR retry count", wanted->rnr_retries, BITS_3);
	limits_check_one(error, "RNR timer", wanted->rnr_timer, BITS_5);
	limits_check_one(error, "service level", wanted->service_level, BITS_4);
	return error->code;
}

bool limits_has_atomics(const struct ibv_device_attr *device)
{
	return device->atomic_cap != IBV_ATOMIC_NONE;
}

#define INVALIDATES IBV_DEVICE_MEM_MGT_EXTENSIONS
#define TYPE_1      IBV_DEVICE_MEM_WINDOW
#define TYPE_2      (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B)

/* A device needs one of the capabilities, unless they are 0. */
static const struct {
	const char *name;
	unsigned int needs; /* TRANSPORT_... */
	unsigned int capabilities;
} operations[] = {
	[POST_SEND] = {"sends",                    0,                 0          },
	[POST_WRITE] = {"writes",                   TRANSPORT_WRITES,  0          },
	[POST_READ] = {"reads",                    TRANSPORT_READS,   0          },
	[POST_SEND_IMM] = {"sends",                    0,                 0          },
	[POST_WRITE_IMM] = {"writes",                   TRANSPORT_WRITES,  0          },
	[POST_FETCH_ADD] = {"atomics",                  TRANSPORT_ATOMICS, 0          },
	[POST_COMPARE_SWAP] = {"atomics",                  TRANSPORT_ATOMICS, 0          },
	[POST_SEND_INV] = {"sends with invalidate",    TRANSPORT_DEFAULT, INVALIDATES},
	[POST_BIND_MW] = {"memory windows of type 2", TRANSPORT_DEFAULT, TYPE_2     },
	[POST_BIND_MW_1] = {"memory windows of type 1", TRANSPORT_DEFAULT, TYPE_1     },
	[POST_LOCAL_INV] = {"invalidation",             TRANSPORT_DEFAULT, INVALIDATES},
	[POST_ATOMIC_WRITE] = {"atomic writes",            TRANSPORT_ATOMICS, 0          },
};

int limits_operation(enum transport transport, enum post_operation operation,
		     const struct ibv_device_attr *device, struct error *error)
{
	bool is_atomic = operation == POST_FETCH_ADD || operation == POST_COMPARE_SWAP;
	unsigned int wanted = operations[operation].capabilities;

	if (!transport_has(transport, operations[operation].needs))
		return error_set(error, -EOPNOTSUPP, "%s does not support %s",
				 transport_names[transport], operations[operation].name);
	if (is_atomic && !limits_has_atomics(device))
		return error_set(error, -EOPNOTSUPP, "the device does not support atomics");
	if (wanted && !(device->device_cap_flags & wanted))
		return error_set(error, -EOPNOTSUPP, "the device does not support %s",
				 operations[operation].name);
	return 0;
}

/*
 * Returns whether the device rejected the kind of queue pair, rather than being out of
 * resources.
 */
static bool is_refusal(int code)
{
	return code == -EOPNOTSUPP || code == -ENOSYS || code == -EINVAL;
}

/* Returns whether such a queue pair can be created with that inline size. */
static bool takes_inline(enum transport transport, const struct ibv_qp_init_attr_ex *wanted,
			 uint32_t bytes)
{
	struct ibv_qp_init_attr_ex attr = *wanted;
	struct ibv_qp *qp;

	attr.cap.max_inline_data = bytes;
	qp = qp_kinds[transport].create(attr.pd->context, &attr);
	if (!qp && attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS && is_refusal(verbs_null())) {
		attr = *wanted;
		attr.comp_mask = IBV_QP_INIT_ATTR_PD;
		attr.cap.max_inline_data = bytes;
		qp = qp_kinds[transport].create(attr.pd->context, &attr);
	}
	if (!qp)
		return false;
	ibv_destroy_qp(qp);
	return attr.cap.max_inline_data >= bytes;
}

int limits_has_transport(struct ibv_pd *pd, enum transport transport)
{
	struct ibv_cq *cq = ibv_create_cq(pd->context, 2, NULL, NULL, 0);
	const struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = qp_kinds[transport].type,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	int result = 1;

	if (!cq)
		return verbs_null();
	if (!takes_inline(transport, &attr, 0)) {
		int code = verbs_null();

		result = is_refusal(code) ? 0 : code;
	}
	ibv_destroy_cq(cq);
	return result;
}

uint32_t limits_inline(enum transport transport, const struct ibv_qp_init_attr_ex *wanted)
{
	struct ibv_cq *cq = ibv_create_cq(wanted->pd->context, 2, NULL, NULL, 0);
	struct ibv_qp_init_attr_ex attr = *wanted;
	uint32_t good = 0;
	uint32_t bad = wanted->cap.max_inline_data;

	if (!cq)
		return 0;
	attr.send_cq = cq;
	attr.recv_cq = cq;
	if (bad && takes_inline(transport, &attr, bad))
		good = bad;
	while (good + 1 < bad) {
		uint32_t middle = good + (bad - good) / 2;

		if (takes_inline(transport, &attr, middle))
			good = middle;
		else
			bad = middle;
	}
	ibv_destroy_cq(cq);
	return good;
}

unsigned int limits_mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128U << mtu : 0;
}

enum ibv_mtu limits_mtu(unsigned int bytes)
{
	for (enum ibv_mtu mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++)
		if (limits_mtu_bytes(mtu) == bytes)
			return mtu;
	return 0;
}
