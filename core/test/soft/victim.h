/* SPDX-License-Identifier: MIT */
/*
 * A process with the device open, for tests that attack it: a child of the test, which itself has
 * only a slot in the registry. The registered memory is surrounded by marks, followed by
 * inaccessible pages. The victim acts only on orders of the test.
 */
#ifndef CORE_TEST_SOFT_VICTIM_H
#define CORE_TEST_SOFT_VICTIM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/soft/peer/message.h"
#include "core/soft/peer/registry.h"

enum {
	VICTIM_PAGES = 16,
	VICTIM_BYTES = VICTIM_PAGES * 4096, /* registered */
	VICTIM_FILL = 0x11,
	VICTIM_MARK = 0xc5,    /* fills the unregistered memory around it */
	VICTIM_FRIENDS = 4096, /* bytes for a friend, a legitimate peer */
};

/* The data that the victim sends about itself. */
struct victim_card {
	uint32_t slot;
	uint32_t generation;
	uint32_t qp;        /* index of the queue pair that is connected to the test's slot */
	uint32_t lonely_qp; /* index of an unconnected queue pair */
	uint32_t key;
	uint32_t local_key;   /* of the same memory, without remote access */
	uint32_t foreign_key; /* of the same memory, in another protection domain */
	uint32_t port;        /* port table entry of its rdma_cm listener */
	uint64_t address;
	/* For a friend: */
	union ibv_gid gid;
	uint32_t friend_qp; /* queue pair number */
	uint32_t friend_key;
	uint64_t friend_address;
};

enum victim_order {
	VICTIM_LOOK,   /* report only */
	VICTIM_MEET,   /* look up the test's process */
	VICTIM_WORK,   /* use all its objects */
	VICTIM_FRIEND, /* connect to the queue pair with the given number */
	VICTIM_END,
};

struct victim_report {
	uint32_t fds;   /* open descriptors */
	bool is_intact; /* unregistered memory is unchanged */
	bool has_met;
	uint8_t memory[VICTIM_BYTES];
};

struct victim {
	pid_t pid;
	int socket;
	struct victim_card card;
	struct soft_registry self; /* the test's slot */
};

/* Forks the victim, and takes a slot in the registry for the test. */
void victim_start(struct victim *victim);

/* Sends an order and waits for the report. */
void victim_order(struct victim *victim, enum victim_order order, uint32_t number,
		  struct victim_report *report);

/* Orders the victim to end; fails the test unless it exits without sanitizer findings. */
void victim_end(struct victim *victim);

/* Returns a socket that is connected to the victim's door. */
int victim_knock(const struct victim *victim);

/* Returns a valid message from the test's process. */
struct soft_message victim_message(const struct victim *victim, uint32_t kind);

/* Returns whether the peer closes the socket within some seconds without sending anything. */
bool victim_is_shut(int fd);

#endif
