/* SPDX-License-Identifier: MIT */
/*
 * The server of a pool, on one device: takes clients by rdma_cm, grants them memory, hears
 * their doorbells, and takes back what they leave. It has no thread: whoever calls pool_serve
 * is the one that does all of it, and is told there; pool_end, and nothing else, may be called
 * by others. What one client does wrong is told to that one, and fails nobody else.
 */
#ifndef CORE_POOL_SERVER_H
#define CORE_POOL_SERVER_H

#include <stdbool.h>

#include "core/base/address.h"
#include "core/base/alarm.h"
#include "core/pool/grants.h"
#include "core/pool/shared_receives.h"
#include "core/rdma/cm.h"
#include "core/verbs/completion.h"
#include "core/verbs/device.h"

/* Clients at once. */
#define POOL_GUESTS  1024
#define POOL_BUCKETS 256

enum pool_event {
	POOL_CAME,
	POOL_GRANTED,
	POOL_FREED,
	POOL_RUNG,
	POOL_DENIED, /* what was asked for; the reason is a sentence's end */
	POOL_WENT,   /* with all that it had */
	POOL_EVENTS
};

/* What has become of a client. Texts live as long as the call. */
struct pool_report {
	enum pool_event event;
	const char *who; /* its address, and its number, from 1; who is not let in has none */
	uint64_t size;
	uint64_t address;
	uint32_t rkey;
	uint32_t number; /* of a doorbell, and the value that it tells of */
	uint32_t value;
	const char *reason;
};

struct pool_settings {
	const char *device;  /* NULL: the first one that there is, */
	uint8_t device_port; /* by which clients come; 0: any of its ports */
	const char *address; /* to listen on; NULL: all of the device's */
	uint16_t port;       /* 0: a free one */
	uint64_t size;
	uint64_t share;           /* of one client at most, in whole chunks; 0: all of it */
	uint32_t receives;        /* that clients share */
	uint32_t clients;         /* at once, POOL_GUESTS at most; 0: that many */
	uint32_t time_ms;         /* for which one is served, to a second; 0: for ever */
	enum rdma_wait_mode wait; /* RDMA_POLL: looks each tick; RDMA_EVENT: sleeps */
	bool (*permits)(void *owner, const struct sockaddr *client); /* NULL: all */
	void (*tell)(void *owner, const struct pool_report *report);
	void *owner;
};

struct server_client;

struct pool_server {
	struct pool_settings settings;
	struct device_handle device;
	uint8_t device_port; /* the first one of the device, or the one that is active */
	struct ibv_device_attr limits;
	bool has_domains; /* each client has a protection domain of its own, and no windows */
	bool tells_last;  /* the device says which queue pair takes no more receives */
	struct alarm alarm;
	struct completion completion;
	uint32_t depth;    /* of its queue */
	struct ibv_pd *pd; /* of the mailbox; and of clients that have none of their own */
	struct shared_receives mailbox;
	struct memory memory; /* all of the pool */
	struct grants grants;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	uint16_t port; /* that it listens on */
	int timer;     /* a timerfd, for those that say nothing; it runs while there are clients */
	struct server_client *guests;
	struct server_client *by_queue[POOL_BUCKETS];
	unsigned int n_guests;
	unsigned int most_guests;
	unsigned int n_ever; /* that have come */
	unsigned int n_leaving;
};

/* Listens. Afterwards the settings' texts are not needed any more. */
int pool_open(struct pool_server *server, const struct pool_settings *settings,
	      struct error *error);

/* Until pool_end, which is no error, or a failure of what all clients need. */
int pool_serve(struct pool_server *server, struct error *error);

void pool_end(struct pool_server *server);

/* Returns the first failure. A zeroed one is fine. */
int pool_close(struct pool_server *server);

#endif
