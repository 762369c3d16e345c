/* SPDX-License-Identifier: MIT */
/*
 * A rule of advice: a row of a table, with a predicate over the facts. The predicate writes what it
 * found, and the fix if that depends on the facts.
 */
#ifndef BENCH_HOST_ADVICE_RULE_H
#define BENCH_HOST_ADVICE_RULE_H

#include "bench/host/advice/advice.h"
#include "core/base/compiler.h"

#define ADVICE_TEXT 256

struct advice_words {
	char what[ADVICE_TEXT];
	char mend[ADVICE_TEXT]; /* empty: use the row's */
};

/* peer is NULL in rules about one end. */
typedef bool advice_predicate(const struct advice_end *end, const struct advice_end *peer,
			      struct advice_words *words);

struct advice_rule {
	const char *code;
	bool spoils;
	advice_predicate *finds;
	const char *why;
	const char *mend; /* NULL: the predicate always writes it */
};

struct advice_table {
	const struct advice_rule *rules;
	size_t count;
};

extern const struct advice_table advice_of_device;  /* the device and its port */
extern const struct advice_table advice_of_bus;     /* its place: PCIe, NUMA, IOMMU */
extern const struct advice_table advice_of_host;    /* CPUs, memory, kernel */
extern const struct advice_table advice_of_machine; /* changes on the whole machine */
extern const struct advice_table advice_of_change;  /* other changes during the measurement */
extern const struct advice_table advice_of_pair;    /* both ends together */

/* Write a text and return true. */
bool advice_what(struct advice_words *words, const char *format, ...) FORMAT(2, 3);
bool advice_mend(struct advice_words *words, const char *format, ...) FORMAT(2, 3);

/* Get members of facts: NULL or false if missing or of another type. */
const char *advice_text(const json_t *facts, const char *section, const char *key);
bool advice_number(const json_t *facts, const char *section, const char *key, json_int_t *number);
bool advice_is_true(const json_t *facts, const char *section, const char *key);
bool advice_is_false(const json_t *facts, const char *section, const char *key);

bool advice_has(const json_t *array, const json_t *value);

/* Returns the device's name for a sentence. */
const char *advice_device(const json_t *facts);

/* Returns whether the port's link layer is Ethernet, InfiniBand or iWARP, as given. */
bool advice_is_link(const json_t *facts, const char *link_layer);

/* Returns whether it is the software device soft0, which does not involve the kernel. */
bool advice_is_soft(const json_t *facts);

/* Returns whether it is a hardware device, so that bus and memory placement matter. */
bool advice_is_hardware(const json_t *facts);

#endif
