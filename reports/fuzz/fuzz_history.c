/* SPDX-License-Identifier: MIT */
/*
 * What a folder of a history may have in it: names of files, labels, and the times that
 * names are made of. A first byte says which: n, l or t.
 */
#include <string.h>

#include "core/fuzz/fuzz.h"
#include "reports/history/name.h"

#define MOST 4096

/* Numbers sort as names do. */
static void try_name(const char *text)
{
	static const char middle[] = "20261123T101244Z-8000000000000000";
	int64_t number;
	int64_t other;

	history_name_is_of(text, text, strlen(text));
	if (!history_name_number(text, &number))
		return;
	FUZZ_CHECK(strlen(text) == HISTORY_NAME - 1 && number >= 0);
	FUZZ_CHECK(history_name_number(middle, &other));
	FUZZ_CHECK((strcmp(text, middle) < 0 ? -1 : 1) * (number - other) >= 0);
}

/* A time makes a name, which is one, of that document alone. */
static void try_time(const char *text)
{
	char name[HISTORY_NAME];
	struct error error = {0};
	int64_t number;

	if (history_name(name, text, text, strlen(text), &error)) {
		FUZZ_CHECK(error.code < 0 && error.text[0]);
		return;
	}
	FUZZ_CHECK(!error.code && history_name_number(name, &number));
	FUZZ_CHECK(history_name_is_of(name, text, strlen(text)));
	FUZZ_CHECK(!history_name_is_of(name, text, strlen(text) - 1));
}

/* What was read is read again as it was. */
static void try_label(const char *text, size_t size)
{
	struct history_label label;
	struct history_label again;
	struct error error = {0};
	int code = history_label_read(&label, text, size, &error);
	char *made;

	fuzz_check_error(code, &error);
	if (code)
		return;
	fuzz_check_text(label.version);
	fuzz_check_text(label.commit);
	made = history_label_make(&label);
	FUZZ_CHECK(made && !history_label_read(&again, made, strlen(made), &error));
	FUZZ_CHECK(!strcmp(label.version, again.version) && !strcmp(label.commit, again.commit));
	free(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char text[MOST + 1];

	if (!size || size > MOST)
		return 0;
	memcpy(text, bytes + 1, size - 1);
	text[size - 1] = '\0';
	if (bytes[0] == 'n')
		try_name(text);
	else if (bytes[0] == 't')
		try_time(text);
	else
		try_label(text, size - 1);
	return 0;
}
