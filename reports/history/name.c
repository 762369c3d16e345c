/* SPDX-License-Identifier: MIT */
#include "reports/history/name.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "reports/io/json_member.h"
#include "reports/result/fingerprint.h"

/* A run's number is the start time in seconds, followed by this many bits of the hash. */
#define HASH_BITS 28
#define YEAR_MOST 2999

/* Accepts only canonical times: strptime would also take February 30 or 9:05. */
static bool read_time(const char *text, struct tm *utc, int64_t *seconds)
{
	static const char format[] = "%Y-%m-%dT%H:%M:%SZ";
	char again[32];
	const char *end;

	*utc = (struct tm){0};
	end = strptime(text, format, utc);
	if (!end || *end)
		return false;
	*seconds = timegm(utc);
	return *seconds >= 0 && utc->tm_year + 1900 <= YEAR_MOST &&
	       strftime(again, sizeof(again), format, utc) && !strcmp(again, text);
}

bool history_name_time(const char *started)
{
	struct tm utc;
	int64_t seconds;

	return read_time(started, &utc, &seconds);
}

int history_name(struct history_name *name, const struct result *result, const char *document,
		 size_t length, struct error *error)
{
	uint64_t hash = fingerprint_hash(document, length);
	struct tm utc;
	int64_t seconds;
	size_t used;

	if (result->imported && !result->started[0])
		return error_set(error, -EINVAL,
				 "imported results need a start time: import the output with "
				 "--started");
	if (!read_time(result->started, &utc, &seconds))
		return error_set(error, -EINVAL,
				 "run.started is '%s', not a time such as 2026-11-23T10:12:44Z",
				 result->started);
	used = strftime(name->text, HISTORY_NAME, "%Y%m%dT%H%M%SZ", &utc);
	snprintf(name->text + used, HISTORY_NAME - used, "-%016" PRIx64, hash);
	name->number = seconds << HASH_BITS | (int64_t)(hash >> (64 - HASH_BITS));
	return 0;
}

static bool is_utf8(const char *text)
{
	json_t *json = json_string(text);
	bool is_text = json != NULL;

	json_decref(json);
	return is_text;
}

int history_label_set(char label[static HISTORY_LABEL], const char *text, const char *option,
		      struct error *error)
{
	label[0] = '\0';
	if (!text)
		return 0;
	if (strlen(text) >= HISTORY_LABEL)
		return error_set(error, -EINVAL, "%s is longer than %d bytes", option,
				 HISTORY_LABEL - 1);
	if (json_member_is_formula(text))
		return error_set(error, -EINVAL,
				 "%s begins with =, +, - or @, like a spreadsheet formula", option);
	if (!is_utf8(text) || !json_member_is_printable(text))
		return error_set(error, -EINVAL, "%s is not printable UTF-8", option);
	strcpy(label, text);
	return 0;
}
