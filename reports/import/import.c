/* SPDX-License-Identifier: MIT */
#include "reports/import/import.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/import/perftest.h"
#include "reports/io/read_file.h"

/* perftest prints hundredths of microseconds. */
#define RESOLUTION_NS 10.0

static const struct {
	const char *code;
	const char *what;
	const char *why;
} notes[] = {
	{"perftest-latency",
	 "t_avg excludes the two largest samples; t_max, the third largest, and t_stdev are not imported",
	 "perftest drops its two largest samples, and truncates deviations to microseconds"                                              },
	{"perftest-rate",
	 "durations, and the halves of bidirectional rates, are computed from the printed rates",	  "perftest does not print them"},
};

int import_begin(struct import *import, const char *version, struct error *error)
{
	struct result *result = &import->result;

	*import = (struct import){.result.version = version};
	result->texts = json_array();
	result->warnings = json_array();
	result->clock_resolution_ns = RESOLUTION_NS;
	result->imported =
		json_pack("{s:s, s:f}", "format", "perftest", "resolution_ns", RESOLUTION_NS);
	if (result->texts && result->warnings && result->imported)
		return 0;
	import_close(import);
	return error_set_errno(error, -ENOMEM, "cannot keep the result");
}

static int import_add(struct import *import, const char *text, size_t length, struct error *error)
{
	size_t at = 0;

	while (at < length && isspace((unsigned char)text[at]))
		at++;
	if (at < length && text[at] == '{')
		return perftest_add_json(import, text, length, error);
	return perftest_add_text(import, text, length, error);
}

int import_file(struct import *import, const char *path, struct error *error)
{
	char *text;
	size_t length;
	int code = read_whole_file(path, "an import", IMPORT_BYTES_MOST, &text, &length, error);

	if (!code && import_add(import, text, length, error))
		code = error_wrap(error, "%s", read_file_name(path));
	free(text);
	return code;
}

void import_fill_end(struct result_end *end, const struct result_end *other)
{
	if (!end->link_layer)
		end->link_layer = other->link_layer ? other->link_layer : "unspecified";
	if (!end->mtu)
		end->mtu = other->mtu;
	if (!strcmp(end->device, "soft0"))
		end->kind = "soft";
}

static int warn(struct import *import, struct error *error)
{
	for (size_t i = 0; i < ARRAY_LENGTH(notes); i++)
		if (import->has_note[i] &&
		    json_array_append_new(import->result.warnings,
					  json_pack("{s:s, s:b, s:s, s:s, s:s, s:s}", "code",
						    notes[i].code, "spoils", i == IMPORT_LATENCY,
						    "host", "perftest", "what", notes[i].what,
						    "why", notes[i].why, "mend",
						    "use verbmark instead of perftest")))
			return error_set_errno(error, -ENOMEM, "cannot keep the warnings");
	return 0;
}

int import_finish(struct import *import, struct result *result, struct error *error)
{
	int code = 0;

	if (!import->result.n_cases)
		return error_set(error, -ENODATA, "the input has no results");
	for (size_t i = 0; i < import->result.n_cases && !code; i++)
		if (!strcmp(import->result.cases[i].metric, "lat"))
			code = result_take_figures(&import->result.cases[i], error);
	if (!code)
		code = warn(import, error);
	if (code)
		return code;
	import_fill_end(&import->result.client, &import->result.server);
	import_fill_end(&import->result.server, &import->result.client);
	import->result.status = result_status_of_cases(&import->result);
	*result = import->result;
	import->result = (struct result){0};
	return 0;
}

void import_close(struct import *import)
{
	result_finish(&import->result);
}
