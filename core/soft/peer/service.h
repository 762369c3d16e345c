/* SPDX-License-Identifier: MIT */
/*
 * The service thread, one per process. It sleeps until a peer connects or dies, a timer of a
 * waiting operation expires, or a peer rings the doorbell because it left an asynchronous event or
 * put a queue pair into the error state.
 */
#ifndef CORE_SOFT_PEER_SERVICE_H
#define CORE_SOFT_PEER_SERVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A descriptor that the thread polls. It may free itself in ready(). */
struct soft_source {
	int fd;
	void (*ready)(struct soft_source *source, uint32_t events);
};

struct soft_service {
	pthread_t thread;
	int epoll;
	_Atomic bool is_running;
	struct soft_source doorbell;
	struct soft_source timer;
	struct soft_source moderation; /* the timer of moderated events */
};

/* Creates the descriptors. Nothing is polled until the thread is started. */
int soft_service_open(struct soft_service *service);
int soft_service_start(struct soft_service *service);

/* Ends the thread, if it was started, and closes the descriptors. Accepts a zeroed service. */
void soft_service_close(struct soft_service *service);

int soft_service_add(struct soft_service *service, struct soft_source *source);
void soft_service_remove(struct soft_service *service, struct soft_source *source);

/* Sets a timerfd to expire at time_ns; 0 disarms it. */
void soft_service_set_timer(const struct soft_source *timer, uint64_t time_ns);

/* Makes the timer expire at time_ns, or as soon as possible if that has passed. */
void soft_service_wake_at(struct soft_service *service, uint64_t time_ns);

bool soft_service_is_this_thread(void);

/* Rings the doorbell of this or another process. */
void soft_service_ring(int doorbell);

#endif
