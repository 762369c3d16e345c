/* SPDX-License-Identifier: MIT */
/*
 * The operations that can be measured: their names and what they need from the transport and from
 * both sides. Pure data; the loops that run them are in bench/op and use the same list. An
 * operation is identified by its number, which is also the value of the parameter "op".
 */
#ifndef BENCH_PLAN_OPERATION_H
#define BENCH_PLAN_OPERATION_H

#include "bench/plan/parameters.h"
#include "reports/result/result.h"

/* All operations, in the order users see them: EACH(NUMBER, name, word). */
#define OPERATION_LIST(EACH)                                                                       \
	EACH(SEND, send, "send", "SEND into a posted receive")                                     \
	EACH(WRITE, write, "write", "RDMA WRITE")                                                  \
	EACH(READ, read, "read", "RDMA READ")                                                      \
	EACH(WRITE_IMM, write_imm, "write-imm", "RDMA WRITE with immediate data")                  \
	EACH(FETCH_ADD, fetch_add, "fetch-add", "atomic fetch-and-add of 8 bytes")                 \
	EACH(COMPARE_SWAP, compare_swap, "compare-swap", "atomic compare-and-swap of 8 bytes")     \
	EACH(WRITE_NOTIFY, write_notify, "write-notify",                                           \
	     "RDMA WRITE, then a SEND to notify the peer")                                         \
	EACH(READ_NOTIFY, read_notify, "read-notify", "RDMA READ, then a SEND to notify the peer") \
	EACH(DOORBELL, doorbell, "doorbell", "stream of RDMA WRITEs, some with immediate data")    \
	EACH(ALLOC, alloc, "alloc", "memory granted by the server's pool")                         \
	EACH(REGISTER, register, "register", "ibv_reg_mr()")                                       \
	EACH(DEREGISTER, deregister, "deregister", "ibv_dereg_mr()")                               \
	EACH(CREATE_QP, create_qp, "create-qp", "ibv_create_qp()")                                 \
	EACH(CREATE_CQ, create_cq, "create-cq", "ibv_create_cq()")                                 \
	EACH(OPEN_DEVICE, open_device, "open-device", "ibv_open_device()")                         \
	EACH(ALLOC_PD, alloc_pd, "alloc-pd", "ibv_alloc_pd()")                                     \
	EACH(POST_SEND, post_send, "post-send", "the call that posts a WRITE")                     \
	EACH(POST_RECV, post_recv, "post-recv", "ibv_post_recv()")                                 \
	EACH(POLL_CQ, poll_cq, "poll-cq", "the call that takes a completion")                      \
	EACH(CONNECT, connect, "connect", "a connection by rdma_cm; see --step")

#define OPERATION_NUMBER(number, name, word, help) OPERATION_##number,
enum operation_number {
	OPERATION_LIST(OPERATION_NUMBER) OPERATIONS
};

/* The message parameters that also affect a timed call, and those that affect few operations. */
#define OPERATION_TAKES_SIZE         (1U << 0)
#define OPERATION_TAKES_CQ           (1U << 1)
#define OPERATION_TAKES_TX           (1U << 2)
#define OPERATION_TAKES_RX           (1U << 3)
#define OPERATION_TAKES_INLINE       (1U << 4)
#define OPERATION_TAKES_SGE          (1U << 5)
#define OPERATION_TAKES_SRQ          (1U << 6)
#define OPERATION_TAKES_PAGES        (1U << 7)
#define OPERATION_TAKES_REGISTRATION (1U << 8) /* with metric lat */
/* All parameters used to create a queue pair. */
#define OPERATION_TAKES_PAIR                                                                      \
	(OPERATION_TAKES_TX | OPERATION_TAKES_RX | OPERATION_TAKES_INLINE | OPERATION_TAKES_SGE | \
	 OPERATION_TAKES_SRQ)

/* The work requests and resources of an operation. */
struct operation_shape {
	bool is_read;     /* data come from the peer */
	bool is_atomic;   /* of exactly eight bytes */
	bool is_notified; /* a notification follows */
	bool rings;       /* writes; the signaled ones carry immediate data */
	bool is_granted;  /* each message asks a pool for memory of the case's size */
	bool is_call;     /* nothing is sent */
	bool registers;   /* a call that registers memory of the case's size */
	bool makes_pair;  /* a call that needs one extra queue pair */
	bool makes_cq;    /* a call that needs one extra completion queue */
	bool connects;    /* a call that connects to the server, which accepts */
};

struct operation {
	unsigned int needs; /* TRANSPORT_... properties that the transport must have */
	struct operation_shape shape;
	unsigned int takes;    /* OPERATION_TAKES_... */
	bool is_received;      /* each message, or each one that rings, consumes a receive */
	bool fills_receives;   /* the payload lands in those receives */
	bool has_immediate;    /* writes with immediate data */
	bool polls_memory;     /* the target can only poll memory for the message */
	enum result_kind kind; /* kind of its latency; see operation_kind */
};

extern const struct operation operations[OPERATIONS];
/* Names in the same order, NULL-terminated. */
extern const char *const operation_names[OPERATIONS + 1];

/* Returns the kind of latency for the completion modes of client and server. */
enum result_kind operation_kind(const struct operation *op, const struct parameters *parameters);

/* Returns whether the client times a call of its own. */
static inline bool operation_is_timed_call(const struct operation *op)
{
	return op->kind == RESULT_CALL;
}

/* Returns whether the server's program takes part: it replies, grants memory or accepts. */
static inline bool operation_is_answered(const struct operation *op, enum result_kind kind)
{
	return kind == RESULT_HALF || op->shape.is_granted || op->shape.connects;
}

#endif
