/* SPDX-License-Identifier: MIT */
/*
 * Two connected queue pairs in one process on soft0, for tests of the software device. Each has its
 * own completion queue and half of the buffer. Any failure here fails the test. The test has a
 * private device directory.
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
	STAGE_PSN = 0xfffff0, /* soon wraps around at 24 bits */
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
	struct ibv_srq *srq; /* of end[1], or NULL */
	struct ibv_mr *mr;
	struct stage_end end[2];
	unsigned char *buffer;
	int file; /* memfd of shared memory, or -1 */
};

/* Options of a stage; most tests leave them zero. */
struct stage_ways {
	enum ibv_qp_type type; /* 0: RC */
	bool with_srq;
	bool is_apart; /* not connected */
	unsigned int access;
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t no_reads;     /* end[1] allows no READs */
	bool has_own_network; /* the child is in its own network namespace */
	bool no_channel;      /* no completion channel */
	bool is_shared;       /* memory is a sealed memfd; also if SOFT_SHARED is set */
	int cqe;
	uint64_t wc_flags; /* of the CQs; not 0: they are extended */
};

/* Returns the private directory, which is created once per program. */
const char *stage_directory(void);
int stage_set_up(void **state);
int stage_tear_down(void **state);

struct ibv_context *stage_open_device(void);
void stage_open(struct stage *stage, const struct stage_ways *ways);
void stage_close(struct stage *stage);

/* Moves a queue pair to RTS, connected to the given peer. */
void stage_connect(struct ibv_qp *qp, const union ibv_gid *gid, uint32_t number,
		   const struct stage_ways *ways);

/* Posts a receive of that many bytes to end[1], at the start of its half. */
void stage_receive(struct stage *stage, uint32_t length, uint64_t wr_id);

/* Posts wr to end[0], with a buffer at the start of its half unless wr has one. */
int stage_post(struct stage *stage, struct ibv_send_wr *wr, uint32_t length);

/* Returns the next completion; fails the test after some seconds. */
struct ibv_wc stage_await(struct ibv_cq *cq);

/* Polls once and returns whether the queue was empty. */
bool stage_is_empty(struct ibv_cq *cq);

/* Returns and acknowledges the next asynchronous event; fails the test after some seconds. */
enum ibv_event_type stage_await_event(struct stage *stage);

enum ibv_qp_state stage_state(struct ibv_qp *qp);

#endif
