/* SPDX-License-Identifier: MIT */
/*
 * Two agents with one endpoint each and up to STAND_MAX contexts on it. Contexts with the
 * same number are connected, manually or by rdma_cm. Parameters of tasks, and data that the
 * agents exchange, are on a board in shared memory. The agent's own context is used only
 * for its buffer, by task_fill and task_compare.
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
	CLIENT,
	SERVER,
};

/* Settings of both agents. */
struct stand_plan {
	struct endpoint_settings endpoint;
	struct rdma_settings settings;
	struct manual_qp_settings pair;
	char device[64];
	bool classic; /* as with a provider without ibv_wr_* */
};

/* A request or receive to be posted by one context. */
struct stand_order {
	enum post_operation operation;
	unsigned int which;
	unsigned int list;  /* length of the list; 0: a single request */
	unsigned int count; /* the last ones of the list; 0: all */
	size_t local;
	size_t remote;
	size_t length;
	size_t step; /* between requests of a list */
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
	uint8_t gid[sizeof(union ibv_gid)]; /* another GID that an agent has found */
};

extern struct stand_board *board;

/* A cmocka group setup. */
int stand_share(void **unused);

/* Puts the default plan for a transport and that many contexts on the board. */
void stand_plan(enum transport transport, enum rdma_wait_mode wait, unsigned int contexts);

/* The agent's own state, for tasks that a test defines. */
struct stand {
	enum stand_end end;
	struct device_handle device;
	struct endpoint endpoint;
	struct rdma_context contexts[STAND_MAX];
	unsigned int n;
};

extern struct stand here;

/* Stores the reason in the agent's context. Returns 0 or -1. */
int stand_end(struct rdma_context *ctx, int code, const struct error *error);

/* Opens device and endpoint. */
struct task task_stand(enum stand_end end);

/* Creates n queue pairs and puts their addresses on the board; connects them to the peer's. */
struct task task_pairs(unsigned int n);
struct task task_join(void);

/* The same by rdma_cm: n contexts listen; they accept and are connected in turn. */
struct task task_listeners(unsigned int n);
struct task task_accept(void);
struct task task_callers(unsigned int n);

/* Posts the order and takes the only completion, that of its last request. */
struct task task_post(void);

/* Posts receives as ordered. */
struct task task_receives(void);

/*
 * Takes the completion of a receive. Returns the bytes in value, the immediate data in
 * received.offset, and the number of the context in received.length.
 */
struct task task_take(void);

/* Waits for a completion that cannot arrive, until an error ends the wait. */
struct task task_wait(void);

/* Checks that there is no completion. */
struct task task_nothing(void);

struct task task_close_contexts(void);
struct task task_reset(void);
struct task task_strike(void); /* closes endpoint and device */

/* Two agents with endpoints and n connected contexts. */
struct stand_agents {
	struct agent *client;
	struct agent *server;
};

struct stand_agents stand_endpoints(void);
void stand_join(struct stand_agents agents, unsigned int n);
void stand_call(struct stand_agents agents, unsigned int n); /* by rdma_cm */
void stand_part(struct stand_agents agents);                 /* closes contexts */
void stand_stop(struct stand_agents agents);

/* Sends length bytes from one agent's context to the other's, and checks what arrives. */
void stand_send(struct agent *from, struct agent *to, unsigned int which, size_t length);

#endif
