/* SPDX-License-Identifier: MIT */
#include "core/soft/peer/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int soft_table_init(struct soft_table *table, uint32_t first, uint32_t size)
{
	memset(table, 0, sizeof(*table));
	table->object = calloc(size, sizeof(*table->object));
	if (!table->object)
		return -ENOMEM;
	pthread_mutex_init(&table->mutex, NULL);
	table->first = first;
	table->size = size;
	table->next = first;
	return 0;
}

void soft_table_finish(struct soft_table *table)
{
	if (!table->object)
		return;
	free(table->object);
	pthread_mutex_destroy(&table->mutex);
	memset(table, 0, sizeof(*table));
}

static uint32_t next_number(const struct soft_table *table, uint32_t number)
{
	return number + 1 < table->size ? number + 1 : table->first;
}

/* A reserved number without an object points to the table itself. */
uint32_t soft_table_take(struct soft_table *table)
{
	uint32_t number = 0;

	pthread_mutex_lock(&table->mutex);
	if (table->count < table->size - table->first) {
		number = table->next;
		while (atomic_load(&table->object[number]))
			number = next_number(table, number);
		atomic_store(&table->object[number], table);
		table->next = next_number(table, number);
		table->count++;
	}
	pthread_mutex_unlock(&table->mutex);
	return number;
}

static void set(struct soft_table *table, uint32_t number, void *object)
{
	pthread_mutex_lock(&table->mutex);
	atomic_store(&table->object[number], object);
	table->count -= !object;
	pthread_mutex_unlock(&table->mutex);
}

void soft_table_show(struct soft_table *table, uint32_t number, void *object)
{
	set(table, number, object);
}

void soft_table_hide(struct soft_table *table, uint32_t number)
{
	set(table, number, table);
}

void soft_table_remove(struct soft_table *table, uint32_t number)
{
	set(table, number, NULL);
}

void soft_table_put_back(struct soft_table *table, uint32_t number)
{
	pthread_mutex_lock(&table->mutex);
	atomic_store(&table->object[number], NULL);
	table->count--;
	if (table->next == next_number(table, number))
		table->next = number;
	pthread_mutex_unlock(&table->mutex);
}

void soft_table_each(struct soft_table *table, void (*what)(void *object))
{
	pthread_mutex_lock(&table->mutex);
	for (uint32_t i = 0; i < table->size; i++) {
		void *object = soft_table_get(table, i);

		if (object)
			what(object);
	}
	pthread_mutex_unlock(&table->mutex);
}
