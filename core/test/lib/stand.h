/* SPDX-License-Identifier: MIT */
/*
 * Two agents with an endpoint each, and on it up to STAND_MAX contexts, joined to those
 * of the same number at the other end: by hand or by rdma_cm. What a task is to do, and
 * what the ends must know of each other, stands on a board that all of them see. The
 * agent's own context lends its buffer's name to task_fill and task_compare only.
 */
#ifndef CORE_TEST_LIB_STAND_H
#define CORE_TEST_LIB_STAND_H

#include "core/rdma/context.h"
#include "core/test/lib/agent.h"
#include "core/verbs/device.h"

#define STAND_MAX    64
#define STAND_BUFFER (1U << 16)
#define STAND_DEPTH  32

enum stand_end {
	NEAR,
	FAR,
};

/* What both ends are made of. */
struct stand_plan {
	struct endpoint_settings endpoint;
	struct rdma_settings settings;
	struct manual_qp_settings pair;
	char device[64];
	bool classic; /* as with a provider that has no ibv_wr_* */
};

/* What is posted, by one context: to send, or to receive. */
struct stand_order {
	enum post_operation operation;
	unsigned int which;
	unsigned int list;  /* 0: one that is in no list */
	unsigned int count; /* of the list, from its end; 0: all of it */
	size_t local;
	size_t remote;
	size_t length;
	size_t step; /* from one of the list to the next */
	bool is_inline;
	unsigned int flags;
	uint32_t imm;
	uint64_t add;
	uint64_t compare;
	uint64_t swap;
};

struct stand_board {
	struct stand_plan plan;
	struct stand_order order;
	struct manual_qp_address addresses[2][STAND_MAX];
	uint16_t ports[STAND_MAX];
	uint8_t gid[sizeof(union ibv_gid)]; /* another that an end has found */
};

extern struct stand_board *board;

/* A cmocka group setup. */
int stand_share(void **unused);

/* Puts the usual plan of that transport on the board, for so many contexts. */
void stand_plan(enum transport transport, enum rdma_wait_mode wait, unsigned int contexts);

/* The agent's side of it all, for tasks that a test has of its own. */
struct stand {
	enum stand_end end;
	struct device_handle device;
	struct endpoint endpoint;
	struct rdma_context contexts[STAND_MAX];
	unsigned int n;
};

extern struct stand here;

/* Leaves the reason in the agent's context. Returns 0 or -1. */
int stand_end(struct rdma_context *ctx, int code, const struct error *error);

/* Opens device and endpoint. */
struct task task_stand(enum stand_end end);

/* Makes so many pairs, and tells the board; then joins them to the other end's. */
struct task task_pairs(unsigned int n);
struct task task_join(void);

/* The same by rdma_cm: so many listen; they are connected to one after the other. */
struct task task_listeners(unsigned int n);
struct task task_accept(void);
struct task task_callers(unsigned int n);

/* Posts the order, and takes the completion of its last request, the only one. */
struct task task_post(void);

/* Posts receives as ordered. */
struct task task_receives(void);

/*
 * Takes the completion of a receive. In value the bytes; in received.offset the
 * immediate data, in received.length the number of the context.
 */
struct task task_take(void);

/* Waits for a completion that cannot come, until something ends it. */
struct task task_wait(void);

/* There is no completion. */
struct task task_nothing(void);

struct task task_close_contexts(void);
struct task task_reset(void);
struct task task_strike(void); /* closes endpoint and device */

/* Two agents with their endpoints, and n pairs that are joined. */
struct stand_agents {
	struct agent *near;
	struct agent *far;
};

struct stand_agents stand_endpoints(void);
void stand_join(struct stand_agents agents, unsigned int n);
void stand_call(struct stand_agents agents, unsigned int n); /* near calls far, by rdma_cm */
void stand_part(struct stand_agents agents);                 /* closes contexts */
void stand_stop(struct stand_agents agents);

/* Sends length bytes from one end's context to the other's, and looks at what comes. */
void stand_send(struct agent *from, struct agent *to, unsigned int which, size_t length);

#endif
