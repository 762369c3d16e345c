/* SPDX-License-Identifier: MIT */
/*
 * A rule of advice: a row of a table and a predicate over what is known. The predicate
 * writes what it has found, and the mend where it depends on that.
 */
#ifndef BENCH_HOST_ADVICE_RULE_H
#define BENCH_HOST_ADVICE_RULE_H

#include "bench/host/advice/advice.h"
#include "core/base/compiler.h"

#define ADVICE_TEXT 256

struct advice_words {
	char what[ADVICE_TEXT];
	char mend[ADVICE_TEXT]; /* empty: the row's */
};

/* far is NULL in a rule about one end. */
typedef bool advice_predicate(const struct advice_end *near, const struct advice_end *far,
			      struct advice_words *words);

struct advice_rule {
	const char *code;
	bool spoils;
	advice_predicate *finds;
	const char *why;
	const char *mend; /* NULL: the predicate's in any case */
};

struct advice_table {
	const struct advice_rule *rules;
	size_t count;
};

extern const struct advice_table advice_of_device;  /* the device and its port */
extern const struct advice_table advice_of_bus;     /* where it is: PCIe, NUMA, IOMMU */
extern const struct advice_table advice_of_host;    /* processors, memory, kernel */
extern const struct advice_table advice_of_machine; /* what its machine did meanwhile */
extern const struct advice_table advice_of_change;  /* what else happened meanwhile */
extern const struct advice_table advice_of_pair;    /* both ends together */

/* Write a text, and return true. */
bool advice_what(struct advice_words *words, const char *format, ...) FORMAT(2, 3);
bool advice_mend(struct advice_words *words, const char *format, ...) FORMAT(2, 3);

/* Members of facts: NULL or false where they are absent, or of another type. */
const char *advice_text(const json_t *facts, const char *section, const char *key);
bool advice_number(const json_t *facts, const char *section, const char *key, json_int_t *number);
bool advice_is_true(const json_t *facts, const char *section, const char *key);
bool advice_is_false(const json_t *facts, const char *section, const char *key);

bool advice_has(const json_t *array, const json_t *value);

/* The device's name in a sentence. */
const char *advice_device(const json_t *facts);

/* Whether its port's link is of that kind: Ethernet, InfiniBand, iWARP. */
bool advice_is_link(const json_t *facts, const char *link_layer);

/* The software device, which has no part in the kernel. */
bool advice_is_soft(const json_t *facts);

/* A device of hardware: what the bus and the memory system do matters. */
bool advice_is_hardware(const json_t *facts);

#endif
