/* SPDX-License-Identifier: MIT */
/*
 * Tables of objects by number. Numbers are assigned in turn, so that a freed number is not reused
 * at once. Number 0 is never assigned. While a caller holds the mutex, the objects that it finds
 * stay.
 */
#ifndef CORE_SOFT_PEER_TABLE_H
#define CORE_SOFT_PEER_TABLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct soft_table {
	pthread_mutex_t mutex;
	uint32_t first; /* lowest number */
	uint32_t size;
	uint32_t next;
	uint32_t count;
	_Atomic(void *) *object;
};

/* Returns 0 or -ENOMEM. */
int soft_table_init(struct soft_table *table, uint32_t first, uint32_t size);
void soft_table_finish(struct soft_table *table);

/* Reserves a number without an object yet. Returns 0 if the table is full. */
uint32_t soft_table_take(struct soft_table *table);

/* Lookups find the object between show and hide. */
void soft_table_show(struct soft_table *table, uint32_t number, void *object);
void soft_table_hide(struct soft_table *table, uint32_t number);

/* Releases the number. */
void soft_table_remove(struct soft_table *table, uint32_t number);

/*
 * Releases a number that nobody else can know. If it was the last one assigned, it is the next
 * again.
 */
void soft_table_put_back(struct soft_table *table, uint32_t number);

/* Calls `what` for each visible object, with the mutex held. */
void soft_table_each(struct soft_table *table, void (*what)(void *object));

static inline void *soft_table_get(const struct soft_table *table, uint32_t number)
{
	void *object;

	if (number >= table->size)
		return NULL;
	object = atomic_load_explicit(&table->object[number], memory_order_acquire);
	return object == table ? NULL : object;
}

#endif
