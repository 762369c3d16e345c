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

/*
 * All operations, in the order users see them: EACH(NUMBER, name, word, help, members of struct
 * operation).
 */
// clang-format off
#define OPERATION_LIST(EACH) \
	EACH(SEND, send, "send", "SEND into a posted receive", \
	     .is_received = true, .fills_receives = true, .kind = RESULT_HALF) \
	EACH(WRITE, write, "write", "RDMA WRITE", \
	     .needs = TRANSPORT_WRITES, .polls_memory = true, .kind = RESULT_HALF) \
	EACH(READ, read, "read", "RDMA READ", \
	     .needs = TRANSPORT_READS, .shape = {.is_read = true}, \
	     .takes = OPERATION_TAKES_REGISTRATION, .kind = RESULT_FULL) \
	EACH(WRITE_IMM, write_imm, "write-imm", "RDMA WRITE with immediate data", \
	     .needs = TRANSPORT_WRITES, .is_received = true, .has_immediate = true, \
	     .kind = RESULT_HALF) \
	EACH(SEND_IMM, send_imm, "send-imm", "SEND with immediate data", \
	     .is_received = true, .fills_receives = true, .has_immediate = true, \
	     .kind = RESULT_HALF) \
	EACH(FETCH_ADD, fetch_add, "fetch-add", "atomic fetch-and-add of 8 bytes", \
	     .needs = TRANSPORT_ATOMICS, .shape = {.is_atomic = true}, .kind = RESULT_FULL) \
	EACH(COMPARE_SWAP, compare_swap, "compare-swap", "atomic compare-and-swap of 8 bytes", \
	     .needs = TRANSPORT_ATOMICS, .shape = {.is_atomic = true}, .kind = RESULT_FULL) \
	EACH(ATOMIC_WRITE, atomic_write, "atomic-write", "atomic write of 8 bytes", \
	     .needs = TRANSPORT_ATOMICS, .shape = {.is_atomic = true, .stores = true}, \
	     .kind = RESULT_FULL) \
	EACH(SEND_INV, send_inv, "send-inv", \
	     "bind a memory window and SEND; the reply invalidates it", \
	     .needs = TRANSPORT_DEFAULT, .shape = {.binds = 2, .is_serial = true, .invalidates = true}, \
	     .is_received = true, .fills_receives = true, .has_immediate = true, \
	     .kind = RESULT_FULL) \
	EACH(BIND_MW, bind_mw, "bind-mw", "bind a memory window of type 2", \
	     .needs = TRANSPORT_DEFAULT, .shape = {.binds = 2}, .kind = RESULT_COMPLETION) \
	EACH(REBIND_MW, rebind_mw, "rebind-mw", "bind a memory window of type 1", \
	     .needs = TRANSPORT_DEFAULT, .shape = {.binds = 1}, .kind = RESULT_COMPLETION) \
	EACH(LOCAL_INV, local_inv, "local-inv", "invalidate a memory window of type 2", \
	     .needs = TRANSPORT_DEFAULT, .shape = {.binds = 2, .is_serial = true}, \
	     .kind = RESULT_COMPLETION) \
	EACH(WRITE_NOTIFY, write_notify, "write-notify", \
	     "RDMA WRITE, then a SEND to notify the peer", \
	     .needs = TRANSPORT_WRITES | TRANSPORT_RELIABLE | TRANSPORT_ORDERED, .shape = {.is_notified = true}, \
	     .is_received = true, .kind = RESULT_HALF) \
	EACH(READ_NOTIFY, read_notify, "read-notify", \
	     "RDMA READ, then a SEND to notify the peer", \
	     .needs = TRANSPORT_READS | TRANSPORT_RELIABLE | TRANSPORT_ORDERED, \
	     .shape = {.is_read = true, .is_notified = true}, .is_received = true, \
	     .kind = RESULT_HALF) \
	EACH(DOORBELL, doorbell, "doorbell", "stream of RDMA WRITEs, some with immediate data", \
	     .needs = TRANSPORT_WRITES | TRANSPORT_RELIABLE | TRANSPORT_ORDERED, .shape = {.rings = true}, \
	     .is_received = true, .has_immediate = true, .kind = RESULT_HALF) \
	EACH(ALLOC, alloc, "alloc", "memory granted by the server's pool", \
	     .needs = TRANSPORT_RELIABLE | TRANSPORT_ORDERED, .shape = {.is_granted = true}, .is_received = true, \
	     .kind = RESULT_FULL) \
	EACH(REGISTER, register, "register", "ibv_reg_mr()", \
	     .needs = TRANSPORT_DEFAULT, .shape = {.is_call = true, .registers = true}, \
	     .takes = OPERATION_TAKES_SIZE | OPERATION_TAKES_PAGES, .kind = RESULT_CALL) \
	EACH(DEREGISTER, deregister, "deregister", "ibv_dereg_mr()", \
	     .needs = TRANSPORT_DEFAULT, .shape = {.is_call = true, .registers = true}, \
	     .takes = OPERATION_TAKES_SIZE, .kind = RESULT_CALL) \
	EACH(CREATE_QP, create_qp, "create-qp", "ibv_create_qp()", \
	     .needs = TRANSPORT_TWO_WAY | TRANSPORT_STANDARD, .shape = {.is_call = true, .makes_pair = true}, \
	     .takes = OPERATION_TAKES_PAIR, .kind = RESULT_CALL) \
	EACH(CREATE_CQ, create_cq, "create-cq", "ibv_create_cq()", \
	     .needs = TRANSPORT_DEFAULT, .shape = {.is_call = true, .makes_cq = true}, \
	     .takes = OPERATION_TAKES_CQ | OPERATION_TAKES_TX, .kind = RESULT_CALL) \
	EACH(OPEN_DEVICE, open_device, "open-device", "ibv_open_device()", \
	     .needs = TRANSPORT_DEFAULT, .shape = {.is_call = true}, .kind = RESULT_CALL) \
	EACH(ALLOC_PD, alloc_pd, "alloc-pd", "ibv_alloc_pd()", \
	     .needs = TRANSPORT_DEFAULT, .shape = {.is_call = true}, .kind = RESULT_CALL) \
	EACH(POST_SEND, post_send, "post-send", "the call that posts a WRITE", \
	     .needs = TRANSPORT_CONNECTED, \
	     .takes = OPERATION_TAKES_SIZE | OPERATION_TAKES_INLINE | OPERATION_TAKES_SGE, \
	     .kind = RESULT_CALL) \
	EACH(POST_RECV, post_recv, "post-recv", "ibv_post_recv()", \
	     .needs = TRANSPORT_CONNECTED | TRANSPORT_TWO_WAY, \
	     .shape = {.is_call = true, .makes_pair = true}, \
	     .takes = OPERATION_TAKES_RX | OPERATION_TAKES_SGE, .kind = RESULT_CALL) \
	EACH(POLL_CQ, poll_cq, "poll-cq", "the call that takes a completion", \
	     .needs = TRANSPORT_CONNECTED, .kind = RESULT_CALL) \
	EACH(CONNECT, connect, "connect", "a connection by rdma_cm; see --step", \
	     .needs = TRANSPORT_BY_CM, \
	     .shape = {.is_call = true, .makes_pair = true, .connects = true}, \
	     .takes = OPERATION_TAKES_PAIR, .kind = RESULT_CALL)
