/* SPDX-License-Identifier: MIT */
#include "reports/document/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "reports/document/case.h"

int document_write_value(FILE *out, const json_t *value)
{
	return json_dumpf(value, out, JSON_COMPACT | JSON_ENCODE_ANY) && !ferror(out) ? -ENOMEM : 0;
}

static void write_bins(FILE *out, const struct hist *hist)
{
	const char *before = "";

	fputc('[', out);
	for (size_t i = hist_first(hist), end = hist_end(hist); i < end; i++) {
		if (!hist->bins[i])
			continue;
		fprintf(out, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", before, hist_low(i),
			hist_high(i), hist->bins[i]);
		before = ",";
	}
	fputc(']', out);
}

static const struct hist *bins_of(const struct document_bins *bins, const json_t *json)
{
	for (size_t i = 0; i < bins->count; i++)
		if (bins->places[i].json == json)
			return bins->places[i].hist;
	return NULL;
}

/* Only objects that are not empty contain placeholders. */
static bool has_places(const struct document_bins *bins, json_t *json)
{
	const char *name;
	json_t *value;

	json_object_foreach(json, name, value)
	{
		if (bins_of(bins, value) || has_places(bins, value))
			return true;
	}
	return false;
}

static int write_name(FILE *out, const char *name, const char *before)
{
	json_t *json = json_string(name);
	int code;

	fputs(before, out);
	code = document_write_value(out, json);
	fputc(':', out);
	json_decref(json);
	return code;
}

static int write_around(FILE *out, json_t *json, const struct document_bins *bins)
{
	const char *before = "{";
	const char *name;
	json_t *value;
	int code = 0;

	if (!has_places(bins, json))
		return document_write_value(out, json);
	json_object_foreach(json, name, value)
	{
		const struct hist *hist = bins_of(bins, value);

		code = write_name(out, name, before);
		if (!code && hist)
			write_bins(out, hist);
		else if (!code)
			code = write_around(out, value, bins);
		if (code)
			return code;
		before = ",";
	}
	fputc('}', out);
	return 0;
}

/* Not json_dumps, which may drop a name without an error if memory runs out. */
static char *make_text(json_t *json, const struct document_bins *bins)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	bool is_whole = out && !write_around(out, json, bins) && !ferror(out);

	if (out && fclose(out))
		is_whole = false;
	if (is_whole)
		return text;
	free(text);
	return NULL;
}

char *document_text(json_t *json)
{
	static const struct document_bins none;

	return make_text(json, &none);
}

char *document_text_of_case(const struct result_case *line)
{
	struct document_bins bins = {0};
	json_t *json = document_make_case(line, &bins);
	char *text = json ? make_text(json, &bins) : NULL;

	json_decref(json);
	return text;
}
