/* SPDX-License-Identifier: MIT */
/*
 * The soft device of this process: its slot, arena, service thread, and its objects by number. It
 * exists from the first ibv_open_device to the last ibv_close_device.
 */
#ifndef CORE_SOFT_PEER_PROCESS_H
#define CORE_SOFT_PEER_PROCESS_H

#include <pthread.h>
#include <stdint.h>

#include "core/soft/link/model.h"
#include "core/soft/link/settings.h"
#include "core/soft/peer/arena.h"
#include "core/soft/peer/copy_server.h"
#include "core/soft/peer/door.h"
#include "core/soft/peer/peer.h"
#include "core/soft/peer/registry.h"
#include "core/soft/peer/service.h"
#include "core/soft/peer/table.h"

struct soft_process {
	/*
	 * Receive queue heads of queue pairs, as learned from completions, by the sender of their
	 * completion queue. Kept here because a completion may name a queue pair that is gone.
	 */
	_Alignas(SOFT_LINE) _Atomic uint32_t known_head[SOFT_SENDERS][SOFT_QPS];
	pthread_mutex_t mutex;
	_Atomic unsigned int users; /* read without the lock: see soft_process_enter() */
	_Atomic pid_t pid;
	struct soft_registry registry;
	struct soft_arena arena;
	struct soft_service service;
	struct soft_door door;
	struct soft_copy_server copy_server;
	struct soft_link link;
	bool copies_by_kernel; /* peers map no memory of this process */
	struct soft_lines lines;
	struct soft_peer self;
	struct soft_peer_channel own_channels[SOFT_CHANNELS];
	pthread_mutex_t connect_mutex; /* held while connecting to a peer */
	pthread_mutex_t lookup_mutex;  /* held while using a peer without a queue pair's lock */
	_Atomic(struct soft_peer *) peer[SOFT_SLOTS];
	struct soft_table qps;
	struct soft_table cqs;
	struct soft_table srqs;
	struct soft_table regions;
	struct soft_table channels;
	_Atomic size_t dm_bytes;      /* device memory in use */
	_Atomic uint32_t guest_slots; /* the highest slot of a guest plus 1 */
	_Atomic uint32_t next_pd;
	_Atomic uint32_t next_key;
	_Atomic uint32_t next_channel_generation;
	pthread_mutex_t contexts_mutex; /* guards contexts */
	pthread_mutex_t gids_mutex;     /* held while adding GIDs */
	pthread_mutex_t xrcds_mutex;    /* guards xrcds */
	pthread_mutex_t windows_mutex;  /* guards windows and what they are bound to */
	struct soft_context *contexts;
	struct soft_xrcd *xrcds;
	struct soft_mw *windows;
};

extern struct soft_process soft_process;

/* Returns 0 or a negative errno. A forked child gets a device of its own. */
int soft_process_enter(void);
void soft_process_leave(void);

/* Counts an object that was created (1) or destroyed (-1). */
void soft_process_count(enum soft_kind kind, int by);

/* Returns once every operation that was in progress in this process on entry has finished. */
void soft_process_quiesce(void);

/* Repairs what a peer that died left incomplete. */
void soft_process_repair(void);

#endif
