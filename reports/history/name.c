/* SPDX-License-Identifier: MIT */
#include "reports/history/name.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reports/io/json_member.h"
#include "reports/result/fingerprint.h"

/* "20261123T101244Z-", and the digits of the hash. */
#define TIME_LENGTH 16
#define HASH_DIGITS 16
/* A number has so many bits of the hash behind the seconds, of which there are 35. */
#define HASH_BITS 28
#define YEAR_MOST 2999

static bool take_digits(const char **text, int count, int least, int most, int *number)
{
	*number = 0;
	for (int i = 0; i < count; i++, ++*text) {
		if (**text < '0' || **text > '9')
			return false;
		*number = *number * 10 + (**text - '0');
	}
	return *number >= least && *number <= most;
}

static bool history_name_take(const char **text, char letter)
{
	if (!letter)
		return true;
	return *(*text)++ == letter;
}

/* dash and colon: what is between the digits; 0: nothing. Names have none, documents do. */
static bool take_time(const char **text, char dash, char colon, int64_t *seconds)
{
	struct tm utc = {0};
	struct tm again;

	if (!take_digits(text, 4, 1970, YEAR_MOST, &utc.tm_year) ||
	    !history_name_take(text, dash) || !take_digits(text, 2, 1, 12, &utc.tm_mon) ||
	    !history_name_take(text, dash) || !take_digits(text, 2, 1, 31, &utc.tm_mday) ||
	    !history_name_take(text, 'T') || !take_digits(text, 2, 0, 23, &utc.tm_hour) ||
	    !history_name_take(text, colon) || !take_digits(text, 2, 0, 59, &utc.tm_min) ||
	    !history_name_take(text, colon) || !take_digits(text, 2, 0, 59, &utc.tm_sec) ||
	    !history_name_take(text, 'Z'))
		return false;
	utc.tm_year -= 1900;
	utc.tm_mon--;
	again = utc;
	*seconds = timegm(&again);
	/* There is no 31st of February. */
	return again.tm_mday == utc.tm_mday;
}

bool history_name_time(const char *started)
{
	int64_t seconds;

	return take_time(&started, '-', ':', &seconds) && !*started;
}

int history_name(char name[static HISTORY_NAME], const char *started, const char *document,
		 size_t length, struct error *error)
{
	const char *next;
	char digits[TIME_LENGTH + 1];
	size_t count = 0;

	if (!history_name_time(started))
		return error_set(error, -EINVAL,
				 "it was started at '%s', and that is no time such as "
				 "2026-11-23T10:12:44Z",
				 started);
	for (next = started; *next && count < TIME_LENGTH; next++)
		if (*next != '-' && *next != ':')
			digits[count++] = *next;
	digits[count] = '\0';
	snprintf(name, HISTORY_NAME, "%.16s-%016" PRIx64, digits,
		 fingerprint_hash(document, length));
	return 0;
}

static bool take_hash(const char *text, uint64_t *hash)
{
	*hash = 0;
	for (size_t i = 0; i < HASH_DIGITS; i++) {
		static const char digits[] = "0123456789abcdef";
		const char *found = text[i] ? strchr(digits, text[i]) : NULL;

		if (!found)
			return false;
		*hash = *hash << 4 | (uint64_t)(found - digits);
	}
	return !text[HASH_DIGITS];
}

bool history_name_number(const char *name, int64_t *number)
{
	const char *next = name;
	uint64_t hash;
	int64_t seconds;

	if (!take_time(&next, '\0', '\0', &seconds) || !history_name_take(&next, '-') ||
	    !take_hash(next, &hash))
		return false;
	*number = seconds << HASH_BITS | (int64_t)(hash >> (64 - HASH_BITS));
	return true;
}

bool history_name_is_of(const char *name, const char *document, size_t length)
{
	const char *dash = strchr(name, '-');
	uint64_t hash;

	return dash && take_hash(dash + 1, &hash) && hash == fingerprint_hash(document, length);
}

static int read_member(const json_t *json, const char *name, char text[static HISTORY_LABEL],
		       struct error *error)
{
	int code = 0;

	text[0] = '\0';
	if (json_object_get(json, name))
		code = json_member_text(json, name, text, HISTORY_LABEL, error);
	if (!code && json_member_is_formula(text))
		code = error_set(
			error, -EINVAL,
			"\"%s\" begins as a formula of spreadsheets does: with =, +, - or @", name);
	return code;
}

int history_label_read(struct history_label *label, const char *text, size_t length,
		       struct error *error)
{
	json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	int code;

	*label = (struct history_label){0};
	if (!json_is_object(json)) {
		json_decref(json);
		return error_set(error, -EINVAL, "the label is no JSON object");
	}
	code = read_member(json, "version", label->version, error);
	if (!code)
		code = read_member(json, "commit", label->commit, error);
	json_decref(json);
	return code ? error_wrap(error, "the label") : 0;
}

char *history_label_make(const struct history_label *label)
{
	json_t *json = json_object();
	char *text;

	if (label->version[0])
		json_object_set_new(json, "version", json_string(label->version));
	if (label->commit[0])
		json_object_set_new(json, "commit", json_string(label->commit));
	text = json_dumps(json, JSON_INDENT(1));
	json_decref(json);
	return text;
}
