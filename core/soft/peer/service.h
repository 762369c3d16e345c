/* SPDX-License-Identifier: MIT */
/*
 * The one thread of the soft device in a process. It sleeps until a peer knocks or
 * dies, a timer of a waiting operation is due, or a peer rang the doorbell because it
 * left something: an asynchronous event, a queue pair in error.
 */
#ifndef CORE_SOFT_PEER_SERVICE_H
#define CORE_SOFT_PEER_SERVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A descriptor that the thread looks at. It may free itself in ready(). */
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
};

/* Makes the descriptors; the thread looks at nothing before it is started. */
int soft_service_open(struct soft_service *service);
int soft_service_start(struct soft_service *service);

/* Ends the thread, if it was started, and closes. Accepts what is zeroed. */
void soft_service_close(struct soft_service *service);

int soft_service_add(struct soft_service *service, struct soft_source *source);
void soft_service_remove(struct soft_service *service, struct soft_source *source);

/* Sets a timerfd to that time; 0: it does not fire. */
void soft_service_set_timer(const struct soft_source *timer, uint64_t time_ns);

/* Has the timer fire at that time, or as soon as possible. */
void soft_service_wake_at(struct soft_service *service, uint64_t time_ns);

bool soft_service_is_this_thread(void);

/* Rings a doorbell, this process's or another's. */
void soft_service_ring(int doorbell);

#endif
