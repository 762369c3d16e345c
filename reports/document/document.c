/* SPDX-License-Identifier: MIT */
#include "reports/document/document.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/document/case.h"
#include "reports/document/text.h"
#include "reports/finding/load_knee.h"
#include "reports/finding/paired_trials.h"
#include "reports/finding/qp_limit.h"
#include "reports/io/save.h"

json_t *document_make_end(const struct result_end *end)
{
	json_t *json = json_pack("{s:s, s:s, s:i, s:s, s:s, s:o, s:i}", "host", end->host, "device",
				 end->device, "port", (int)end->port, "address", end->address,
				 "link_layer", end->link_layer, "rate_mbps",
				 document_number(end->rate_mbps), "mtu", (int)end->mtu);
	int failed = 0;

	if (end->kind)
		failed |= json_object_set_new(json, "kind", json_string(end->kind));
	if (end->facts)
		failed |= json_object_set(json, "facts", end->facts);
	if (end->fingerprint[0])
		failed |= json_object_set_new(json, "hard_fingerprint",
					      json_string(end->fingerprint));
	return document_whole(json, failed);
}

/* Makes the client or server of an imported result, as far as it is known. */
static json_t *make_imported_end(const struct result_end *end)
{
	json_t *json = json_pack("{s:s}", "device", end->device);
	int failed = 0;

	if (end->link_layer)
		failed |= json_object_set_new(json, "link_layer", json_string(end->link_layer));
	if (end->mtu)
		failed |= json_object_set_new(json, "mtu", json_integer(end->mtu));
	return document_whole(json, failed);
}

static json_t *make_imported_ends(const struct result *result)
{
	json_t *ends = json_object();
	int failed = 0;

	if (result->client.device[0])
		failed |= json_object_set_new(ends, "client", make_imported_end(&result->client));
	if (result->server.device[0])
		failed |= json_object_set_new(ends, "server", make_imported_end(&result->server));
	return document_whole(ends, failed);
}

/* Imported results have no command or clock, and a start time only if it was given. */
static json_t *make_imported_head(const struct result *result)
{
	json_t *run = json_pack("{s:s}", "status", result_status_name(result->status));
	int failed = 0;

	if (result->started[0])
		failed = json_object_set_new(run, "started", json_string(result->started));
	return json_pack("{s:s, s:{s:s, s:s}, s:O, s:o, s:o}", "schema", DOCUMENT_SCHEMA, "tool",
			 "name", "verbmark", "version", result->version, "imported",
			 result->imported, "run", document_whole(run, failed), "hosts",
			 make_imported_ends(result));
}

static json_t *make_clock(const struct result *result)
{
	json_t *clock =
		json_pack("{s:s, s:o, s:f}", "kind", result->clock, "hz",
			  document_number(result->clock_hz), "drift_ppm", result->clock_drift_ppm);

	int failed = 0;

	if (result->clock_resolution_ns > 0)
		failed |= json_object_set_new(clock, "resolution_ns",
					      json_real(result->clock_resolution_ns));
	if (result->clock_cost_ns)
		failed |= json_object_set_new(clock, "cost_ns",
					      document_number(result->clock_cost_ns));
	return document_whole(clock, failed);
}

/* Makes the members before the cases. */
static json_t *make_head(const struct result *result)
{
	if (result->imported)
		return make_imported_head(result);
	return json_pack("{s:s, s:{s:s, s:s}, s:{s:s, s:s, s:s, s:O, s:O*, s:o}, "
			 "s:{s:o, s:o}}",
			 "schema", DOCUMENT_SCHEMA, "tool", "name", "verbmark", "version",
			 result->version, "run", "started", result->started, "finished",
			 result->finished, "status", result_status_name(result->status), "command",
			 result->command, "plan", result->plan, "clock", make_clock(result),
			 "hosts", "client", document_make_end(&result->client), "server",
			 document_make_end(&result->server));
}

static json_t *take_overflow(const struct result *result)
{
	return json_incref(result->overflow);
}

static json_t *take_warnings(const struct result *result)
{
	return json_incref(result->warnings);
}

/* The members after the cases; make returns NULL to omit one. */
static const struct {
	const char *name;
	json_t *(*make)(const struct result *result);
} members[] = {
	{"knees",    load_knees_make   },
        {"crowds",   qp_limits_make    },
        {"turns",    paired_trials_make},
	{"overflow", take_overflow     },
        {"warnings", take_warnings     },
};

json_t *document_make(const struct result *result)
{
	json_t *document = make_head(result);
	json_t *cases = json_array();
	int failed = 0;

	for (size_t i = 0; i < result->n_cases; i++)
		failed |= json_array_append_new(cases, document_make_case(&result->cases[i], NULL));
	failed |= json_object_set_new(document, "cases", cases);
	for (size_t i = 0; i < ARRAY_LENGTH(members); i++) {
		json_t *member = members[i].make(result);

		if (member)
			failed |= json_object_set_new(document, members[i].name, member);
	}
	return document_whole(document, failed);
}

void document_keep(struct result_case *line)
{
	free(line->text);
	line->text = document_text_of_case(line);
}

static int write_case(FILE *out, const struct result_case *line)
{
	char *text = line->text ? NULL : document_text_of_case(line);

	if (!line->text && !text)
		return -ENOMEM;
	fputs(line->text ? line->text : text, out);
	free(text);
	return 0;
}

/* Writes cases as text, which most of them already are, and the other members around them. */
static int write_parts(FILE *out, const char *head, const struct result *result)
{
	int code = 0;

	fprintf(out, "%.*s,\"cases\":[", (int)strlen(head) - 1, head);
	for (size_t i = 0; i < result->n_cases && !code; i++) {
		if (i)
			fputc(',', out);
		code = write_case(out, &result->cases[i]);
	}
	fputc(']', out);
	for (size_t i = 0; i < ARRAY_LENGTH(members) && !code; i++) {
		json_t *member = members[i].make(result);

		if (!member)
			continue;
		fprintf(out, ",\"%s\":", members[i].name);
		code = document_write_value(out, member);
		json_decref(member);
	}
	fputs("}\n", out);
	return code;
}

static int write_result(FILE *out, const void *result)
{
	json_t *head = make_head(result);
	char *text = head ? document_text(head) : NULL;
	int code = -ENOMEM;

	if (text)
		code = write_parts(out, text, result);
	free(text);
	json_decref(head);
	return code;
}

static int write_json(FILE *out, const void *document)
{
	int code = document_write_value(out, document);

	fputc('\n', out);
	return code;
}

int document_save(const json_t *document, const char *path, struct error *error)
{
	return save_path(path, write_json, document, error);
}

int document_write(const struct result *result, const char *path, struct error *error)
{
	return save_path(path, write_result, result, error);
}
