/* SPDX-License-Identifier: MIT */
#include "bench/plan/memory_name.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct name {
	struct memory_choice choice;
	size_t n_holders; /* protected by the lock */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct name *_Atomic names[MEMORY_NAMES + 1]; /* by number, from 1 on */

/* Case ids contain the text, between slashes. */
static bool is_plain(const char *text)
{
	size_t length = strlen(text);

	for (const char *at = text; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("%=+:,._@~/-", *at))
			return false;
	return !strstr(text, "//") && length && text[length - 1] != '/';
}

/* Returns the number of the text, or else a free one; 0: all are held. Expects the lock. */
static uint64_t find_number(const char *text)
{
	uint64_t unused = 0;

	for (uint64_t i = MEMORY_NAMES; i; i--) {
		if (!names[i])
			unused = i;
		else if (!strcmp(names[i]->choice.text, text))
			return i;
	}
	return unused;
}

/* Expects the lock. */
static int hold_name(const struct name *wanted, uint64_t *number, struct error *error)
{
	uint64_t found = find_number(wanted->choice.text);

	if (found && !names[found]) {
		struct name *made = malloc(sizeof(*made));

		if (made)
			*made = *wanted;
		names[found] = made;
	}
	if (!found || !names[found])
		return error_set(error, -ENOMEM,
				 "exceeds the limit of %d kinds of memory in use at once; use "
				 "fewer, or retry later",
				 MEMORY_NAMES);
	names[found]->n_holders++;
	*number = found;
	return 0;
}

int memory_name_find(const char *text, uint64_t *number, struct error *error)
{
	struct name wanted = {0};
	int code;

	if (!is_plain(text))
		return error_set(error, -EINVAL, "contains a character that is not allowed");
	code = memory_find(text, &wanted.choice, error);
	if (code)
		return code;
	pthread_mutex_lock(&lock);
	code = hold_name(&wanted, number, error);
	pthread_mutex_unlock(&lock);
	return code;
}

static const struct name *name_of(uint64_t number)
{
	return number <= MEMORY_NAMES ? names[number] : NULL;
}

void memory_name_hold(uint64_t number)
{
	pthread_mutex_lock(&lock);
	if (name_of(number))
		names[number]->n_holders++;
	pthread_mutex_unlock(&lock);
}

void memory_name_release(uint64_t number)
{
	pthread_mutex_lock(&lock);
	if (name_of(number) && !--names[number]->n_holders) {
		free(names[number]);
		names[number] = NULL;
	}
	pthread_mutex_unlock(&lock);
}

const char *memory_name_text(uint64_t number)
{
	const struct name *name = name_of(number);

	return name ? name->choice.text : "host";
}

const struct memory_choice *memory_name_choice(uint64_t number)
{
	static const struct memory_choice host;
	const struct name *name = name_of(number);

	return name ? &name->choice : &host;
}
