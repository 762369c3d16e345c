/* SPDX-License-Identifier: MIT */
#include "reports/document/parse.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/printable.h"
#include "reports/document/document.h"
#include "reports/document/parse_case.h"
#include "reports/import/import.h"
#include "reports/io/json_member.h"
#include "reports/io/read_file.h"

/* Limit on the memory of JSON values, in units of 64 bytes. */
#define PIECES_MOST ((size_t)PARSE_VALUES_MIB << 14)

static int parse_end(struct result_end *end, const json_t *hosts, const char *name, json_t *texts,
		     struct error *error)
{
	json_t *json;

	if (json_member_object(hosts, name, &json, error) ||
	    json_member_text(json, "host", end->host, sizeof(end->host), error) ||
	    json_member_text(json, "device", end->device, sizeof(end->device), error) ||
	    json_member_text(json, "address", end->address, sizeof(end->address), error) ||
	    json_member_small(json, "port", INT_MAX, &end->port, error) ||
	    json_member_small(json, "mtu", INT_MAX, &end->mtu, error) ||
	    json_member_count(json, "rate_mbps", &end->rate_mbps, error))
		return -EINVAL;
	if (json_object_get(json, "hard_fingerprint") &&
	    json_member_text(json, "hard_fingerprint", end->fingerprint, sizeof(end->fingerprint),
			     error))
		return -EINVAL;
	if (json_object_get(json, "kind") &&
	    json_member_word(json, "kind", texts, &end->kind, error))
		return -EINVAL;
	end->facts = json_incref(json_object_get(json, "facts"));
	return json_member_word(json, "link_layer", texts, &end->link_layer, error);
}

/* An unknown side is assumed to be like the other one. */
static int parse_imported_hosts(struct result *result, const json_t *document, struct error *error)
{
	struct result_end *ends[] = {&result->client, &result->server};
	static const char *const names[] = {"client", "server"};
	json_t *hosts;
	int code = json_member_object(document, "hosts", &hosts, error);

	for (size_t i = 0; i < ARRAY_LENGTH(ends) && !code; i++) {
		struct result_end *end = ends[i];
		json_t *json = json_object_get(hosts, names[i]);

		if (!json)
			continue;
		code = json_member_text(json, "device", end->device, sizeof(end->device), error);
		if (!code && json_object_get(json, "link_layer"))
			code = json_member_word(json, "link_layer", result->texts, &end->link_layer,
						error);
		if (!code && json_object_get(json, "mtu"))
			code = json_member_small(json, "mtu", INT_MAX, &end->mtu, error);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(ends) && !code; i++)
		import_fill_end(ends[i], ends[!i]);
	return code ? error_wrap(error, "hosts") : 0;
}

static int parse_imported(struct result *result, const json_t *document, struct error *error)
{
	json_t *imported;
	json_t *run;
	char format[64];
	int code = json_member_object(document, "imported", &imported, error);

	if (!code)
		code = json_member_text(imported, "format", format, sizeof(format), error);
	if (!code && json_object_get(imported, "resolution_ns"))
		code = json_member_figure(imported, "resolution_ns", &result->clock_resolution_ns,
					  error);
	if (code)
		return error_wrap(error, "imported");
	result->imported = json_incref(imported);
	code = json_member_object(document, "run", &run, error);
	if (!code)
		code = parse_status(&result->status, run, error);
	if (!code && json_object_get(run, "started"))
		code = json_member_text(run, "started", result->started, sizeof(result->started),
					error);
	return code ? error_wrap(error, "run") : parse_imported_hosts(result, document, error);
}

static int parse_hosts(struct result *result, const json_t *document, struct error *error)
{
	json_t *hosts;
	int code = json_member_object(document, "hosts", &hosts, error);

	if (!code)
		code = parse_end(&result->client, hosts, "client", result->texts, error);
	if (!code)
		code = parse_end(&result->server, hosts, "server", result->texts, error);
	if (code)
		error_wrap(error, "hosts");
	return code;
}

static int parse_clock(struct result *result, const json_t *run, struct error *error)
{
	json_t *clock;

	if (json_member_object(run, "clock", &clock, error) ||
	    json_member_count(clock, "hz", &result->clock_hz, error) ||
	    json_member_number(clock, "drift_ppm", &result->clock_drift_ppm, error))
		return -EINVAL;
	if (json_object_get(clock, "resolution_ns") &&
	    json_member_figure(clock, "resolution_ns", &result->clock_resolution_ns, error))
		return -EINVAL;
	if (json_object_get(clock, "cost_ns") &&
	    json_member_count(clock, "cost_ns", &result->clock_cost_ns, error))
		return -EINVAL;
	return json_member_word(clock, "kind", result->texts, &result->clock, error);
}

