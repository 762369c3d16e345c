/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/base/compiler.h"
#include "core/base/memory_choice.h"
#include "core/memory/huge.h"
#include "core/memory/memory.h"

static const struct memory_kind *const kinds[] = {
	&memory_host,         &memory_file,        &memory_dax,  &memory_odp,
	&memory_nic,          &memory_dmabuf,      &memory_null, &memory_cuda,
	&memory_cuda_managed, &memory_cuda_pinned, &memory_rocm,
};

const char *memory_name(size_t i)
{
	return i < ARRAY_LENGTH(kinds) ? kinds[i]->name : NULL;
}

static int no_such_kind(struct error *error)
{
	char list[160] = "";
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(kinds) && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 kinds[i]->name);
	return error_set(error, -EINVAL, "is not one of %s", list);
}

static int take_detail(struct memory_choice *choice, const char *detail, struct error *error)
{
	if (!choice->kind->parse)
		return error_set(error, -EINVAL, "names a detail, but %s takes no details",
				 choice->kind->name);
	snprintf(choice->detail, sizeof(choice->detail), "%s", detail);
	if (choice->kind->path && !choice->kind->path(choice->detail, choice->path))
		choice->path[0] = '\0';
	return choice->kind->parse(choice->detail, error);
}

bool memory_is_word(char detail[static MEMORY_TEXT], const char *word)
{
	if (strcasecmp(detail, word) != 0)
		return false;
	snprintf(detail, MEMORY_TEXT, "%s", word);
	return true;
}

void memory_drop_zeros(char *number)
{
	size_t zeros = strspn(number, "0");

	if (zeros && (number[zeros] < '0' || number[zeros] > '9'))
		zeros--;
	memmove(number, number + zeros, strlen(number + zeros) + 1);
}

static void print_text(struct memory_choice *choice)
{
	size_t used = strlen(choice->kind->name);

	memcpy(choice->text, choice->kind->name, used);
	if (choice->detail[0])
		snprintf(choice->text + used, sizeof(choice->text) - used, ":%s", choice->detail);
}

int memory_find(const char *text, struct memory_choice *choice, struct error *error)
{
	size_t length = strcspn(text, ":");
	const char *detail;
	int code;

	*choice = (struct memory_choice){0};
	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
		if (strlen(kinds[i]->name) == length && !strncasecmp(kinds[i]->name, text, length))
			choice->kind = kinds[i];
	if (!choice->kind)
		return no_such_kind(error);
	if (strlen(text) >= MEMORY_TEXT)
		return error_set(error, -EINVAL, "is longer than %d characters", MEMORY_TEXT - 1);
	detail = text[length] ? text + length + 1 : choice->kind->detail;
	code = detail ? take_detail(choice, detail, error) : 0;
	if (!code && choice->kind == &memory_host && choice->detail[0])
		choice->kind = &memory_huge;
	if (!code)
		print_text(choice);
	return code;
}

static const char *detail_of(const struct memory_choice *choice)
{
	return choice->detail[0] ? choice->detail : NULL;
}

size_t memory_huge_page(const struct memory_choice *choice)
{
	return choice->kind == &memory_huge ? huge_page(detail_of(choice)) : 0;
}

bool memory_is_polled(const struct memory_choice *choice)
{
	bool is_known = choice->kind && choice->kind->is_polled;

	return is_known ? choice->kind->is_polled(detail_of(choice)) : true;
}

bool memory_is_of_gpu(const struct memory_choice *choice)
{
	return choice->kind && choice->kind->gpu;
}

bool memory_is_private(const struct memory_choice *choice)
{
	bool is_known = choice->kind && choice->kind->is_private;

	return is_known && choice->kind->is_private(detail_of(choice));
}

bool memory_is_null(const struct memory_choice *choice)
{
	return choice->kind == &memory_null;
}

const char *memory_path(const struct memory_choice *choice)
{
	return choice->path[0] ? choice->path : NULL;
}
