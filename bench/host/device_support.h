/* SPDX-License-Identifier: MIT */
/*
 * The capabilities of a device and one of its ports, as listed in a host's facts, and a check
 * whether a case exceeds them, at either end, before anything runs. A missing capability is no
 * limit. Facts come from a peer and may hold anything.
 */
#ifndef BENCH_HOST_DEVICE_SUPPORT_H
#define BENCH_HOST_DEVICE_SUPPORT_H

#include <jansson.h>

#include "bench/plan/operation.h"
#include "core/verbs/limits.h"
#include "core/verbs/srd.h"

/* Number of GID indexes that a case can name. */
#define DEVICE_SUPPORT_GIDS 256

/* The kernel's bit for atomic writes, which verbs.h does not define. */
#define DEVICE_SUPPORT_ATOMIC_WRITE (UINT64_C(1) << 40)

struct device_support {
	const char *whose;   /* the host, in errors: "n02" */
	char name[80];       /* "device/port" */
	const char *address; /* of the port; may be empty */
	bool is_server;
	bool is_iwarp;
	bool is_chelsio; /* the only iWARP provider that may support immediate data */
	struct ibv_device_attr device;
	uint64_t capabilities; /* IBV_DEVICE_... */
	struct ibv_port_attr port;
	unsigned int transports;           /* bit mask of supported transports */
	uint64_t inline_bytes[TRANSPORTS]; /* maximum inline size of a queue pair */
	bool gids[DEVICE_SUPPORT_GIDS];    /* whether the port has a GID at that index */
	struct srd_support srd;            /* only if that transport is supported */
	uint64_t pkeys;                    /* entries of the port's P_Key table */
	uint64_t lids;                     /* of the port; 0 on Ethernet */
	uint64_t memory_bytes;             /* of the device's own memory */
	uint64_t event_count;              /* limits of event moderation; 0: no moderation */
	uint64_t event_period_us;
	uint64_t rate_limit_min; /* of a queue pair, in kbit/s */
	uint64_t rate_limit_max;
	uint64_t rate_limit_types; /* bit mask of queue pair types that can have one */
	bool has_timestamps;       /* of completions, with a readable clock */
	const json_t *lacking; /* kinds of memory that cannot work: the reason by name; or NULL */
};

/* Adds the capabilities that libibverbs reports to the facts' sections "device" and "port". */
void device_support_tell(json_t *device, json_t *port, struct ibv_context *verbs,
			 unsigned int number);

/* Reads them from an end's facts. whose and the facts stay the caller's. */
void device_support_read(struct device_support *capacity, const struct result_end *end,
			 bool is_server, const char *whose);

/*
 * Checks that the device supports a case whose lanes need the resources in wanted. The error names
 * the device, what the case requests and what the device supports.
 */
int device_support_check(const struct device_support *capacity, const struct operation *op,
			 const struct parameters *parameters, const struct limits *wanted,
			 struct error *error);

#endif
