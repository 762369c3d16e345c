/* SPDX-License-Identifier: MIT */
#include "bench/cli/inputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/document/parse.h"
#include "reports/export/xml.h"
#include "reports/fleet/document.h"
#include "reports/fleet/text.h"
#include "reports/io/json_member.h"
#include "reports/io/read_file.h"
#include "reports/io/save.h"

/* into and text may be the same. */
static void make_printable(char *into, size_t size, const char *text)
{
	size_t at = 0;

	while (*text) {
		size_t length = xml_measure(text);
		size_t read = length ? length : 1;

		if (at + read >= size)
			break;
		if (length)
			memmove(into + at, text, length);
		else
			into[at] = '?';
		at += read;
		text += read;
	}
	into[at] = '\0';
}

void inputs_name(char name[static INPUTS_NAME], const char *path)
{
	make_printable(name, INPUTS_NAME, path);
}

void inputs_name_error(struct error *error)
{
	make_printable(error->text, sizeof(error->text), error->text);
}

int inputs_load(struct result *result, const char *path, struct error *error)
{
	int code = parse_file(result, path, error);

	if (code)
		inputs_name_error(error);
	return code;
}

/* A later version of the schema is a fleet, too: its parser rejects it. */
static bool is_fleet(const json_t *document)
{
	const char *schema = json_member_or_empty(document, "schema");

	return !strncmp(schema, FLEET_SCHEMA, strlen(FLEET_SCHEMA) - 1);
}

static int parse_input(struct inputs_file *input, const char *text, size_t length,
		       struct error *error)
{
	struct fleet_text parts;
	json_t *document = NULL;
	int code = fleet_text_open(&parts, text, length, error);

	if (!code)
		code = parse_json(parts.head, parts.length, "a result", &document, error);
	if (code == -EINVAL)
		error_wrap(error, "not a verbmark result");
	input->is_fleet = is_fleet(document);
	if (!code && input->is_fleet)
		code = fleet_document_parse(&input->fleet, document, error);
	else if (!code)
		code = parse_document(&input->result, document, error);
	json_decref(document);
	if (!code && input->is_fleet) {
		code = fleet_text_add_pairs(&input->fleet, &parts, error);
		if (code)
			fleet_finish(&input->fleet);
	}
	fleet_text_close(&parts);
	return code;
}

int inputs_load_file(struct inputs_file *input, const char *path, struct error *error)
{
	static const struct read_kind kinds[] = {
		{"a check of a fleet", "{\"schema\":\"verbmark.fleet/", FLEET_BYTES_MOST},
		{"a result",           NULL,                            PARSE_BYTES_MOST},
	};
	char *text;
	size_t length;
	int code = read_file_of_kinds(path, kinds, &text, &length, error);

	*input = (struct inputs_file){0};
	if (!code && parse_input(input, text, length, error))
		code = error_wrap(error, "%s", read_file_name(path));
	free(text);
	if (code) {
		*input = (struct inputs_file){0};
		inputs_name_error(error);
	}
	return code;
}

void inputs_finish_file(struct inputs_file *input)
{
	if (input->is_fleet)
		fleet_finish(&input->fleet);
	else
		result_finish(&input->result);
}

const char *inputs_add(const char **paths, size_t *count, const char *path)
{
	for (size_t i = 0; i < *count; i++)
		if (save_is_same(paths[i], path))
			return "is given twice";
	paths[(*count)++] = path;
	return NULL;
}

int inputs_require(size_t count, const char *what, struct error *error)
{
	return count ? 0
		     : error_set(error, -EINVAL,
				 "%s is missing: give a result that 'verbmark run' saved", what);
}

int inputs_spare(const char *const *paths, size_t count, const char *option, const char *output,
		 struct error *error)
{
	if (!output || !strcmp(output, "-"))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (save_is_same(output, paths[i]))
			return error_set(error, -EINVAL,
					 "%s: '%s' is an input file and would be overwritten",
					 option, output);
	return 0;
}
