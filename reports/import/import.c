/* SPDX-License-Identifier: MIT */
#include "reports/import/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/io/read_file.h"

/* What figures come in: hundredths of microseconds. */
#define RESOLUTION_NS 10.0

/* Of what a device is made is not told; this name is the software device's. */
#define SOFT "soft0"

int import_begin(struct import *import, const struct import_format *format, const char *version,
		 struct error *error)
{
	struct result *result = &import->result;

	*import = (struct import){.result.version = version};
	result->texts = json_array();
	result->warnings = json_array();
	result->clock_resolution_ns = RESOLUTION_NS;
	result->imported =
		json_pack("{s:s, s:f}", "format", format->name, "resolution_ns", RESOLUTION_NS);
	if (result->texts && result->warnings && result->imported)
		return 0;
	import_close(import);
	return error_set_errno(error, -ENOMEM, "cannot keep the result");
}

int import_file(struct import *import, const struct import_format *format, const char *path,
		struct error *error)
{
	char *text;
	size_t length;
	int code =
		read_whole_file(path, "what is imported", IMPORT_BYTES_MOST, &text, &length, error);

	if (!code && format->add(import, text, length, error))
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
	if (!strcmp(end->device, SOFT))
		end->kind = "soft";
}

int import_finish(struct import *import, const struct import_format *format, struct result *result,
		  struct error *error)
{
	int code = 0;

	if (!import->result.n_cases)
		return error_set(error, -ENODATA, "there are no figures to import");
	for (size_t i = 0; i < import->result.n_cases && !code; i++) {
		struct result_case *line = &import->result.cases[i];

		if (!line->latency && !strcmp(line->metric, "lat"))
			code = result_take_figures(line, error);
	}
	if (!code)
		code = format->finish(import, error);
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

struct result_case *import_case(struct import *import, const char *id, struct error *error)
{
	struct result *result = &import->result;
	struct result_case *grown;

	for (size_t i = 0; i < result->n_cases; i++)
		if (!strcmp(result->cases[i].id, id))
			return &result->cases[i];
	grown = reallocarray(result->cases, result->n_cases + 1, sizeof(*grown));
	if (!grown) {
		error_set_errno(error, -ENOMEM, "cannot keep the case");
		return NULL;
	}
	result->cases = grown;
	grown += result->n_cases++;
	*grown = (struct result_case){.is_imported = true, .status = RESULT_COMPLETE};
	snprintf(grown->id, sizeof(grown->id), "%s", id);
	return grown;
}

int import_warn(struct import *import, const struct import_warning *warning, struct error *error)
{
	const char *format = json_string_value(json_object_get(import->result.imported, "format"));
	json_t *made = json_pack("{s:s, s:b, s:s, s:s, s:s, s:s}", "code", warning->code, "spoils",
				 warning->spoils, "host", format, "what", warning->what, "why",
				 warning->why, "mend", warning->mend);

	if (!made || json_array_append_new(import->result.warnings, made))
		return error_set_errno(error, -ENOMEM, "cannot keep the warnings");
	return 0;
}
