/* SPDX-License-Identifier: MIT */
/*
 * What a device and one of its ports can do, as the facts of a host tell it, and whether
 * a case asks for more: of either end, before anything runs. What is not told is no
 * limit. Facts come from a peer, and may say anything.
 */
#ifndef BENCH_HOST_DEVICE_SUPPORT_H
#define BENCH_HOST_DEVICE_SUPPORT_H

#include <jansson.h>

#include "bench/plan/operation.h"
#include "core/verbs/limits.h"

/* As many rows of the port's table as a case can name. */
#define DEVICE_SUPPORT_GIDS 256

struct device_support {
	const char *whose; /* the device is: "n02" */
	char name[80];     /* of device and port */
	bool is_server;
	bool is_iwarp;
	bool is_chelsio; /* by its provider: of iWARP the one that may have immediate data */
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	unsigned int transports;           /* a bit for each one that it has */
	uint64_t inline_bytes[TRANSPORTS]; /* the most that a queue pair takes */
	bool gids[DEVICE_SUPPORT_GIDS];    /* the rows that have one */
};

/* What libibverbs tells of them, put into the facts' sections of device and port. */
void device_support_tell(json_t *device, json_t *port, struct ibv_context *verbs,
			 unsigned int number);

/* The same out of an end's facts. whose stays the caller's. */
void device_support_read(struct device_support *capacity, const struct result_end *end,
			 bool is_server, const char *whose);

/*
 * Checks that the device supports a case, whose lanes need as much as wanted says. The error
 * names the device, what the case asks for and what the device has.
 */
int device_support_check(const struct device_support *capacity, const struct operation *op,
			 const struct parameters *parameters, const struct limits *wanted,
			 struct error *error);

#endif
