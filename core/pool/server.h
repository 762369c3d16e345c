/* SPDX-License-Identifier: MIT */
/*
 * The server of a pool, on one device: accepts clients by rdma_cm, grants them memory,
 * handles their doorbells, and frees what they leave behind. It has no thread: pool_serve
 * does all the work, including reports, in its caller's thread. Other threads may call only
 * pool_end. An error of one client is reported to that client and does not affect others.
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

/* Maximum number of concurrent clients. */
#define POOL_GUESTS  1024
#define POOL_BUCKETS 256

enum pool_event {
	POOL_CAME,
	POOL_GRANTED,
	POOL_FREED,
	POOL_RUNG,
	POOL_DENIED, /* a request was refused, for `reason` */
	POOL_WENT,   /* the client left; all its grants are freed */
	POOL_EVENTS
};

/* An event of a client. Texts are valid only during the call. */
struct pool_report {
	enum pool_event event;
	const char *who; /* its address and number, from 1; a rejected client has no number */
	uint64_t size;
	uint64_t address;
	uint32_t rkey;
	uint32_t number; /* of a doorbell, and its value */
	uint32_t value;
	const char *reason;
};

struct pool_settings {
	const char *device;  /* NULL: the first one with an active port */
	uint8_t device_port; /* the port that clients use; 0: any */
	const char *address; /* to listen on; NULL: all */
	uint16_t port;       /* 0: a free one */
	uint64_t size;
	uint64_t share;           /* maximum per client, in whole chunks; 0: the whole pool */
	uint32_t receives;        /* shared by all clients */
	uint32_t clients;         /* maximum, up to POOL_GUESTS; 0: POOL_GUESTS */
	uint32_t time_ms;         /* time limit of a client, enforced to the second; 0: none */
	enum rdma_wait_mode wait; /* RDMA_POLL: polls every tick; RDMA_EVENT: sleeps */
	bool (*permits)(void *owner, const struct sockaddr *client); /* NULL: all */
	void (*tell)(void *owner, const struct pool_report *report);
	void *owner;
};

struct server_client;

struct pool_server {
	struct pool_settings settings;
	struct device_handle device;
	uint8_t device_port; /* the active port, or the first one */
	struct ibv_device_attr limits;
	bool has_domains;  /* each client has a protection domain, so no windows are needed */
	bool reports_last; /* the device reports the last receive of each queue pair */
	struct alarm alarm;
	struct completion completion;
	uint32_t depth;    /* of the completion queue */
	struct ibv_pd *pd; /* of the mailbox, and of clients without their own */
	struct shared_receives mailbox;
	struct memory memory; /* the pool */
	struct grants grants;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	uint16_t port; /* that it listens on */
	int timer;     /* a timerfd that finds silent clients; runs while there are clients */
	struct server_client *clients;
	struct server_client *by_qp[POOL_BUCKETS];
	unsigned int n_clients;
	unsigned int max_clients;
	unsigned int n_ever; /* clients so far */
	unsigned int n_leaving;
};

/* Opens the device and listens. The texts in settings may be freed afterwards. */
int pool_open(struct pool_server *server, const struct pool_settings *settings,
	      struct error *error);

/* Serves until pool_end, which returns 0, or until a failure that affects all clients. */
int pool_serve(struct pool_server *server, struct error *error);

void pool_end(struct pool_server *server);

/* Closes the server; a zeroed one is fine. Returns the first failure. */
int pool_close(struct pool_server *server);

#endif
