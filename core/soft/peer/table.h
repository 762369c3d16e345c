/* SPDX-License-Identifier: MIT */
/*
 * Objects by number. Numbers are given out in turn, so that one that was freed is not
 * the next to be used; number 0 is never given out. Who holds the mutex may rely on
 * what it finds not to go.
 */
#ifndef CORE_SOFT_PEER_TABLE_H
#define CORE_SOFT_PEER_TABLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct soft_table {
	pthread_mutex_t mutex;
	uint32_t first; /* the lowest number */
	uint32_t size;
	uint32_t next;
	uint32_t count;
	_Atomic(void *) *object;
};

/* Returns 0 or -ENOMEM. */
int soft_table_init(struct soft_table *table, uint32_t first, uint32_t size);
void soft_table_finish(struct soft_table *table);

/* A number, with nothing to be seen yet; 0: the table is full. */
uint32_t soft_table_take(struct soft_table *table);

/* From the one to the other, others find the object. */
void soft_table_show(struct soft_table *table, uint32_t number, void *object);
void soft_table_hide(struct soft_table *table, uint32_t number);

/* Gives the number back. */
void soft_table_remove(struct soft_table *table, uint32_t number);

/* One that nobody can have heard of: if it was the last one, it is the next one again. */
void soft_table_put_back(struct soft_table *table, uint32_t number);

/* Each that can be seen, with the mutex held. */
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
