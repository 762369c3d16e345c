/* SPDX-License-Identifier: MIT */
/*
 * A process with the device open, for the tests that attack it: a child of the test,
 * which itself has no more than a slot in the registry. The registered memory has marks
 * on both sides, and pages behind them that nobody may touch. What the victim does, it
 * is told to.
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
	VICTIM_MARK = 0xc5,    /* of what is not registered */
	VICTIM_FRIENDS = 4096, /* bytes of a peer that is none of the attackers' */
};

/* What the victim says of itself. */
struct victim_card {
	uint32_t slot;
	uint32_t generation;
	uint32_t qp; /* the index of the one that is connected to the test's slot */
	uint32_t lonely_qp;
	uint32_t key;
	uint32_t local_key;   /* the same memory, which no peer may write or read */
	uint32_t foreign_key; /* the same, in another protection domain */
	uint32_t port;        /* the entry of its listener of rdma_cm */
	uint64_t address;
	/* For a friend: */
	union ibv_gid gid;
	uint32_t friend_qp; /* its number */
	uint32_t friend_key;
	uint64_t friend_address;
};

enum victim_order {
	VICTIM_LOOK,   /* says how it is */
	VICTIM_MEET,   /* looks for the test's process */
	VICTIM_WORK,   /* does a bit of everything with what it has */
	VICTIM_FRIEND, /* connects to the queue pair of that number */
	VICTIM_END,
};

struct victim_report {
	uint32_t fds;
	bool is_intact; /* all that is not registered */
	bool has_met;
	uint8_t memory[VICTIM_BYTES];
};

struct victim {
	pid_t pid;
	int socket;
	struct victim_card card;
	struct soft_registry self; /* the test's slot */
};

/* Without memory that peers have been given: no more than a slot of its own. */
void victim_start(struct victim *victim);
void victim_order(struct victim *victim, enum victim_order order, uint32_t number,
		  struct victim_report *report);

/* It must end by itself, with nothing that a sanitizer found. */
void victim_end(struct victim *victim);

/* A socket to its door. */
int victim_knock(const struct victim *victim);

/* What the test's process says of itself. */
struct soft_message victim_message(const struct victim *victim, uint32_t kind);

/* Whether the other end of the socket closes it without a word, within some seconds. */
bool victim_is_shut(int fd);

#endif
