/* SPDX-License-Identifier: MIT */
#include "reports/result/receivers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/io/json_member.h"
#include "reports/result/shares.h"
#include "reports/result/sum_check.h"

/* With more receivers, only the range is printed. */
#define LISTED_MOST 6

int receivers_open(struct receivers *receivers, size_t count, struct error *error)
{
	receivers_close(receivers);
	receivers->receiver = calloc(count, sizeof(*receivers->receiver));
	if (!receivers->receiver)
		return error_set_errno(error, -ENOMEM, "cannot store the results of each receiver");
	receivers->count = count;
	return 0;
}

void receivers_close(struct receivers *receivers)
{
	free(receivers->receiver);
	*receivers = (struct receivers){0};
}

int receivers_add(struct receivers *into, const struct receivers *from, struct error *error)
{
	if (!into->count && receivers_open(into, from->count, error))
		return error->code;
	if (into->count != from->count)
		return error_set(error, -EINVAL, "it has %zu receivers instead of %zu", from->count,
				 into->count);
	for (size_t i = 0; i < into->count; i++) {
		into->receiver[i].arrived += from->receiver[i].arrived;
		into->receiver[i].lost += from->receiver[i].lost;
	}
	return 0;
}

bool receivers_are_beyond(const struct receivers *one, const struct receivers *other)
{
	for (size_t i = 0; i < one->count && i < other->count; i++)
		if (sum_check_are_beyond(one->receiver[i].arrived, other->receiver[i].arrived) ||
		    sum_check_are_beyond(one->receiver[i].lost, other->receiver[i].lost))
			return true;
	return false;
}

static void print_range(const struct receivers *receivers, char *text, size_t size)
{
	uint64_t least = UINT64_MAX;
	uint64_t most = 0;

	for (size_t i = 0; i < receivers->count; i++) {
		uint64_t lost = receivers->receiver[i].lost;

		least = lost < least ? lost : least;
		most = lost > most ? lost : most;
	}
	snprintf(text, size, "%" PRIu64 "..%" PRIu64, least, most);
}

void receivers_print(const struct receivers *receivers, char text[static RECEIVERS_TEXT])
{
	char lost[LISTED_MOST * 22] = "";
	size_t used = 0;

	for (size_t i = 0; i < receivers->count && receivers->count <= LISTED_MOST; i++)
		used += (size_t)snprintf(lost + used, sizeof(lost) - used, "%s%" PRIu64,
					 i ? ", " : "", receivers->receiver[i].lost);
	if (receivers->count > LISTED_MOST)
		print_range(receivers, lost, sizeof(lost));
	snprintf(text, RECEIVERS_TEXT, "%zu receiver%s lost %s messages", receivers->count,
		 receivers->count > 1 ? "s" : "", lost);
}

json_t *receivers_encode(const struct receivers *receivers)
{
	json_t *list = json_array();
	int failed = 0;

	for (size_t i = 0; i < receivers->count; i++) {
		const struct receiver *receiver = &receivers->receiver[i];

		failed |= json_array_append_new(
			list, json_pack("{s:I, s:I}", "arrived", (json_int_t)receiver->arrived,
					"lost", (json_int_t)receiver->lost));
	}
	if (!failed)
		return list;
	json_decref(list);
	return NULL;
}

int receivers_decode(struct receivers *receivers, const json_t *list, struct error *error)
{
	int code;

	if (!json_array_size(list) || json_array_size(list) > SHARES_MOST)
		return error_set(error, -EINVAL, "invalid number of receivers");
	code = receivers_open(receivers, json_array_size(list), error);
	for (size_t i = 0; i < receivers->count && !code; i++) {
		const json_t *one = json_array_get(list, i);

		code = json_member_count(one, "arrived", &receivers->receiver[i].arrived, error);
		if (!code)
			code = json_member_count(one, "lost", &receivers->receiver[i].lost, error);
	}
	return code;
}