static int parse_run(struct result *result, const json_t *document, struct error *error)
{
	json_t *command;
	json_t *run;
	int code = json_member_object(document, "run", &run, error);

	if (!code)
		code = json_member_text(run, "started", result->started, sizeof(result->started),
					error);
	if (!code)
		code = json_member_text(run, "finished", result->finished, sizeof(result->finished),
					error);
	if (!code)
		code = parse_status(&result->status, run, error);
	if (!code)
		code = parse_clock(result, run, error);
	if (!code)
		code = json_member_array(run, "command", &command, error);
	if (code) {
		error_wrap(error, "run");
		return code;
	}
	result->command = json_incref(command);
	result->plan = json_incref(json_object_get(run, "plan"));
	return 0;
}

/* Counted before any is allocated: a case of a hundred bytes may require four. */
static size_t count_histograms(const json_t *cases)
{
	const json_t *json;
	size_t count = 0;
	size_t i;

	json_array_foreach(cases, i, json)
	{
		count += json_object_get(json, "latency_ns") != NULL;
		count += json_object_get(json, "warmup_latency_ns") != NULL;
		count += json_object_get(json, "load") ? 2 : 0;
	}
	return count;
}

/* ids has the ids so far. They must be unique, because merging finds cases by id. */
static int parse_new_case(struct result *result, json_t *json, json_t *ids, struct error *error)
{
	struct result_case *line = &result->cases[result->n_cases++];
	int code;

	line->is_imported = result->imported;
	code = parse_case(line, json, result->texts, error);
	if (code && !line->id[0])
		error_wrap(error, "case %zu", result->n_cases);
	if (code)
		return code;
	if (json_object_get(ids, line->id))
		return error_set(error, -EINVAL, "case %zu has the same id as another: %.120s",
				 result->n_cases, line->id);
	if (json_object_set_new(ids, line->id, json_true()))
		return error_set_errno(error, -ENOMEM, "cannot keep the cases");
	return 0;
}

static int parse_all_cases(struct result *result, const json_t *cases, struct error *error)
{
	json_t *ids = json_object();
	json_t *json;
	size_t i;
	int code = ids ? 0 : error_set_errno(error, -ENOMEM, "cannot keep the cases");

	json_array_foreach(cases, i, json)
	{
		if (!code)
			code = parse_new_case(result, json, ids, error);
	}
	json_decref(ids);
	return code;
}

static int parse_cases(struct result *result, const json_t *document, struct error *error)
{
	json_t *cases;
	int code = json_member_array(document, "cases", &cases, error);

	if (code)
		return code;
	if (json_array_size(cases) > PARSE_CASES_MOST)
		return error_set(error, -E2BIG, "%zu cases exceed the maximum of %d",
				 json_array_size(cases), PARSE_CASES_MOST);
	if (count_histograms(cases) > PARSE_HISTOGRAMS_MOST)
		return error_set(error, -E2BIG, "%zu histograms exceed the maximum of %d",
				 count_histograms(cases), PARSE_HISTOGRAMS_MOST);
	result->cases = calloc(json_array_size(cases) + 1, sizeof(*result->cases));
	if (!result->cases)
		return error_set_errno(error, -ENOMEM, "cannot keep the cases");
	return parse_all_cases(result, cases, error);
}

static int check_schema(const json_t *document, struct error *error)
{
	const char *schema = json_string_value(json_object_get(document, "schema"));
	const char *slash = strrchr(DOCUMENT_SCHEMA, '/');
	char text[64];

	if (schema && !strncmp(schema, "verbmark.fleet/", strlen("verbmark.fleet/")))
		return error_set(error, -EINVAL,
				 "a check of a fleet, but a result of 'verbmark run' is expected");
	if (!schema || strncmp(schema, DOCUMENT_SCHEMA, (size_t)(slash + 1 - DOCUMENT_SCHEMA)) != 0)
		return error_set(error, -EINVAL,
				 "JSON, but not a verbmark result: \"schema\" is not \"%s\"",
				 DOCUMENT_SCHEMA);
	if (!strcmp(schema, DOCUMENT_SCHEMA))
		return 0;
	if (json_member_text(document, "schema", text, sizeof(text), error))
		return -EINVAL;
	return error_set(error, -EOPNOTSUPP, "schema is %s, but only %s is supported", text,
			 DOCUMENT_SCHEMA);
}

/* Checks the texts of a warning, which are shown as they are. */
static int check_warning(const json_t *warning, struct error *error)
{
	static const char *const members[] = {"code", "host", "what", "why", "mend"};
	char text[2048];
	int code = 0;

	if (!json_is_object(warning))
		return error_set(error, -EINVAL, "an element is not an object");
	for (size_t i = 0; i < ARRAY_LENGTH(members) && !code; i++)
		if (json_object_get(warning, members[i]))
			code = json_member_text(warning, members[i], text, sizeof(text), error);
	return code;
}