// clang-format on

#define OPERATION_NUMBER(number, ...) OPERATION_##number,
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

#define OPERATION_ATOMIC_SIZE 8

/* The work requests and resources of an operation. */
struct operation_shape {
	bool is_read;       /* data come from the peer */
	bool is_atomic;     /* of exactly OPERATION_ATOMIC_SIZE bytes */
	bool stores;        /* an atomic that returns nothing */
	bool is_serial;     /* never several at once */
	bool invalidates;   /* the reply invalidates the client's memory window */
	unsigned int binds; /* type of the memory window that the client binds; 0: none */
	bool is_notified;   /* a notification follows */
	bool rings;         /* writes; the signaled ones carry immediate data */
	bool is_granted;    /* each message asks a pool for memory of the case's size */
	bool is_call;       /* nothing is sent */
	bool registers;     /* a call that registers memory of the case's size */
	bool makes_pair;    /* a call that needs one extra queue pair */
	bool makes_cq;      /* a call that needs one extra completion queue */
	bool connects;      /* a call that connects to the server, which accepts */
};

struct operation {
	unsigned int needs; /* TRANSPORT_... properties that the transport must have */
	struct operation_shape shape;
	unsigned int takes;    /* OPERATION_TAKES_... */
	bool is_received;      /* each message, or each one that rings, consumes a receive */
	bool fills_receives;   /* the payload lands in those receives */
	bool has_immediate;    /* messages with immediate data */
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

/* Returns whether requests can carry their payload: EFA takes that of writes from memory only. */
static inline bool operation_may_inline(const struct operation *op, enum transport transport)
{
	return transports[transport].route != ROUTE_SRD || !(op->needs & TRANSPORT_WRITES);
}

/* Returns whether there are never several operations at once. */
static inline bool operation_is_serial(const struct operation *op)
{
	return op->shape.is_granted || op->shape.is_serial || operation_is_timed_call(op);
}

/* Returns whether it only binds or invalidates memory windows: nothing is sent. */
static inline bool operation_is_local(const struct operation *op)
{
	return op->shape.binds && !op->shape.invalidates;
}

/* Returns whether the server's program takes part: it replies, grants memory or accepts. */
static inline bool operation_is_answered(const struct operation *op, enum result_kind kind)
{
	return kind == RESULT_HALF || op->shape.is_granted || op->shape.invalidates ||
	       op->shape.connects;
}

#endif
