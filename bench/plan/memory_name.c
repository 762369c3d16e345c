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
	char text[MEMORY_TEXT];
	struct memory_choice choice;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct name *_Atomic names[MEMORY_NAMES];

/* Case ids contain the text, between slashes. */
static bool is_plain(const char *text)
{
	size_t length = strlen(text);

	for (const char *at = text; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("%=+:,._@~/-", *at))
			return false;
	return !strstr(text, "//") && length && text[length - 1] != '/';
}

static void lower_kind(char *text)
{
	for (; *text && *text != ':'; text++)
		*text = (char)tolower((unsigned char)*text);
}

/* Expects the lock. */
static int add_name(const struct name *wanted, uint64_t *number, struct error *error)
{
	struct name *made;
	size_t i;

	for (i = 0; i < MEMORY_NAMES && names[i]; i++) {
		*number = i;
		if (!strcmp(names[i]->text, wanted->text))
			return 0;
	}
	made = i < MEMORY_NAMES ? malloc(sizeof(*made)) : NULL;
	if (!made)
		return error_set(error, -ENOMEM,
				 "is one of more than %d different ones; restart this program",
				 MEMORY_NAMES);
	*made = *wanted;
	names[i] = made;
	*number = i;
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
	snprintf(wanted.text, sizeof(wanted.text), "%s", text);
	lower_kind(wanted.text);
	pthread_mutex_lock(&lock);
	code = add_name(&wanted, number, error);
	pthread_mutex_unlock(&lock);
	return code;
}

const char *memory_name_text(uint64_t number)
{
	return number < MEMORY_NAMES && names[number] ? names[number]->text : "host";
}

const struct memory_choice *memory_name_choice(uint64_t number)
{
	static const struct memory_choice host;

	return number < MEMORY_NAMES && names[number] ? &names[number]->choice : &host;
}
