/* SPDX-License-Identifier: MIT */
/*
 * Two queue pairs of one process that talk to each other on soft0, for the tests of the
 * soft device. Each end has its completion queue and half of the buffer. Whatever fails
 * here fails the test. The device's directory is the test's own.
 */
#ifndef CORE_TEST_SOFT_STAGE_H
#define CORE_TEST_SOFT_STAGE_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/test/lib/check.h"

enum {
	STAGE_HALF = 1 << 20,
	STAGE_DEPTH = 16,
	STAGE_QKEY = 0x1234,
	STAGE_INLINE = 128,
	STAGE_PSN = 0xfffff0, /* soon beyond its 24 bits */
};

struct stage_end {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	unsigned char *buffer;
};

struct stage {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_srq *srq; /* of the second end, or NULL */
	struct ibv_mr *mr;
	struct stage_end end[2];
	unsigned char *buffer;
	int file; /* of shared memory; or -1 */
};

/* How the ends are connected; zeros are what most tests want. */
struct stage_ways {
	enum ibv_qp_type type; /* 0: RC */
	bool with_srq;
	bool is_apart; /* not connected */
	unsigned int access;
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t no_reads;     /* the second end grants none */
	bool has_own_network; /* of two processes, the child */
	bool no_channel;      /* completion queues have none */
	bool is_shared;       /* the memory: a sealed memfd; so it is where SOFT_SHARED is set */
	int cqe;
};

/* A directory of the test's own; each program once. */
const char *stage_directory(void);
int stage_set_up(void **state);
int stage_tear_down(void **state);

struct ibv_context *stage_open_device(void);
void stage_open(struct stage *stage, const struct stage_ways *ways);
void stage_close(struct stage *stage);

/* What ibv_modify_qp needs to bring a queue pair to RTS towards another. */
void stage_connect(struct ibv_qp *qp, const union ibv_gid *gid, uint32_t number,
		   const struct stage_ways *ways);

/* Posts a receive of that many bytes to the second end, at the beginning of its half. */
void stage_receive(struct stage *stage, uint32_t length, uint64_t wr_id);

/* Posts from the first half to the second; the rest of the request is given. */
int stage_post(struct stage *stage, struct ibv_send_wr *wr, uint32_t length);

/* The next completion of a queue, within some seconds. */
struct ibv_wc stage_await(struct ibv_cq *cq);

/* Whether a queue is empty now. */
bool stage_is_empty(struct ibv_cq *cq);

/* The next asynchronous event, within some seconds, acknowledged. */
enum ibv_event_type stage_await_event(struct stage *stage);

enum ibv_qp_state stage_state(struct ibv_qp *qp);

#endif
