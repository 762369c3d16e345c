/* SPDX-License-Identifier: MIT */
/*
 * The places of a server's authenticated clients. While all are taken, the client that has been
 * idle for longest gives way to a new one, if it has been idle for at least idle_ms. All functions
 * may be called from any thread.
 */
#ifndef BENCH_SERVER_PLACES_H
#define BENCH_SERVER_PLACES_H

#include <pthread.h>

#include "bench/control/control.h"

/* A client may keep its place for this long between cases while others wait. */
#define PLACES_IDLE_MS 5000

/* One client's place. The client owns it. */
struct place {
	struct control *control;
	uint64_t idle_since_ns; /* 0: busy */
	bool is_leaving;        /* told to give way */
	struct place *next;
};

struct places {
	unsigned int most;    /* clients at once */
	unsigned int idle_ms; /* after which a client gives way */
	unsigned int count;
	struct place *latest;
	pthread_mutex_t lock;
	pthread_cond_t left;
};

int places_open(struct places *places, unsigned int most, unsigned int idle_ms,
		struct error *error);
void places_close(struct places *places);

/*
 * Takes a place for an idle client, and waits for it if another client gives way. Returns -EBUSY
 * if all clients are busy.
 */
int places_enter(struct places *places, struct place *place, struct control *control,
		 struct error *error);
/* Does nothing if the client has no place. */
void places_leave(struct places *places, struct place *place);

/* Marks a client as idle, from now on, or as busy. */
void places_set_idle(struct places *places, struct place *place, bool is_idle);

#endif
