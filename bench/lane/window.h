/* SPDX-License-Identifier: MIT */
/* A memory window of a flow, with memory and a region of its own. */
#ifndef BENCH_LANE_WINDOW_H
#define BENCH_LANE_WINDOW_H

#include "core/memory/memory.h"
#include "core/verbs/post.h"

struct window {
	struct memory memory;
	struct ibv_mr *mr;
	struct post_window post; /* binds all of the memory */
};

/* Does nothing if the window is open. */
int window_open(struct window *window, struct ibv_pd *pd, enum ibv_mw_type type, size_t bytes,
		struct error *error);

/* Accepts a zeroed window. Call before the queue pair that bound it is destroyed. */
void window_close(struct window *window);

#endif