static int parse_warnings(struct result *result, const json_t *document, struct error *error)
{
	json_t *warnings;
	const json_t *warning;
	size_t i;
	int code = json_member_array(document, "warnings", &warnings, error);

	/* Merging compares each warning with all others, so their number is limited. */
	if (!code && json_array_size(warnings) > PARSE_WARNINGS_MOST)
		code = error_set(error, -E2BIG, "%zu exceed the maximum of %d",
				 json_array_size(warnings), PARSE_WARNINGS_MOST);
	json_array_foreach(warnings, i, warning)
	{
		if (!code)
			code = check_warning(warning, error);
	}
	if (!code)
		result->warnings = json_incref(warnings);
	return code ? error_wrap(error, "warnings") : 0;
}

/* Copies the known members only. */
static int parse_overflow(struct result *result, const json_t *document, struct error *error)
{
	json_t *json;
	char seen[512];
	unsigned int entries;
	unsigned int posted;
	unsigned int taken;
	bool told;

	if (json_member_object(document, "overflow", &json, error) ||
	    json_member_text(json, "seen", seen, sizeof(seen), error))
		return error->code;
	if (!json_object_get(json, "entries")) {
		result->overflow = json_pack("{s:s}", "seen", seen);
		return 0;
	}
	if (json_member_small(json, "entries", INT_MAX, &entries, error) ||
	    json_member_small(json, "posted", INT_MAX, &posted, error) ||
	    json_member_small(json, "taken", INT_MAX, &taken, error) ||
	    json_member_flag(json, "told", &told, error))
		return error->code;
	result->overflow = json_pack("{s:i, s:i, s:i, s:b, s:s}", "entries", (int)entries, "posted",
				     (int)posted, "taken", (int)taken, "told", told, "seen", seen);
	return 0;
}

static int parse_all(struct result *result, json_t *document, struct error *error)
{
	json_t *tool;
	int code = check_schema(document, error);

	if (code)
		return code;
	result->texts = json_array();
	if (!result->texts)
		return error_set_errno(error, -ENOMEM, "cannot keep the result");
	code = json_member_object(document, "tool", &tool, error);
	if (!code)
		code = json_member_plain_word(tool, "version", result->texts, &result->version,
					      error);
	if (!code && json_object_get(document, "imported"))
		code = parse_imported(result, document, error);
	if (!code && !result->imported)
		code = parse_run(result, document, error);
	if (!code && !result->imported)
		code = parse_hosts(result, document, error);
	if (!code && json_object_get(document, "warnings"))
		code = parse_warnings(result, document, error);
	if (!code && json_object_get(document, "overflow"))
		code = parse_overflow(result, document, error);
	return code ? code : parse_cases(result, document, error);
}

int parse_document(struct result *result, json_t *document, struct error *error)
{
	int code;

	*result = (struct result){0};
	code = parse_all(result, document, error);
	if (code)
		result_finish(result);
	return code;
}

/*
 * Estimates the memory that the text requires, before it is parsed: a byte of text can need eighty
 * bytes ("{},{},{}"). The estimate per value is somewhat above what jansson uses.
 */
static bool is_too_rich(const char *text, size_t length)
{
	static const unsigned char pieces[256] = {
		['{'] = 4, ['['] = 2, [','] = 1, [':'] = 1, ['"'] = 1};
	size_t sum = 0;

	for (size_t i = 0; i < length; i++)
		sum += pieces[(unsigned char)text[i]];
	return sum > PIECES_MOST;
}

/* The error quotes the text, so make it printable. */
static int not_json(json_error_t *fault, struct error *error)
{
	if (!fault->text[0])
		return error_set_errno(error, -ENOMEM, "cannot keep the values");
	printable_copy(fault->text, sizeof(fault->text), fault->text);
	return error_set(error, -EINVAL, "line %d, column %d: %s", fault->line, fault->column,
			 fault->text);
}

int parse_json(const char *text, size_t length, const char *is, json_t **document,
	       struct error *error)
{
	json_error_t fault;

	*document = NULL;
	if (is_too_rich(text, length))
		return error_set(error, -E2BIG,
				 "too many values for %s; the maximum is %d MiB of memory", is,
				 PARSE_VALUES_MIB);
	*document = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
	return *document ? 0 : not_json(&fault, error);
}

int parse_text(struct result *result, const char *text, size_t length, struct error *error)
{
	json_t *document;
	int code = parse_json(text, length, "a result", &document, error);

	*result = (struct result){0};
	if (code == -EINVAL)
		error_wrap(error, "not a verbmark result");
	if (!code)
		code = parse_document(result, document, error);
	json_decref(document);
	return code;
}

int parse_read(const char *path, char **text, size_t *length, struct error *error)
{
	return read_whole_file(path, "a result", PARSE_BYTES_MOST, text, length, error);
}

int parse_file(struct result *result, const char *path, struct error *error)
{
	char *text;
	size_t length;
	int code = parse_read(path, &text, &length, error);

	*result = (struct result){0};
	if (!code && parse_text(result, text, length, error))
		code = error_wrap(error, "%s", read_file_name(path));
	free(text);
	return code;
}
