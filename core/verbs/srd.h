/* SPDX-License-Identifier: MIT */
/*
 * SRD, the scalable reliable datagrams of EFA: a queue pair sends to any other one, and messages
 * arrive in any order. Every request has a completion. Needs libefa; see provider.h.
 */
#ifndef CORE_VERBS_SRD_H
#define CORE_VERBS_SRD_H

#include <infiniband/verbs.h>
#include <stdbool.h>

/* The operations of a device besides sends. */
struct srd_support {
	bool is_efa;
	bool has_reads;
	bool has_writes;
	uint32_t most_bytes; /* of a read or a write */
};

/* Returns zeros without libefa, and on devices of others. */
struct srd_support srd_query(struct ibv_context *verbs);

/* Returns those access rights that the device can grant: EFA refuses others, even if nobody uses them. */
int srd_access(struct ibv_context *verbs, int wanted);

/*
 * Creates a queue pair, without wanted operations that the device lacks. Like ibv_create_qp_ex,
 * returns NULL with errno set on failure: EOPNOTSUPP without libefa, or on devices of others.
 */
struct ibv_qp *srd_create(struct ibv_context *verbs, struct ibv_qp_init_attr_ex *attr);

#endif
